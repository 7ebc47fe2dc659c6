#!/bin/bash
# SPDX-License-Identifier: MIT
# Protocols on a loop device and a file system: consent, SIGKILL and --resume, nothing left.
. "$(dirname "$0")/lib.sh"
plan 19
need_loop

loop=$(make_loop 64M)
name=$(basename "$loop")

refused()
{
	! "$TARE" protocol "$@" >"$WORK/refusal" 2>&1 && cat "$WORK/refusal"
}

# A killed process's io_uring may hold the device for a moment longer.
patiently()
{
	local i
	for i in $(seq 50); do
		"$TARE" "$@" >"$WORK/out" 2>&1 && return 0
		grep -q 'is in use' "$WORK/out" || break
		sleep 0.1
	done
	head -n 20 "$WORK/out"
	return 1
}

check 'a device is not erased without consent' refused cache "$loop"
check 'a forecast needs no consent' "$TARE" protocol cache --forecast "$loop"
check 'reading needs no consent' "$TARE" protocol surface --size 16m "$loop"

run=(protocol alignment --size 16m --erase-data="$name" --json "$loop")
RANDOM=${SEED:-$$}
for i in 1 2 3; do
	delay=$(printf '0.%03d' $((RANDOM % 300 + 100)))
	"$TARE" "${run[@]}" >/dev/null 2>&1 &
	pid=$!
	sleep "$delay"
	kill -KILL $pid 2>/dev/null
	if wait $pid 2>/dev/null; then
		skip "killed after $delay s: goes on" 'was done already'
		skip "killed after $delay s: the verdict is there" 'was done already'
		continue
	fi
	check "killed after $delay s: goes on" patiently "${run[@]}" --resume
	check "killed after $delay s: the verdict is there" json_true "$WORK/out" 'd["verdict"]["code"]'
done
check 'a finished one leaves no checkpoint' refused "${run[@]:1}" --resume
check 'and says so' grep -q 'nothing to resume' "$WORK/refusal"

mkfs.ext4 -q "$loop"
mkdir "$WORK/fs" && mount "$loop" "$WORK/fs"
rmdir "$WORK/fs/lost+found"
check 'alignment in a directory' "$TARE" protocol alignment --size 16m "$WORK/fs"
check 'surface in a directory' "$TARE" protocol surface --size 16m "$WORK/fs"
check 'three-state in a directory' "$TARE" protocol three-state --size 16m --idle 10ms "$WORK/fs"
check 'nothing is left' test -z "$(ls -A "$WORK/fs")"

# With files beside the test file: ten times killed, gone on with, to the end in the end.
recipe=(protocol techgage --size 16m --idle 10ms --json "$WORK/fs")
"$TARE" "${recipe[@]}" >/dev/null 2>&1 &
pid=$!
sleep 0.5	# the first cell is in the checkpoint
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep "$(printf '0.%03d' $((RANDOM % 900 + 50)))"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$TARE" "${recipe[@]}" --resume >"$WORK/out" 2>&1 &
	pid=$!
done
wait $pid
check 'ten times killed: the last one goes on to the end' test $? = 0
check 'ten times killed: the verdict is there' json_true "$WORK/out" 'd["verdict"]["code"]'
check 'ten times killed: nothing is left' test -z "$(ls -A "$WORK/fs")"
check 'a device that is mounted is refused' refused cache --erase-data="$name" "$loop"
