#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The probe of tare trim on real file systems over loop devices, with and without the discard
# mount option, on a device that must not discard, on loop devices on each other, on raw devices,
# and without rights. What the probe says is held against the holes in the backing file.

if [ "$(id -u)" = 0 ] && [ -z "${TARE_NAMESPACE:-}" ]; then
	exec env TARE_NAMESPACE=1 unshare -m --propagation private "$0" "$@"
fi

. "$(dirname "$0")/lib.sh"
PROBE=${PROBE:-$(dirname "$TARE")/tests/probe_trim}
SIZES=4k,64k,1m,16m
FREED=$((6 * 4096 + 6 * 65536 + 3 * 1048576 + 3 * 16777216))	# 6, 6, 3 and 3 places of these
cases='ext4:nodiscard ext4:discard xfs:nodiscard xfs:discard btrfs:nodiscard btrfs:discard=sync btrfs:discard=async'
plan $((4 * $(wc -w <<<"$cases") + 33))
need_loop
need_commands mkfs.ext4 mkfs.xfs mkfs.btrfs setpriv

mnt=$WORK/mnt
mkdir "$mnt"
chmod 755 "$WORK"

# disk SIZE: $loop, and $image that it lies on
disk()
{
	loop=$(make_loop "$1")
	image=$(losetup -n -O BACK-FILE "$loop")
}

# fs TYPE OPTIONS DEVICE
fs()
{
	case $1 in
	ext4) mkfs.ext4 -q -F -E nodiscard "$3" ;;
	xfs) mkfs.xfs -q -f "$3" ;;
	btrfs) mkfs.btrfs -q -f "$3" >/dev/null ;;
	esac
	mount -t "$1" -o "$2" "$3" "$mnt"
}

# probe PLACE [OPTIONS]: output to $WORK/seen
probe()
{
	local place=$1
	shift
	"$PROBE" --sizes=$SIZES --quiet=100ms --after=0s,1s --online=2s "$@" "$place" >"$WORK/seen" 2>&1
}

# says PATTERN...: each is in a line of what was seen
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

blocks() # of the image, in bytes
{
	sync -f "$image"
	echo $(($(stat -c %b "$image") * 512))
}

# The image grew by guards and metadata, and not by what was freed; or by all of it.
grew_little() { [ $(($2 - $1)) -lt $((FREED / 2)) ] || { echo "grew by $(($2 - $1))"; return 1; }; }
grew_by_all() { [ $(($2 - $1)) -ge "$FREED" ] || { echo "grew by $(($2 - $1))"; return 1; }; }

empty()
{
	[ -z "$(find "$mnt" -mindepth 1 ! -name lost+found)" ] || { ls -la "$mnt"; return 1; }
}

# --- every file system, with the discard mount option and without ---

for case in $cases; do
	type=${case%%:*} options=${case#*:}
	disk 1G
	fs "$type" "$options" "$loop"
	before=$(blocks)
	probe "$mnt"
	after=$(blocks)
	check "$case: all that was freed reads as zeros, where the guards prove it to lie" says \
		"report rung=effect mapping=2 space_freed=2 guards_changed=0 aborted=0 asked=$FREED" \
		"evidence read-back layer=$(basename "$loop") ok=1 .*content='zeros'" \
		'size 4096 tried=6 gone=6' 'size 16777216 tried=3 gone=3'
	check "$case: the holes in the image agree" grew_little "$before" "$after"
	case $case in
	*:nodiscard) check "$case: FITRIM sent it" says 'evidence fitrim .*ok=1 error=0' ;;
	*=async) check "$case: btrfs has it in its queue, and nothing is made of that" says \
		'evidence online-discard .*ok=0 .*wait in the queue of btrfs' \
		'evidence fitrim .*ok=1 error=0' ;;
	*)	check "$case: the file system sent it by itself" says 'evidence online-discard .*ok=1'
		says_not 'evidence fitrim' || not_ok "$case: FITRIM was needed" ;;
	esac
	check "$case: nothing is left behind" empty
	umount "$mnt"
	losetup -d "$loop"
	rm "$image"
done

# --- files in place of holes, as where no holes can be punched ---

for case in ext4:nodiscard xfs:discard; do
	disk 1G
	fs "${case%%:*}" "${case#*:}" "$loop"
	before=$(blocks)
	probe "$mnt" --by-deletion
	check "$case: deleted files are gone" says 'report rung=effect mapping=2 space_freed=2 guards_changed=0' \
		"content='zeros'" 'size 16777216 tried=3 gone=3'
	check "$case: the holes in the image agree" grew_little "$before" "$(blocks)"
	check "$case: nothing is left behind" empty
	umount "$mnt"
	losetup -d "$loop"
	rm "$image"
done

# --- switched off by the administrator ---

# loop_control COMMAND NUMBER: LOOP_CTL_ADD is 0x4c80, LOOP_CTL_REMOVE 0x4c81
loop_control()
{
	python3 -c 'import fcntl, sys
print(fcntl.ioctl(open("/dev/loop-control"), int(sys.argv[1], 0), int(sys.argv[2])))' "$1" "$2"
}

