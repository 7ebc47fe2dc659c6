#!/bin/bash
# SPDX-License-Identifier: MIT
# --verify tells a flipped bit, a stale block, swapped blocks and a torn write apart.
. "$(dirname "$0")/lib.sh"
plan 15

# Two rounds of writes over the same blocks, so that a lost second one is stale, not unwritten.
write_and_verify()
{
	"$TARE" run --rw randwrite --bs 4k --size 128m --iodepth 8 --io-size 256m --verify --json "$@" "$WORK"
}

check 'good data passes' exits 0 write_and_verify
check 'all of it was read back' json_true "$WORK/out" \
	"d['measurements'][0]['verify']['blocks'] == 32768 and d['measurements'][0]['verify']['bad_blocks'] == 0"

# Of the second round (from write 32769 on) an even number of writes is hit: swap needs pairs.
for fault in flip:flipped stale:stale swap:misplaced torn:torn; do
	injected=${fault%:*} found=${fault#*:}
	check "$injected: exit code 1" exits 1 write_and_verify --filter "corrupt:$injected,after=40000,every=6000"
	check "$injected: reported as $found" json_true "$WORK/out" \
		"d['measurements'][0]['verify']['bad_blocks'] >= 1 and d['measurements'][0]['verify']['first_bad']['what'] == '$found'"
	check "$injected: the place is named" json_true "$WORK/out" \
		"d['measurements'][0]['verify']['first_bad']['offset_bytes'] % 4096 == 0 and d['measurements'][0]['verify']['first_bad']['expected'] and d['measurements'][0]['verify']['first_bad']['found']"
done
check 'nothing is left' test -z "$(find "$WORK" -maxdepth 1 -type f ! -name out ! -name err)"
