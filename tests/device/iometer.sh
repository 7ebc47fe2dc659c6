#!/bin/bash
# SPDX-License-Identifier: MIT
# IOMeter's default specification on a loop device: the kernel counts the same as the result
# file, read by its captions; nothing is written without consent, nothing left in a directory.
. "$(dirname "$0")/lib.sh"
plan 12
need_loop

loop=$(make_loop 256M)
name=${loop#/dev/}

counters()
{
	awk '{ printf "%.0f %.0f %.0f %.0f\n", $1, $3 * 512, $5, $7 * 512 }' "/sys/block/$name/stat"
}

# The ALL row of the last test, by caption, against what the kernel counted.
agrees()
{
	python3 - "$@" <<'PYTHON'
import csv, sys
path, before, after = sys.argv[1:]
reads, read_bytes, writes, write_bytes = (int(b) - int(a) for a, b in zip(before.split(), after.split()))
rows = list(csv.reader(open(path)))
captions = [row for row in rows if row and row[0] == "'Target Type"][-1]
row = dict(zip(captions, [row for row in rows if row and row[0] == "ALL"][-1]))
got = [int(row[x]) for x in ("Read I/Os", "Bytes Read", "Write I/Os", "Bytes Written")]
print("file", got, "kernel", reads, read_bytes, writes, write_bytes)
# On top come what the gate and the audit look at: signatures, 256 samples for zeros.
assert 0 <= reads - got[0] <= 0.005 * got[0] + 400, (got[0], reads)
assert 0 <= read_bytes - got[1] <= 0.005 * got[1] + (4 << 20)
assert abs(writes - got[2]) <= 0.005 * got[2] and abs(write_bytes - got[3]) <= 0.005 * got[3]
total = got[0] + got[2]
share = got[0] / total
sigma = (0.67 * 0.33 / total) ** 0.5
print("reads", share, "of", total)
assert abs(share - 0.67) <= max(0.01, 4 * sigma)
assert got[1] == 2048 * got[0] and got[3] == 2048 * got[2]
assert len(captions) == 80 and abs(float(row["IOps"]) - float(row["Read IOps"]) - float(row["Write IOps"])) < 0.01
bins = sum(int(row[c]) for c in captions[59:])
assert bins == total, (bins, total)
PYTHON
}

cat >"$WORK/mail.icf" <<'ICF'
Version 1.1.0
'TEST SETUP ====
'Run Time
'	hours      minutes    seconds
	0          0          1
'Ramp Up Time (s)
	0
'END test setup
'ACCESS SPECIFICATIONS ====
'Access specification name,default assignment
	Reads,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	4096,60,100,100,0,1,4096,0
	65536,40,100,0,0,1,0,0
'Access specification name,default assignment
	Answers,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	4096,100,100,100,0,1,4096,512
'END access specifications
'MANAGER LIST ====
'Manager ID, manager name
	1,BOX
'Manager network address
	localhost
'Worker
	One
'Worker type
	DISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection
	4,DISABLED,1
'End default target settings for worker
'Assigned access specs
	Reads
	Answers
'End assigned access specs
'Target assignments
'Target
	D
'Target type
	DISK
'End target
'End target assignments
'End worker
'Worker
	Two
'Worker type
	DISK
'Assigned access specs
	Reads
'End assigned access specs
'Target assignments
'Target
	E
'Target type
	DISK
'End target
'End target assignments
'End worker
'End manager
'END manager list
ICF

check 'a specification that writes needs consent' exits 3 "$TARE" iometer --spec Default \
	--target "$loop" --runtime 1s
before=$(counters)
check 'the default specification runs' exits 0 "$TARE" iometer --spec Default --target "$loop" \
	--runtime 3s --iodepth 16 --erase-data="$name" -r "$WORK/default.csv"
check 'the kernel counted the same, 67 % of it reads' agrees "$WORK/default.csv" "$before" \
	"$(counters)"

mkdir "$WORK/dir"
check 'real and virtual time in one test are refused' exits 2 "$TARE" iometer "$WORK/mail.icf" \
	--map D="$WORK/dir" --map E=sim:sata-tlc,capacity=256m --size 32m --json
check 'and the sentence says why' grep -q 'has a time of its own' "$WORK/out"
check 'two workers in a directory' exits 0 "$TARE" iometer "$WORK/mail.icf" \
	--target "$WORK/dir" --size 32m --json -r "$WORK/mail.csv"
check 'two of them run together, then one' json_true "$WORK/out" \
	"[m['group'] for m in d['measurements']] == [0, 0, 1]"
check 'each answer is a write' json_true "$WORK/out" \
	"abs(d['measurements'][2]['ops']['write']['count'] - d['measurements'][2]['ops']['read']['count']) <= 4 and
	d['measurements'][2]['ops']['write']['bytes'] == 512 * d['measurements'][2]['ops']['write']['count'] and
	abs(d['measurements'][2]['transactions']['count'] - d['measurements'][2]['ops']['write']['count']) <= 4"
check 'a row for all, the manager, each worker and each target' test \
	"$(grep -cE '^(ALL|MANAGER|WORKER|DISK),' "$WORK/mail.csv")" = 10
check 'nothing is left in the directory' test -z "$(ls -A "$WORK/dir")"
check 'names of another system are not guessed' exits 2 "$TARE" iometer "$WORK/mail.icf"
check 'and named' grep -q 'nothing here is called D, E' "$WORK/err"
