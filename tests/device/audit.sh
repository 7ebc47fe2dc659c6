#!/bin/bash
# SPDX-License-Identifier: MIT
# Findings of the audit provoked for real: each place or load that makes a number a lie.
. "$(dirname "$0")/lib.sh"
plan 23
need_loop
need_commands mkfs.ext4 mount python3

# run ARGUMENTS...: half a second of reads, its document in $WORK/run.json. rw, depth and
# runtime in front of it ask for something else.
run()
{
	exits 0 "$TARE" run "--rw=${rw:-randread}" --bs=4k "--iodepth=${depth:-8}" \
		"--runtime=${runtime:-500ms}" --json "$@" || return 1
	cp "$WORK/out" "$WORK/run.json"
}

# finds CODE SEVERITY RUN-ARGUMENTS...: the run has that finding, with a sentence and a remedy.
finds()
{
	local code=$1 severity=$2
	shift 2
	run "$@" && json_true "$WORK/run.json" "any(f['code'] == '$code' and
		f['severity'] == '$severity' and f['text'] and f['remedy'] for f in d['findings'])"
}

lacks()
{
	local code
	for code; do
		json_true "$WORK/run.json" "all(f['code'] != '$code' for f in d['findings'])" ||
			return 1
	done
}

mounted()
{
	mkdir -p "$WORK/$1" && mount "${@:3}" "$2" "$WORK/$1"
}

# A sound place first: a file of ours on ext4 on a loop device with direct I/O.
loop=$(make_loop 1G)
mkfs.ext4 -q "$loop"
mounted ext4 "$loop"
check 'a laid-out file on ext4 runs' run --size=64m "$WORK/ext4"
check 'and is accused of nothing' lacks memory-backed page-cache sparse unwritten fs-compression \
	fs-cow fs-encryption misaligned depth-not-reached punted-to-kernel-threads io-errors \
	remote-fs fuse-fs cgroup-limit
check 'loop is named as virtual' finds virtual-device info --size=64m "$WORK/ext4"
check 'the state is unknown' finds state-unknown info --size=64m "$WORK/ext4"

mounted tmpfs none -t tmpfs -o size=256m
check 'tmpfs is memory' finds memory-backed invalid --size=64m "$WORK/tmpfs"
check 'and has io_uring punted to kernel threads' \
	finds punted-to-kernel-threads warning --ioengine=io_uring --size=64m "$WORK/tmpfs"
check 'which libaio is not' eval 'run --ioengine=libaio --size=64m "$WORK/tmpfs" &&
	lacks punted-to-kernel-threads'

truncate -s 64M "$WORK/ext4/sparse"
check 'holes are found in a sparse file' finds sparse invalid "$WORK/ext4/sparse"
check 'which stays sparse' test "$(stat -c %b "$WORK/ext4/sparse")" = 0

fallocate -l 64M "$WORK/ext4/unwritten"
check 'unwritten extents count as holes' finds sparse invalid "$WORK/ext4/unwritten"

head -c 64M /dev/urandom >"$WORK/ext4/data" && sync "$WORK/ext4/data"
# Four times over, however slow the machine: the first pass may come from the device.
runtime=1m check 'buffered reads are found out' finds page-cache invalid --direct=0 --io-size=256m \
	"$WORK/ext4/data"
check 'direct reads of the same file are not' eval 'run "$WORK/ext4/data" &&
	lacks page-cache sparse unwritten'
check 'the sync engine has no depth' finds depth-not-reached warning --ioengine=sync \
	"$WORK/ext4/data"
check 'buffered libaio has none either' finds depth-not-reached warning --ioengine=libaio \
	--direct=0 "$WORK/ext4/data"

zeros=$(make_loop 64M)
check 'a device that was never written reads as zeros' finds unwritten invalid "$zeros"

cached=$(mktemp "$WORK/disk.XXXXXX") && head -c 64M /dev/urandom >"$cached"
cached=$(losetup --direct-io=off -f --show "$cached")
check 'a buffered loop device is the page cache' finds virtual-device warning "$cached"

# An old partition table: one partition, from sector 63.
old=$(mktemp "$WORK/disk.XXXXXX") && head -c 64M /dev/urandom >"$old"
python3 - "$old" <<-'PYTHON'
	import struct, sys
	with open(sys.argv[1], 'r+b') as f:
	    f.seek(446)
	    f.write(struct.pack('<B3sB3sII', 0, b'\0' * 3, 0x83, b'\0' * 3, 63, 100000))
	    f.write(b'\0' * 48 + b'\x55\xaa')
PYTHON
old=$(losetup -P --direct-io=on -f --show "$old")
# Kernels without partition tables still take one partition from user space.
[ -b "${old}p1" ] || partx -a --nr 1 "$old" 2>/dev/null
if [ -b "${old}p1" ]; then
	check 'a partition from sector 63 is misaligned' finds misaligned warning "${old}p1"
else
	skip 'a partition from sector 63 is misaligned' 'no partitions on loop devices here'
fi

btrfs=$(make_loop 512M)
if command -v mkfs.btrfs >/dev/null && mkfs.btrfs -q "$btrfs" >/dev/null 2>&1 &&
	mounted btrfs "$btrfs" -o compress=zstd; then
	rw=randwrite check 'compressible data on a compressing file system is void' \
		finds fs-compression invalid --data=zero --size=64m "$WORK/btrfs"
	rw=randwrite check 'data that cannot be compressed is a lesser matter' \
		finds fs-compression warning --size=64m "$WORK/btrfs"
	rw=randwrite check 'copy on write is said' finds fs-cow warning --size=64m "$WORK/btrfs"
else
	skip 'compressible data on a compressing file system is void' 'no btrfs here'
	skip 'data that cannot be compressed is a lesser matter' 'no btrfs here'
	skip 'copy on write is said' 'no btrfs here'
fi

busy=$(mktemp "$WORK/disk.XXXXXX") && head -c 64M /dev/urandom >"$busy"
busy=$(losetup --direct-io=on -f --show "$busy")
runtime=1s check 'alone on a device' eval 'run "$busy" && lacks background-io'
(while dd if="$busy" of=/dev/null bs=1M iflag=direct; do :; done) 2>/dev/null &
others=$!
depth=1 runtime=1s check 'others on the device are noticed' finds background-io warning "$busy"
kill $others
wait $others 2>/dev/null

if zram=$(cat /sys/class/zram-control/hot_add 2>/dev/null); then
	echo 64M >"/sys/block/zram$zram/disksize"
	check 'zram is memory' finds memory-backed invalid "/dev/zram$zram"
	echo "$zram" >/sys/class/zram-control/hot_remove
else
	skip 'zram is memory' 'no zram here'
fi
