#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGKILL at 20 moments of a check: the directory is empty and the space is free each time.
. "$(dirname "$0")/lib.sh"
plan 40
need_loop

loop=$(make_loop 2G)
mkfs.ext4 -q "$loop"
mkdir "$WORK/fs" && mount "$loop" "$WORK/fs"
mkdir "$WORK/fs/dir"

free_bytes()
{
	sync -f "$WORK/fs"
	python3 -c 'import os,sys
s = os.statvfs(sys.argv[1])
print(s.f_bfree * s.f_frsize)' "$WORK/fs"
}

# An unlinked file is given back by the kernel when its last descriptor goes, which a killed
# process's io_uring may hold for a moment longer.
space_is_back()
{
	local i
	for i in $(seq 50); do
		[ "$(free_bytes)" -ge $((before - 65536)) ] && return 0
		sleep 0.1
	done
	echo "free $(free_bytes), was $before"
	return 1
}

before=$(free_bytes)
RANDOM=${SEED:-$$}
for i in $(seq 20); do
	delay=$(printf '0.%03d' $((RANDOM % 1000)))
	[ $((i % 4)) = 0 ] && delay=$((RANDOM % 4 + 1)).$((RANDOM % 10))
	"$TARE" check --quick --json "$WORK/fs/dir" >/dev/null 2>&1 &
	pid=$!
	sleep "$delay"
	kill -KILL $pid
	wait $pid 2>/dev/null
	check "killed after $delay s: the directory is empty" test -z "$(ls -A "$WORK/fs/dir")"
	check "killed after $delay s: the space is free again" space_is_back
done
