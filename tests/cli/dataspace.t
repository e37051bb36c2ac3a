# SPDX-License-Identifier: GPL-2.0-or-later
# Data space on the model: which object misses are about, false sharing and true, both ends, fixes.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "data space" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "data space" "jq is not installed"; done_testing; }
sharing=$build/tests/programs/sharing
collect() { # file command...
	_file=$1; shift
	run ssrun -q -machine zen4 -o "$_file" -dataspace "$@"
	is "$*: runs" "$status $err" "0 "
}
rows() { prof -json -dataspace "$1" 2>/dev/null > "$1.json"; }
# object FILE REGEX COLUMN: the count of the objects of that name
object() { jq --arg name "$2" --arg column "$3" '(.columns | index($column)) as $c |
	if $c == null then 0 else [.rows[] | select(.kind == "object" and (.procedure | test($name))) | .counts[$c].value] | add // 0 end' "$1.json"; }
# lines FILE REGEX: kinds of sharing below the object of that name
lines() { jq -rc --arg name "$2" '.rows as $r | [$r[] | select(.kind == "line" and ($r[.parent].procedure | test($name))) | .sharing] | unique | join(" ")' "$1.json"; }
# threads FILE REGEX: numbers of threads at ends whose text matches
threads() { jq -rc --arg text "$2" '[.rows[] | select(.kind == "end" and (.procedure | test($text))) | .procedure | capture("^thread (?<n>[0-9]+)").n] | unique | join(" ")' "$1.json"; }

# ---- the paper's weather (figure 6): false sharing of the sums, and its fix ----
collect weather.x "$build/examples/weather" 4 400 40
collect fixed.x "$build/examples/weather" -fixed 4 400 40
rows weather.x
rows fixed.x
is "weather: the line of its sums is falsely shared" "$(lines weather.x '^sums$')" false
is "and the other end is another thread: all four are named, with their line of code" "$(threads weather.x 'reads and writes bytes .* in physics \(weather: weather.c, [0-9]+\): took it [0-9]+ times')" "1 2 3 4"
is "each with bytes of its own" "$(jq -rc '[.rows[] | select(.kind == "end" and (.procedure | test("physics.*weather.c"))) | .procedure | capture("bytes (?<b>[0-9-]+) ").b] | sort | join(" ")' weather.x.json)" "0-7 16-23 24-31 8-15"
before=$(object weather.x '^sums$' ei) after=$(object fixed.x '^sums$' ei)
ok "there are interventions ($before)" test "$before" -gt 100
ok "and the fix removes over 95% of them ($before, $after)" test $((after * 20)) -lt "$before"
is "counts are the model's" "$(jq -rc '[.rows[].counts[] | select(.) | .label] | unique | join(" ")' weather.x.json)" "model"
is "all objects together are the whole" "$(jq '[.total as $t | .rows as $r | range(0; .columns | length) as $i | ([$r[] | select(.kind == "object") | .counts[$i].value // 0] | add) == $t.counts[$i].value] | all' weather.x.json)" true
collect again.x "$build/examples/weather" 4 400 40
prof -dump -q weather.x > first
prof -dump -q again.x > second
ok "the same again is the same" cmp first second
prof -merge -o ab.x weather.x fixed.x
prof -merge -o ba.x fixed.x weather.x
ok "sums do not depend on the order of files" cmp ab.x ba.x
prof -merge -o more.x ab.x again.x
prof -merge -o other.x weather.x again.x fixed.x
ok "nor on how they were grouped" cmp more.x other.x

# ---- false and true ----
for how in static heap member; do
	collect $how.x "$sharing" $how
	rows $how.x
done
is "packed counters, static: false" "$(lines static.x '^packed$')" false
is "on the heap, by who allocated them: false" "$(lines heap.x '^allocated in make_counters < main$')" false
is "in a structure: false" "$(lines member.x '^board$')" false
for how in apart read true lock; do
	collect $how.x "$sharing" $how
	rows $how.x
done
is "a line apart: nothing is shared" "$(lines apart.x '^spaced$')" ""
is "what is only read is not" "$(lines read.x '^table$')" ""
is "one counter for all: true" "$(lines true.x '^one$')" true
unlike "a lock and what it guards: not false" "$(lines lock.x '^guarded$')" false

run ssrun -q -machine zen4 -turn 20 -o turns.x -dataspace "$sharing" static
rows turns.x
ok "short turns show more of it" test "$(object turns.x '^packed$' ei)" -gt $(($(object static.x '^packed$' ei) * 5))
run ssrun -turn 100001 -dataspace true
like "but not longer ones than there are" "$err" 'at most 100000'

# ---- members, lines ----
collect staffing.x "$build/examples/staffing" 20000 10
rows staffing.x
is "staffing: most misses are of the records, by who allocated them" "$(jq -rc '.rows[0] | [.procedure, (.file | endswith("/staffing.c")), .percent[0] > 80] | join(" ")' staffing.x.json)" "allocated in hire < main true true"
like "and of that member of each that is searched" "$(jq -rc '[.rows[] | select(.kind == "member")][0] | "\(.percent[0]) \(.procedure)"' staffing.x.json)" '^[89][0-9.]+ \[\]\.badge, of struct employee \(by its size, 280 bytes\)$'
like "a member of a variable: the array, the element" "$(jq -rc '.rows[] | select(.kind == "member") | .procedure' member.x.json)" '^board\.count\[\], of struct board$'
run prof -datalines -json static.x
is "lines of an object say which bytes they are, and add up to it" "$(printf '%s\n' "$out" | jq -c '(.columns | index("ei")) as $ei | .rows as $r |
	[range(0; $r | length)] | map(select($r[.].procedure == "packed")) | .[0] as $i | [$r[$i + 1].procedure, $r[$i + 1].counts[$ei].value == $r[$i].counts[$ei].value]')" '["bytes 0-63",true]'
run prof -dataspace weather.x
short=$(printf '%s\n' "$out" | wc -l)
like "small objects are one row" "$out" ' [0-9]+ others, below 0.5% each \(-whole\)$'
run prof -dataspace -whole weather.x
ok "-whole has a row for each" test "$(printf '%s\n' "$out" | wc -l)" -gt "$short"
unlike "and no others" "$out" ' others?, below'
is "lines of small shares are four at most, unless -whole is given" "$(prof -datalines -json weather.x | jq -c '[.rows[] | select(.kind == "place")] as $r |
	[$r[] | select(([.percent[] | numbers] | max) < 0.5)] | group_by(.parent) | map(length) | [length > 0, max <= 4]') $(
	prof -datalines -whole -json weather.x | jq -c '[.rows[] | select(.kind == "place" and ([.percent[] | numbers] | max) < 0.5)] | group_by(.parent) | map(length) | max > 4')" '[true,true] true'
