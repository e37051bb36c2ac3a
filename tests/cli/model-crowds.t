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
	cat > full <<'END'
mount -t tmpfs -o size=160k none small || exit 99
TMPDIR=$PWD/small perfex -source model -machine zen4 -e 17 -o counts -- "$0" crowd 60
END
	run unshare -m sh -c "$(cat full)" "$hostile"
	is "60 processes where there is room for some" "$out" "$("$hostile" crowd 60)"
	like "the others are told of" "$err" 'not counted: [0-9]+ processes without room for counts'
else
	skip "a full disk" "only root can mount one"
fi

done_testing
