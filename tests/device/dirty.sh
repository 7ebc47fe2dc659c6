#!/bin/bash
# SPDX-License-Identifier: MIT
# Dirtying by files on real file systems: counts and bytes as the kernel has them, the directory
# empty afterwards, also after SIGKILL at random moments, and --resume goes on to the end.
#
# FILES is how many files a run has that is killed, KILLS how often on ext4, xfs and btrfs; the full
# test is FILES=100000 KILLS='10 10 10', eight minutes. SEED repeats the moments.
. "$(dirname "$0")/lib.sh"
FILES=${FILES:-6000}
read -r -a kills <<<"${KILLS:-5 4 4}"
facts=26
for i in "${kills[@]}"; do facts=$((facts + 3 * i + (i + 4) / 5)); done
plan $facts
need_loop
touch "$WORK/begun"
need_commands mkfs.xfs mkfs.btrfs

# make_fs TYPE SIZE: mounted at $WORK/TYPE with an empty directory in it; its device in $loop.
make_fs()
{
	loop=$(make_loop "$2")
	case $1 in
	btrfs) mkfs.btrfs -q "$loop" >/dev/null ;;
	*) "mkfs.$1" -q "$loop" ;;
	esac
	mkdir "$WORK/$1" && mount "$loop" "$WORK/$1" && mkdir "$WORK/$1/dir"
	dir=$WORK/$1/dir
}

empty()
{
	[ -z "$(ls -A "$dir")" ] || { ls -A "$dir"; return 1; }
}

discarded_bytes()
{
	awk '{ printf "%.0f\n", $14 * 512 }' "/sys/block/${loop#/dev/}/stat"
}

