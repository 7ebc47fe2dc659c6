#!/bin/bash
# SPDX-License-Identifier: MIT
# `tare check` on a real file system: a valid document, nine rows with figures, nothing left.
. "$(dirname "$0")/lib.sh"
plan 9
need_loop

loop=$(make_loop 3G)
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

before=$(free_bytes)
check 'a quick check succeeds' exits 0 "$TARE" check --quick --json "$WORK/fs/dir"
cp "$WORK/out" "$WORK/check.json"
check 'it is one valid document of the schema' \
	json_true "$WORK/check.json" "d['schema'] == 'tare.result/1' and d['interrupted'] is False"
check 'it has the nine measurements' json_true "$WORK/check.json" \
	"sorted(m['name'] for m in d['measurements']) == sorted(['seq-read-1m-q8', 'seq-write-1m-q8',
	'seq-read-1m-q1', 'seq-write-1m-q1', 'rand-read-4k-q32', 'rand-write-4k-q32',
	'rand-read-4k-q1', 'rand-write-4k-q1', 'sync-write-4k-q1'])"
check 'no figure of them is zero' json_true "$WORK/check.json" \
	"all(o['iops'] > 0 and o['bytes_per_s'] > 0 and o['errors'] == 0 and
	0 < o['latency_ns']['min'] <= o['latency_ns']['p50'] <= o['latency_ns']['p90'] <= o['latency_ns']['p99']
	<= o['latency_ns']['p99_9'] <= o['latency_ns']['p99_99'] <= o['latency_ns']['max']
	for m in d['measurements'] for k, o in m['ops'].items() if k != 'sync')"
check 'it says what kind of thing it measured' json_true "$WORK/check.json" \
	"d['target']['filesystem']['type'] == 'ext4' and d['target']['device'].startswith('loop')
	and any(f['code'] == 'virtual-device' for f in d['findings'])"
check 'the directory is empty afterwards' test -z "$(ls -A "$WORK/fs/dir")"
after=$(free_bytes)
check 'the space is free again' test "$after" -ge $((before - 65536))

# Ctrl-C: a valid partial result, and nothing left.
"$TARE" check --quick --json "$WORK/fs/dir" >"$WORK/int.json" 2>/dev/null &
pid=$!
sleep 4
kill -INT $pid
wait $pid
status=$?
interrupted()
{
	[ "$status" = 130 ] || { echo "exit code $status"; return 1; }
	json_true "$WORK/int.json" "d['interrupted'] is True"
}
check 'an interrupted check gives a valid partial result and exit code 130' interrupted
check 'and leaves nothing' test -z "$(ls -A "$WORK/fs/dir")"
