#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tare trim as its user meets it: the verdict with its exit status as root, as somebody else,
# interrupted, and on a device without consent. Nothing is left behind.

if [ "$(id -u)" = 0 ] && [ -z "${TARE_NAMESPACE:-}" ]; then
	exec env TARE_NAMESPACE=1 unshare -m --propagation private "$0" "$@"
fi

. "$(dirname "$0")/lib.sh"
plan 16
need_loop
need_commands mkfs.ext4 setpriv python3

mnt=$WORK/mnt
mkdir "$mnt"
chmod 755 "$WORK"
loop=$(make_loop 512M)
name=$(basename "$loop")
mkfs.ext4 -q -F -E nodiscard "$loop"
mount "$loop" "$mnt"
mkdir -m 777 "$mnt/dir"

# trim WORDS...: document in $WORK/json, status in $status
trim()
{
	"$TARE" trim --json "$@" >"$WORK/json" 2>"$WORK/err"
	status=$?
}

# is EXPRESSION: of the document d
is()
{
	python3 -c "import json, sys
d = json.load(open('$WORK/json'))
layers = {l['name']: l for l in d.get('layers', [])}
codes = [e['code'] for e in d.get('evidence', [])]
ok = $1
print(json.dumps(d['verdict'] if 'verdict' in d else d))
sys.exit(not ok)"
}

empty()
{
	[ -z "$(ls -A "$mnt/dir")" ]
}

# Whether a timer asks is this machine's affair, and so is what the image lies on.
trim --accept=partial "$mnt/dir"
check 'as root: the effect is seen' is "d['verdict']['code'] in ('works', 'works-when-asked') and d['rung'] == 'effect'"
check 'and the status is 0' [ "$status" = 0 ]
check 'the loop device counted them' is "layers['$name']['delivered']['bytes'] > 4 << 20"
check 'the backing file has the holes' is "d['space_freed'] is True"
check 'where the file lies was proven' is "d['mapping_proven'] is True"
check 'every size went' is "d['sizes'] and all(s['gone'] == s['tried'] for s in d['sizes'])"
check 'nothing is left' empty

cp "$TARE" "$WORK/tare" && chmod 755 "$WORK/tare"
setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$WORK" "$WORK/tare" trim --json "$mnt/dir" \
	>"$WORK/json" 2>"$WORK/err"
status=$?
check 'as somebody else: that it needs rights' is "(d['verdict']['code'], d['verdict']['reason']) == ('cannot-tell', 'NO_RIGHTS')"
check 'and the status is 3' [ "$status" = 3 ]
check 'and what the kernel said' is "any(e['code'] == 'fitrim' and e['errno'] == 'EPERM' for e in d['evidence'])"
check 'and nothing is left' empty

"$TARE" trim --json "$mnt/dir" >"$WORK/json" 2>/dev/null &
sleep 1
kill -INT $!
wait $!
status=$?
check 'interrupted: a document all the same' is "d['interrupted'] is True"
check 'and the status is 130' [ "$status" = 130 ]
check 'and nothing is left' empty

umount "$mnt"

bare=$(make_loop 64M)
image=$(losetup -n -O BACK-FILE "$bare")
before=$(md5sum <"$image")
trim "$bare"
check 'a device without consent is only looked at' is "codes == ['consent'] and d['verdict']['reason'] == 'NOT_TRIED'"
check 'and not written' [ "$(md5sum <"$image")" = "$before" ]
