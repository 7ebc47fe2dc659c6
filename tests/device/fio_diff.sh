#!/bin/bash
# SPDX-License-Identifier: MIT
# fio's job files: tare does what fio does, says it in the same fields, and leaves nothing.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
plan "$(find "$here/../fixtures/fio-diff" -name '*.fio' | wc -l)"
need_loop
need_commands fio python3

while IFS= read -r line; do
	printf '%s\n' "$line"
	case $line in
	'ok '*) tap_count=$((tap_count + 1)) ;;
	'not ok '*) tap_count=$((tap_count + 1)); tap_failed=$((tap_failed + 1)) ;;
	esac
done < <(TMPDIR=$WORK "$here/fio_diff" --tap)
