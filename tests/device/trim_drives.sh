#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The probe of tare trim on block devices whose drive is the reference drive, so that the truth is
# known: drives that ignore discards, that act on large ones only, that keep the old data, that
# freeze, and one that takes its neighbours along - with a file system on them and without.

if [ "$(id -u)" = 0 ] && [ -z "${TARE_NAMESPACE:-}" ]; then
	exec env TARE_NAMESPACE=1 unshare -m --propagation private "$0" "$@"
fi

. "$(dirname "$0")/lib.sh"
PROBE=${PROBE:-$(dirname "$TARE")/tests/probe_trim}
plan 22
need_loop
[ -c /dev/fuse ] || skip_all 'no /dev/fuse here'
need_commands mkfs.ext4

export TARE_RUNTIME_DIR=$WORK/registry
mnt=$WORK/mnt
mkdir "$mnt"
server=

unserve()
{
	umount "$mnt" 2>/dev/null
	[ -z "$server" ] || kill -INT "$server"
	[ -z "$server" ] || wait "$server"
	server=
}

stop()
{
	unserve
	"$TARE" sim clean >/dev/null 2>&1
	tidy
}
trap stop EXIT

# serve SETTINGS: $device, whose drive is so
serve()
{
	unserve
	rm -f "$WORK/ready"
	"$TARE" sim serve "page-greedy,capacity=384m,$1" "$WORK/ssd" --loop --json \
		>"$WORK/ready" 2>"$WORK/notes" &
	server=$!
	for _ in $(seq 200); do
		[ -s "$WORK/ready" ] && break
		sleep 0.05
	done
	device=$(json "$WORK/ready" "d['device']")
}

# with_fs OPTIONS
with_fs()
{
	mkfs.ext4 -q -F -b 4096 -E nodiscard "$device" && mount -o "$1" "$device" "$mnt"
}

# probe [OPTIONS] PLACE: output to $WORK/seen
probe()
{
	"$PROBE" --sizes=4k,64k,1m,4m --quiet=100ms --after=0s --online=2s "$@" >"$WORK/seen" 2>&1
}

says()
{
	local pattern
	for pattern; do
		grep -Eq "$pattern" "$WORK/seen" || { echo "not said: $pattern"; cat "$WORK/seen"; return 1; }
	done
}

says_not()
{
	! grep -E "$1" "$WORK/seen"
}

# --- a good one ---

serve trim=honoured
with_fs nodiscard
probe "$mnt"
check 'a good drive: what was freed reads as zeros' says "content='zeros'" 'report rung=effect mapping=2'
check 'a good drive: guards unchanged' says 'guards_changed=0' 'evidence guards .*ok=1'
"$TARE" trim "$mnt" >"$WORK/seen" 2>&1
check 'a good drive is not called dangerous' says_not DANGEROUS

# --- takes its neighbours along ---

serve trim=damages
with_fs nodiscard
probe "$mnt"
check 'below a file system: the guard that changed is named' says 'guards_changed=1' \
	"evidence guards .*ok=0 .*byte [0-9]+ of $(basename "$device"), which was not discarded, .*holds zeros"
check 'tare trim exits 7' exits 7 "$TARE" trim "$mnt"
cp "$WORK/out" "$WORK/seen"
check 'and says so' says DANGEROUS 'holds zeros'
serve trim=damages
with_fs discard
probe "$mnt"
check 'also where the file system discards by itself' says 'guards_changed=1' \
	'evidence online-discard .*ok=1'
serve trim=damages
probe --erase-data="$(basename "$device")" "$device"
check 'on the bare device' says 'guards_changed=1' 'holds zeros'

# --- ignores ---

serve trim=ignored
with_fs nodiscard
probe "$mnt"
check 'an ignoring drive: sent, accepted, and the old data is there' says \
	"evidence read-back .*ok=0 .*content='old data'" 'evidence fitrim .*ok=1' \
	"evidence delivered layer=$(basename "$device") ok=1"
check 'an ignoring drive: where it was, is proven' says 'mapping=2 .*guards_changed=0'
check 'an ignoring drive: no size has an effect' says 'size 4096 tried=6 gone=0 old=6' \
	'size 4194304 tried=3 gone=0 old=3'

# --- large ones only ---

serve trim_min=1m
probe --erase-data="$(basename "$device")" "$device"
check 'what acts from 1 MiB on: smaller pieces stay' says 'size 4096 tried=6 gone=0' \
	'size 65536 tried=6 gone=0'
check 'what acts from 1 MiB on: those of 1 MiB go' says 'size 1048576 tried=3 gone=3' \
	'size 4194304 tried=3 gone=3'

# --- keeps the old data ---

serve trim_reads=old
probe --erase-data="$(basename "$device")" "$device"
check 'what keeps old data until it is cleaned is not called empty' says "content='old data'" \
	'guards_changed=0'

# --- freezes ---

serve trim_time=6s
with_fs nodiscard
probe "$mnt"
check 'a drive that freezes gets one small discard' says 'report .*aborted=1 asked=65536' \
	'evidence first-discard .*ok=0'
check 'and no other' says "layer $(basename "$device") .*delivered=65536"
check 'its guards are looked at still' says 'evidence guards .*ok=1'

# --- has none ---

serve trim=none
with_fs nodiscard
probe "$mnt"
check 'a drive without discard: EOPNOTSUPP' says 'evidence fitrim .*ok=0 error=-95'
check 'a drive without discard: nothing arrives' says "layer $(basename "$device") .*delivered=0"
check 'a drive without discard: little is written for that' says 'evidence test-file .*bytes=[0-9]{1,7} '
probe --erase-data="$(basename "$device")" "$device"
check 'a mounted one is not written, whatever the consent' says 'error -16'
umount "$mnt"
check 'nothing is left behind' test -z "$(awk -v m="$mnt" '$5 == m' /proc/self/mountinfo)"
