#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The safety gate under attack: devices that are in use or hold data, on real loop devices.
# Each attack must end with exit code 3 and not one byte changed, by no consent, by consent to
# the device's own name, and by consent to another's.

# Mounts are made in a namespace of our own, so that none outlives us.
if [ "$(id -u)" = 0 ] && [ -z "${TARE_GATE_NAMESPACE:-}" ]; then
	exec env TARE_GATE_NAMESPACE=1 unshare -m --propagation private "$0" "$@"
fi

. "$(dirname "$0")/lib.sh"
OPEN_TARGET=${OPEN_TARGET:-$(dirname "$TARE")/tests/open_target}
plan $((41 + $(has_device_mapper && echo 1 || echo 0)))
need_loop
need_commands mkfs.ext4 mkswap swapon sha256sum python3

sum()
{
	sha256sum "$@" | cut -d' ' -f1
}

# The file behind a loop device or one of its partitions.
backing()
{
	local base
	base=$(basename "$1")
	[ ! -e "/sys/class/block/$base/partition" ] || base=${base%p[0-9]}
	cat "/sys/class/block/$base/loop/backing_file"
}

# attack PROGRAM-ARGS...: both the opener alone and the whole program.
attack_once()
{
	local consent=$1 spec=$2
	exits 3 "$OPEN_TARGET" --write ${consent:+"--erase-data=$consent"} "$spec" || return 1
	exits 3 "$TARE" run --rw=randwrite --bs=4k --runtime=1s ${consent:+"--erase-data=$consent"} \
		"$spec" </dev/null
}

# refused DEVICE [SPEC]: SPEC (the device itself by default) is refused whatever is consented to.
refused()
{
	local device=$1 spec=${2:-$1} file before own
	file=$(backing "$device")
	own=$(basename "$device")
	sync "$device" "$file"
	before=$(sum "$file")
	attack_once '' "$spec" && attack_once 'S7KHNJ0W700123A' "$spec" &&
		attack_once "$own" "$spec" || return 1
	sync "$device" "$file"
	[ "$(sum "$file")" = "$before" ] || { echo "$device was changed"; return 1; }
}

# says TEXT: the refusal just made said so.
says()
{
	grep -qF "$1" "$WORK/err" || { cat "$WORK/err"; return 1; }
}

refused_saying()
{
	local text=$1
	shift
	refused "$@" && says "$text"
}

# One DOS partition from 1 MiB to 17 MiB (of 18).
partition_it()
{
	printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\200\0\0' |
		dd of="$1" bs=1 seek=446 conv=notrunc status=none
	printf '\125\252' | dd of="$1" bs=1 seek=510 conv=notrunc status=none
}

# A kernel that does not read partition tables is told where the partition is.
make_partitioned()
{
	local file=$WORK/parted loop
	truncate -s 18M "$file"
	partition_it "$file"
	loop=$(losetup -fP --show "$file")
	[ -b "${loop}p1" ] || addpart "$loop" 1 2048 32768 2>/dev/null
	echo "$loop"
}

gpt()
{
	python3 - "$1" <<'EOF'
import struct, sys, uuid, zlib
f = open(sys.argv[1], 'r+b')
f.seek(0, 2)
last = f.tell() // 512 - 1
entry = (uuid.UUID('0fc63daf-8483-4772-8e79-3d69d8477de4').bytes_le + uuid.UUID(int=7).bytes_le +
         struct.pack('<QQQ', 2048, 4095, 0) + 'data'.encode('utf-16le').ljust(72, b'\0'))
table = entry.ljust(128 * 128, b'\0')
def header(me, other, entries):
    def pack(crc):
        return struct.pack('<8sIIIIQQQQ16sQIII', b'EFI PART', 0x10000, 92, crc, 0, me, other, 34,
                           last - 33, uuid.UUID(int=9).bytes_le, entries, 128, 128, zlib.crc32(table))
    return pack(zlib.crc32(pack(0))).ljust(512, b'\0')
f.seek(0)
mbr = bytearray(512)
mbr[446:462] = struct.pack('<B3sB3sII', 0, b'\0\2\0', 0xee, b'\xff\xff\xff', 1, last)
mbr[510:512] = b'\x55\xaa'
f.write(mbr + header(1, last, 2) + table)
f.seek((last - 32) * 512)
f.write(table + header(last, 1, last - 32))
EOF
}

