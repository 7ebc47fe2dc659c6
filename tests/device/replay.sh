#!/bin/bash
# SPDX-License-Identifier: MIT
# Replaying and recording on real devices, counted by the kernel, and against fio's own replay.
. "$(dirname "$0")/lib.sh"
plan 14
need_loop
cd "$WORK" || exit 1

loop=$(make_loop 64M)
name=$(basename "$loop")

# counters: reads, sectors read, writes, sectors written, discards, sectors discarded
counters()
{
	local f
	read -ra f < "/sys/block/$name/stat"
	echo "${f[0]} ${f[2]} ${f[4]} ${f[6]} ${f[11]} ${f[13]}"
}

# rose BEFORE: by how much the counters rose since
rose()
{
	local a b i
	read -ra a <<< "$1"
	read -ra b <<< "$(counters)"
	for i in 0 1 2 3 4 5; do
		printf '%d ' $((b[i] - a[i]))
	done
}

# 300 requests of 4 KiB with a place of their own each, so that nothing is merged.
make_trace()
{
	echo 'fio version 3 iolog'
	echo "0 $loop add"
	echo "0 $loop open"
	local i
	for ((i = 0; i < 100; i++)); do
		echo "$((i * 1000)) $loop write $((i * 65536)) 4096"
		echo "$((i * 1000 + 300)) $loop read $((i * 65536)) 4096"
		echo "$((i * 1000 + 600)) $loop trim $((i * 65536 + 32768)) 8192"
	done
	echo "100000 $loop close"
}
make_trace > job.log

# --- consent ---------------------------------------------------------------------------------

before=$(counters)
"$TARE" replay job.log "$loop" > out 2> err
status=$?
check 'writes and discards are refused without consent' test "$status" = 3
check 'what they are is said before' grep -q '100 writes (400 KiB), 100 discards (800 KiB)' err
check 'nothing was written' test "$(rose "$before" | cut -d' ' -f3-6)" = '0 0 0 0'

# --- what the kernel counts ------------------------------------------------------------------

before=$(counters)
"$TARE" replay job.log "$loop" --erase-data="$name" --json --progress=none > r.json 2> err
check 'with consent it runs' test $? = 0
check 'the kernel counts each write and discard, with its bytes' \
	test "$(rose "$before" | cut -d' ' -f3-6)" = '100 800 100 1600'
check 'all of the trace was played' test \
	"$(json r.json 'd["measurements"][0]["replay"]["played_count"]')" = 300
check 'it took as long as was recorded' test \
	"$(json r.json '99.6e6 <= d["measurements"][0]["duration_ns"] < 2e9')" = True

before=$(counters)
"$TARE" replay job.log "$loop" --skip=write,trim --timing=none --json --progress=none > r.json
check 'reads alone need no consent' test \
	"$(json r.json 'd["measurements"][0]["ops"]["read"]["count"], d["measurements"][0]["replay"]["skipped_count"]')" = '(100, 200)'
check 'and write nothing' test "$(rose "$before" | cut -d' ' -f3-6)" = '0 0 0 0'

# --- recordings, and fio ---------------------------------------------------------------------

"$TARE" run --rw=randrw --bs=4k --size=16m --io-size=2m --iodepth=8 --randseed=7 \
	--erase-data="$name" --record=own.log --progress=none --json "$loop" > r.json
want=$(json r.json 'd["measurements"][0]["ops"]["read"]["count"], d["measurements"][0]["ops"]["write"]["count"]')
got=$("$TARE" replay own.log --json > t.json; json t.json 'd["counts"]["read"], d["counts"]["write"]')
check 'a recording has every request' test "$got" = "$want"

if command -v fio > /dev/null; then
	truncate -s 64M image
	fio --name=r --read_iolog=own.log --replay_redirect="$WORK/image" --replay_no_stall=1 \
		--ioengine=psync --output-format=json --output=f.json > /dev/null 2>&1
	got=$(json f.json 'd["jobs"][0]["read"]["total_ios"], d["jobs"][0]["write"]["total_ios"]')
	check 'fio replays it' test "$got" = "$want"

	fio --name=w --filename="$WORK/image" --rw=randrw --bs=4k --size=1m --ioengine=psync \
		--write_iolog=fio.log --output-format=json --output=f.json > /dev/null 2>&1
	want=$(json f.json 'd["jobs"][0]["read"]["total_ios"], d["jobs"][0]["write"]["total_ios"]')
	got=$("$TARE" replay fio.log --json > t.json; json t.json 'd["counts"]["read"], d["counts"]["write"]')
	check "fio's own log is read whole" test "$got" = "$want"
else
	skip 'fio replays it' 'no fio here'
	skip "fio's own log is read whole" 'no fio here'
fi

# --- the kernel's block tracing --------------------------------------------------------------

# Known requests while it records: 50 writes, each with a place of its own.
write_known()
{
	local i
	sleep 0.5
	for ((i = 0; i < 50; i++)); do
		dd if=/dev/zero of="$loop" bs=4k count=1 seek=$((i * 16)) oflag=direct conv=notrunc \
			2> /dev/null
	done
}

write_known &
"$TARE" record --for=2s "$loop" seen.log --json > t.json 2> err
status=$?
wait
if [ "$status" = 0 ]; then
	check 'what others ask is recorded' test "$(json t.json 'd["counts"]["write"]')" = 50
	check 'and replays' test "$("$TARE" replay seen.log | sed -n 's/^contains  //p')" = '50 writes (200 KiB)'
else
	check 'a kernel that keeps its traces to itself is named' \
		grep -qE 'no block tracing|locked down' t.json
	check 'and leaves no files' test ! -e seen.log -a ! -e seen.log.csv
fi