run prof -datalines staffing.x
like "rows of a large object say how many lines they are" "$out" ' bytes [0-9]+-[0-9]+, (64|128|256) lines$'
cat > middle.c <<'END'
#include <pthread.h>
__attribute__((section("pair"), aligned(64))) char before[32] = {1};
__attribute__((section("pair"), aligned(16))) struct { long pad; volatile long a, b; } shared = {1};
static void *run(void *p) { volatile long *q = p; for (int i = 0; i < 20000; i++) (*q)++; return 0; }
int main(void) {
	pthread_t t[2];
	pthread_create(&t[0], 0, run, (void *)&shared.a);
	pthread_create(&t[1], 0, run, (void *)&shared.b);
	return pthread_join(t[0], 0) || pthread_join(t[1], 0);
}
END
${CC:-cc} -O1 -g -pthread -fno-toplevel-reorder -o middle middle.c
collect middle.x ./middle
run prof -datalines middle.x
for x in static staffing middle weather; do
	run prof -datalines -whole -json $x.x
	is "$x: no row of a line is larger than it, and none begins before its object" "$(printf '%s\n' "$out" | jq -c '
		[.rows[].procedure | strings | select(test("^(byte|bytes) |from byte")) | {name: .} + (capture("^bytes? (?<a>-?[0-9]+)(-(?<b>[0-9]+))?(, (?<n>[0-9]+) lines)?$") // {})]
		| (length > 0), map(select(.a == null or (.a | tonumber) < 0 or ((.b // .a) | tonumber) - (.a | tonumber) >= 64 * ((.n // "1") | tonumber)) | .name)' | tr '\n' ' ')" "true [] "
done
run prof -datalines middle.x
like "an object that begins within a line: bytes are its own" "$out" 'false sharing: the line of bytes 0-31 and of 32 before them was taken'
like "at each end, too" "$out" 'thread [12] reads and writes bytes 8-15 in run '

is "-only: objects of that name" "$(prof -dataspace -json -only 'pack*' static.x | jq -rc '[.rows[] | select(.kind == "object") | .procedure] | join(" ")')" packed
for report in dataspace datalines; do
	run prof -$report -only main static.x
	like "-$report -only FUNCTION: that it selects objects is said, and what selects functions" "$status $(printf '%s\n' "$out" | tail -n 1)" \
		'^1 -only main: no object of this report is selected.*-heavy and -procedures select functions$'
done
is "-exclude: none of them" "$(prof -dataspace -json -exclude 'pack*' static.x | jq -rc '[.rows[] | select(.procedure == "packed")] | length')" 0
like "-q: so many" "$(prof -dataspace -q 1 static.x)" 'more rows are left out \(-q\)'

# ---- other programs ----
totals() { prof -dump "$1" | sed -n 's/^metric [0-9]* event \([0-9]*\) .* period \([0-9]*\) total \([0-9]*\) .*/\1 \2 \3/p' | sort -u; }
run ssrun -q -machine zen4 -o with.x -dataspace -e gi:1009 -e dc:101 -e cy:1009 -e br:1009 "$build/examples/staffing" 2000 5
run ssrun -q -machine zen4 -o without.x -e dsc:1 -e gi:1009 -e dc:101 -e cy:1009 -e br:1009 "$build/examples/staffing" 2000 5
is "looking changes no count" "$(totals with.x)" "$(totals without.x)"
if ${CC:-cc} -O1 -g -static -pthread -o static "$top/tests/programs/sharing.c" 2>/dev/null; then
	collect fixed-addresses.x ./static heap
	rows fixed-addresses.x
	is "a static executable: its allocator is seen as well" "$(lines fixed-addresses.x '^allocated in make_counters < main$')" false
else
	skip "a static executable" "it cannot be linked here"
fi
cat > library.c <<'END'
static volatile long counts[8];
void library_add(long i) { for (int k = 0; k < 2000; k++) counts[i]++; }
END
cat > user.c <<'END'
#include <pthread.h>
void library_add(long i);
static void *run(void *i) { library_add((long)i); return 0; }
int main(void) {
	pthread_t t[3];
	for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
END
${CC:-cc} -O1 -g -fPIC -shared -o libcounts.so library.c && ${CC:-cc} -O1 -g -pthread -o user user.c -L. -lcounts -Wl,-rpath,"$work"
collect library.x ./user
rows library.x
is "a variable of a library" "$(jq -rc '.rows[] | select(.procedure == "counts") | .image' library.x.json) $(lines library.x '^counts$')" "libcounts.so false"
if command -v g++ >/dev/null; then
	cat > new.cpp <<'END'
#include <thread>
#include <vector>
struct node { int key, pad[9]; node *next; };
static void work(long *p) { for (int i = 0; i < 2000; i++) (*(volatile long *)p)++; }
__attribute__((noinline)) long *make(int n) { return new long[n](); }
__attribute__((noinline)) node *chain(int n) { node *h = nullptr; while (n--) h = new node{n, {}, h}; return h; }
int main() {
	long *c = make(4), s = 0;
	std::vector<std::thread> t;
	for (int i = 0; i < 3; i++) t.emplace_back(work, &c[i]);
	for (auto &x : t) x.join();
	node *h = chain(20000);
	for (int r = 0; r < 2; r++) for (node *n = h; n; n = n->next) s += n->key;
	return s == 1;
}
END
	g++ -O1 -g -pthread -o new new.cpp
	collect new.x ./new
	rows new.x
	is "operator new: false" "$(lines new.x '^allocated in make\(int\) < main$')" false
	like "many blocks of one place are one object" "$(jq -rc '.rows[] | select(.procedure == "allocated in chain(int) < main") | .note' new.x.json)" '^20000 blocks, 960000 bytes$'
	like "with its members" "$(jq -rc '.rows[] | select(.kind == "member") | .procedure' new.x.json)" '^\.(key|next), of struct node \(by its size, 48 bytes\)$'
	# Calls in one line differ by their addresses, in order; of a loop there is one.
	cat > calls.cpp <<'END'
#include <cstdlib>
struct two { long *a, *b, *c; };
static __attribute__((noinline)) void fill(long *x) { for (int i = 0; i < 400000; i += 8) x[i] = i; }
static __attribute__((noinline)) void make(two *t) { t->a = (long *)malloc(3200000); t->b = (long *)malloc(3200008); fill(t->a); fill(t->a); fill(t->b); }
int main() { two t; make(&t); for (int i = 0; i < 3; i++) { t.c = (long *)malloc(3200000); fill(t.c); } return t.b[8] == 1; }
END
	g++ -O1 -g -o calls calls.cpp
	collect calls.x ./calls
	rows calls.x
	is "several calls in one line: objects of each" "$(jq -rc '.rows[] | select(.procedure | test("^allocated in make")) | [(.procedure | sub(".*, "; "")), .note] | join(": ")' calls.x.json | sort)" \
		"call 1 of 2: 3200000 bytes
call 2 of 2: 3200008 bytes"
	ok "with the misses of each" test "$(object calls.x 'call 1 of 2' dc)" -gt "$(object calls.x 'call 2 of 2' dc)"
	is "a call that is repeated: one object" "$(jq -rc '.rows[] | select(.procedure | test("^allocated in main")) | .note' calls.x.json)" "3 blocks, 9600000 bytes"
	cat > types.cpp <<'END'
struct base { long id; int kind; };
struct item : base { double price; char name[36]; struct { int a, b; } in; };
namespace shop { item items[20000]; }
union mixed { struct { int lo, hi; } parts; long whole; };
static mixed some[30000];
long sum;
static __attribute__((noinline)) void go() {
	for (int r = 0; r < 4; r++) {
		for (int i = 0; i < 20000; i += 7) sum += shop::items[i].in.b;
		for (int i = 0; i < 20000; i += 5) sum += shop::items[i].id;
		for (int i = 0; i < 30000; i += 9) sum += some[i].parts.hi++;
	}
}
int main() { go(); item *p = new item[9000]; for (int i = 0; i < 9000; i += 3) p[i].price += 1; return p[1].kind; }
END
	for debug in -gdwarf-4 -gdwarf-5; do
		g++ -O1 $debug -o types types.cpp
		collect types.x ./types
		rows types.x
		is "members of bases, of structures in structures, of unions: $debug" "$(jq -rc '[.rows[] | select(.kind == "member" and (.procedure | test("^shop|^some"))) | .procedure] | sort | join("; ")' types.x.json)" \
			"shop::items[].id, of struct base; shop::items[].in.b, of struct item; some[].parts.hi, of struct mixed"
		like "what moves over several elements at once: $debug" "$(jq -rc '.rows[] | select(.kind == "member") | .procedure' types.x.json)" '^\[\]\.price, of struct item \(by its size, 72 bytes\)$'
	done
	# Structures as large as a line: only pointers in scope say which.
	cat > pointed.cpp <<'END'
#include <cstdlib>
#include <vector>
struct particle { double x, y, z, v[3]; long id; int cell, flags; };
struct node { long a[8]; };
static unsigned seed = 1;
static unsigned any() { return (seed = seed * 1664525 + 1013904223) >> 16; }
static __attribute__((noinline)) long cells(const std::vector<particle> &v) {
	long t = 0;
	for (int i = 0; i < 30000; i++) t += v[any()].cell;
	return t;
}
static __attribute__((noinline)) long ids(particle *p) {
	long t = 0;
	for (int i = 0; i < 30000; i++) t += p[any()].id;
	return t;
}
static __attribute__((noinline)) long numbers(const int *p, const node *n) {
	long t = n->a[0];
	for (int i = 0; i < 30000; i++) t += p[any() * 16];
	return t;
}
static __attribute__((noinline)) particle *particles() { return new particle[65536](); }
static __attribute__((noinline)) int *ints() { return (int *)calloc(65536, 64); }
int main() {
	std::vector<particle> v(65536);
	node n = {};
	return cells(v) + ids(particles()) + numbers(ints(), &n) == 1;
}
END
	for level in -O1 -O2; do
		g++ $level -g -o pointed pointed.cpp
		collect pointed.x ./pointed
		rows pointed.x
		is "members by the type of a pointer in scope: $level" "$(jq -rc '[.rows[] | select(.kind == "member" and (.procedure | test("of struct"))) | .procedure] | unique | join("; ")' pointed.x.json)" \
			"[].cell, of struct particle (by the type of a pointer, 64 bytes); [].id, of struct particle (by the type of a pointer, 64 bytes)"
	done
	# The distance is that of a vector's elements; the vector itself, and numbers around it, would fit, too.
	cat > scopes.cpp <<'END'
#include <cstdlib>
#include <vector>
struct wide { double x[3], v[3]; long id; char pad[80]; double mass; };
struct third { long a[6]; };
struct cell { long key, next, pad[6]; };
static unsigned seed = 1;
static unsigned any() { return (seed = seed * 1664525 + 1013904223) >> 16; }
static __attribute__((noinline)) double masses(std::vector<wide> &v) {
	double t = 0;
	for (int i = 0; i < 30000; i++) t += v[any()].mass;
	return t;
}
static long chase(const cell *c) {
	long t = 0;
	for (int i = 0; i < 30000; i++) t += c[any()].next;
	return t;
}
int main(int argc, char **) {
	std::vector<wide> v(65536);
	third t = {};
	double *numbers = (double *)calloc(65536, 8);
	cell *c = (cell *)calloc(65536, sizeof *c);
	double sum = masses(v) + chase(c) + t.a[argc];
	for (int i = 0; i < 65536; i++) sum += numbers[i];
	return sum == 1;
}
END
	g++ -O2 -g -o scopes scopes.cpp
	collect scopes.x ./scopes
	rows scopes.x
	is "the innermost pointers to structures of that size" "$(jq -rc '[.rows[] | select(.kind == "member" and (.procedure | test("of struct"))) | .procedure] | unique | join("; ")' scopes.x.json)" \
		"[].mass, of struct wide (by the type of a pointer, 144 bytes); [].next, of struct cell (by the type of a pointer, 64 bytes)"
else
	skip "operator new" "g++ is not installed"
fi

# ---- a type whose members nobody can count ----
{
	inner=int
	for outer in e d c b a; do
		echo "struct $outer {"
		seq -f "$inner m%g;" 120
		echo "};"
		inner="struct $outer"
	done
	cat <<'END'
extern void *calloc(unsigned long, unsigned long);
static unsigned seed = 1;
static unsigned any() { return (seed = seed * 1664525 + 1013904223) >> 16; }
static __attribute__((noinline)) long sum(const struct a *huge, const int *p) {
	long t = huge != 0;
	for (int i = 0; i < 30000; i++) t += p[any() * 16];
	return t;
}
int main(void) { return sum(0, calloc(65536, 64)) == 1; }
END
} > huge.c
"${CC:-cc}" -O1 -g -o huge huge.c
collect huge.x ./huge
run timeout 300 prof -dataspace huge.x
is "structures in structures in structures: an end" "$status" 0

run ssrun -q -machine zen4 -dataspace -o many.x "$build/examples/adi" 96 1
run prof -dataspace -json many.x
ok "objects of which only a rare event has a share are added up: $(printf '%s' "$out" | jq '[.rows[] | select(.depth == 0)] | length')" \
	test "$(printf '%s' "$out" | jq '[.rows[] | select(.depth == 0 and (.percent[0] // 0) < 0.05)] | length')" -le 2

# ---- misuse ----
run prof -dataspace "$top/tests/cli/dataspace.t"
isnt_zero=$status
ok "what is no experiment is refused" test "$isnt_zero" -ne 0
run ssrun -q -machine zen4 -o plain.x -dsc_hwc "$sharing" static 10
run prof -dataspace plain.x
like "an experiment without data space says how to get it" "$err" 'record one with ssrun -dataspace'
run prof -ci -q 1 static.x
like "every miss is counted: figures have no interval" "$out" '^Counts .* each counted'
unlike "none is shown" "$out" '[+]-'
done_testing