# DEVICE: another program has it exclusively until release. Not ours alone on a machine that
# looks at new devices: a probe may have it for a moment.
hold()
{
	local try
	for try in 1 2 3 4 5; do
		rm -f "$WORK/holder"	# what the holder before said is no proof
		"$OPEN_TARGET" --write --hold "--erase-data=$(basename "$1")" "$1" \
			>"$WORK/holder" 2>"$WORK/holder.err" &
		holder=$!
		while kill -0 "$holder" 2>/dev/null; do
			[ -s "$WORK/holder" ] && return
			sleep 0.05
		done
		sed "s/^/# holder, try $try: /" "$WORK/holder.err"
		sleep 0.2
	done
}

release()
{
	kill "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
}

# --- in use: mounts -------------------------------------------------------------------------

mnt=$WORK/mnt
mkdir "$mnt"
loop=$(make_loop 16M)
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$loop"
mount -o noatime "$loop" "$mnt"
sync -f "$mnt"
check 'a mounted device' refused_saying "is mounted at $mnt" "$loop"
check 'the way to test it safely is told' says "tare check $mnt"
ln -s "$loop" "$WORK/link"
check 'a mounted device through a link' refused "$loop" "$WORK/link"
mkdir -p "$WORK/by-id"
ln -s ../link "$WORK/by-id/ata-Nice_Drive_S7KHNJ0W700123A"
check 'a mounted device through a link of links with a serial number in its name' \
	refused "$loop" "$WORK/by-id/ata-Nice_Drive_S7KHNJ0W700123A"
mknod "$WORK/node" b "$((0x$(stat -c %t "$loop")))" "$((0x$(stat -c %T "$loop")))"
check 'a mounted device through a node of another name' refused "$loop" "$WORK/node"
check 'a mounted device may be read' exits 0 "$OPEN_TARGET" "$loop"
umount "$mnt"
check 'its file system not mounted' refused_saying 'holds an ext4 file system' "$loop"

mount "$loop" "$mnt"
unshare -m --propagation private sleep 1000 &
elsewhere=$!
sleep 0.3
umount "$mnt"
check 'mounted only in another mount namespace' refused_saying 'mount namespace of process' "$loop"
kill "$elsewhere"
wait "$elsewhere" 2>/dev/null

loop=$(make_partitioned)
if [ -b "${loop}p1" ]; then
	check 'a partition table' refused_saying 'a dos partition table' "$loop"
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "${loop}p1"
	mount "${loop}p1" "$mnt"
	check 'a disk whose partition is mounted' \
		refused_saying "$(basename "$loop")p1 is mounted at $mnt" "$loop"
	check 'a mounted partition' refused "${loop}p1"
	umount "$mnt"
	mount "${loop}p1" "$mnt"
	unshare -m --propagation private sleep 1000 &
	elsewhere=$!
	sleep 0.3
	umount "$mnt"
	check 'a disk whose partition is mounted only in another mount namespace' \
		refused_saying 'mount namespace of process' "$loop"
	kill "$elsewhere"
	wait "$elsewhere" 2>/dev/null
	mkswap -q "${loop}p1" >/dev/null
	swapon "${loop}p1"
	check 'a disk whose partition is swap' refused_saying 'is swap' "$loop"
	check 'a partition that is swap' refused_saying 'is swap' "${loop}p1"
	swapoff "${loop}p1"
	check 'swap space that is not in use' refused_saying 'holds swap space' "${loop}p1"
	wipefs -qa "${loop}p1"
	hold "${loop}p1"
	check 'a disk whose partition another program holds' refused "$loop"
	release
