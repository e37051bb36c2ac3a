# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun -values=MODULE.so: a user's functions choose the values. What they do wrong harms neither the program nor the run.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
only_on x86_64 "values" "the interpreter is x86-64's"
known=$build/tests/programs/known
"$known" 24000r > want

module() { "${CC:-gcc}" -O1 -fPIC -shared -I"$top/include" ${3:+"-D$3"} -o "$1.so" "$2"; }

# The examples.
for name in vp-classic vp-address vp-caller; do
	run ssrun -values="$build/examples/$name.so" -rate 300 -o "$name" "$known" 24000r
	is "$name: the program is the same" "$status $out $err" "0 $(cat want) "
done
run prof -values power -csv vp-classic
like "vp-classic: a constant argument, loaded and in a register" "$out" 'power,known.*register'
run prof -values once vp-classic
like "values that functions of the module chose have its names" "$out" ' (register|loaded) '
like "and those of -values are there as well" "$(prof -values vp-classic)" ' result '
run prof -values -q 100000 vp-address
like "vp-address: places" "$out" ' block +[0-9a-f]+ '
run prof -values power vp-caller
like "vp-caller: a caller is shown as its function" "$out" 'once.* caller '
ssrun -q -values="$build/examples/vp-classic.so:4" -rate 300 -o limited "$known" 24000r
prof -values -json -q 100000 limited > limited.json
ok "text behind a colon reaches the module" python3 - <<'END'
import json
rows = [r for r in json.load(open("limited.json"))["rows"] if r.get("operand") == "register"]
assert rows and all(int(v["bits"], 16) <= 4 for r in rows for v in r["list"]), rows[:3]
END
prof -merge -o twice vp-classic vp-classic
is "a sum has twice the values" "$(prof -dump twice | awk '/^site/ && $6 == "kind" && $7 >= 32 { n += $13 } END { print n }')" \
	"$(prof -dump vp-classic | awk '/^site/ && $6 == "kind" && $7 >= 32 { n += 2 * $13 } END { print n }')"
ssrun -q -values="$build/examples/vp-classic.so" -rate 300 -runs 2 -o runs "$known" 5000r
ok "with -runs, too" sh -c "prof -dump runs | grep -q '^fact \"values.module\"'"

# What is no module.
run ssrun -values=./none.so -o no "$known" 1r
like "a file that is not there" "$status $err" '^125 .*none\.so: No such file'
: > empty.so
run ssrun -values=empty.so -o no "$known" 1r
like "an empty file" "$status $err" '^125 .*empty\.so: .*(too short|invalid|shorter)'
cat > plain.c <<'END'
int vp_version(void) { return 1; }
END
module plain plain.c
run ssrun -values=plain.so -o no "$known" 1r
like "functions are missing" "$status $err" '^125 .*plain\.so: it has no function vp_open'
run ssrun -values="$build/examples/vp-address.so:x" -o no "$known" 1r
like "a text that vp_open refuses" "$status $err" "^125 .*its vp_open refuses 'x'"
ok "and the command did not run" test -z "$out"

cat > bad.c <<'END'
#include <speedshop/values.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef LIE
#define LIE VP_VERSION
#endif
static unsigned windows;
int vp_version(void) { return LIE; }
int vp_open(const char *text, struct vp_config *c)
{
	(void)text;
	(void)c;
#ifdef OPEN
	OPEN;
#endif
	return 0;
}
unsigned vp_select(const struct vp_insn *i) { return i->length; }
void vp_sample(struct vp_context *x)
{
	(void)x;
#ifdef DO
	if (windows == 5) { DO; }
#endif
#ifdef ALWAYS
	ALWAYS;
#endif
}
void vp_window(struct vp_context *x) { windows++; vp_add(x, 3, windows); }
END
module liar bad.c LIE=7
run ssrun -values=liar.so -o no "$known" 1r
like "another version" "$status $err" '^125 .*it is of version 7, this is version 2: compile it again'
# A module of the first version can still be used: it sees no latencies.
module old bad.c LIE=1
run ssrun -values=old.so -rate 100 -o old "$known" 5000r
is "version 1" "$status $err" "0 "
ok "and its values are there" sh -c "prof -dump old | awk '/^site/ && \$7 >= 32' | grep -q ."

