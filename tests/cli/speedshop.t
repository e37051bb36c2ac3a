# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# libspeedshop: what it exports, what a program needs to build against it, and its points on the model.
. "$(dirname "$0")/../lib.sh"
lib=$build/lib phased=$build/tests/programs/phased
names=$(sed -n 's/^\t\([a-z0-9_]*\);$/\1/p' "$top/lib/speedshop/libspeedshop.map" | sort)

is "the shared library exports its map and nothing else" \
	"$(nm -D --defined-only "$lib/libspeedshop.so.1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort)" "$names"
is "and so does the archive" "$(nm -g --defined-only "$lib/libspeedshop.a" | awk 'NF == 3 { print $3 }' | grep -v '^__odr_asan' | sort)" "$names"
is "the header declares it" "$(grep -o 'ssrt_[a-z_]*(' "$top/include/speedshop.h" | tr -d '(' | sort -u)" "$names"
for name in $names; do
	ok "ssapi(3) explains $name" grep -q "^\.Fn $name " "$top/docs/man/ssapi.3"
done

cat > use.c <<'END2'
#include <speedshop.h>
int main(void)
{
	ssrt_experiment_suspend();
	ssrt_experiment_restart();
	return ssrt_caliper_point("here");
}
END2
cat > classic.c <<'END2'
#include <SpeedShop/api.h>
int main(void)
{
	return ssrt_caliper_point(0, "here");
}
END2
cp use.c use.cc
if [ -n "${SAN:-}" ]; then
	skip "building against the library" "it is built with sanitizers"
else
	for source in use.c classic.c; do
		ok "builds with the header alone: $source" "${CC:-cc}" -std=c90 -pedantic-errors -Wall -Werror -I"$top/include" -o use $source -L"$lib" -lspeedshop
		ok "and runs" env LD_LIBRARY_PATH="$lib" ./use
	done
	ok "a C++ program builds" g++ -std=c++98 -pedantic-errors -Wall -Werror -I"$top/include" -o usexx use.cc -L"$lib" -lspeedshop
	ok "and runs" env LD_LIBRARY_PATH="$lib" ./usexx
	ok "a program links statically" "${CC:-cc}" -static -I"$top/include" -o uses use.c "$lib/libspeedshop.a"
	ok "and runs" ./uses
fi

is "nobody listens" "$("$phased" listening)" 0
for bad in /nonexistent /dev/null "$work" "$phased"; do
	is "nor at $bad" "$(_SPEEDSHOP_POINTS=$bad "$phased" listening)" 0
done

# ---- under ssrun, in real time ----
is "ssrun listens" "$(ssrun -q -fpcsamp -o listening.x "$phased" listening)" 1
ssrun -q -fpcsamp -o phases.x "$phased"
is "phases have names, and the threads that began them" "$(prof -dump phases.x | sed -n 's/^phase \([0-9]*\) thread \([0-9]*\) .*name /\1 \2 /p' | tr '\n' ' ')" '1 1 "one" 2 1 "two" '
ssrun -q -fpcsamp -o fork.x "$phased" fork
is "also in the child of a fork" "$(prof -dump fork.x | sed -n 's/^phase .*name //p' | tr '\n' ' ')" '"parent" "child" '
# The ring has no name, so that nothing stays if ssrun is killed.
(ssrun -q -fpcsamp -o killed.x sh -c 'test -e "$_SPEEDSHOP_POINTS" && echo "$_SPEEDSHOP_POINTS" > where; kill -KILL $PPID') 2>/dev/null
not_ok "a killed ssrun leaves no ring in a directory" test -e "$(cat where)"
# Unless the kernel has no such memory: then it is a file, which the next ssrun removes.
if strace -o trace -e inject=memfd_create:error=ENOSYS true 2>/dev/null; then
	old() { strace -o trace -e inject=memfd_create:error=ENOSYS ssrun -q -fpcsamp "$@"; }
	old -o file.x "$phased"
	is "a ring in a file" "$(prof -dump file.x | sed -n 's/^phase .*name //p' | tr '\n' ' ')" '"one" "two" '
	(old -o killed.x sh -c 'echo "$_SPEEDSHOP_POINTS" > where; kill -KILL $PPID') 2>/dev/null
	wait_for old -o other.x true
	not_ok "of a killed ssrun is removed by the next one" test -e "$(cat where)"
else
	skip "a ring in a file" "strace cannot inject errors here"
fi

# ---- on the model ----
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "points on the model" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "points on the model" "jq is not installed"; done_testing; }
is "the model listens" "$(perfex -q -machine zen4 -e gi -o counts "$phased" listening)" 2
by_phase() { # samples of taken branches, in thousands, by phase
	jq -sc '[.[] | select(.type == "sample")] | group_by(.phase) | map([.[0].phase, ([.[].count] | add / 100 | floor)])' "$1"
}
profile() {
	perfex -q -machine zen4 -e gi -o counts -profile profile.json -sample tbr:10 "$phased" "$@"
}
profile
is "phases have names" "$(jq -sc '[.[] | select(.type == "caliper") | .name]' profile.json)" '["one","two"]'
phases=$(by_phase profile.json)
is "what is suspended does not count, nor what comes behind the end" "$(echo "$phases" | jq -c 'map([.[0], (.[1] / 100 | round)])')" '[[0,10],[1,20],[2,80]]'
profile clear
is "nor what is cleared" "$(by_phase profile.json | jq -c 'map([.[0], (.[1] / 100 | round)])')" '[[0,40]]'
profile fork
is "phases in the child of a fork" "$(jq -sc '[.[] | select(.type == "caliper") | .name] | sort' profile.json)" '["child","parent"]'
done_testing
