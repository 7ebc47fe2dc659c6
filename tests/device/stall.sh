#!/bin/bash
# SPDX-License-Identifier: MIT
# An open loop does not hide a stall: one second of SIGSTOP in four seconds at 1000 IOPS is
# in the latency from the intended start, and not in the service time.
. "$(dirname "$0")/lib.sh"
plan 4

dd if=/dev/urandom of="$WORK/file" bs=1M count=64 status=none
"$TARE" run --rw randread --bs 4k --rate-iops 1000 --runtime 4s --json "$WORK/file" \
	>"$WORK/stall.json" 2>"$WORK/stall.err" &
pid=$!
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