# Files and bytes as find sees them while the program idles: waits until it has made them all.
look_inside()
{
	local i
	for i in $(seq 600); do
		set -- $(find "$dir" -type f -printf '%s\n' 2>/dev/null |
			awk '{ n++; s += $1 } END { printf "%d %.0f\n", n, s }')
		[ "$1" = "$files" ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	[ "$1" = "$files" ] && [ "$2" = "$bytes" ] && return 0
	echo "$1 files of $2 bytes, want $files of $bytes"
	return 1
}

# whole TYPE SIZE FILES MIB SECONDS: makes, is looked into, deletes and trims; everything agrees.
whole()
{
	local type=$1 before pid
	make_fs "$1" "$2"
	files=$3
	bytes=$(($4 << 20))
	before=$(discarded_bytes)
	"$TARE" precondition --json --progress=none \
		--steps="dirty:files=$files,amount=$4m,delete=0%; idle=$5s; delete; trim" \
		"$dir" >"$WORK/out.json" 2>"$WORK/err" &
	pid=$!
	check "$type: $files files of $4 MiB are there, by number and size" look_inside
	wait $pid
	check "$type: it ends well" test $? = 0
	check "$type: the result agrees" json_true "$WORK/out.json" \
		"[(s['name'], s['files'], s['files_deleted'], s['written_bytes']) for s in d['state']['steps']]
		== [('dirty', $files, 0, $bytes), ('idle', 0, 0, 0), ('delete', 0, $files, 0), ('trim', 0, 0, 0)]"
	check "$type: the directory is empty" empty
	check "$type: what was freed was discarded, by the kernel's counters" \
		test $(($(discarded_bytes) - before)) -ge "$bytes"
	check "$type: the step counted the same" json_true "$WORK/out.json" \
		"$bytes <= d['state']['steps'][3]['discard_sent_bytes'] <= $(($(discarded_bytes) - before))"
}

files_there()
{
	find "$dir" -type f 2>/dev/null | wc -l
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# A run of FILES files in as many rounds as take a second or so.
dirty()
{
	exec "$TARE" precondition --progress=none --steps="dirty:files=$FILES,amount=$((FILES / 250))m,\
rounds=$((FILES < 50000 ? 4 : 1)); idle=1ms" "$dir"
}

# How long it takes when it is let; milliseconds.
time_it()
{
	local begin
	begin=$(now_ms)
	(dirty >/dev/null 2>&1)
	echo $(($(now_ms) - begin))
}

# Killed once there are files, somewhere in the time that it takes then. One that was faster than
# ever is tried again.
killed_once()
{
	local pid i delay_ms status
	for i in 1 2 3 4 5; do
		dirty >/dev/null 2>&1 &
		pid=$!
		while [ "$(find "$dir" -type f -print -quit 2>/dev/null)" = "" ] && kill -0 $pid 2>/dev/null; do :; done
		delay_ms=$(((RANDOM * 32768 + RANDOM) % (took_ms * 8 / 10 + 1)))
		sleep "$(printf '%d.%03d' $((delay_ms / 1000)) $((delay_ms % 1000)))"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		status=$?
		[ $status = 137 ] || { took_ms=$((took_ms / 2)); continue; }
		echo "$delay_ms $(files_there)" >"$WORK/killed"
		[ -n "$(ls -A "$dir")" ] && return 0
		echo "$(ls -A "$dir") files"
		return 1
	done
	echo "it ended before it was killed, with $status"
	return 1
}

# killed TYPE TIMES: SIGKILL in the middle, then the next start, or --resume at once.
killed()
{
	local type=$1 i took_ms delay_ms there begin
	took_ms=$(time_it)
	for i in $(seq "$2"); do
		check "$type, killed: it had begun" killed_once
		read -r delay_ms there <"$WORK/killed"
		if [ $((i % 5)) = 1 ]; then
			"$TARE" run --rw=read --runtime=1ms null:size=1m >/dev/null 2>&1
			check "$type, killed: the next start leaves nothing" empty
		fi
		begin=$(now_ms)
		check "$type, killed: --resume goes on to the end" exits 0 \
			"$TARE" precondition --progress=none --resume "$dir"
		echo "# $type, $FILES files in $took_ms ms: killed after $delay_ms ms, $there files there;" \
			"resumed in $(($(now_ms) - begin)) ms"
		check "$type, killed: and leaves nothing" empty
	done
}

RANDOM=${SEED:-$$}
whole ext4 2G 100000 400 4
killed ext4 "${kills[0]}"
whole xfs 2G 100000 400 4
killed xfs "${kills[1]}"
whole btrfs 2G 100000 400 4
killed btrfs "${kills[2]}"

# A copy, a preset, aging: on the last one made.
mkdir -p "$WORK/from/a/b" && ln -s / "$WORK/from/link" && echo one >"$WORK/from/x" &&
	head -c 3000000 /dev/urandom >"$WORK/from/a/b/y"
copied()
{
	"$TARE" precondition --json --progress=none --steps="dirty:from=$WORK/from,rounds=2" "$dir" \
		>"$WORK/out.json" 2>&1 && json_true "$WORK/out.json" \
		"[(s['files'], s['files_deleted'], s['written_bytes']) for s in d['state']['steps']] == [(4, 4, 6000008)]"
}
check 'a tree is copied, what is no file left out, and deleted' copied
check 'and the tree itself is as it was' test "$(cat "$WORK/from/x")" = one
dir=$WORK/xfs/dir
aged()
{
	"$TARE" precondition --json --progress=none \
		--steps='dirty:by=aging,level=40%,files=2000,churn=1,delete=0%; delete' "$dir" \
		>"$WORK/out.json" 2>&1 && json_true "$WORK/out.json" \
		"d['state']['steps'][0]['figures']['extents_per_file'] >
		d['state']['steps'][0]['figures']['extents_per_file_before'] >= 1"
}
check 'aging fragments files, as FIEMAP tells' aged
check 'and leaves nothing' empty
# No space: it says so, and nothing stays.
full()
{
	exits 8 "$TARE" precondition --progress=none --steps='dirty:files=10,amount=100g' "$dir" &&
		grep -q 'no room for files of 100' "$WORK/err"
}
check 'more than there is room for is refused with the figures' full
check 'and leaves nothing behind' empty

# The gate: a purge of what is mounted, held or not allowed is refused.
check 'a purge of a mounted device is refused' exits 3 "$TARE" precondition --steps=purge \
	--erase-data="${loop#/dev/}" "$loop"
umount "$WORK/btrfs"
check 'a purge of a device with a signature and no consent is refused' exits 3 \
	"$TARE" precondition --steps=purge "$loop"
