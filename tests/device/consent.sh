#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Consent typed on a terminal: what is not typed right, or not typed at all, leaves every byte
# as it was; what is typed right lets the device be written. A device is read without asking.

. "$(dirname "$0")/lib.sh"
plan 7
need_loop
need_commands python3 sha256sum

TYPED=$(realpath "$(dirname "$0")/typed")
loop=$(make_loop 64M)
node=$(basename "$loop")
file=$(cat "/sys/class/block/$node/loop/backing_file")
write="run --rw=randwrite --bs=4k --io-size=4m --progress=none"

sum()
{
	sync "$loop" "$file"
	sha256sum "$file" | cut -d' ' -f1
}
before=$(sum)

# refused STATUS ANSWER: the command on a terminal ends so and changes nothing.
refused()
{
	"$TYPED" "$2" "$TARE" $write --erase-data "$loop"
	[ $? = "$1" ] && [ "$(sum)" = "$before" ]
}

allowed()
{
	"$TYPED" "$node" "$TARE" $write --erase-data "$loop" && [ "$(sum)" != "$before" ]
}

asks_by_name()
{
	"$TYPED" no "$TARE" $write --erase-data "$loop" | grep -q "no serial number; type its name, $node: "
}

not_asked()
{
	"$TARE" $write --erase-data "$loop" </dev/null
	[ $? = 2 ] && [ "$(sum)" = "$before" ]
}

read_only()
{
	"$TARE" run --rw=randread --bs=4k --io-size=4m --progress=none "$loop" </dev/null &&
		[ "$(sum)" = "$before" ]
}

check 'a device is read without asking' read_only
check 'without a terminal nobody is asked, and nothing written' not_asked
check 'the terminal says what to type' asks_by_name
check 'a wrong word: exit 3, not one byte changed' refused 3 loop
check 'Ctrl-C: exit 130, not one byte changed' refused 130 '^C'
check 'end of input: exit 2, not one byte changed' refused 2 '^D'
check 'the right word lets the device be written' allowed
