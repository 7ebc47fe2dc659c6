#!/bin/bash
# SPDX-License-Identifier: MIT
# IOMeter's default specification on a loop device: the kernel counts the same as the result
# file, read by its captions; nothing is written without consent, nothing left in a directory.
. "$(dirname "$0")/lib.sh"
plan 19
need_loop

loop=$(make_loop 256M)
device=${loop#/dev/}

counters()
{
	awk '{ printf "%.0f %.0f %.0f %.0f\n", $1, $3 * 512, $5, $7 * 512 }' "/sys/block/$device/stat"
}

# The ALL rows, by caption, against what the kernel counted: of all there was, and of the runs alone.
agrees()
{
	python3 - "$@" <<'PYTHON'
import csv, json, sys
path, before, after, *documents = sys.argv[1:]
reads, read_bytes, writes, write_bytes = (int(b) - int(a) for a, b in zip(before.split(), after.split()))
rows = list(csv.reader(open(path)))
captions = [row for row in rows if row and row[0] == "'Target Type"][-1]
alls = [dict(zip(captions, row)) for row in rows if row and row[0] == "ALL"]
got = [sum(int(row[x]) for row in alls) for x in ("Read I/Os", "Bytes Read", "Write I/Os", "Bytes Written")]
print("file", got, "kernel", reads, read_bytes, writes, write_bytes)
assert len(alls) == len(documents)
# Neighbours that meet in the queue are one request to the kernel: a few, their bytes the same.
merged = 0.001 * (got[0] + got[2])
# On top come what the gate and the audit look at: signatures, 256 samples for zeros.
assert -merged <= reads - got[0] <= 400 * len(alls), (got[0], reads)
assert 0 <= read_bytes - got[1] <= (4 << 20) * len(alls)
assert write_bytes == got[3] and 0 <= got[2] - writes <= merged
kernel = [0, 0]
for document in documents:
    counted = json.load(open(document))["measurements"][0]["device_counters"]
    kernel = [kernel[0] + counted["read_count"], kernel[1] + counted["write_count"]]
total = sum(kernel)
print("runs", len(alls), "kernel", kernel, "reads", kernel[0] / total)
assert 0 <= got[0] - kernel[0] <= merged and 0 <= got[2] - kernel[1] <= merged
# From 36000 requests on 1 % is more than four sigma.
assert total >= 36000, total
assert abs(kernel[0] / total - 0.67) <= 0.01
assert got[1] == 2048 * got[0] and got[3] == 2048 * got[2]
for row in alls:
    assert len(captions) == 80
    assert abs(float(row["IOps"]) - float(row["Read IOps"]) - float(row["Write IOps"])) < 0.01
    assert sum(int(row[c]) for c in captions[59:]) == int(row["Read I/Os"]) + int(row["Write I/Os"])
PYTHON
}

# The ring of the run before may hold the device for a moment after its program is gone.
default_once()
{
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		"$TARE" iometer --spec Default --target "$loop" --runtime 2s --iodepth 32 --json \
			--erase-data="$device" -r "$WORK/default.csv" >"$1"
		case $? in
		0) return 0 ;;
		3) sleep 0.5 ;;
		*) break ;;
		esac
	done
	head -c 2000 "$1"
	return 1
}

# Until the kernel has counted enough requests for shares to be exact, however busy the machine is.
run_default()
{
	local i now was
	for i in 1 2 3 4 5 6; do
		default_once "$WORK/default$i.json" || return 1
		read -ra now <<<"$(counters)"
		read -ra was <<<"$before"
		[ $((now[0] - was[0] + now[2] - was[2] - 400 * i)) -lt 36500 ] || return 0
	done
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
# I01: a raw disk is read by anyone's leave.
was=$(counters)
check 'one that only reads needs none' exits 0 "$TARE" iometer --spec '4 KiB; 100% Read; 0% random' \
	--target "$loop" --runtime 200ms
now=$(counters)
check 'and writes nothing' test "${now#* * }" = "${was#* * }"
before=$(counters)
check 'the default specification runs' run_default
check 'the kernel counted the same, 67 % of it reads' agrees "$WORK/default.csv" "$before" \
	"$(counters)" "$WORK"/default?.json

# --- where each request goes -----------------------------------------------------------------

# aligned SPEC LENGTH ALIGN [OPTION]: its plan, recorded; each request has the length, and starts
# at a multiple of the alignment, not of twice as much: what was asked and no more.
aligned()
{
	local spec=$1 length=$2 align=$3
	shift 3
	rm -f "$WORK/log" "$WORK/log.csv"
	"$TARE" iometer "$WORK/align.icf" --spec "$spec" --target "$loop" --runtime 1s "$@" \
		--print-plan >"$WORK/plan.yaml" &&
		"$TARE" run "$WORK/plan.yaml" "$loop" --record="$WORK/log" --erase-data="$device" \
			--progress=none &&
		awk -v length_bytes="$length" -v align="$align" '
			$3 == "read" || $3 == "write" {
				count[$3]++
				off += $4 % align != 0 || $5 != length_bytes
				odd += $4 / align % 2
			}
			END {
				print count["read"], count["write"], "off", off + 0, "odd", odd + 0
				total = count["read"] + count["write"]
				exit !(count["read"] > 100 && count["write"] > 50 && off == 0 &&
					odd > total / 4 && odd < total * 3 / 4)
			}' "$WORK/log"
}

cat >"$WORK/align.icf" <<'ICF'
Version 1.1.0
'ACCESS SPECIFICATIONS ====
'Access specification name,default assignment
	Sector,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	2048,100,67,100,0,1,0,0
'Access specification name,default assignment
	Page,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	4096,100,67,100,0,1,0,0
'Access specification name,default assignment
	Eight,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	4096,100,67,100,0,1,8192,0
'Access specification name,default assignment
	Wide,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
	2048,100,67,100,0,1,65536,0
'END access specifications
ICF

check 'alignment 0 is the page' aligned Page 4096 4096
check 'and a sector when exact' aligned Page 4096 512 --exact
check 'smaller requests too' aligned Sector 2048 4096
check 'alignment is kept, above the size of a request' aligned Eight 4096 8192
check 'and far above it' aligned Wide 2048 65536

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
