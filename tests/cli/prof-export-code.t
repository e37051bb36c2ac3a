# SPDX-License-Identifier: GPL-2.0-or-later
# prof -export for compilers and linkers: what is written, and that their own readers take it. Readers that are not
# installed are skipped aloud (make deps-pgo).
. "$TOP/tests/lib.sh"
data=$top/tests/data/pgo

# ---- by address: golden, of code that was assembled at fixed addresses ----
as -o code.o "$data/code.s" && ld -static -Ttext=0x401000 --build-id=none -o code code.o || exit 1
ok "exact counts of a small program" ssrun -q -ideal -o code.ideal ./code
cat > runs.txt <<END
type branches
image elf $work/code
image kernel [kernel]
metric time 1000000 measured clock
tally 0 5
tally 3 4000
run 1 401007 401007 1 40101e 500
run 1 40101e 401024 1 401026 430
run 1 40101e 401024 1 401029 70
run 1 401026 401029 1 40100c 430
run 1 401029 401029 1 40100c 70
run 1 40100c 40100c 1 40102a 500
run 1 40102a 401030 1 401034 250
run 1 40102a 401030 1 401032 250
run 1 401032 401032 1 40101e 250
run 1 401034 401034 1 401011 250
run 1 401011 401013 1 401007 499
run 1 401011 401013 1 401015 1
run 1 401015 40101a 2 5000 1
run 2 5000 5010 1 40101c 3
run 1 40101c 40101d 2 5014 3
run 1 401008 401013 1 401007 2
run 1 500000 500004 1 500000 4
END
make_experiment code.branches < runs.txt || exit 1
for format in bolt profgen order sections; do
	for of in ideal branches; do
		run prof -export $format -image code -o "code.$format.$of" "code.$of"
		is "$format of $of" "$status" 0
		golden "pgo/$of.$format" "code.$format.$of"
	done
done
run prof -export bolt -image code -o again code.branches
like "coverage is told" "$err" 'bolt of code: 4 functions by branch records \(5 bursts, [0-9]+ branches\); 0\.[0-9]+% of executions in no function, 0\.[0-9]+% not along the code'
ok "the same bytes again" cmp again code.bolt.branches
make_experiment half1 < runs.txt; make_experiment half2 < runs.txt
prof -merge -q -o sum half1 half2 2>/dev/null || prof -merge -o sum half1 half2
prof -export profgen -image code -o s1 sum 2>/dev/null; prof -export profgen -image code -o s2 half1 half2 2>/dev/null
ok "a sum of files is the files together" cmp s1 s2
is "and has twice the counts" "$(awk -F: '/->/ { n += $2 } END { print n }' s1)" "$(awk -F: '/->/ { n += 2 * $2 } END { print n }' code.profgen.branches)"

