#!/bin/bash
# SPDX-License-Identifier: MIT
# Plans of several targets: devices joined into one range, groups on two devices; what each got
# is what the kernel counted for it, and what is refused or fails leaves nothing behind.
. "$(dirname "$0")/lib.sh"
plan 17
need_loop
need_commands mkfs.ext4

first=$(make_loop 32M)
second=$(make_loop 32M)
for loop in "$first" "$second"; do
	dd if=/dev/urandom of="$loop" bs=1M count=32 oflag=direct status=none
done

# counters DEVICE: reads, bytes read, writes, bytes written
counters()
{
	awk '{ printf "%.0f %.0f %.0f %.0f\n", $1, $3 * 512, $5, $7 * 512 }' "/sys/block/${1#/dev/}/stat"
}

# moved DEVICE BEFORE FIELD WANT: the kernel's count since then. The audit looks at 256 blocks of
# what is read, which is 1 MiB.
moved()
{
	local -a before after
	read -ra before <<<"$2"
	read -ra after <<<"$(counters "$1")"
	local got=$((after[$3] - before[$3]))
	echo "$1 field $3: $got, want $4"
	[ "$got" -ge "$4" ] && [ "$got" -le $(($4 + (1 << 20))) ]
}

digest()
{
	dd if="$1" bs=1M iflag=direct status=none | sha256sum
}

joined=join:$first:$second
a=$(counters "$first") b=$(counters "$second")
check 'a pass over two joined devices' exits 0 "$TARE" run --rw randread --bs 4k --iodepth 8 \
	--runtime 0 --json "$joined"
check 'is as large as both' json_true "$WORK/out" \
	'd["target"]["size_bytes"] == 64 << 20 and d["measurements"][0]["ops"]["read"]["count"] == 16384'
check 'one half is from the first' moved "$first" "$a" 1 $((32 << 20))
check 'the other from the second' moved "$second" "$b" 1 $((32 << 20))
check 'their counters are added up' json_true "$WORK/out" \
	'abs(d["measurements"][0]["device_counters"]["read_bytes"] - (64 << 20)) < 1 << 20'

before=$(digest "$first")
check 'writing needs consent for each part' exits 3 "$TARE" run --rw write --bs 64k --runtime 0 \
	"--erase-data=${first#/dev/}" "$joined"
check 'which is said by its name' grep -q "${second#/dev/}" "$WORK/err"
check 'and nothing was written to the other' test "$before" = "$(digest "$first")"

cat >"$WORK/stripes.yaml" <<YAML
targets: [ { path: "$joined", stripe: 64k } ]
phases:
  - measure: { rw: write, bs: 128k, iodepth: 4, io-size: 8m, verify: 1 }
YAML
a=$(counters "$first") b=$(counters "$second")
check 'stripes with consent that names both' exits 0 "$TARE" run --json \
	"--erase-data=${first#/dev/},${second#/dev/}" "$WORK/stripes.yaml"
check 'half to the first' moved "$first" "$a" 3 $((4 << 20))
check 'half to the second' moved "$second" "$b" 3 $((4 << 20))

cat >"$WORK/group.yaml" <<YAML
targets: [ $first, $second ]
phases:
  - together:
      - measure: { rw: randread, iodepth: 4, io-size: 4m }
      - measure: { on: 1, rw: read, bs: 64k, io-size: 16m }
YAML
a=$(counters "$first") b=$(counters "$second")
check 'two devices at the same time' exits 0 "$TARE" run --json "$WORK/group.yaml"
check 'each gets its own reads' moved "$first" "$a" 1 $((4 << 20))
check 'as many as it was asked for' moved "$second" "$b" 1 $((16 << 20))

# A file system that fills up between the check of its room and the writing of its test file.
small=$(make_loop 64M)
mkfs.ext4 -q -m 0 "$small"
mkdir "$WORK/small" "$WORK/large"
mount "$small" "$WORK/small"
cat >"$WORK/full.yaml" <<YAML
targets: [ { path: "$WORK/large", size: 768m }, { path: "$WORK/small", size: 24m } ]
phases: [ { measure: { on: 1, rw: read, runtime: 1s } } , { measure: { rw: read, runtime: 1s } } ]
YAML
full()
{
	"$TARE" run --progress=plain "$WORK/full.yaml" >"$WORK/out" 2>"$WORK/err" &
	local pid=$!
	until grep -q 'writing the test file' "$WORK/err"; do
		kill -0 $pid || return 1
		sleep 0.01
	done
	kill -STOP $pid
	dd if=/dev/zero of="$WORK/small/rest" bs=1M oflag=direct status=none 2>/dev/null
	kill -CONT $pid
	wait $pid
	[ $? = 8 ] || { cat "$WORK/out" "$WORK/err"; return 1; }
}
check 'no space left in the second ends the plan' full
check 'in a sentence that names it' grep -q "small: no space left" "$WORK/out" "$WORK/err"
check 'and leaves no file behind' test -z "$(ls "$WORK/large")$(ls "$WORK/small" | grep -v -e rest -e lost)"
