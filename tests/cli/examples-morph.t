# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# examples/morph.sh: mawk is watched, stored, optimised, verified, installed and undone, where there are a compiler and
# Debian's source. Time decides whether a build is accepted, so either verdict will do; prof-optimize.t has both.
. "$(dirname "$0")/../lib.sh"
script=$top/examples/morph.sh

run sh "$script" -nonsense
like "it refuses what it does not know" "$status$err" '^2usage: sh morph\.sh '
run env O="$build" sh "$script" -source /nonexistent
not_ok "sources that are not there" test "$status" = 0
mkdir -p before/bin
run env O="$build" sh "$script" -o before
like "it leaves another run alone" "$status$err" '(^2|another run|is missing)'
if ! command -v clang-19 >/dev/null; then
	skip "the closed loop" "clang-19 is not installed (make deps-pgo)"
	done_testing
fi
run env O="$build" sh "$script" -short -o morph
if [ "$status" = 3 ]; then
	skip "the closed loop" "$err"
	done_testing
fi
# How much of it the monitor can follow depends on the load: without enough branches there is no build.
few=$(printf '%s\n' "$out$err" | grep -o 'too few branch records.*')
none=$(printf '%s\n' "$out$err" | grep -o 'there are only clock samples.*')
[ -n "$few$none" ] && status=few
like "it runs" "$status" '^([01]|few)$'
like "the build is recorded" "$out" '^prof: mawk by clang-19: [0-9]+ commands'
like "the monitor watches" "$out" '^watches +(system|user), clock (tick|cpu), '
like "nothing is lost" "$out" '^samples .* user, .*; lost 0$'
like "the store has it" "$out" 'execute \(mawk: execute\.c, [0-9]+\)'
if [ -n "$none" ]; then
	skip "its branches, and a build by the profile" "no session of branch records before the program's end"
	done_testing
fi
like "and its branches" "$out" '^[0-9]{8} +[0-9]+ runs +[0-9]+ samples +[1-9][0-9]* bursts +[0-9]+ branches$'
like "which the monitor followed" "$out" '^branches +[1-9][0-9]* in [1-9][0-9]* bursts of [1-9][0-9]* sessions'
if [ -n "$few" ]; then
	skip "a build by the profile" "$few"
	done_testing
fi
like "a build by the profile is verified" "$out" '^spgo +time [-+][0-9.]+% \(95%: '
# Of all that is measured, whether it ran is certain; what was accepted was installed.
if [ "$status" = 0 ]; then
	like "it is installed" "$out" '^mawk -> faster$'
	ok "and undone" test -f morph/bin/mawk -a ! -L morph/bin/mawk
else
	like "why nothing is installed" "$out$err" '(not above noise|no gain of more than|it is slower).*'
	not_ok "nothing is" test -e morph/faster -o -L morph/bin/mawk
fi
done_testing