# ---- by source line: exact counts are what the source says ----
# at FILE FUNCTION PATH...: the count behind the last of nested places
at() { awk -v path="$*" '
	BEGIN { n = split(path, want, " "); depth = 3 }
	{ match($0, /^ */); ind = RLENGTH }
	ind == 0 { split($1, head, ":"); on = head[1] == want[2]; at = 3; next }
	on && ind == at - 2 && ($1 " " $2) ~ ("^" want[at] "[.0-9]*: ?") && (at < n ? $2 !~ /^[0-9]+$/ : $2 ~ /^[0-9]+$/) { if (at == n) { print $2; exit } at++ }
' "$1"; }
ran() { # compiler flags...
	cc=$1; shift
	"$cc" -O2 -g1 "$@" -o inlined.$cc "$data/inlined.c" && ssrun -q -ideal -o inlined.$cc.ideal ./inlined.$cc &&
		prof -export llvm -image "inlined.$cc" -o inlined.$cc.llvm inlined.$cc.ideal 2>told
}
ok "compiled by gcc" ran gcc
is "a loop of gcc's" "$(at inlined.gcc.llvm main 4)" 5000
is "what is called once" "$(at inlined.gcc.llvm cold 2)" 1
is "two inlined functions deep" "$(at inlined.gcc.llvm hot 2 2 2)" 5000
like "most instructions have lines" "$(cat told)" '; (9[5-9]|100)\.[0-9]+% have source lines$'
clang=
for c in clang-19 clang-16 clang-15 clang-14 clang; do
	command -v $c >/dev/null && clang=$c && break
done
if [ -n "$clang" ]; then
	ok "compiled by $clang" ran $clang -fdebug-info-for-profiling
	is "a loop of clang's" "$(at inlined.$clang.llvm main 4)" 5000
	is "the call there" "$(sed -n 's/^ 4: 5000 //p' inlined.$clang.llvm)" "hot:5000"
	is "two inlined functions deep, by clang" "$(at inlined.$clang.llvm hot 2 2 2)" 5000
	run $clang -O2 -Wall -Wextra -Werror -fdebug-info-for-profiling -g1 -fprofile-sample-use=inlined.$clang.llvm -S -emit-llvm -o used.ll "$data/inlined.c"
	is "$clang reads it without a warning" "$status$out$err" 0
	like "and marks the hot function" "$(cat used.ll)" 'function_entry_count", i64 500[01]'
	like "and the branch that is taken in 4999 of 5000" "$(cat used.ll)" 'branch_weights", i32 [1-9][0-9]*, i32 [0-9]+'
	probes() { # function: rows of what is not inlined
		sed -n "/^$1:/,/^[^ ]/p" probed.llvm | sed -n 's/^ \([0-9]\)/\1/p' | tr '\n' ' '
	}
	$clang -O2 -g1 -fdebug-info-for-profiling -fpseudo-probe-for-profiling -o probed "$data/inlined.c" && ssrun -q -ideal -o probed.ideal ./probed
	run prof -export llvm -image ./probed -o probed.llvm probed.ideal
	like "by pseudo-probes" "$status$err" '^0prof: llvm of probed: .*; [1-9][0-9.]*% have pseudo-probes$'
	like "the probes of the loop" "$(probes main)" ' [0-9]+: 5000 [^ ]*hot[^ ]*:5000 '
	like "of both inlined calls of a function, each two deep" "$(sed -n '/hot[^ ]*:[0-9]*:5000$/,/^[^ ]/p' probed.llvm | grep -c '^   1: 5000$')" 2
	is "all functions have checksums" "$(grep -c '^[^ ]' probed.llvm)" "$(grep -c '^ !CFGChecksum: [1-9]' probed.llvm)"
	run $clang -O2 -Wall -Wextra -Werror -fpseudo-probe-for-profiling -fprofile-sample-use=probed.llvm -S -emit-llvm -o used.ll "$data/inlined.c"
	is "$clang reads these without a warning" "$status$out$err" 0
	like "and marks the hot function" "$(cat used.ll)" 'function_entry_count", i64 500[01]'
	run prof -export afdo -image ./probed -o probed.afdo probed.ideal
	like "formats by lines have lines of it, too" "$status$err" '^0prof: afdo of probed: .*; (9[5-9]|100)\.[0-9]+% have source lines$'
	run prof probed.ideal
	like "people see no hash in names" "$(printf '%s\n' "$out" | grep ' hot')" ' hot(\([^)]*\))? \(probed: inlined.c, [0-9]+\)$'
	objcopy --dump-section .pseudo_probe=section probed probed.cut && truncate -s -3 section && objcopy --update-section .pseudo_probe=section probed probed.cut
	ssrun -q -ideal -o cut.ideal ./probed.cut
	run prof -export llvm -image probed.cut cut.ideal
	like "damaged ones are refused" "$status$err" '^125prof: .*probed.cut: its pseudo-probes are damaged'
	run $clang -O2 -Werror -fprofile-sample-use=code.bolt.ideal -c -o used.o "$data/inlined.c"
	is "another format is refused by it" "$([ "$status" != 0 ] && echo refused)" refused
else
	skip "clang reads sample profiles" "no clang is installed: make deps-pgo"
fi

# ---- gcc's ----
ok "gcc's profile" prof -export afdo -image inlined.gcc -o inlined.afdo inlined.gcc.ideal
is "it begins as gcc 12 wants it" "$(od -A n -t x4 -N 16 inlined.afdo | tr -s ' ')" " 67636461 00000002 00000000 aa000000"
case $(gcc -dumpversion) in
10* | 11* | 12*)
	run gcc -O2 -g1 -Wall -Wextra -Werror -fauto-profile=inlined.afdo -fdump-tree-optimized-blocks-details=used.txt -c -o used.o "$data/inlined.c"
	is "gcc reads it without a warning" "$status$out$err" 0
	like "and knows executions" "$(cat used.txt)" 'count:? ?(5000|4999) \(auto FDO\)'
	;;
