#!/bin/bash
# SPDX-License-Identifier: MIT
# A job that fails says what failed once on standard error, in each of fio's formats.
. "$(dirname "$0")/lib.sh"
plan 6
need_loop
cd "$WORK" || exit 1

loop=$(make_loop 4M)
truncate -s 1M "$(losetup -n -O BACK-FILE "$loop")"
blockdev --flushbufs "$loop"

said_once()
{
	[ "$(grep -c 'Input/output error' err)" = 1 ] &&
		grep -qx 'tare: a: read of 64k at offset 1048576: Input/output error' err
}

for format in normal json terse; do
	"$TARE" fio --progress=none --name=a --ioengine=psync --direct=1 --rw=read --bs=64k \
		--filename="$loop" --output-format=$format > out 2> err
	code=$?
	check "$format: exit status 4" [ $code = 4 ]
	check "$format: said once" said_once
done
