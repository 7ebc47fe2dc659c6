#!/bin/bash
# SPDX-License-Identifier: MIT
# The reference drive as a file and a block device: what arrives, what file systems do to it,
# that data comes back, and that nothing stays whatever ends it. SERVE_SECONDS is how long
# fio verifies (5; SERVE_SECONDS=30 for the full test).
#
# In a mount namespace of its own: one unshared elsewhere meanwhile would keep our mounts.
if [ -z "${SERVE_UNSHARED:-}" ] && unshare -m --propagation private true 2>/dev/null; then
	SERVE_UNSHARED=1 exec unshare -m --propagation private "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
plan 44
need_root
[ -c /dev/fuse ] || skip_all 'no /dev/fuse here'
[ -c /dev/loop-control ] || skip_all 'no loop devices here'
need_commands mkfs.ext4 mkfs.xfs mkfs.btrfs fstrim blkdiscard filefrag

export TARE_RUNTIME_DIR="$WORK/registry"	# so that we clean for nobody else
drive=${SERVE_DRIVE:-x25m-g2}
server=
stop_server()
{
	[ -z "$server" ] || kill -KILL "$server" 2>/dev/null
	umount -l "$WORK/fs" 2>/dev/null
	"$TARE" sim clean >/dev/null 2>&1
	rm -rf "/tmp/tare-serve-test.$$"
	tidy
}
trap stop_server EXIT

# start SPEC [options]: serves it on $WORK/ssd; sets server, file, device.
start()
{
	rm -f "$WORK/ready"
	"$TARE" sim serve "$1" "$WORK/ssd" "${@:2}" --json >"$WORK/ready" 2>"$WORK/notes" &
	server=$!
	for _ in $(seq 300); do
		[ -s "$WORK/ready" ] && break
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	file=$(json "$WORK/ready" "d['file']") && device=$(json "$WORK/ready" "d['device']")
}

# ends SIGNAL: the server's exit status. (Not inside check, whose subshell has no children.)
ends()
{
	kill -"$1" "$server"
	wait "$server"
	local status=$?
	server=
	return "$status"
}

