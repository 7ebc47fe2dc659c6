#!/bin/bash
# SPDX-License-Identifier: MIT
# An open loop does not hide a stall: one second of SIGSTOP in four seconds at 1000 IOPS is
# in the latency from the intended start, and not in the service time.
. "$(dirname "$0")/lib.sh"
plan 4

"$TARE" run --rw randread --bs 4k --size 256m --rate-iops 1000 --runtime 4s --json "$WORK" \
	>"$WORK/stall.json" 2>"$WORK/stall.err" &
pid=$!
# The layout comes first: wait until the measuring has begun, as the plain progress says.
for _ in $(seq 300); do
	grep -q 'randread' "$WORK/stall.err" && break
	sleep 0.1
done
sleep 1.5
kill -STOP $pid
sleep 1
kill -CONT $pid
wait $pid
status=$?
check 'the run ends well' test $status = 0
check 'p99 from the intended start shows the stall' \
	json_true "$WORK/stall.json" "0.9e9 <= d['measurements'][0]['ops']['read']['latency_ns']['p99'] <= 1.1e9"
check 'the service time does not' \
	json_true "$WORK/stall.json" "d['measurements'][0]['ops']['read']['service_ns']['p99'] < 0.1e9"
check 'all arrivals were made up for' \
	json_true "$WORK/stall.json" "abs(d['measurements'][0]['ops']['read']['count'] - 4000) <= 40"