else
	for fact in 'a partition table' 'a disk whose partition is mounted' 'a mounted partition' \
		'a disk whose partition is mounted only in another mount namespace' \
		'a disk whose partition is swap' 'a partition that is swap' \
		'swap space that is not in use' 'a disk whose partition another program holds'; do
		skip "$fact" 'no partitions on loop devices here'
	done
fi

loop=$(make_loop 16M)
mkswap -q "$loop" >/dev/null
swapon "$loop"
check 'a device that is swap' refused_saying "$(basename "$loop") is swap" "$loop"
swapoff "$loop"

# --- in use: what is built on it -------------------------------------------------------------

upper=$(losetup -f --show "$loop")
wipefs -qa "$loop"
check 'a device with a loop device over it' refused_saying "is part of $(basename "$upper")" "$loop"
losetup -d "$upper"

if command -v mkfs.btrfs >/dev/null && grep -qw btrfs /proc/filesystems; then
	one=$(make_loop 128M)
	two=$(make_loop 128M)
	mkfs.btrfs -q -f -d raid0 -m raid0 "$one" "$two" >/dev/null 2>&1
	btrfs device scan "$one" "$two" >/dev/null 2>&1
	mount "$one" "$mnt"
	check 'the first device of a mounted btrfs' refused_saying "is mounted at $mnt" "$one"
	check 'the second device of a mounted btrfs' refused_saying "is mounted at $mnt" "$two"
	umount "$mnt"
	check 'a btrfs of two devices, not mounted' refused_saying 'a btrfs file system' "$two"
else
	skip 'the first device of a mounted btrfs' 'no btrfs here'
	skip 'the second device of a mounted btrfs' 'no btrfs here'
	skip 'a btrfs of two devices, not mounted' 'no btrfs here'
fi

loop=$(make_loop 16M)
if ! has_device_mapper; then
	echo '# not tried: an open LUKS volume; this kernel is built without the device mapper'
elif cryptsetup -q luksFormat --type luks1 --iter-time 10 "$loop" - <<<secret 2>/dev/null &&
	cryptsetup open "$loop" tare-gate-$$ --key-file=- <<<secret 2>/dev/null; then
	check 'an open LUKS volume' refused_saying 'is part of dm-' "$loop"
	cryptsetup close tare-gate-$$
else
	skip 'an open LUKS volume' 'cryptsetup does not work here'
fi

# --- data that no one uses just now ------------------------------------------------------------

loop=$(make_loop 16M)
cryptsetup -q luksFormat --type luks1 --iter-time 10 "$loop" - <<<secret 2>/dev/null ||
	printf 'LUKS\272\276\0\001' | dd of="$loop" conv=notrunc status=none
check 'a LUKS header' refused_saying 'holds a LUKS volume' "$loop"

loop=$(make_loop 16M)
if pvcreate -qq -f "$loop" >/dev/null 2>&1; then
	check 'an LVM physical volume' refused_saying 'holds an LVM physical volume' "$loop"
else
	skip 'an LVM physical volume' 'pvcreate does not work here'
fi

# Superblock 1.2 lies at 4 KiB and says itself where (in sectors).
loop=$(make_loop 16M)
{
	printf '\374\116\053\251\001\0\0\0'
	head -c 136 /dev/zero
	printf '\010\0\0\0\0\0\0\0'
} | dd of="$loop" bs=1 seek=4096 conv=notrunc status=none
check 'an md member' refused_saying 'holds an md member' "$loop"

loop=$(make_loop 16M)
gpt "$loop"
check 'a GPT' refused_saying 'a gpt partition table' "$loop"
dd if=/dev/zero of="$loop" bs=512 count=34 conv=notrunc status=none
check 'the second header of a GPT whose first is gone' refused_saying 'a gpt partition table' "$loop"

if command -v mkfs.xfs >/dev/null; then
	loop=$(make_loop 300M)
	mkfs.xfs -q "$loop"
	check 'an xfs file system' refused_saying 'holds an xfs file system' "$loop"
