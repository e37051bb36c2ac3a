# SPDX-License-Identifier: GPL-2.0-or-later
# Crowds of processes and threads under the modelled processor, also where there is no room for their counts.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
. "$TOP/tests/hostile.sh"

# Each costs a copy of Valgrind.
same crowd "$([ "${LONG:-}" ] && echo 500 || echo 150)"
same crowd-of-threads 520 # Valgrind itself ends at 500

# No room for counts: the program goes on, and is told of.
if unshare -m true 2>/dev/null; then
	mkdir small
	room=160
	# The thread sanitizer has a file of its own in TMPDIR, which is mapped and has no name.
	[ "${SAN:-}" != thread ] || room=672
	cat > full <<'END'
mount -t tmpfs -o "size=${room}k" none small || exit 99
TMPDIR=$PWD/small perfex -source model -machine zen4 -e 17 -o counts -- "$0" crowd 60
END
	export room
	run unshare -m sh -c "$(cat full)" "$hostile"
	is "60 processes where there is room for some" "$out" "$("$hostile" crowd 60)"
	like "the others are told of" "$err" 'not counted: [0-9]+ processes without room for counts'
else
	skip "a full disk" "only root can mount one"
fi

done_testing
