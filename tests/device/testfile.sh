#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Test files on real file systems: with O_TMPFILE and without, a file system's directory is
# empty and its space back after the end and after SIGKILL; what does not fit is refused.

if [ "$(id -u)" = 0 ] && [ -z "${TARE_NAMESPACE:-}" ]; then
	exec env TARE_NAMESPACE=1 unshare -m --propagation private "$0" "$@"
fi

. "$(dirname "$0")/lib.sh"
OPEN_TARGET=${OPEN_TARGET:-$(dirname "$TARE")/tests/open_target}
filesystems='ext4 xfs btrfs'
has_filesystem vfat && filesystems="$filesystems vfat"
plan $((8 + 2 * $(wc -w <<<"$filesystems")))
need_loop

mnt=$WORK/mnt
mkdir "$mnt"

free_kib()
{
	sync -f "$mnt"
	df --output=avail "$mnt" | tail -n 1
}

# Within 1 MiB: file systems keep accounts of their own.
space_is_back()	# KIB-BEFORE
{
	local now
	for _ in $(seq 50); do	# some give back space a moment later
		now=$(free_kib)
		[ $((now > $1 ? now - $1 : $1 - now)) -le 1024 ] && return 0
		sleep 0.1
	done
	echo "free: $1 KiB before, $now KiB now"
	return 1
}

empty()
{
	[ -z "$(find "$mnt" -mindepth 1 ! -name lost+found)" ] || { ls -la "$mnt"; return 1; }
}

ends_clean()
{
	local before
	before=$(free_kib)
	exits 0 "$OPEN_TARGET" --write --size=64m "$mnt" && empty && space_is_back "$before"
}

dies_clean()
{
	local before pid
	before=$(free_kib)
	: >"$WORK/held"
	"$OPEN_TARGET" --write --size=64m --hold "$mnt" >"$WORK/held" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		[ -s "$WORK/held" ] && break
		sleep 0.05
	done
	grep -q ours=1 "$WORK/held" || { cat "$WORK/held"; return 1; }
	empty || return 1
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	empty && space_is_back "$before"
}

try()	# NAME MKFS...
{
	local name=$1 device
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name: the end" "no $1 here"
		skip "$name: SIGKILL" "no $1 here"
		return
	fi
	device=$(make_loop 600M)
	"$@" "$device" >/dev/null 2>&1
	mount "$device" "$mnt" || return
	check "$name: the end" ends_clean
	check "$name: SIGKILL" dies_clean
	umount "$mnt"
}

try ext4 mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0
try xfs mkfs.xfs -q
try btrfs mkfs.btrfs -q
if has_filesystem vfat; then
	try vfat mkfs.vfat
else
	echo '# not tried: vfat, which this kernel is built without'
fi

mount -t tmpfs -o size=600m tmpfs "$mnt"
check 'tmpfs: the end' ends_clean
check 'tmpfs: SIGKILL' dies_clean
check 'nothing asked, and a tenth of what is free is too little' exits 8 "$OPEN_TARGET" "$mnt"
check 'the way out is told' grep -q -- '--size=256m' "$WORK/err"
check 'more than is free' exits 8 "$OPEN_TARGET" --size=1g "$mnt"
check 'all but the reserve is too much' exits 8 "$OPEN_TARGET" --size=590m "$mnt"
limited()
(
	ulimit -f 1024
	exits 3 "$OPEN_TARGET" --size=64m "$mnt"
)
check 'more than the limit of file sizes is an error, not a signal' limited
check 'nothing is left' empty
