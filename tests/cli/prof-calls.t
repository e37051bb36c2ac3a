# SPDX-License-Identifier: GPL-2.0-or-later
# Who calls whom, how often: prof -butterfly of exact counts (ssrun -ideal), and of samples by call path (ssrun -fusertime).
. "$TOP/tests/lib.sh"

cat >calls.c <<'END'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) void *often(int n) { return malloc((size_t)n + 1); }
__attribute__((noinline)) void *rarely(int n) { return malloc((size_t)n + 100); }
__attribute__((noinline)) int spin(int n) { volatile int s = 0; while (n--) s += n; return s; }
int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 0;
	void *(*by_pointer)(int) = rarely;
	struct timespec now;
	for (int i = 0; i < 300; i++)
		free(often(i));
	for (int i = 0; i < 70; i++)
		free(by_pointer(i));
	do {
		spin(1000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_nsec / 1000000 < ms && !now.tv_sec);
	return 0;
}
END
gcc -O1 -g -o calls calls.c
run ssrun -q -o exact.x -ideal ./calls
is "counted" "$status" 0
run prof -butterfly -only malloc exact.x
is "a report" "$status $err" "0 "
like "the caller that calls most comes first" "$(printf '%s\n' "$out" | grep -A1 'calls *%' | tail -1; printf '%s\n' "$out" | grep -m1 'often')" ' 300 .* often [(]calls: calls.c'
like "then the other" "$out" '^ +70 .* rarely [(]calls: calls.c'
like "with its label" "$out" '^ +model'
is "shares of malloc's calls, and of the run's" "$(printf '%s\n' "$out" | awk '$4 == "often" || $4 == "rarely" { sum += $3 } $3 == "TOTAL" { print (sum > 90 && sum <= 100.1), $2 }')" "1 100.0%"
is "... in JSON as a ratio" "$(prof -butterfly -only malloc -json exact.x | jq '.rows as $r | $r[] | select(.procedure == "often") | .counts[1].value - .counts[0].value / ($r[] | select(.role == "head") | .counts[0].value) | fabs < 1e-9')" true
run prof -inclusive exact.x
like "there are no call paths" "$status $err" '^125 prof: exact counts have no call paths'
like "and what there is" "$err" '-butterfly shows its callers and their calls'
run prof -butterfly -only often -json exact.x
is "the function's own row: its calls, its caller, its callee" "$(printf '%s\n' "$out" | jq -rc '[.rows[] | select(.role == "head" or .role == "caller" or .role == "callee") | [.role, .procedure, .counts[0].value] | join(" ")] | join("; ")' 2>/dev/null || printf '%s\n' "$out")" \
	"caller main 300; head often 300; callee malloc 300"

# a function that only passes calls on, as operator new does
cat >through.c <<'END'
#include <stdlib.h>
__attribute__((noipa)) void *inner(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
__attribute__((noipa)) void *outer(size_t n) { void *p = inner(n + 1); ((char *)p)[0] = 1; return p; }
__attribute__((noipa)) void *other(size_t n) { void *p = n % 2 ? malloc(n) : NULL; return n % 4 ? p : malloc(n); }
__attribute__((noipa)) void many(void) { for (int i = 0; i < 300; i++) free(outer(5)); }
__attribute__((noipa)) void few(void) { for (int i = 0; i < 70; i++) free(inner(5)); }
int main(void)
{
	many();
	few();
	for (size_t i = 0; i < 40; i++)
		free(other(i));
	return 0;
}
END
gcc -O1 -g -o through through.c
run ssrun -q -o through.x -ideal ./through
run prof -butterfly -only malloc -json through.x
is "callers of functions that pass every call on" "$(printf '%s\n' "$out" | jq -rc '[.rows[] | select(.role == "caller") | [.depth, .procedure, .counts[0].value] | join(" ")] | join("; ")')" \
	"0 inner 370; 1 outer 300; 2 many 300; 1 few 70; 0 other 30"
run prof -butterfly -only malloc through.x
like "they are indented" "$out" '^ +300 +[0-9.]+% +[0-9.]+% {10}many '
like "... which is said" "$out" '^An indented caller calls the function above it'
cat >inlined.c <<'END'
#include <stdlib.h>
static void *volatile kept;
static inline __attribute__((always_inline)) void short_name(int n) { kept = malloc((size_t)n + 1); }
static inline __attribute__((always_inline)) void long_name(int n) { kept = malloc((size_t)n + 100); }
__attribute__((noipa)) void *nearly(size_t n) { return n % 50 ? malloc(n) : NULL; }
int main(void)
{
	for (int i = 0; i < 300; i++)
		short_name(i);
	for (int i = 0; i < 70; i++)
		long_name(i);
	for (size_t i = 1; i <= 50; i++)
		free(nearly(i));
	return 0;
}
END
gcc -O1 -g -o inlined inlined.c
run ssrun -q -o inlined.x -ideal ./inlined
run prof -butterfly -only malloc inlined.x
like "a caller by what it has inlined" "$out" '^ +300 +[0-9.]+% +[0-9.]+% {6}main \[inlined short_name\] [(]inlined: inlined.c'
like "... the other" "$out" '^ +70 +[0-9.]+% +[0-9.]+% {6}main \[inlined long_name\]'
like "a function that passes nearly every call on has its callers" "$(printf '%s\n' "$out" | grep -A1 ' 49 .* nearly')" '^ +50 +[0-9.]+% +[0-9.]+% {8}main [(]'
run prof -butterfly -only main -json inlined.x
is "callees are added up" "$(printf '%s\n' "$out" | jq -rc '[.rows[] | select(.role == "callee" and .procedure == "malloc") | .counts[0].value] | join(" ")')" 370
run prof -butterfly through.x
unlike "not in the report of all functions" "$out" 'indented'
run prof -butterfly -only rarely exact.x
like "calls by a pointer" "$out" '^ +70 .* main [(]calls: calls.c'

# a call as the last thing that a function does is a jump
cat >tail.c <<'END'
#include <stdlib.h>
__attribute__((noipa)) void *last(size_t n) { return malloc(n + 8); }
__attribute__((noipa)) void *some(size_t n) { return n % 3 ? malloc(n + 16) : NULL; }
__attribute__((noipa)) int turns(int n, int k) { return n ? turns(n - 1, k + n % 7) : k; }
int main(void)
{
	int sum = 0;
	for (size_t i = 0; i < 600; i++) {
		free(last(i));
		free(some(i));
	}
	sum = turns(50, 0);
	return sum == 1;
}
END
for how in -fplt -fno-plt -static; do
	gcc -O2 $how -o tail tail.c
	run ssrun -q -o tail.x -ideal ./tail
	run prof -butterfly -json tail.x
	is "calls that are jumps, $how" "$(printf '%s\n' "$out" | jq -rc '[.rows[] | select(.role == "head" or .role == "caller") | [.role, .procedure, .counts[0].value] | join(" ")] | join("; ") + "; "' | grep -oE 'caller (last|some) [0-9]+; |head (last|some|turns) [0-9]+; ' | sort | tr -d '\n')" \
		"caller last 600; caller some 400; head last 600; head some 600; head turns 1; "
done

run ssrun -q -o paths.x -fusertime ./calls 200
is "sampled by call path" "$status" 0
run prof -butterfly -only spin paths.x
like "with a caller" "$out" ' main [(]calls: calls.c'
ok "every millisecond" test "$(prof -json -summary paths.x | grep -o '"period":[0-9]*' | head -1 | tr -dc 0-9)" -lt 2000000
done_testing
