#!/bin/bash
# SPDX-License-Identifier: MIT
# Steps on a real block device, and its ledger: what tare did, what others wrote in between.
. "$(dirname "$0")/lib.sh"
plan 13
need_loop
touch "$WORK/begun"

loop=$(make_loop 256M)
device=${loop#/dev/}
disk=$(losetup -n -O BACK-FILE "$loop")

precondition()
{
	"$TARE" precondition --json --progress=none --erase-data="$device" --steps="$1" "$loop" >"$WORK/out.json"
}

state()
{
	"$TARE" state --json "$loop" >"$WORK/state.json" && json_true "$WORK/state.json" "$1"
}

stat_bytes()	# FIELD
{
	awk -v f="$1" '{ printf "%.0f\n", $f * 512 }' "/sys/block/$device/stat"
}

check 'a drive that was never seen is unknown' state "d['state']['name'] == 'unknown' and not d['entries']"
written=$(stat_bytes 7)
check 'a device is filled' precondition 'fill=2'
check 'the kernel counted what the result says' json_true "$WORK/out.json" \
	"d['state']['steps'][0]['written_bytes'] == 512 << 20 and $(($(stat_bytes 7) - written)) == 512 << 20"
check 'and all of it is data now' test "$(du -k "$disk" | cut -f1)" -ge $((256 * 1024))
discarded=$(stat_bytes 14)
check 'a pattern is discarded' precondition 'trim:size=128m,bs=1m,every=2m'
check 'the kernel counted 64 MiB' json_true "$WORK/out.json" \
	"d['state']['steps'][0]['discard_sent_bytes'] == d['state']['steps'][0]['discard_asked_bytes'] == 64 << 20
	and $(($(stat_bytes 14) - discarded)) == 64 << 20"
check 'the ledger has it all' state \
	"[e['what'] for e in d['entries']] == ['fill', 'trim'] and d['state']['name'] == 'trimmed'"
dd if=/dev/zero of="$loop" bs=1M count=5 oflag=direct 2>/dev/null
check 'what others write is seen' state \
	"d['state']['name'] == 'unknown' and d['entries'][-1]['written_bytes'] == 5 << 20
	and d['entries'][-1]['who'] == 'others'"
check 'a purge is checked by samples' precondition 'purge'
check 'all of which are blank afterwards' json_true "$WORK/out.json" \
	"d['state']['name'] == 'purged' and d['state']['steps'][0]['reached']
	and d['state']['steps'][0]['method'] == 'discard'
	and d['state']['steps'][0]['figures']['held_data_before'] > 100
	and d['state']['steps'][0]['figures']['unchanged'] == 0"
check 'the writes of others are in the ledger for good' state \
	"[e['what'] for e in d['entries']] == ['fill', 'trim', 'writes', 'purge'] and d['state']['name'] == 'purged'"
check 'files are placed and forgotten on a bare device' precondition \
	'dirty:files=200,amount=100m,delete=50%; trim'
# A sanitize is for drives; a loop device is none, and is told so before anything happens.
check "a firmware's erase is refused where there is none" exits 3 \
	"$TARE" precondition --erase-data="$device" --steps=purge=nvme-sanitize "$loop"
