#!/bin/bash
# SPDX-License-Identifier: MIT
# The reference drive behind nbdkit: data, discards, zeroes and extents over NBD.
. "$(dirname "$0")/lib.sh"
plan 9
plugin=${TARE_NBDKIT_PLUGIN:-$(dirname "$TARE")/src/serve/tare-nbdkit-plugin.so}
[ -e "$plugin" ] || skip_all 'built without nbdkit-plugin-dev'
need_commands nbdkit nbdcopy
/usr/bin/python3 -c 'import nbd' 2>/dev/null || skip_all 'no python3-libnbd here'

server=
trap '[ -z "$server" ] || kill "$server"; tidy' EXIT

start()
{
	[ -z "$server" ] || { kill "$server" && wait "$server"; }
	rm -f "$WORK/s" "$WORK/pid"
	nbdkit -f -P "$WORK/pid" -U "$WORK/s" -t 32 "$plugin" "$@" &
	server=$!
	for _ in $(seq 200); do [ -e "$WORK/pid" ] && break; sleep 0.05; done
}

# over PYTHON: with h, a handle on the drive, d, 64 KiB of noise, and extents(offset, length)
over()
{
	/usr/bin/python3 - "nbd+unix:///?socket=$WORK/s" "$1" <<-'END'
	import nbd, os, sys, time
	h = nbd.NBD()
	h.add_meta_context("base:allocation")
	h.connect_uri(sys.argv[1])
	d = os.urandom(65536)
	def extents(offset, length):
	    found = []
	    h.block_status(length, offset, lambda name, at, entries, error: found.extend(entries) or 0)
	    return list(zip(found[::2], found[1::2]))
	exec(sys.argv[2])
	END
}

start x25m-g2,capacity=256m
check 'what is written reads back' over 'h.pwrite(d, 1 << 20); assert h.pread(65536, 1 << 20) == d'
check 'a discard of its middle reads zeros there only' over '
h.pwrite(d, 1 << 20); h.trim(16384, (1 << 20) + 4096); r = h.pread(65536, 1 << 20)
assert r == d[:4096] + bytes(16384) + d[20480:]'
check 'extents tell what is mapped' over '
assert extents(1 << 20, 65536) == [(4096, 0), (16384, 3), (45056, 0)], extents(1 << 20, 65536)
assert extents(128 << 20, 65536)[0][1] == 3'
check 'zeroes, FUA and flush' over '
h.pwrite(d, 0, nbd.CMD_FLAG_FUA); h.zero(4096, 8192, nbd.CMD_FLAG_FUA); h.flush()
assert h.pread(65536, 0) == d[:8192] + bytes(4096) + d[12288:]'
start page-greedy,capacity=64m,read_time=20ms
check 'a drive of 20 ms a read takes 20 ms' over '
h.pwrite(d, 0, nbd.CMD_FLAG_FUA); t = time.monotonic(); h.pread(4096, 0)
took = time.monotonic() - t
assert 0.020 <= took < 0.2, took'

start x25m-g2,capacity=256m
over 'h.pwrite(d, 0); h.trim(8192, 0)'
nbdcopy "nbd+unix:///stat?socket=$WORK/s" - >"$WORK/stat"
check 'the export "stat" tells the truth' json_true "$WORK/stat" \
	"d['host_written_bytes'] == 65536 and d['host_trimmed_bytes'] == 8192 and d['mapped_bytes'] == 57344"
start x25m-g2,capacity=256m,trim=none
check 'trim=none: not offered' over 'assert not h.can_trim()'
check 'an unknown drive is an error with a sentence' eval \
	'! nbdkit -U - "$plugin" x25m 2>"$WORK/err" && grep -q x25m "$WORK/err"'
check 'so is an unknown parameter' eval \
	'! nbdkit -U - "$plugin" page-greedy foo=1 2>"$WORK/err" && grep -q foo "$WORK/err"'
