# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - for the tests against real kernels: TAP, and devices that are given back whatever
# happens. A test script sources it, calls plan once, then check/skip for each fact, and
# tidy runs on every exit.
#
#	. "$(dirname "$0")/lib.sh"
#	plan 2
#	need_loop			# ends the script as skipped where there is none
#	loop=$(make_loop 64M)
#	check 'a fact' test -b "$loop"
#
# TARE is the program under test; WORK a directory of the script's own.

set -u
TARE=${TARE:-$(dirname "${BASH_SOURCE[0]}")/../../build/tare}
TARE=$(realpath "$TARE")
WORK=$(mktemp -d "${TMPDIR:-/tmp}/tare-test.XXXXXX")

# An ext4 is made whole at once, in every test: a kernel that goes on zeroing tables for a minute
# would write while a test counts what a device was sent.
MKE2FS_CONFIG=$WORK.mke2fs.conf	# beside: some tests say that WORK is empty
sed 's/^\[defaults\].*/&\n\tlazy_itable_init = 0\n\tlazy_journal_init = 0/' /etc/mke2fs.conf >"$MKE2FS_CONFIG"
export MKE2FS_CONFIG

tap_count=0
tap_plan=0
tap_failed=0

plan()
{
	tap_plan=$1
	echo "1..$1"
}

ok()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

not_ok()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
}

# check NAME COMMAND...: the command's success is the fact; its output is shown on failure.
check()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name"
		printf '%s\n' "command: $*" "$out" | head -n 40 | sed 's/^/# /'
	fi
}

# skip NAME REASON
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all()
{
	while [ "$tap_count" -lt "$tap_plan" ]; do
		skip "not run" "$1"
	done
	exit 0
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip_all 'needs root'
}

need_loop()
{
	need_root
	losetup -f >/dev/null 2>&1 || skip_all 'no loop devices here'
}

# need_commands NAME...
need_commands()
{
	local name
	for name; do
		command -v "$name" >/dev/null || skip_all "no $name here"
	done
}

# What a kernel is built without cannot be tested on it by anyone: such facts are left out of
# the plan and noted, rather than counted as skipped.
has_filesystem()
{
	grep -qw "$1" /proc/filesystems || modprobe -q "$1" 2>/dev/null
}

has_device_mapper()
{
	grep -qw device-mapper /proc/misc || modprobe -q dm-mod 2>/dev/null
}

# make_loop SIZE [losetup options]: a loop device over a new file of ours; prints its name.
make_loop()
{
	local size=$1 file
	shift
	file=$(mktemp "$WORK/disk.XXXXXX")
	truncate -s "$size" "$file"
	losetup --direct-io=on "$@" -f --show "$file" 2>/dev/null || losetup "$@" -f --show "$file"
}

# json FILE EXPRESSION: evaluates a Python expression over the document d; prints it.
json()
{
	python3 -c 'import json,sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# json_true FILE EXPRESSION
json_true()
{
	[ "$(json "$1" "bool($2)")" = True ] || { echo "not true: $2"; head -c 2000 "$1"; return 1; }
}

# exits WANT COMMAND...: runs it, output to $WORK/out and $WORK/err; the exit code is the fact.
exits()
{
	local want=$1 got
	shift
	"$@" >"$WORK/out" 2>"$WORK/err"
	got=$?
	[ "$got" = "$want" ] && return 0
	echo "exit code $got, want $want"
	head -c 2000 "$WORK/out" "$WORK/err"
	return 1
}

tidy()
{
	local status=$? mount device
	trap - EXIT
	# Mounts below our directory, the deepest first; then loop devices over our files.
	awk -v w="$WORK/" 'index($5 "/", w) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
		while read -r mount; do umount -l "$mount"; done
	if [ "$(id -u)" = 0 ]; then
		losetup -l -n -O NAME,BACK-FILE 2>/dev/null | awk -v w="$WORK/" 'index($2, w) == 1 { print $1 }' |
			while read -r device; do
				swapoff "$device" 2>/dev/null
				losetup -d "$device"
			done
	fi
	# Ledgers of our devices, which go by the path of their files, and checkpoints of ours.
	rm -f "/var/lib/tare/ledger/"*"$(basename "$WORK" | tr . _)"*
	grep -lsF -- "$WORK" /var/lib/tare/checkpoints/* | xargs -r rm -f
	[ ! -e "$WORK/begun" ] || find /var/lib/tare/checkpoints -name 'precondition-*' \
		-newer "$WORK/begun" -delete 2>/dev/null
	rm -rf "$WORK" "$MKE2FS_CONFIG"
	if [ "$tap_count" != "$tap_plan" ]; then
		echo "# $tap_count of $tap_plan tests ran"
		exit 1
	fi
	[ "$tap_failed" = 0 ] || exit 1
	exit "$status"
}
trap tidy EXIT
trap 'exit 130' INT TERM