# Nothing in the mount table, no device, no file, no directory that was made.
nothing_left()
{
	local number=${device#/dev/}
	! grep -e "$WORK/ssd" -e "$device " /proc/self/mountinfo || return 1
	[ "$device" = None ] || [ ! -e "/sys/block/$number" ] || { echo "$number is there"; return 1; }
	[ ! -e "$WORK/ssd" ] || { echo "$WORK/ssd is there"; return 1; }
	! grep -l "\"$WORK/ssd\"" "$TARE_RUNTIME_DIR"/*.drive 2>/dev/null
}

# stat_true EXPRESSION [options]: over the document of `tare sim stat`
stat_true()
{
	"$TARE" sim stat "$device" --json "${@:2}" >"$WORK/stat" || return
	json_true "$WORK/stat" "$1"
}

stat_of()
{
	"$TARE" sim stat "$device" --json >"$WORK/stat" && json "$WORK/stat" "$1"
}

# poll SECONDS COMMAND...: discards come after sync has returned.
poll()
{
	for _ in $(seq $(($1 * 5))); do
		"${@:2}" >/dev/null && return 0
		sleep 0.2
	done
	"${@:2}"
}

# --- what is made, and what arrives -------------------------------------------------------------

start $drive,capacity=1g --loop
one_line()
{
	[ "$(wc -l <"$WORK/ready")" = 1 ] &&
		json_true "$WORK/ready" "d['pid'] == $server and d['floor_ns'] > 0 and
d['file'] == '$WORK/ssd/drive' and d['device'].startswith('/dev/loop')"
}
check 'one line of JSON names file, device, process and floor' one_line
queue=/sys/block/${device#/dev/}/queue
check 'the device has the size of the drive' test "$(blockdev --getsize64 "$device")" = $((1 << 30))
check 'its discard granularity is the drive'\''s' \
	test "$(cat "$queue/discard_granularity")" = "$(stat -f -c %s "$file")"

"$TARE" sim stat "$device" --json >"$WORK/stat"
before=$(json "$WORK/stat" "d['age_ns']")
blkdiscard -o 1048576 -l 65536 "$device"
blkdiscard -o 4096 -l 512 "$device"
blkdiscard -z -o 2097152 -l 131072 "$device"
check 'discards arrive with their exact ranges' stat_true "[(o['offset_bytes'], o['length_bytes'])
for o in d['log'] if o['kind'] == 'trim' and o['submitted_ns'] > $before] ==
[(1048576, 65536), (4096, 512)]" --log
check 'so does zeroing' stat_true "[(o['offset_bytes'], o['length_bytes'])
for o in d['log'] if o['kind'] == 'zero' and o['submitted_ns'] > $before] == [(2097152, 131072)]" --log
dd if=/dev/urandom of="$device" bs=64k count=1 oflag=direct conv=fsync status=none
check 'what is written is mapped, what is beyond is not' stat_true \
	"d['ranges'] == [{'first': 0, 'last': 127, 'state': 'mapped'},
{'first': 128, 'last': 255, 'state': 'unmapped'}]" --lba 0-255
blkdiscard -o 8192 -l 16384 "$device"
check 'what is discarded is unmapped' stat_true \
	"[(r['first'], r['last'], r['state']) for r in d['ranges']] ==
[(0, 15, 'mapped'), (16, 47, 'unmapped'), (48, 127, 'mapped')]" --lba 0-127

# --- file systems --------------------------------------------------------------------------------

# blocks_of FILE: its ranges on the device in 512-byte blocks
blocks_of()
{
	filefrag -v -b512 "$1" | awk '$1 ~ /^[0-9]+:$/ { gsub(/[.:]/, " "); print $4 "-" $5 }'
}

all_unmapped()
{
	local range
	for range in $ranges; do
		stat_true "all(r['state'] == 'unmapped' for r in d['ranges'])" --lba "$range" || return
	done
}

write_file()
{
	dd if=/dev/urandom of="$WORK/fs/big" bs=1M count=48 conv=fsync status=none && sync
}

mkdir "$WORK/fs"
for fs in ext4 xfs btrfs; do
	force=-f
	[ $fs = ext4 ] && force=-F
	check "$fs: made and mounted with discard" eval \
		"mkfs.$fs -q $force '$device' && mount -o discard '$device' '$WORK/fs'"
	write_file
	ranges=
	[ $fs = btrfs ] || ranges=$(blocks_of "$WORK/fs/big")
	full=$(stat_of "d['mapped_bytes']")
	rm "$WORK/fs/big" && sync
	check "$fs: deleting gives the drive its space back" poll 40 stat_true \
		"d['mapped_bytes'] < $full - 45 * 2**20"
	# btrfs shows logical addresses.
	[ $fs = btrfs ] || check "$fs: blocks of the file are unmapped" poll 20 all_unmapped
	umount "$WORK/fs"

	# Without the mount option, fstrim does it.
	mount -o nodiscard "$device" "$WORK/fs"
	write_file
	full=$(stat_of "d['mapped_bytes']")
	rm "$WORK/fs/big" && sync
	umount "$WORK/fs" && mount -o nodiscard "$device" "$WORK/fs"
	kept=$(stat_of "d['mapped_bytes']")
	check "$fs: without discard the drive keeps what was deleted" test "$kept" -gt $((full - (16 << 20)))
	check "$fs: fstrim" fstrim -v "$WORK/fs"
	check "$fs: after fstrim it is unmapped" stat_true "d['mapped_bytes'] < $kept - 45 * 2**20"
	umount "$WORK/fs"
done

# --- data ----------------------------------------------------------------------------------------

verify()
{
	fio --name=v --filename="$1" --rw=randwrite --bsrange=512-64k --size=256m --ioengine=libaio \
		--iodepth=16 --direct=1 --verify=crc32c --verify_fatal=1 --verify_backlog=256 --verify_state_save=0 \
		--time_based --runtime="${SERVE_SECONDS:-5}" --randrepeat=0
}
if command -v fio >/dev/null; then
	check 'fio verifies its data through the device' verify "$device"
	check 'and through the file' env SERVE_SECONDS=2 bash -c "$(declare -f verify); verify '$file'"
else
	skip 'fio verifies its data through the device' 'no fio here'
	skip 'and through the file' 'no fio here'
fi

# --- the end, in all ways -------------------------------------------------------------------------

mkfs.ext4 -qF "$device" && mount "$device" "$WORK/fs" && echo x >"$WORK/fs/x"
ends INT
check 'SIGINT with a file system mounted: ends well' test $? = 0
check 'and nothing is left' nothing_left

start $drive,capacity=256m --loop
dd if=/dev/zero of="$device" bs=64k oflag=direct conv=nocreat status=none 2>/dev/null &
sleep 0.3
ends TERM
check 'SIGTERM with a writer on the device: ends well' test $? = 0
check 'and nothing is left' nothing_left

start $drive,capacity=256m --loop
mkfs.ext4 -qF "$device" && mount "$device" "$WORK/fs"
dd if=/dev/zero of="$WORK/fs/dirty" bs=1M count=64 status=none &
unshare -m --propagation private sleep 60 &	# keeps a copy of the mount
copy=$!
sleep 0.5
ends KILL 2>/dev/null
wait %dd 2>/dev/null
check 'after SIGKILL the mount is dead' eval '! ls "$WORK/ssd" 2>/dev/null'
check 'a server refuses it and names the remedy' eval \
	'exits 3 "$TARE" sim serve $drive "$WORK/ssd" && grep -q "tare sim clean" "$WORK/err"'
check 'tare sim clean removes what is left' timeout 60 "$TARE" sim clean
check 'file system, device, mount and directory' nothing_left
check 'also where another namespace held the mount' eval '! grep "$device " /proc/$copy/mountinfo'
kill "$copy"

mkdir "$WORK/ssd"
start $drive,capacity=256m
umount "$WORK/ssd" && wait "$server"
check 'unmounted by hand, the server ends' test $? = 0
server=
check 'a directory that was there stays' rmdir "$WORK/ssd"
mkdir "$WORK/full" && touch "$WORK/full/x"
check 'a directory with something in it is refused' exits 3 "$TARE" sim serve $drive "$WORK/full"
check 'no drive, no stat' exits 3 "$TARE" sim stat "$WORK/full/x"

# --- trim, or not ---------------------------------------------------------------------------------

start $drive,capacity=256m,trim=none --loop
check 'trim=none: the device says so before any try' \
	test "$(cat "/sys/block/${device#/dev/}/queue/discard_max_bytes")" = 0
check 'and a discard is refused' eval '! blkdiscard "$device" 2>/dev/null'
ends TERM
start $drive,capacity=256m,trim=ignored --loop
dd if=/dev/urandom of="$WORK/data" bs=64k count=1 status=none
dd if="$WORK/data" of="$device" bs=64k oflag=direct conv=fsync,nocreat status=none
check 'trim=ignored: a discard succeeds' blkdiscard -o 0 -l 65536 "$device"
check 'and the data is still there' cmp -n 65536 "$WORK/data" "$device"
ends TERM

# --- without root ---------------------------------------------------------------------------------

as_nobody()
{
	local dir=/tmp/tare-serve-test.$$ i
	mkdir "$dir" && chown nobody "$dir" && cp "$WORK/data" "$dir/data" && chmod 644 "$dir/data"
	# shellcheck disable=SC2016
	setpriv --reuid nobody --regid nogroup --clear-groups env -u XDG_RUNTIME_DIR -u TARE_RUNTIME_DIR drive="$drive" bash -c '
		set -eu; cd "$1"
		"$2" sim serve $drive,capacity=256m "$1/ssd" --json >ready &
		server=$!
		for i in $(seq 200); do [ -s ready ] && break; sleep 0.05; done
		dd if=data of=ssd/drive bs=64k oflag=direct conv=notrunc status=none
		cmp -n 65536 data ssd/drive
		fallocate -p -o 4096 -l 8192 ssd/drive
		"$2" sim stat ssd/drive --lba 0-127 --json | grep -q unmapped
		kill -TERM $server; wait $server
		[ ! -e ssd ]' bash "$dir" "$1"
}
if ! command -v fusermount3 >/dev/null; then
	skip 'nobody serves a file, too' 'no fusermount3 here'
else
	cp "$TARE" "/tmp/tare-serve-test.$$.bin" && chmod 755 "/tmp/tare-serve-test.$$.bin"
	check 'nobody serves a file, too' as_nobody "/tmp/tare-serve-test.$$.bin"
	rm -f "/tmp/tare-serve-test.$$.bin"
fi
