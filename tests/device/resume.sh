#!/bin/bash
# SPDX-License-Identifier: MIT
# Every protocol, killed in the middle at random moments and gone on with: what was done before is
# not done again, the verdict is there, nothing is left. Then what cannot be gone on with: one
# sentence each, and the checkpoint stays. SEED repeats the moments.
if [ -z "${RESUME_UNSHARED:-}" ] && unshare -m --propagation private true 2>/dev/null; then
	RESUME_UNSHARED=1 exec unshare -m --propagation private "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
protocols=$("$TARE" protocol list | awk '{ print $1 }')
plan 85
need_loop
touch "$WORK/begun"
SEED=${SEED:-$$}
RANDOM=$SEED
echo "# SEED=$SEED"

export TARE_RUNTIME_DIR="$WORK/registry"
server=
stop_server()
{
	[ -z "$server" ] || kill -INT "$server" 2>/dev/null
	wait
	tidy
}
trap stop_server EXIT

# The checkpoints of our devices and directories, which all lie below $WORK.
checkpoints()
{
	grep -ls -- "$WORK" /var/lib/tare/checkpoints/*
}

cat >"$WORK/look.py" <<'PY'
"""kill PID WORK WANT MS: SIGKILL so many milliseconds after WANT cells, or one whose name begins
with WANT, are safe behind an anchor. kept FILE: how many are. after FILE JSON BEFORE AFTER: what a
resume must show."""
import glob, json, os, random, signal, sys, time

def safe(path):
    cells, behind = [], 0
    with open(path) as f:
        for line in f:
            if not line.endswith("\n"):
                break
            line = json.loads(line)
            if "cell" in line:
                cells.append(line)
            elif "anchor" in line:
                behind = len(cells)
    return cells[:behind]

def there(work, want):
    for path in glob.glob("/var/lib/tare/checkpoints/*"):
        try:
            if work in open(path).readline():
                cells = safe(path)
                if len(cells) >= int(want) if want.isdigit() else \
                        any(c["cell"].startswith(want) for c in cells):
                    return True
        except OSError:
            pass
    return False

def kill(pid, work, want, ms):
    until = time.monotonic() + 60
    while not there(work, want):
        if time.monotonic() > until or open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] == "Z":
            sys.exit("it ended before it was killed")
        time.sleep(0.002)
    time.sleep(float(ms) / 1000)
    os.kill(int(pid), signal.SIGKILL)

def written(path):
    return int(open(path).read().split()[6]) * 512

def after(kept, result, before, then):
    with open(result) as f:
        d = json.load(f)
    kept, cells = safe(kept), d["cells"]
    old, new = cells[:len(kept)], cells[len(kept):]
    assert kept and new, f"{len(kept)} cells from before, {len(new)} after"
    assert d["resumed_cells"] == len(kept), f"resumed {d['resumed_cells']}, were {len(kept)}"
    for a, b in zip(kept, old):
        assert (a["cell"], a["bytes"], a["ns"]) == (b["name"], b["bytes"], b["duration_ns"]), (a, b)
    # Measured again it would be written again: the kernel counted no more than the new cells are.
    wrote = written(then) - written(before)
    room = sum(c["bytes"] for c in new) + len(new) * (1 << 20) // 8
    assert wrote <= room, f"the kernel counted {wrote} bytes, the new cells have {room}"
    v = d["verdict"]
    assert v["code"] and v["text"] and v["evidence"] and any("resumed" in n for n in d["notes"]), v
    print(f"# {d['protocol']}: {len(kept)} of {len(cells)} cells from before; {v['code']}")

{"kill": kill, "kept": lambda p: print(len(safe(p))), "after": after}[sys.argv[1]](*sys.argv[2:])
PY

# A killed process's io_uring may hold the device, or its test file, for a moment longer.
patiently()
{
	local i
	for i in $(seq 50); do
		"$@" && return 0
		grep -qs 'is in use\|no room' "$WORK/err" "$WORK/out" || break
		sleep 0.1
	done
	head -c 1000 "$WORK/err"
	return 1
}

go_on()
{
	"$TARE" protocol --json --progress=none "$@" --resume >"$WORK/out" 2>"$WORK/err"
}

# killed WANT ARGUMENTS...: begun, and killed when so much is done.
killed()
{
	local pid want=$1
	shift
	"$TARE" protocol --json --progress=none "$@" >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	python3 "$WORK/look.py" kill "$pid" "$WORK" "$want" $((RANDOM % 20)) 2>"$WORK/missed"
	wait "$pid" 2>/dev/null
	[ $? = 137 ]
}

# A machine that was busy elsewhere may miss the moment: then the whole is begun anew.
all_killed()
{
	local want more i
	for i in 1 2 3 4 5; do
		more=
		checkpoints | xargs -r rm
		for want in "${wants[@]}"; do
			patiently killed "$want" "$@" $more || { more=missed; break; }
			more=--resume
		done 2>/dev/null
		[ "$more" = missed ] || return 0
	done
	cat "$WORK/missed"
	return 1
}

# killed_at WANT... -- NAME ARGUMENTS...: the first run and each resume killed there, the last one
# goes on to the end. counters: the device's statistics.
killed_at()
{
	wants=()
	while [ "$1" != -- ]; do wants+=("$1"); shift; done
	shift
	check "$1: killed when ${wants[*]} were done" all_killed "$@"
	cp "$(checkpoints)" "$WORK/kept"
	cat "$counters" >"$WORK/before"
	check "$1: goes on" patiently go_on "$@"
	cat "$counters" >"$WORK/then"
	check "$1: nothing twice, a verdict" evidence python3 "$WORK/look.py" after "$WORK/kept" "$WORK/out" \
		"$WORK/before" "$WORK/then"
	cat "$WORK/evidence"
	check "$1: no checkpoint is left" test -z "$(checkpoints)"
}

evidence()
{
	"$@" >"$WORK/evidence" && return 0
	head -c 2000 "$WORK/out" "$WORK/err"
	return 1
}

between()	# LOW HIGH
{
	echo $((RANDOM % ($2 - $1 + 1) + $1))
}

# --- on a device ---------------------------------------------------------------------------------

loop=$(make_loop 64M)
counters=/sys/block/${loop#/dev/}/stat
on=(--size=16m --erase-data="${loop#/dev/}" "$loop")
killed_at "$(between 1 60)" "$(between 61 75)" -- three-state --idle=10ms "${on[@]}"
killed_at 5 -- techgage --idle=10ms --repeat=1 "${on[@]}"
killed_at "$(between 2 60)" "$(between 61 110)" -- alignment "${on[@]}"
killed_at "$(between 1 11)" "$(between 12 22)" -- contamination --idle=10ms "${on[@]}"
killed_at "$(between 1 90)" "$(between 91 150)" -- surface "${on[@]}"
killed_at "$(between 2 40)" "$(between 41 70)" -- fill-level --idle=10ms "${on[@]}"
killed_at "$(between 1 25)" "$(between 26 50)" -- degrade-recover --cell=1ms "${on[@]}"
killed_at "$(between 3 18)" -- discard-cost "${on[@]}"

# Blocks of 4 KiB and a disk in memory, so that 1,500 cells take seconds: in the first of its four
# tests, and in the second.
mkdir "$WORK/ram" && mount -t tmpfs none "$WORK/ram"
truncate -s 32M "$WORK/ram/disk"
ram=$(losetup -b 4096 -f --show "$WORK/ram/disk")
counters=/sys/block/${ram#/dev/}/stat
killed_at "$(between 50 300)" 'throughput round' -- steady --client --cell=1ms --size=16m \
	--erase-data="${ram#/dev/}" "$ram"
losetup -d "$ram"

# A reference drive with a cache, as a device: in the pauses, after all of it was written.
"$TARE" sim serve sata-tlc,capacity=32m,op=100%,channels=1,dies=2,page=16k,program_time=3ms,slc_size=25%,buffer=1m,idle_after=50ms,link=60000000 \
	"$WORK/ssd" --loop --json >"$WORK/ready" 2>/dev/null &
server=$!
for _ in $(seq 200); do [ -s "$WORK/ready" ] && break; sleep 0.05; done
drive=$(json "$WORK/ready" "d['device']")
counters=/sys/block/${drive#/dev/}/stat
killed_at "$(between 1001 1010)" -- cache --idle=1s --erase-data="${drive#/dev/}" "$drive"
check 'cache: used up again after the break, before the pause' json_true "$WORK/out" \
	"any(c['name'].startswith('write after a break') for c in d['cells'])"
kill -INT $server
wait $server
server=

# --- in a directory: the test file is a new one after each kill ------------------------------------

mkfs.ext4 -q "$loop"
mkdir "$WORK/fs" && mount "$loop" "$WORK/fs" && rmdir "$WORK/fs/lost+found"
counters=/sys/block/${loop#/dev/}/stat
anew="any(c['name'] == 'the test file, written anew' for c in d['cells'])"
on=(--size=16m "$WORK/fs")
killed_at "$(between 2 60)" "$(between 61 110)" -- alignment "${on[@]}"
check 'alignment: what it writes into is written anew' json_true "$WORK/out" "$anew"
killed_at "$(between 1 25)" "$(between 26 50)" -- degrade-recover --cell=1ms "${on[@]}"
check 'degrade-recover: the test file is written anew' json_true "$WORK/out" "$anew"
killed_at "$(between 10 40)" -- fill-level --idle=10ms "${on[@]}"
check 'fill-level: what was full is written anew' json_true "$WORK/out" "$anew"
killed_at "$(between 1 60)" "$(between 61 75)" -- three-state --idle=10ms "${on[@]}"
check 'nothing is left in the directory' test -z "$(ls -A "$WORK/fs")"
umount "$WORK/fs"
wipefs -qa "$loop"

# --- what is known again, and what is not ------------------------------------------------------------

wants=(20)
on=(--size=16m --erase-data="${loop#/dev/}" "$loop")
check 'killed once more' all_killed alignment "${on[@]}"
kept=$(checkpoints)
cp "$kept" "$WORK/kept"

# refused SENTENCE ARGUMENTS...: by that sentence; the checkpoint stays as it is.
refused()
{
	local sentence=$1
	shift
	patiently go_on "$@" >/dev/null && return 1
	grep -q "$sentence" "$WORK/err" "$WORK/out" && cmp "$kept" "$spoilt" && return 0
	cat "$WORK/err" "$WORK/out"
	return 1
}
spoilt=$WORK/kept
check 'another seed is refused, and named' refused "'seed 1', this one 'seed 2'" alignment --seed=2 "${on[@]}"
check 'another size is refused, and named' refused "'16777216 bytes', this one '67108864 bytes'" \
	alignment "${on[@]:1}"
check 'without consent it is refused' refused 'erase-data' alignment --size=16m "$loop"
other=$(make_loop 64M)
check 'another device has nothing to resume' refused 'there is nothing to resume' alignment --size=16m \
	--erase-data="${other#/dev/}" "$other"
check 'another protocol has nothing to resume' refused 'there is nothing to resume' surface "${on[@]}"
spoil()	# COMMAND...: of the checkpoint
{
	"$@" <"$WORK/kept" >"$WORK/spoilt"
	spoilt=$WORK/spoilt
	cp "$spoilt" "$kept"
}
spoil sed '1s/"tare":"[^"]*"/"tare":"0.0.1"/'
check 'a checkpoint of another version is refused' refused 'is of tare 0.0.1, and this is' alignment "${on[@]}"
spoil sed '2s/.*/\x00garbage/'
check 'a spoilt line is refused by its number' refused 'is not readable in line 2' alignment "${on[@]}"
spoil head -c 0
check 'an empty checkpoint is refused' refused 'is empty' alignment "${on[@]}"
spoil head -c 4096 /dev/zero
check 'zeros are refused' refused 'not readable from its first line on' alignment "${on[@]}"
spoil sed '3s/"cell":"[^"]*"/"cell":"something else"/'
check 'a cell that nobody asks for is refused' refused "has 'something else' where '.*' is next" \
	alignment "${on[@]}"

# The end torn off, and the device under another name, while its old one is another's.
spoil head -c -3
losetup -d "$loop"
stranger=$(make_loop 32M)
renamed=$(losetup -f --show "$(sed -n '1s/.* on \([^,]*\),.*/\1/p' "$WORK/kept")")
sum=$(sha256sum <"$stranger")
check 'the device has another name, its old one is another'"'"'s' test "$stranger $renamed" = "$loop ${renamed/$loop/}"
check 'it goes on by what it is, a torn end left out' patiently go_on alignment --size=16m \
	--erase-data="${renamed#/dev/}" "$renamed"
check 'with the cells from before' json_true "$WORK/out" "d['resumed_cells'] >= 19 and d['verdict']['code']"
check 'and whoever has its old name was not touched' test "$(sha256sum <"$stranger")" = "$sum"

# The reference drive does not outlive its process: all of it again, to the same figures.
"$TARE" protocol alignment --json sim:m80,capacity=256m | sed '/"took\|_at"\|"command"/d' >"$WORK/first"
check 'the reference drive: all is done again, and said' json_true <(
	"$TARE" protocol alignment --json --resume sim:m80,capacity=256m | tee "$WORK/out") \
	"any('does not outlive' in n for n in d['notes']) and d['resumed_cells'] == 0"
check 'to the same verdict' test "$(json "$WORK/out" "d['verdict']")" = "$(json "$WORK/first" "d['verdict']")"

# --- precondition --------------------------------------------------------------------------------------

# Killed in its second step: the first is not done again, and the device has another name again.
in_second_step()
{
	local pid plan
	"$TARE" precondition --progress=none --erase-data="${renamed#/dev/}" \
		--steps='fill; dirty:by=random,amount=1g; trim' "$renamed" >/dev/null 2>"$WORK/err" &
	pid=$!
	for _ in $(seq 1000); do
		plan=$(grep -lsw -- "target: $renamed" /var/lib/tare/checkpoints/precondition-*.yaml)
		[ -n "$plan" ] && ! grep -q fill "$plan" && break
		sleep 0.01
	done
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ $? = 137 ] && [ -n "$plan" ] && grep -q dirty "$plan"
}
check 'precondition: killed in the second of three steps' patiently in_second_step
check 'precondition: without consent --resume is refused' exits 3 "$TARE" precondition --resume "$renamed"
patiently losetup -d "$renamed"
second=$(make_loop 32M)
sum=$(sha256sum <"$second")
again=$(losetup -f --show "$(sed -n '1s/.* on \([^,]*\),.*/\1/p' "$WORK/kept")")
precondition()
{
	"$TARE" precondition --json --progress=none --resume --erase-data="${again#/dev/}" "$again" \
		>"$WORK/out" 2>"$WORK/err"
}
check 'precondition: goes on under another name' patiently precondition
check 'precondition: with the step it was in' json_true "$WORK/out" \
	"[s['name'] for s in d['state']['steps']] == ['dirty', 'trim'] and d['targets'][0]['spec'] == '$again'
	if 'targets' in d else [s['name'] for s in d['state']['steps']] == ['dirty', 'trim']"
check 'precondition: whoever has its old name was not touched' test "$(sha256sum <"$second")" = "$sum"
check 'precondition: nothing is left to resume' exits 2 "$TARE" precondition --resume \
	--erase-data="${again#/dev/}" "$again"
check 'every protocol was there' test "$(echo $protocols)" = "three-state techgage alignment contamination \
surface steady cache fill-level discard-cost degrade-recover"