*) skip "gcc reads it" "gcc $(gcc -dumpversion) may want another version of the format" ;;
esac

# ---- what is refused ----
printf 'type pcsamp\nimage elf %s\nmetric time 1000000 measured clock\nsample 0 0 0 100 1:401024\nsample 0 0 0 50 1:401030\n' "$work/code" > clock.txt
make_experiment code.pcsamp < clock.txt || exit 1
for format in llvm afdo bolt profgen propeller; do
	run prof -export $format -o refused code.pcsamp
	is "clock samples are refused: $format" "$status" 125
	like "with the reason: $format" "$err" "only clock samples of .*code, and programs built by a profile of these become slower"
	like "and what to do: $format" "$err" 'ssrun -branches'
done
not_ok "nothing was written" test -e refused
is "but they order functions" "$(prof -export order code.pcsamp 2>/dev/null | tr '\n' ' ')" "hot warm "
strip -o bare code
run ssrun -q -ideal -o bare.ideal ./bare
run prof -export order bare.ideal
is "without symbols there is no order" "$status $out" "125 "
like "and it is said why" "$err" 'no function with a symbol has samples: compile without -s'
for format in bolt profgen; do
	run prof -export $format -o bare.out bare.ideal
	like "nor a profile: $format" "$status$err" "^125prof: -export $format: 100% of the executions of .*bare are in no function that a symbol names: it is stripped"
done
not_ok "which is not written" test -e bare.out
head -c $(($(wc -c < code.pcsamp) - 3)) code.pcsamp > cut.pcsamp
run prof -export llvm -o refused cut.pcsamp
like "a file that was cut" "$(printf '%s' "$err" | tr '\n' ' ')" 'cut.pcsamp: .*a file was cut, and there are only clock samples of .*code|cut.pcsamp: .*no samples'
cat > partly.c <<'END'
static __attribute__((noinline)) int hot(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i & 3; return s; }
int main(int argc, char **argv) { (void)argv; return hot(100000 * argc) == 7; }
END
gcc -O1 -rdynamic -s -o partly partly.c && ssrun -q -ideal -o partly.ideal ./partly
run prof -export bolt -image partly -o bare.out partly.ideal
like "symbols for dynamic linking alone are not enough" "$status$err" '^125prof: -export bolt: (9[0-9]|100)% of the executions of .*partly are in no function'
ld -static -Ttext=0x401000 --build-id=0x0123456789abcdef01234567 -o cut code.o
ssrun -q -ideal -o cut.ideal ./cut
truncate -s -100 cut
for format in llvm bolt profgen; do
	run prof -export $format cut.ideal
	like "an image that is cut short: $format" "$status$err" '^125prof: -export [a-z]+: .*cut is cut short: its sections are missing'
done
run prof -export llvm code.ideal
is "no debug information: refused" "$status" 125
like "by its reason" "$err" 'no executed instruction of .*code has a source line'
run prof -export propeller code.ideal
like "no map of blocks" "$err" 'code has no map of its blocks'
run prof -export llvm -image nothing code.ideal
like "no such image" "$err" "no samples or branches of an image that matches nothing"
mv code code.away
run prof -export bolt code.ideal
like "the image is gone" "$err" 'the image .*code cannot be read'
is "and can be given" "$(prof -export bolt -o - ./code.away code.ideal 2>/dev/null | cmp - code.bolt.ideal && echo same)" same
mv code.away code
run prof -export llwm code.ideal
like "a typo names the nearest" "$err" 'for compilers and linkers llvm, afdo'
run prof -image code code.ideal
like "-image alone" "$err" '-image needs -export'
run prof -export pprof -image code code.ideal
like "-image of another format" "$err" '-image is of formats for compilers and linkers'

