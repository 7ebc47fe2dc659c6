#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of 100 MB, and the memory that a command takes to read one.

usage: large.py write KIND FILE [MIB]
       large.py within MIB COMMAND...

write    a file of that kind. Times of the traces go down from MiB to MiB, so that they are sorted.
within   runs the command, exits as it does, and says so on standard error when its peak of
         resident memory was higher
"""

import resource
import struct
import subprocess
import sys

MIB = 1 << 20
BLKTRACE_MAGIC = 0x65617407
READ_ISSUED = 1 << 16 | 7  # BLK_TC_READ, __BLK_TA_ISSUE


def blktrace(n):
    return struct.pack("=IIQQIIIIIHH", BLKTRACE_MAGIC, 0, 10**9 + n, 8, 4096, READ_ISSUED, 1, 8 << 20 | 16, 0, 0, 0)


# What stands once at the beginning, and what is repeated; n goes down by one each MiB.
KINDS = {
    "iolog2": (b"fio version 2 iolog\nd add\nd open\n", lambda n: b"d read 0 4096\n"),
    "iolog3": (b"fio version 3 iolog\n0 d add\n0 d open\n", lambda n: b"%d d read 0 4096\n" % n),
    "blkparse": (b"", lambda n: b"  8,16  1 1 0.%09d 4321 D R 8 + 8 [app]\n" % n),
    "blktrace": (b"", blktrace),
    "msr": (b"", lambda n: b"%d,srv1,2,Read,4096,8192,1200\n" % (129 * 10**15 + n)),
    "icf": (b"Version 2006.07.27\n", lambda n: b"'a comment\n"),
    "fio": (b"[a]\nrw=read\n", lambda n: b"; a comment\n"),
    "yaml": (b"", lambda n: b"# a comment\n"),
    "json": (b'{"fio version": "fio-3.33", "jobs": [\n', lambda n: b'{"read": {"io_bytes": 4096}},\n'),
}


def write(kind, path, size_mib="100"):
    head, body = KINDS[kind]
    with open(path, "wb") as out:
        out.write(head)
        for n in range(int(size_mib), 0, -1):
            piece = body(n)
            out.write(piece * (MIB // len(piece)))


def within(limit_mib, *command):
    status = subprocess.run(command).returncode
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if peak_mib > float(limit_mib):
        print(f"took {peak_mib:.0f} MiB of memory, more than {limit_mib}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    {"write": write, "within": within}[sys.argv[1]](*sys.argv[2:])
