#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads iozone's output by its columns, knowing nothing of what wrote it.

usage: iozone_columns.py rows|streams|excel [FILE]

rows      one line per table row: file size, record size, and NAME=VALUE for each column the
          value ends in, by the header's own columns
streams   one line per throughput block: streams, test, and whether min <= avg <= max, the sum
          is what children saw, and the blocks are complete
excel     one line per report of -R: title, record sizes, then file sizes with their values

Written from a description of the format: a header of two lines, whose lower words end where
their column ends (write ends one before), a row of file size (ends at column 16), record size
(ends at 24), and values that are right-aligned in their columns.
"""

import re
import sys

# Where each column's data ends, 1-based.
ENDS = {
    34: "write", 44: "rewrite", 54: "read", 64: "reread", 74: "random-read", 84: "random-write",
    94: "backward-read", 105: "record-rewrite", 116: "stride-read", 126: "fwrite", 136: "frewrite",
    146: "fread", 156: "freread", 166: "pwrite", 176: "repwrite", 186: "pread", 196: "repread",
}
LOWER = [
    ("kB", 16), ("reclen", 24), ("write", 33), ("rewrite", 44), ("read", 54), ("reread", 64),
    ("read", 74), ("write", 84), ("read", 94), ("rewrite", 105), ("read", 116), ("fwrite", 126),
    ("frewrite", 136), ("fread", 146), ("freread", 156), ("pwrite", 166), ("repwrite", 176),
    ("pread", 186), ("repread", 196),
]
UPPER = [("random", 74), ("random", 84), ("bkwd", 94), ("record", 105), ("stride", 116)]


def fail(text):
    print(text)
    sys.exit(1)


def words_with_ends(line):
    return [(m.group(), m.end()) for m in re.finditer(r"\S+", line)]


def header(lines):
    for number, line in enumerate(lines):
        if line.split()[:2] == ["kB", "reclen"]:
            return number
    fail("no table header")


def rows(lines):
    at = header(lines)
    width = len(lines[at])
    lower = words_with_ends(lines[at])
    # Four columns with -A; without stdio (-H, -k, -B) these are absent and others move up.
    if width in (156, 196, 64) and lower != [w for w in LOWER if w[1] <= width]:
        fail(f"lower header: {lower}")
    upper = words_with_ends(lines[at - 1])
    if upper != [w for w in UPPER if w[1] <= width]:
        fail(f"upper header: {upper}")
    if len(lines[at - 1]) != width:
        fail(f"upper header is {len(lines[at - 1])} wide, the lower {width}")
    for line in lines[at + 1:]:
        if not line.strip():
            break
        cells = words_with_ends(line)
        if cells[0][1] != 16 or cells[1][1] != 24:
            fail(f"sizes end at {cells[0][1]} and {cells[1][1]}: {line}")
        if not all(word.isdigit() for word, _ in cells):
            fail(f"not a number: {line}")
        for word, end in cells[2:]:
            if end not in ENDS:
                fail(f"{word} ends at {end}, in no column: {line}")
        print(cells[0][0], cells[1][0], *(f"{ENDS[end]}={word}" for word, end in cells[2:]))
    if "iozone test complete." not in lines:
        fail("no completion line")


VALUE = r"\t= +([0-9.]+) (kB/sec|ops/sec)( ?)$"


def streams(lines):
    blocks = 0
    for number, line in enumerate(lines):
        begin = re.match(r"\tChildren see throughput for( {1,2}\d+) (.*?) " + VALUE, line)
        if not begin:
            continue
        count, test, total = begin.group(1), begin.group(2), float(begin.group(3))
        wide = test in ("initial writers", "rewriters", "readers", "fwriters", "freaders")
        if len(count) != (3 if wide and int(count) < 10 else 1 + len(str(int(count)))):
            fail(f"the count of streams is '{count}': {line}")
        want = [f"{name} throughput per (?:process|thread) " for name in ("Min", "Max", "Avg")]
        if not re.match(r"\tParent sees throughput for" + count + " " + re.escape(test) + " " + VALUE,
                        lines[number + 1]):
            fail(f"parent: {lines[number + 1]!r}")
        values = []
        for i, name in enumerate(want):
            found = re.match(r"\t" + name + r"\t\t" + VALUE, lines[number + 2 + i])
            if not found or (found.group(3) == " ") != (i == 0):
                fail(f"{name}: {lines[number + 2 + i]!r}")
            values.append(float(found.group(1)))
        if not re.match(r"\tMin xfer \t\t\t\t\t= +[0-9.]+ (kB|ops)$", lines[number + 5]):
            fail(f"xfer: {lines[number + 5]!r}")
        low, high, mean = values
        if not low <= mean + 0.01 or not mean <= high + 0.01:
            fail(f"not in order: {values}")
        if abs(mean * int(count) - total) > 0.02 * int(count):
            fail(f"{mean} times {count} is not {total}")
        blocks += 1
        print(int(count), test)
    if not blocks:
        fail("no throughput block")
    if "iozone test complete." not in lines:
        fail("no completion line")


def excel(lines):
    at = lines.index("Excel output is below:") + 1
    while at < len(lines) and not lines[at].startswith("tare:"):
        title = re.fullmatch(r'"(.* report)"', lines[at])
        if title:
            if not lines[at + 1].startswith(' ' * 8 + '"'):
                fail(f"records: {lines[at + 1]!r}")
            records = re.findall(r'"(\d+)"', lines[at + 1])
            if lines[at + 1] != " " * 8 + "  ".join(f'"{r}"' for r in records):
                fail(f"records: {lines[at + 1]!r}")
            print(title.group(1), *records)
            at += 2
            while lines[at].strip():
                row = re.fullmatch(r'"(\d+)"   (\d+(?:  \d+)*) ', lines[at])
                if not row:
                    fail(f"row: {lines[at]!r}")
                print(" ", row.group(1), *row.group(2).split())
                at += 1
        elif lines[at].strip():
            fail(f"neither title nor blank: {lines[at]!r}")
        at += 1


def main(words):
    text = open(words[1]).read() if len(words) > 1 else sys.stdin.read()
    {"rows": rows, "streams": streams, "excel": excel}[words[0]](text.split("\n"))


main(sys.argv[1:])