# ---- entries ----
# A jump to a function's own beginning is a call of itself if the function begins with a push, else a loop.
cat > entries.c <<'END'
__attribute__((naked)) void again(int n) { __asm__("push %rbx; pop %rbx; dec %edi; jg again; ret"); }
__attribute__((naked)) void around(int n) { __asm__("dec %edi; jg around; ret"); }
int main(void) { for (int i = 0; i < 10; i++) { again(5); around(5); } return 0; }
END
if [ -n "$clang" ] && "$clang" -O1 -g1 -fdebug-info-for-profiling -w -o entries entries.c 2>/dev/null; then
	ssrun -q -ideal -o entries.ideal ./entries
	is "calls of itself are entries, loops are none" "$(prof -export llvm -image entries entries.ideal 2>/dev/null | head -4 | tr '\n' ' ')" \
		"again:210:50  0: 50 again:40 around:110:10  0: 50 "
else
	skip "entries" "there is no clang"
fi

# ---- readers of LLVM 19 ----
llvm=/usr/lib/llvm-19/bin
if [ -x $llvm/llvm-profdata ] && [ -x $llvm/llvm-profgen ] && [ "$clang" = clang-19 ]; then
	for at in text extbinary; do
		run $llvm/llvm-profdata merge --sample --$at -o "again.$at" inlined.clang-19.llvm
		is "llvm-profdata: $at" "$status$err" 0
	done
	$llvm/llvm-profdata merge --sample --text -o back again.extbinary
	ok "and back unchanged" cmp back again.text
	prof -export profgen -image inlined.clang-19 -o inlined.profgen inlined.clang-19.ideal 2>/dev/null
	run $llvm/llvm-profgen --format=text --unsymbolized-profile=inlined.profgen --use-offset=0 --binary=inlined.clang-19 --output=profgen.llvm
	is "llvm-profgen reads ranges" "$status" 0
	prof -export profgen -image probed -o probed.profgen probed.ideal 2>/dev/null
	run $llvm/llvm-profgen --format=text --unsymbolized-profile=probed.profgen --use-offset=0 --binary=probed --output=probed.theirs
	is "and has the same by pseudo-probes" "$status $(diff probed.theirs probed.llvm)" "0 "
	# Ends of cases are merged: probes of what was inlined there are in big as if they were not inlined.
	cat > merged.c <<'END'
struct { int on; void (*done)(void *); int (*size)(void *); } how;
long now[2], counts[4];
static int size_of(void *p) { return how.size(p); }
static void down(int op, int n) { now[op] -= n; }
__attribute__((always_inline)) static inline void give(void *p)
{
	if (!p) return;
	if (how.on) { down(0, size_of(p)); down(1, 1); }
	how.done(p);
}
struct room { void *low, *high, *list; int used; };
__attribute__((always_inline)) static inline void put(struct room *r, void *p)
{
	if (r) {
		if (p >= r->low && p < r->high) { *(void **)p = r->list; r->list = p; return; }
		if (r->used) { r->used--; return; }
	}
	give(p);
}
__attribute__((noinline)) void big(struct room *r, int op, void **p)
{
	switch (op) {
	case 1: counts[0]++; put(r, *p); break;
	case 2: counts[1]++; put(r, p[1]); break;
	case 3: if (--counts[2] == 0) put(r, p[2]); break;
	case 4: give(p[3]); break;
	case 5: if (r->used) put(r, p); break;
	case 6: counts[3] += op; put(r, p[4]); break;
	}
}
int main(int argc, char **argv)
{
	struct room r = {0};
	for (int i = 0; i < 1000; i++) big(&r, 7 + argc, (void **)argv);
	return 0;
}
END
	clang-19 -O2 -g1 -fdebug-info-for-profiling -fpseudo-probe-for-profiling -o merged merged.c
	ssrun -q -ideal -o merged.ideal ./merged
	prof -export llvm -image merged -o merged.llvm merged.ideal 2>/dev/null
	prof -export profgen -image merged -o merged.profgen merged.ideal 2>/dev/null
	run $llvm/llvm-profgen --format=text --unsymbolized-profile=merged.profgen --use-offset=0 --binary=merged --output=merged.theirs
	is "and of merged code" "$status $(diff merged.theirs merged.llvm)" "0 "
	# sums of totals differ, it has rows of line 0, and no call of main from outside
	rows() { sed -n 's/^\( *[0-9.]*: [0-9][^:]*\)$/\1/p; s/^\( *[0-9.]*: [0-9]* .*\)/\1/p; s/^\([a-z_]*\):[0-9]*:\([0-9]*\)$/\1 \2/p' "$1" | grep -vE '^ *6[0-9]{4}:|^main ' | sort -u; }
	rows inlined.clang-19.llvm > ours; rows profgen.llvm > theirs
	is "and counts as prof does" "$(comm -23 ours theirs)" ""
