#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes wrong in the middle: one clear sentence, a valid partial result, nothing left.
. "$(dirname "$0")/lib.sh"
plan 14
need_loop
need_commands mkfs.ext4 mount python3 fallocate

loop=$(make_loop 1200M)
mkfs.ext4 -q -m 0 "$loop"
mkdir -p "$WORK/fs" && mount "$loop" "$WORK/fs"
mkdir "$WORK/fs/dir"

free_bytes()
{
	stat -f -c '%a * %S' "$WORK/fs" | { read -r sum; echo $((sum)); }
}

# ENOSPC in the middle of layout: while tare writes, another takes what it still needs.
before=$(free_bytes)
"$TARE" run --rw=randread --size=900m --runtime=1s --json "$WORK/fs/dir" \
	>"$WORK/full.json" 2>"$WORK/full.err" &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(free_bytes)" -gt $((before - 64 * 1048576)) ]; do
	sleep 0.01
done
fallocate -l $(($(free_bytes) - 8 * 1048576)) "$WORK/fs/hog" 2>/dev/null
wait $pid
status=$?
check 'no space left has an exit code of its own' test $status = 8
check 'the result is one valid document' json_true "$WORK/full.json" "d['schema'] == 'tare.result/1'"
check 'with the sentence' grep -q 'no space left after .* of the 900 MiB test file; it is removed' \
	"$WORK/full.json"
check 'the directory is empty' test -z "$(ls -A "$WORK/fs/dir")"
rm "$WORK/fs/hog"
sync -f "$WORK/fs"
check 'the space is free again' test "$(free_bytes)" -ge $((before - 65536))

# EIO in the middle of a run.
check 'an I/O error ends the run with its exit code' exits 4 "$TARE" run --rw=randread --size=64m \
	--runtime=2s --filter='error:errno=EIO,after=200' --json "$WORK/fs/dir"
cp "$WORK/out" "$WORK/eio.json"
check 'what was measured before stands in the result' json_true "$WORK/eio.json" \
	"d['measurements'][0]['ops']['read']['count'] > 0 and
	any(f['code'] == 'io-errors' for f in d['findings'])"
check 'with one sentence' grep -q 'Input/output error' "$WORK/eio.json"
check 'and nothing left' test -z "$(ls -A "$WORK/fs/dir")"

# A device that loses its medium while it is read: the loop device shrinks to nothing.
medium=$(mktemp "$WORK/disk.XXXXXX") && head -c 64M /dev/urandom >"$medium"
gone=$(losetup --direct-io=on -f --show "$medium")
"$TARE" run --rw=randread --iodepth=4 --runtime=10s --json "$gone" >"$WORK/gone.json" \
	2>"$WORK/gone.err" &
pid=$!
sleep 1.5
losetup -d "$gone"		# takes effect when the last user closes it
truncate -s 0 "$medium"
losetup -c "$gone" 2>/dev/null
wait $pid
status=$?
check 'a vanished device ends the run with its exit code' test $status = 4
check 'the partial result is valid' json_true "$WORK/gone.json" \
	"d['measurements'][0]['ops']['read']['count'] > 0 and
	d['measurements'][0]['duration_ns'] < 9e9"
check 'and names the failed request' json_true "$WORK/gone.json" \
	"any(f['code'] == 'io-errors' for f in d['findings'])"
check 'the device is let go' test -z "$(losetup -n -O BACK-FILE "$gone" 2>/dev/null)"

# A file system that will not be written.
mount -o remount,ro "$WORK/fs"
check 'a read-only file system is refused before anything runs' exits 3 "$TARE" run \
	--rw=randread --size=64m --runtime=1s "$WORK/fs/dir"
