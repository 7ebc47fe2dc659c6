#!/bin/bash
# SPDX-License-Identifier: MIT
# Dirtying by files on real file systems: counts and bytes as the kernel has them, the directory
# empty afterwards, also after SIGKILL at random moments, and --resume goes on to the end.
. "$(dirname "$0")/lib.sh"
plan 51
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

# killed TYPE TIMES: SIGKILL somewhere in two rounds, then the next start or --resume.
killed()
{
	local type=$1 i pid delay
	for i in $(seq "$2"); do
		delay=$(printf '0.%03d' $((RANDOM % 900)))
		"$TARE" precondition --progress=none --steps='dirty:files=6000,amount=40m,rounds=4; idle=1ms' \
			"$dir" >/dev/null 2>&1 &
		pid=$!
		sleep "$delay"
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		if [ $((i % 5)) = 0 ]; then
			"$TARE" run --rw=read --runtime=1ms null:size=1m >/dev/null 2>&1
			check "$type: killed after $delay s: the next start leaves nothing" empty
		else
			check "$type: killed after $delay s: --resume goes on" resumed "$dir"
			check "$type: and leaves nothing" empty
		fi
	done
}

# A run that ended before it was killed has nothing to go on with.
resumed()
{
	exits 0 "$TARE" precondition --progress=none --resume "$1" && return 0
	grep -q 'nothing was broken off' "$WORK/err"
}

RANDOM=${SEED:-$$}
whole ext4 2G 100000 400 4
killed ext4 5
whole xfs 2G 100000 400 4
killed xfs 4
whole btrfs 2G 100000 400 4
killed btrfs 4

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