else
	skip "llvm-profdata and llvm-profgen" "LLVM 19 is not installed: make deps-pgo"
fi
if [ -x $llvm/perf2bolt ] && [ -x $llvm/llvm-bolt ] && [ "$clang" = clang-19 ]; then
	clang-19 -O2 -g1 -fdebug-info-for-profiling -Wl,--emit-relocs -o inlined.bolt "$data/inlined.c"
	ssrun -q -ideal -o bolt.ideal ./inlined.bolt
	prof -export bolt -image inlined.bolt -o preagg bolt.ideal 2>/dev/null
	run $llvm/perf2bolt -pa -p preagg -o bolt.fdata inlined.bolt
	is "perf2bolt reads branches" "$status" 0
	like "none of them unknown" "$out$err" 'traces mismatching disassembled function contents: 0'
	like "with the branches of main" "$(cat bolt.fdata)" '^1 main [0-9a-f]+ 1 main [0-9a-f]+ 0 (4999|5000)$'
	run $llvm/llvm-bolt inlined.bolt -data=bolt.fdata -reorder-blocks=ext-tsp -reorder-functions=cdsort -o inlined.bolted
	is "llvm-bolt takes it" "$status" 0
	ok "and the program runs" ./inlined.bolted
else
	skip "perf2bolt and llvm-bolt" "BOLT 19 is not installed: make deps-pgo"
fi
if [ "$clang" = clang-19 ] && command -v ld.lld-19 >/dev/null; then
	clang-19 -O2 -g1 -ffunction-sections -fbasic-block-sections=labels -o inlined.labels "$data/inlined.c"
	ssrun -q -ideal -o labels.ideal ./inlined.labels
	ok "clusters of blocks" prof -export propeller -image inlined.labels -o clusters labels.ideal
	like "of all functions" "$(tr '\n' ' ' < clusters)" '^v1 (f [a-z_0-9]+ c 0[ 0-9]* )+$'
	run clang-19 -O2 -Wall -Werror -ffunction-sections -fbasic-block-sections=list=clusters -fuse-ld=lld-19 -o inlined.clusters "$data/inlined.c"
	is "clang-19 takes them" "$status$err" 0
	ok "and the program runs" ./inlined.clusters
	prof -export order -image inlined.labels -o order labels.ideal 2>/dev/null
	run clang-19 -O2 -ffunction-sections -fuse-ld=lld-19 -Wl,--symbol-ordering-file=order,--no-warn-symbol-ordering -o inlined.order "$data/inlined.c"
	is "ld.lld takes the order" "$status$err" 0
	is "and places functions so" "$(nm -n inlined.order | awk '$3 == "main" || $3 == "hot" || $3 == "cold" { print $3 }' | tr '\n' ' ')" "$(grep -xE 'main|hot|cold' order | tr '\n' ' ')"
else
	skip "clang and ld.lld take clusters and order" "LLVM 19 is not installed: make deps-pgo"
fi
if command -v ld.gold >/dev/null; then
	prof -export sections -image inlined.gcc -o sections inlined.gcc.ideal 2>/dev/null
	run gcc -O2 -ffunction-sections -fno-reorder-functions -fuse-ld=gold -Wl,--section-ordering-file=sections -o inlined.gold "$data/inlined.c"
	is "gold takes the order" "$status$err" 0
	is "and places sections so" "$(nm -n inlined.gold | awk '$3 == "main" || $3 == "hot" || $3 == "cold" { print $3 }' | tr '\n' ' ')" "$(sed -n 's/^.text.\(main\|hot\|cold\)$/\1/p' sections | tr '\n' ' ')"
else
	skip "gold takes the order of sections" "ld.gold is not installed"
fi
done_testing
