#!/bin/bash
# SPDX-License-Identifier: MIT
# What tare says it did to a device is what the kernel counted for it, within 0.5 %.
. "$(dirname "$0")/lib.sh"
plan 12
need_loop

loop=$(make_loop 128M)
name=${loop#/dev/}
dd if=/dev/urandom of="$loop" bs=1M count=128 oflag=direct status=none

# fields of /sys/block/X/stat: 1 reads, 3 sectors read, 5 writes, 7 sectors written
counters()
{
	awk '{ printf "%.0f %.0f %.0f %.0f\n", $1, $3 * 512, $5, $7 * 512 }' "/sys/block/$name/stat"
}

agrees()
{
	python3 - "$@" <<'PYTHON'
import json, sys
path, kind, before, after = sys.argv[1:]
before, after = ([int(x) for x in text.split()] for text in (before, after))
delta = [b - a for a, b in zip(before, after)]
count, size = delta[:2] if kind == "read" else delta[2:]
d = json.load(open(path))
op = d["measurements"][0]["ops"][kind]
print("tare", op["count"], op["bytes"], "kernel", count, size)
ok = abs(op["count"] - count) <= 0.005 * count + 1 and abs(op["bytes"] - size) <= 0.005 * size + 4096
sys.exit(0 if ok and count > 0 else 1)
PYTHON
}

for engine in io_uring libaio sync; do
	for kind in read write; do
		consent=
		[ $kind = write ] && consent=--erase-data=$name
		before=$(counters)
		check "$engine random 4 KiB ${kind}s run" exits 0 "$TARE" run --rw rand$kind --bs 4k \
			--iodepth 8 --ioengine $engine --io-size 256m $consent --json "$loop"
		check "$engine ${kind}s agree with the kernel" agrees "$WORK/out" $kind "$before" "$(counters)"
	done
done