# Timed loads go to a module as well. Loads of a list in memory and of one in L1: other guests may slow both down, so only
# that each has a class of its own.
printf '0 3 D\n3 25 B # near\n# far\n\n25 20000 M\n' > classes
for try in 1 2 3 4 5; do
	run ssrun -values=latency -values="$build/examples/vp-latency.so:classes" -rate 200 -o loads "$build/tests/programs/levels" 60
	case $err in *"no latencies"*) break ;; esac
	prof -values -json -q 100000 loads > loads.json
	why=$(python3 - <<'END' 2>&1
import json
rows = [r for r in json.load(open("loads.json"))["rows"] if r.get("operand") == "latency"]
def top(function):
    r = max((r for r in rows if r.get("procedure") == function), key=lambda r: r["n"]["value"])
    return r["list"][0]["value"], r["list"][0]["share"]["value"]
near, far = top("from_l1"), top("from_memory")
assert near[0] in "DB" and far[0] == "M" and far[1] > 0.9, (near, far)
END
	) && break
	echo "# try $try: $why"
done
case $err in
*"no latencies"*) skip "timed loads for a module" "$(echo "$err" | head -1)" ;;
*)
	is "vp-latency: classes of the file, by their names" "$status $why" "0 "
	like "-latency is there, too" "$(prof -latency loads)" 'from_memory'
	like "in pairs: a sum has the names" "$(prof -merge -o pair loads loads && prof -values pair)" ' latency '
	;;
esac
printf '3 1 X\n' > wrong
run ssrun -values=latency -values="$build/examples/vp-latency.so:wrong" -o no "$known" 1r
like "a file of classes that is none" "$status $err" '^125 .*this is not LEAST MOST NAME: 3 1 X'
run ssrun -values=latency -values="$build/examples/vp-latency.so:missing" -o no "$known" 1r
like "no file of classes" "$status $err" '^125 .*missing: No such file'
module crash bad.c 'DO=*(volatile int *)8 = 1'
run ssrun -values=latency -values=crash.so -rate 100 -o crashed "$build/tests/programs/levels" 60
is "a module that crashes: the program is the same" "$status" 0
case $err in
*"no latencies"*) skip "and loads are complete" "$(echo "$err" | head -1)" ;;
*) like "and loads are complete" "$(prof -latency crashed)" 'from_memory' ;;
esac

for what in 'OPEN=abort()' 'OPEN=_exit(0)' 'OPEN=c->length = 100000'; do
	module opens bad.c "$what"
	run ssrun -values=opens.so -o no "$known" 1r
	like "$what: refused before the command runs" "$status $out $err" '^125  .*opens\.so: (it could not be loaded|its vp_open asks for)'
done

# What goes wrong later: one line, and other values and the program are complete.
harmless() { # name, -D, the line
	module "$1" bad.c "$2" || return
	run ssrun -values="$1.so" -rate 300 -o "$1" "$known" 24000r
	is "$1: the program is the same" "$status $out" "0 $(cat want)"
	like "$1: one line" "$err" "^ssrun: .*$1\.so: the module was dropped after [0-9]+ windows? \($3\): other values are complete$"
	is "$1: only one" "$(printf '%s\n' "$err" | grep -c .)" 1
	ok "$1: other values are there" sh -c "prof -dump $1 | grep -q '^value '"
}
harmless crash 'DO=*(volatile int *)8 = 1' 'Segmentation fault'
harmless loop 'DO=for (;;) __asm__ volatile("")' 'took a second of CPU time for a window'
harmless exits 'DO=_exit(3)' 'ended by itself'
harmless garbage 'DO=for (int k = 0; k < 100; k++) write(3, "what is this? ", 14)' 'its answer makes no sense'
harmless recursive 'DO=vp_sample(x)' '(Segmentation fault|took a second of CPU time for a window)'
harmless kinds 'DO=vp_add(x, 200, 1)' 'its answer makes no sense'
if [ "${SAN:-}" ]; then
	skip "leak" "sanitizers report it first"
else
	harmless leak 'ALWAYS=char *p = malloc(4000000); *(volatile char *)p = 1' '(Segmentation fault|took a second of CPU time for a window)'
fi

module many bad.c 'ALWAYS=for (int k = 0; k < 10000; k++) vp_add(x, 1, k)'
run ssrun -values=many.so -rate 50 -o many "$known" 5000r
is "too many values: some are left out" "$status $err" "0 "
harmless interrupt 'DO=raise(SIGINT)' 'Interrupt'
left() { for p in /proc/[0-9]*; do [ "$(readlink "$p/cwd")" = "$work" ] && tr '\0' ' ' < "$p/cmdline" | grep ssrun; done; }
is "no process of a module is left" "$(left 2>/dev/null)" ""
done_testing
