#!/bin/bash
# SPDX-License-Identifier: MIT
# iozone's command lines on a real file system: rows, passes, figures; what is there stays,
# nothing of ours does.
. "$(dirname "$0")/lib.sh"
plan 41
need_loop
columns=$(dirname "$(realpath "$0")")/../cli/iozone_columns.py

loop=$(make_loop 400M)
mkfs.ext4 -q "$loop"
mkdir "$WORK/fs" && mount "$loop" "$WORK/fs"
mkdir "$WORK/fs/dir"
cd "$WORK/fs/dir" || exit 1

iozone()
{
	exits 0 "$TARE" iozone "$@" && cp "$WORK/out" "$WORK/iozone.out"
}

# sizes: "64/4 64/8 ..." of the table last printed
sizes()
{
	"$columns" rows "$WORK/iozone.out" | awk '{ printf "%s%s/%s", (NR > 1 ? " " : ""), $1, $2 }'
}

passes()
{
	"$columns" rows "$WORK/iozone.out" | sed '1!d; s/=[0-9]*//g' | cut -d' ' -f3-
}

streams()
{
	"$columns" streams "$WORK/iozone.out" | tr '\n' ',' | sed 's/,$//'
}

is()
{
	[ "$1" = "$2" ] || { echo "is   $1"; echo "want $2"; return 1; }
}

# The article's line, with a smaller file: 4 kB to 1 MB.
check "the article's line runs as it stands" iozone -a -f ./iozone -i0 -i1 -y 4K -q 1M -s 1M
check 'its rows' is "$(sizes)" '1024/4 1024/8 1024/16 1024/32 1024/64 1024/128 1024/256 1024/512 1024/1024'
check 'its columns' is "$(passes)" 'write rewrite read reread'

check 'all tests' iozone -a -n 64 -g 128 -E -f t
check 'their rows' is "$(sizes)" \
	'64/4 64/8 64/16 64/32 64/64 128/4 128/8 128/16 128/32 128/64 128/128'
check 'their columns' is "$(passes)" \
	'write rewrite read reread random-read random-write backward-read record-rewrite stride-read fwrite frewrite fread freread pwrite repwrite pread repread'

check 'four streams' iozone -t 4 -i0 -i1 -i2 -i8 -s 512k -r 4k -F a b c d
check 'their blocks' is "$(streams)" \
	'4 initial writers,4 rewriters,4 readers,4 re-readers,4 random readers,4 mixed workload,4 random writers'
check 'rounds of 1, 2 and 3 streams' iozone -R -I -u 3 -i 0 -i 1 -r 64k -s 1m -F f1 f2 f3
check 'each with its blocks' is "$(streams | tr ',' '\n' | cut -d' ' -f1 | uniq -c | awk '{ print $1 "*" $2 }' | xargs)" \
	'4*1 4*2 4*3'
check 'and none is left' is "$(ls -A)" ''

# What moved is what iozone would have moved: counted by the result and by the kernel.
written()
{
	awk '{ printf "%.0f\n", $7 * 512 }' "/sys/block/${loop#/dev/}/stat"
}
sync -f .
before=$(written)
check 'a document' exits 0 "$TARE" iozone --json -s 4m -r 64k -f t
after=$(written)
cp "$WORK/out" "$WORK/one.json"
moved='{m["name"].rsplit("-", 2)[0]: sum(o["count"] for k, o in m["ops"].items() if k != "sync") for m in d["measurements"]}'
check 'each pass has 64 requests' json_true "$WORK/one.json" "set($moved.values()) == {64} and len($moved) == 13"
check 'the write passes and little else were written' test $((after - before)) -ge $((24 << 20)) -a $((after - before)) -le $((30 << 20))
check 'each write pass ends with a flush in its time' json_true "$WORK/one.json" \
	"[m['ops'].get('sync', {}).get('count', 0) for m in d['measurements']] == [1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0]"
check 'what is not literal is in the result' json_true "$WORK/one.json" \
	"sum(f['code'] == 'iozone-note' for f in d['findings']) == 7 and
	any(f['text'] == 'names of files start at ' + d['target']['path'] for f in d['findings'])"

check 'streams of a test are one group, tests and rounds are several' \
	exits 0 "$TARE" iozone --json -t 2 -t 3 -s 64k -r 16k -i 0 -i 1 -+n -F a b c
check 'in all rounds' json_true "$WORK/out" "[m['group'] for m in d['measurements']] == [0, 0, 1, 1, 2, 2, 2, 3, 3, 3]"