else
	skip 'an xfs file system' 'no mkfs.xfs here'
fi

# --- a blank device: what does open the gate ---------------------------------------------------

loop=$(make_loop 16M)
blank=$(basename "$loop")
blank_refused()
{
	local before
	before=$(sum "$(backing "$loop")")
	attack_once '' "$loop" && attack_once "${blank}0" "$loop" && attack_once loop "$loop" &&
		attack_once / "$loop" && [ "$(sum "$(backing "$loop")")" = "$before" ]
}
check 'a blank device without consent, or with consent to another' blank_refused
written()
{
	local before
	before=$(sum "$(backing "$loop")")
	exits 0 "$OPEN_TARGET" --write "--erase-data=$blank" "$loop" || return 1
	[ "$(sum "$(backing "$loop")")" != "$before" ]
}
check 'a blank device with consent to its name is written' written
hold "$loop"
check 'a device that another program holds exclusively' \
	exits 3 "$OPEN_TARGET" --write "--erase-data=$blank" "$loop"
check 'and it is said' says 'another program holds it open exclusively'
release
locked()
{
	exits 3 python3 - "$OPEN_TARGET" "$loop" "$blank" <<'EOF'
import fcntl, os, struct, subprocess, sys
fd = os.open(sys.argv[2], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 100, 1, 0))
sys.exit(subprocess.run([sys.argv[1], '--write', '--erase-data=' + sys.argv[3], sys.argv[2]]).returncode)
EOF
}
check 'a device that a program has locked, as virtual machines do' locked
check 'and it is said, too' says 'another program has it locked'
blockdev --setro "$loop"
check 'a device set read-only' exits 3 "$OPEN_TARGET" --write "--erase-data=$blank" "$loop"
blockdev --setrw "$loop"

# --- files ---------------------------------------------------------------------------------------

file_refused()	# FILE PROGRAM...
{
	local file=$1 before
	shift
	before=$(sum "$file")-$(stat -c %s "$file")
	exits 3 "$@" && [ "$(sum "$file")-$(stat -c %s "$file")" = "$before" ]
}
head -c 1M /dev/urandom >"$WORK/mine"
head -c 1M /dev/urandom >"$WORK/other"
check 'a file that is not ours' file_refused "$WORK/mine" "$OPEN_TARGET" --write "$WORK/mine"
check 'a file beside the one named as expendable' file_refused "$WORK/mine" \
	"$OPEN_TARGET" --write "--expendable=$WORK/other" "$WORK/mine"
check 'a read job larger than its file' file_refused "$WORK/mine" \
	"$OPEN_TARGET" --need=2m "$WORK/mine"
check 'a write job larger than its expendable file' file_refused "$WORK/mine" \
	"$OPEN_TARGET" --write --need=2m "--expendable=$WORK/mine" "$WORK/mine"
check 'the file behind a loop device' file_refused "$(backing "$loop")" \
	"$OPEN_TARGET" --write "--expendable=$(backing "$loop")" "$(backing "$loop")"
head -c 4M /dev/zero >"$WORK/swapfile"
chmod 600 "$WORK/swapfile"
if mkswap -q "$WORK/swapfile" >/dev/null && swapon "$WORK/swapfile" 2>/dev/null; then
	check 'a swap file' file_refused "$WORK/swapfile" \
		"$OPEN_TARGET" --write "--expendable=$WORK/swapfile" "$WORK/swapfile"
	swapoff "$WORK/swapfile"
else
	skip 'a swap file' 'no swap files here'
fi
nothing_in_dev()
{
	local before
	before=$(ls -A /dev)
	exits 3 "$OPEN_TARGET" --write /dev/ && exits 3 "$OPEN_TARGET" /dev &&
		exits 3 "$OPEN_TARGET" --write --size=1g /dev/nvme9n9 && [ "$(ls -A /dev)" = "$before" ]
}
check 'nothing is made below /dev' nothing_in_dev