# A device of our own: once it is 0 the kernel sets the granularity to 0, too, and takes no other
# value any more; the switch would outlive the test.
number=$(loop_control 0x4c80 -1)
trap 'losetup -d "/dev/loop$number" 2>/dev/null; loop_control 0x4c81 "$number" >/dev/null; tidy' EXIT
image=$(mktemp "$WORK/disk.XXXXXX")
truncate -s 1G "$image"
loop=/dev/loop$number
losetup "$loop" "$image"
echo 0 >"/sys/block/loop$number/queue/discard_max_bytes"
fs ext4 nodiscard "$loop"
before=$(blocks)
probe "$mnt" --after=0s
check 'discard_max_bytes 0: FITRIM says EOPNOTSUPP' says 'evidence fitrim .*ok=0 error=-95'
check 'discard_max_bytes 0: nothing arrives' says "layer loop$number .*delivered=0" 'report rung=capability'
check 'discard_max_bytes 0: the old data is still there' says "content='old data'" 'guards .*ok=1'
umount "$mnt"
losetup -d "$loop"
loop_control 0x4c81 "$number" >/dev/null
trap tidy EXIT

# --- counters switched off ---

disk 1G
fs ext4 discard "$loop"
echo 0 >"/sys/block/$(basename "$loop")/queue/iostats"
probe "$mnt"
echo 1 >"/sys/block/$(basename "$loop")/queue/iostats"
check 'iostats 0: no counter is believed, and the content tells' says \
	"evidence delivered layer=$(basename "$loop") ok=0 .*iostats" "content='zeros'" 'report rung=effect mapping=2'
umount "$mnt"
losetup -d "$loop"

# --- a loop device on a loop device ---

disk 1G
upper=$(losetup --direct-io=on -f --show "$loop" 2>/dev/null || losetup -f --show "$loop")
fs ext4 nodiscard "$upper"
before=$(blocks)
probe "$mnt"
check 'loop on loop: what was freed is gone' says 'report rung=effect .*guards_changed=0' "content='zeros'"
check 'loop on loop: it arrives at the upper one' says \
	"evidence delivered layer=$(basename "$upper") ok=1"
check 'loop on loop: the holes in the image agree' grew_little "$before" "$(blocks)"
umount "$mnt"
losetup -d "$upper" "$loop"

# --- an ordinary user ---

as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$WORK/probe_trim" --sizes=$SIZES --quiet=200ms \
		--after=0s --online=2s "$mnt" >"$WORK/seen" 2>&1
}

# The program may lie where only its owner can go.
install -m 755 "$PROBE" "$WORK/probe_trim"
disk 1G
fs ext4 discard "$loop"
chmod 777 "$mnt"
before=$(blocks)
as_nobody
check 'a user on a discarding mount sees the discards arrive' says \
	"evidence delivered layer=$(basename "$loop") ok=1" 'evidence online-discard .*ok=1'
check 'a user is told that reading below wants root' says \
	'evidence mapping-proven .*ok=0 error=-13 .*root'
check 'a user is told that the log wants root' says 'evidence kernel-log .*ok=0 error=-1 '
check 'a user sees the guards' says 'evidence guards .*ok=1' 'report rung=(sent|effect)'
check 'the holes in the image agree' grew_little "$before" "$(blocks)"
mount -o remount,nodiscard "$mnt"
as_nobody
check 'FITRIM without the right is EPERM, nothing else' says 'evidence fitrim .*ok=0 error=-1 .*root'
check 'a user leaves nothing behind' empty
umount "$mnt"
losetup -d "$loop"

# --- raw devices ---

disk 192M
printf 'not ours' | dd of="$loop" bs=1 seek=100M conv=notrunc 2>/dev/null
sum=$(sha256sum <"$image")
probe "$loop"
check 'without consent a device is only looked at' says 'evidence consent .*ok=0' 'asked=0'
check 'and not a byte of it is changed' test "$sum" = "$(sha256sum <"$image")"
exits 1 "$PROBE" --erase-data=sdzz "$loop"
check 'consent for another device opens nothing' grep -q 'error -1' "$WORK/out"
check 'and not a byte is changed either' test "$sum" = "$(sha256sum <"$image")"
before=$(blocks)
probe "$loop" --erase-data="$(basename "$loop")"
check 'with consent every piece is discarded' says 'report rung=effect mapping=2 space_freed=2' \
	"content='zeros'" 'evidence discard .*ok=1' 'size 16777216 tried=3 gone=3'
check 'the holes in the image agree' grew_little "$before" "$(blocks)"
losetup -d "$loop"

# --- memory ---

mount -t tmpfs -o size=256m tmpfs "$mnt"
probe "$mnt" --sizes=4k,64k
check 'without a device below, holes and blocks tell' says 'evidence punch-hole .*ok=1 error=0' \
	'evidence space layer= ok=1' 'evidence guards .*ok=1'
check 'nothing is read below' says_not 'evidence (mapping-proven|read-back|extents)'
umount "$mnt"

# --- killed ---

disk 1G
fs ext4 nodiscard "$loop"
loops=$(losetup -l -n -O NAME | sort)
mounts=$(wc -l </proc/self/mountinfo)
free=$(df --output=avail "$mnt" | tail -n 1)
for i in $(seq 10); do
	"$PROBE" --sizes=$SIZES --quiet=200ms --after=0s,1s "$mnt" >"$WORK/seen" 2>&1 &
	sleep "$(printf '0.%03d' $((RANDOM % 900)))"
	kill -KILL $! 2>/dev/null
	wait $! 2>/dev/null
done
check 'killed ten times, no file is left' empty
check 'no loop device' test "$loops" = "$(losetup -l -n -O NAME | sort)"
check 'no mount' test "$mounts" = "$(wc -l </proc/self/mountinfo)"
sync -f "$mnt"
now=$(df --output=avail "$mnt" | tail -n 1)
check 'and the space is back' test $((free - now)) -le 1024
probe "$mnt"
check 'the next one works' says 'report rung=effect mapping=2'
umount "$mnt"
losetup -d "$loop"