# Files of others.
head -c 1M /dev/urandom >mine && cp mine "$WORK/mine"
check 'a file that is there' iozone -i 0 -s 64k -f mine
check 'is left alone' cmp mine "$WORK/mine"
check 'or read' iozone -i 1 -+n -s 1m -r 64k -f mine
check 'and is too small for more' exits 3 "$TARE" iozone -i 1 -s 2m -f mine
check 'or written, when it is expendable' iozone -i 0 -s 64k -f mine --expendable=mine
check 'but not made shorter' is "$(stat -c %s mine)" 1048576
check 'checked data that is not what was written has its exit code' exits 1 "$TARE" iozone -V 1 -i 1 -s 1m -r 64k -f mine
rm mine

# The report files.
check 'a workbook and comma-separated text' iozone -a -n 64 -g 64 -i 0 -b book.xlsx -f t
books()
{
	iozone -a -n 64 -g 64 -i 0 -Rb log.xls -f t || return 1
	head -c 4 book.xlsx | grep -q PK && grep -q '"Writer Report"' log.csv && rm book.xlsx log.csv
}
check 'are what they say' books

# What cannot be is n/a, with its reason; the other rows stand.
check 'a file there is no room for' exits 8 "$TARE" iozone -s 64k -s 1g -s 128k -r 64k -i 0 -f t
cp "$WORK/out" "$WORK/iozone.out"
check 'is a row without figures' test "$(awk '$2 == 64 && NF == 4 { printf "%s %s ", $1, ($3 == "n/a") }' "$WORK/iozone.out")" = \
	'64 0 1048576 1 128 0 '
check 'with its reason' grep -q '^tare: invalid: iozone-row: file 1048576 kB, record 64 kB: no room' "$WORK/iozone.out"

# An error ends its own columns.
check 'reads that fail' exits 4 "$TARE" iozone -s 64k -s 128k -r 4k -i 0 -i 1 -i 2 -f t \
	--filter=error:errno=EIO,kind=read,at=64k
cp "$WORK/out" "$WORK/iozone.out"
check 'leave their columns, and no other, without figures' is \
	"$(awk '$2 == 4 && NF > 4 { for (i = 3; i <= NF; i++) printf "%s", ($i == "n/a" ? "-" : "+") }' "$WORK/iozone.out")" \
	'++++++++---+'
check 'and say where' grep -q '^tare: error: read-128k-4k: .*4k.*65536: Input/output error' "$WORK/iozone.out"
# Four reads with pauses of 500 ms: 170 kB/s where these counted.
iozone -i 1 -+n -s 256k -r 64k -J 500 -f t >/dev/null
check 'pauses are not in the figures' test "$("$columns" rows "$WORK/iozone.out" | sed 's/.* read=\([0-9]*\).*/\1/')" -gt 400

# Verified data is marked wherever it is shown.
check 'checked data' iozone -a -I -+d -n 64k -g 64k -i 0 -i 1 -f t
check 'is marked' grep -q 'INVALID FOR PERFORMANCE' "$WORK/iozone.out"

# Z03: files that are not there are no reason to wait.
check 'reads of files that are not there end' timeout 30 "$TARE" iozone -t 2 -i 1 -s 64k -r 4k -F none1 none2
check 'and leave none' is "$(ls -A)" ''

# Z05: where the device's blocks are 4 KiB, direct I/O of less is n/a, for a reason, and the rest is done.
wide=$(make_loop 300M -b 4096)
mkfs.ext4 -q "$wide"
mkdir "$WORK/wide" && mount "$wide" "$WORK/wide"
exits 3 "$TARE" iozone -a -I -i 0 -i 1 -y 2 -q 8 -n 64 -g 64 -f "$WORK/wide/t"
check 'records below the block of direct I/O have no figures, the others have' is \
	"$(awk '$1 == 64 { printf "%s%s ", $2, ($3 == "n/a" ? "-" : "+") }' "$WORK/out")" '2- 4+ 8+ '
check 'with the reason' grep -q 'iozone-row: file 64 kB, record 2 kB: .*not a multiple of 4096' "$WORK/out"

# Ctrl-C.
"$TARE" iozone -a -f t >"$WORK/int.out" 2>/dev/null &
pid=$!
sleep 1
kill -INT $pid
wait $pid
status=$?
check 'an interrupted table ends with its rows and 130, and leaves nothing' is "$status $(ls -A)" '130 '
cd /
