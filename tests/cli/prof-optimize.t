# SPDX-License-Identifier: GPL-2.0-or-later
# prof optimize: recipes, recorded builds, ways that are tried, installation and the way back.
# In real time: builds that do a third of the work of others are timed.
. "$TOP/tests/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS # of the make that runs the tests: its jobserver is not that of builds
CC=${CC:-gcc}
mkdir src
cat > src/part.c <<'END'
#ifndef WORK
#define WORK 60
#endif
int step(int n);
int step(int n)
{
	volatile unsigned x = 1;

	for (int i = 0; i < WORK * 1000; i++)
		x = x * 1103515245 + (unsigned)n;
	return (n & 3) == 3 ? 2 : 1;
}
END
cat > src/main.c <<'END'
#include <stdio.h>
int step(int n);
int main(int argc, char **argv)
{
	int sum = 0;

	(void)argv;
	for (int i = 0; i < 400 * argc; i++)
		sum += step(i);
	printf("%d\n", sum);
	return 0;
}
END
cat > src/Makefile <<'END'
program: main.o part.o
	$(CC) $(LDFLAGS) -o $@ main.o part.o
%.o: %.c
	$(CC) -O2 $(CFLAGS) -c $<
END
# A compiler whose profiles always help, or always harm, so that it is known what is to be accepted.
for kind in good bad; do
	[ $kind = good ] && does=20 || does=180
	cat > $kind-cc <<END
#!/bin/sh
case "\$*" in *profile*use=* | *auto-profile*) set -- -DWORK=$does \$(printf '%s\n' "\$@" | grep -v 'profile.*=\|profile-use-profi\|^-mllvm') ;; esac
exec $CC "\$@"
END
	chmod +x $kind-cc
	cat > $kind.recipe <<END
{"directory": "src", "build": "rm -f *.o program; make CC={cc} CFLAGS='{cflags}' LDFLAGS='{ldflags}'", "output": "program",
 "cc": "$PWD/$kind-cc", "train": "{} 1 2 3", "tests": ["{}", "{} 1"]}
END
done

run prof optimize -recipe good.recipe -how afdo -unmodelled -rounds 3 -o new
is "a build by a profile is accepted" "$status" 0
like "its gain" "$out" '^afdo +time -[4-8][0-9]\.[0-9]% \(95%: .*\)  accepted$'
like "steps are reported" "$err" 'recording branches'
is "the image is written" "$(./new)" "500"
is "with its verdict" "$(jq -r '.schema, .verification.verdict' new.verdict | tr '\n' ' ')" "prof.installable/1 accept "
is "sources are as they were" "$(ls src | tr '\n' ' ')" "Makefile main.c part.c "
not_ok "nothing is left in the temporary directory" sh -c "ls -d ${TMPDIR:-/tmp}/prof-optimize.*/program"
cp new kept
run prof optimize -recipe good.recipe -how afdo -unmodelled -rounds 3 -o new
like "no file is overwritten" "$status$err" '125prof: new exists, and nothing is overwritten'
ok "it was not" cmp new kept
run prof optimize -recipe bad.recipe -how afdo -unmodelled -rounds 3 -json -quiet -o worse
is "a slower build is refused" "$status$err" 1
is "and says why" "$(printf '%s' "$out" | jq -r '.written, .candidates[0].how, .candidates[0].accepted' | tr '\n' ' ')" "null afdo false "
like "in words" "$(printf '%s' "$out" | jq -r '.candidates[0].reason')" '^it is slower: [0-9.]+% more time'
not_ok "nothing is written" ls worse worse.verdict

# ---- too little, and what fails ----
sed 's/"train": "[^"]*"/"train": "true {}"/' good.recipe > idle.recipe
run prof optimize -recipe idle.recipe -how afdo -unmodelled -runs 2 -o none
like "records of nothing are refused" "$status$err" '^prof: too few branch records: none of the program itself$'
sed 's/"train": "[^"]*"/"train": "{} 1; exit 10"/' good.recipe > answers.recipe
run prof optimize -recipe answers.recipe -how afdo -unmodelled -o none
like "training that ends with another exit status" "$status $(printf '%s' "$err" | tr '\n' ' ')" "125 .*the training command '\{\} 1; exit 10' ended with exit status 10.*if that is no failure, write '\{\} 1; exit 10; true'"
run prof optimize -recipe good.recipe -how afdo -unmodelled -runs 1 -o none
like "records of one run are refused, whether it had bursts or not" "$err" '^prof: too few branch records: ([0-9]+ branches in [0-9]+ bursts of 1 runs; a profile needs|none of the program itself)'
ssrun -q -branches -o other.branches sh -c 'exit 0' >/dev/null 2>&1
run prof optimize -recipe good.recipe -how afdo -unmodelled -o none other.branches
like "records of another program" "$status$err" 'no samples or branches of an image that matches program'
cp new renamed
ssrun -q -branches -o renamed.branches ./renamed 1 2 3 >/dev/null
run prof optimize -recipe good.recipe -how afdo -unmodelled -o none renamed.branches
like "records under another name" "$(printf '%s' "$status$err" | tr '\n' ' ')" '125.*no samples or branches of an image that matches program .*-image names one'
run prof optimize -recipe good.recipe -how afdo -unmodelled -image 'renam*' -o none renamed.branches
# So short a run has few bursts, or none.
like "which -image says" "$err" '^prof: too few branch records: |there are only clock samples of [^ ]*/renamed,'
# It has 18000 branches itself in both runs: no number of bursts has enough of them.
mkdir library
printf 'int work(int n) { volatile unsigned x = 1; int i; for (i = 0; i < n; i++) if ((x = x * 1103515245 + 12345) & 64) x++; return (int)x; }\n' > library/work.c
printf 'int work(int n);\nint main(void) { int i, s = 0; for (i = 0; i < 3000; i++) s += work(20000); return s == 7; }\n' > library/main.c
$CC -O1 -shared -fPIC -o library/libwork.so library/work.c
$CC -O1 -Wl,--emit-relocs -o library/caller library/main.c -Llibrary -lwork -Wl,-rpath,"$PWD/library"
run prof optimize -runs 2 -train '{}' -test '{}' -unmodelled -o none library/caller
like "a program whose work is in a library: named" "$status$err" '(9[0-9]|100)% of the branches are in other images, most in libwork.so'
sed 's/make CC/false \&\& make CC/' good.recipe > fails.recipe
run prof optimize -recipe fails.recipe -unmodelled -o none
like "a build that fails" "$status$err" '^prof: a command of the recipe failed: exit status 1$'
sed 's/"build": "/"limit": 1, "build": "sleep 1234; /' good.recipe > hangs.recipe
run prof optimize -recipe hangs.recipe -unmodelled -o none
like "a build that hangs" "$status$err" '^prof: a command of the recipe failed: no end within the limit$'
sed 's/"limit": 1, //;s/1234/1235/' hangs.recipe > stopped.recipe
mkdir scratch
TMPDIR=$work/scratch prof optimize -recipe stopped.recipe -unmodelled -o none 2> stopped.err &
wait_for pgrep -f 'sleep 1235$'
kill "$!"
wait "$!"
is "a signal ends it" "$?" 125
like "with what it runs" "$(cat stopped.err)" 'ended by signal 15'
not_ok "which does not stay" pgrep -f 'sleep 123[45]$'
is "nor do its files" "$(ls scratch)" ""
sed 's/"output": "program"/"output": "elsewhere"/' good.recipe > elsewhere.recipe
run prof optimize -recipe elsewhere.recipe -unmodelled -o none
like "a build that makes something else" "$err" 'the build made no elsewhere'
# refuses WHAT RECIPE WHY
refuses() {
	printf '%s\n' "$2" > bad.recipe
	run prof optimize -recipe bad.recipe -unmodelled -o none
	like "$1" "$status$err" "^125prof: bad.recipe:$3"
}
least='"build": "make {cflags}", "output": "x"'
refuses "a recipe that is cut" '{"output": ' '[0-9]+: '
refuses "a recipe without flags" '{"output": "x", "build": "make"}' ' "build" has no .cflags'
refuses "a recipe without output" '{"build": "make {cflags}"}' ' "output" is missing'
for output in "$work/x" ../x a/../../x; do
	refuses "an output outside: $output" "{\"build\": \"make {cflags}\", \"output\": \"$output\"}" ' "output" is not in "directory"'
done
refuses "a member of another type" '{"build": ["make {cflags}"], "output": "x"}' ' "build" is not a text'
for more in '"tests": "{}"' '"tests": 5' '"tests": {"a": "{}"}' '"commands": "cc"' '"limit": "soon"' '"limit": -1'; do
	refuses "of another type: $more" "{$least, $more}" " ${more%%:*} is "
done
refuses "a member that there is not" "{$least, \"test\": [\"{}\"]}" ' recipes have no "test"'
refuses "a recipe of a later version" "{\"schema\": \"prof.recipe/2\", $least}" ' the schema is prof.recipe/2: '
run prof optimize -recipe good.recipe -how magic -o none
like "an unknown way" "$err" "the ways are spgo, bolt"
run prof optimize -recipe good.recipe
like "no output" "$err" '-o NEW is missing'
sed 's/"tests": .*\]/"tests": []/' good.recipe > untested.recipe
run prof optimize -recipe untested.recipe -o none
like "no test" "$err" 'there is no test to run'
"$CC" -O2 -o norelocs src/main.c src/part.c
run prof optimize -unmodelled -o none -train "{}" ./norelocs -- 1
like "BOLT needs relocations" "$err" 'norelocs was linked without relocations'
truncate -s -100 norelocs
run prof optimize -unmodelled -o none -train "{}" ./norelocs -- 1
like "an image that is cut short" "$status$err" '^125prof: .*norelocs is cut short'

# ---- a recorded build ----
cd src || exit 1
run prof optimize -record -o ../made.recipe -- make -j2 CC="$CC"
cd .. || exit 1
is "a build is recorded" "$status" 0
like "its program" "$err" "^prof: program by $CC: 3 commands"
is "all of its commands" "$(jq -r '.commands[] | .[1:] | join(" ")' made.recipe | sort)" "$(printf '%s\n' "$CC -O2 -c main.c" "$CC -O2 -c part.c" "$CC -o program main.o part.o" | sort)"
cp src/program program.before
run prof optimize -recipe made.recipe -how afdo -unmodelled -rounds 2 -runs 2 -train '{} 1 2 3' -test '{}' -o again1
like "and is replayed: a verdict" "$status $out" '^[01] afdo .*(accepted|no gain|slower|not above noise)'
ok "without change of what was built" cmp src/program program.before
# questions to the compiler and trials that fail are no steps; a program that is stripped keeps what profiles need
printf 'program:\n\t-$(CC) --no-such-option -c main.c\n\t$(CC) --version\n\t$(CC) -O2 -c main.c\n\t$(CC) -O2 -c part.c\n\t$(CC) -s -o program main.o part.o\n\t$(CC) -print-file-name=libc.a\n' > src/probe.mk
rm -f src/program src/*.o
run sh -c 'cd src && exec prof optimize -record -o ../probe.recipe -- make -f probe.mk CC='"$CC"
is "a build with trials and questions" "$status" 0
like "only what makes files is recorded" "$err" "prof: program by $CC: 3 commands"
run prof optimize -recipe probe.recipe -how bolt -llvm "$PWD" -unmodelled -rounds 2 -runs 2 -train '{} 1 2 3' -test '{}' -o again2
like "a link that strips is replayed with symbols and relocations" "$status $out" '^1 bolt +.*perf2bolt'
printf 'program: main.o part.o\n\t$(CC) -o $@ main.o part.o\n\t$(CC) -shared -o part.so part.o\n' > src/both.mk
rm -f src/program src/*.o
run sh -c 'cd src && exec prof optimize -record -o ../both.recipe -- make -f both.mk CFLAGS=-fPIC CC='"$CC"
like "a library that is linked after the program is not taken for it" "$status$err" "^0prof: program by $CC: 4 commands"
run sh -c 'cd src && exec prof optimize -record -o ../never.recipe -program elsewhere -- make -B -f both.mk CFLAGS=-fPIC CC='"$CC"
like "a program that the build does not make" "$status$(printf '%s' "$err" | tail -n 2 | tr '\n' ' ')" 'the build made no elsewhere.*it linked program last$'
run prof optimize -record -o never.recipe -- false
like "a build that fails is not recorded" "$status$err" '125prof: the build false failed'
run prof optimize -record -o never.recipe -- true
like "nor one that links nothing" "$err" 'the build linked nothing'
not_ok "there is no recipe" ls never.recipe
TMPDIR=$work/scratch prof optimize -record -o never.recipe -- sh -c 'sleep 1236; exit 0' 2> stopped.err &
wait_for pgrep -f 'sleep 1236$'
kill "$!"
wait "$!"
is "a signal ends a recorded build" "$? $(cat stopped.err)" "125 prof: ended by signal 15 (Terminated)"
is "no file stays" "$(ls scratch)" ""
run prof optimize -record -o never.recipe -- sh -c "$CC -o; true"
like "an output without a name" "$err" 'prof: (the build linked nothing|a.out by )'
# programs in directories of their own, reached by a symbolic link
mkdir -p nest/tools nest/other
cp src/main.c src/part.c nest/tools
printf 'int main(void) { return 0; }\n' > nest/other/last.c
printf 'all:\n\tcd tools && $(CC) -O2 -c main.c && $(CC) -O2 -c part.c && ar rc libpart.a part.o && $(CC) -o x -otool main.o libpart.a\n\tcd other && $(CC) last.c\n' > nest/Makefile
ln -s nest linked
cd linked || exit 1
run prof optimize -record -o ../last.recipe -- make CC="$CC"
like "the program that was linked last, in its directory" "$err" "^prof: other/a.out by $CC: 5 commands; [^;]*\$"
rm -f tools/*.o tools/*.a tools/tool
run prof optimize -record -program tools/tool -o ../tool.recipe -- make CC="$CC"
is "another one that is named" "$status $(jq -r .output ../tool.recipe) $err" "0 tools/tool prof: tools/tool by $CC: 5 commands; add \"train\" and \"tests\", or give -train and -test"
cd .. || exit 1
cksum nest/tools/* > nest.before
run prof optimize -recipe tool.recipe -how afdo -unmodelled -rounds 2 -runs 2 -train '{} 1 2 3' -test '{}' -o again3
like "it is built" "$status $out" '^[01] afdo .*(accepted|no gain|slower|not above noise)'
is "in a copy" "$(cksum nest/tools/*)" "$(cat nest.before)"
# as libtool does it
printf 'program:\n\t$(CC) -O2 -c main.c part.c\n\tar rc libpart.a part.o\n\tmkdir -p lax/sub && cd lax/sub && ar x ../../libpart.a\n\tar rc liball.a lax/sub/part.o && rm -r lax\n\t$(CC) -o $@ main.o liball.a\n' > src/lax.mk
rm -f src/program src/*.o
run sh -c 'cd src && exec prof optimize -record -o ../lax.recipe -- make -f lax.mk CC='"$CC"
is "a build that makes a directory and removes it" "$status $(ls -d src/lax 2>/dev/null)" "0 "
run prof optimize -recipe lax.recipe -how afdo -unmodelled -rounds 2 -runs 2 -train '{} 1 2 3' -test '{}' -o again4
like "is replayed" "$status $out" '^[01] afdo .*(accepted|no gain|slower|not above noise)'
rm -f src/*.a src/lax.mk
run sh -c "cd src && exec prof optimize -record -o ../part.recipe -- $CC -o program main.o part.o"
like "objects that were there before: said" "$err" '^prof: 2 of its object files were not made by this build, such as main.o: .*make clean$'
run sh -c "cd nest/other && exec prof optimize -record -o ../../never.recipe -- make -C .. CC=$CC"
like "a build of another directory would change that" "$status$err" "125prof: the build writes to .*/nest/tools, outside of .*/nest/other"
run sh -c "cd nest/other && exec prof optimize -record -o ../../never.recipe -- $CC -o ../elsewhere last.c"
like "as would one that writes there" "$status$err" "125prof: the build writes to .*/nest/elsewhere, outside of .*/nest/other"
rm -f nest/elsewhere
jq '.commands[0][0] = "/" | .commands[0] += ["-o", "'"$work"'/nest/elsewhere"]' tool.recipe > strays.recipe
run prof optimize -recipe strays.recipe -how afdo -unmodelled -train '{} 1' -test '{}' -o none
like "so does a recipe" "$err" '^prof: the recipe writes to /, outside of its directory .*/nest'
not_ok "nothing was written there" ls nest/elsewhere

# ---- installation ----
"$CC" -O2 -DWORK=60 -o tool src/main.c src/part.c
"$CC" -O2 -DWORK=20 -o tool.new src/main.c src/part.c
cp tool tool.kept
run prof optimize -install tool.new tool
like "what was not verified is not installed" "$status$err" '125prof: tool.new was not verified'
run prof verify -unmodelled -rounds 3 -note ./tool ./tool.new -- 1
is "verified" "$status" 0
ok "installed" prof optimize -install tool.new tool
is "as a link" "$(readlink tool)" "$(realpath tool.new)"
ok "the original is kept" cmp tool.original tool.kept
run prof optimize -install tool.new tool
like "not twice" "$status$err" '125prof: tool.original exists: an image is installed already'
ok "undone" prof optimize -undo tool
ok "the original is back" cmp tool tool.kept
not_ok "under one name" ls tool.original
run prof optimize -undo tool
like "nothing to undo" "$status$err" '125prof: tool is not an installed image'
printf x >> tool.new
run prof optimize -install tool.new tool
like "a changed image is not installed" "$status$err" '125prof: tool.new is not the file that was verified'
"$CC" -O1 -o tool2 src/main.c src/part.c
truncate -s -1 tool.new
run prof optimize -install tool.new tool2
like "nor one that was compared with another" "$status$err" '125prof: tool.new was verified against another file'
like "and what to do" "$err" 'prof verify -note tool2 tool.new .*prof optimize -against tool2'
sed -i 's/"accept"/"refuse"/' tool.new.verdict
run prof optimize -install tool.new tool
like "nor what was refused" "$status$err" '125prof: tool.new was not accepted'
ok "nothing changed" cmp tool tool.kept
mkdir locked; cp tool locked; chmod 555 locked
run prof optimize -undo missing
like "undo of nothing" "$status$err" '125prof: missing.original does not exist'

# ---- clang and BOLT ----
if command -v clang-19 >/dev/null && [ -x /usr/lib/llvm-19/bin/perf2bolt ]; then
	cat > clang.recipe <<END
{"directory": "src", "build": "rm -f *.o program; make CC={cc} CFLAGS='{cflags}' LDFLAGS='{ldflags}'", "output": "program",
 "cc": "clang-19", "train": "{} 1 2 3", "tests": ["{}"]}
END
	run prof optimize -recipe clang.recipe -unmodelled -rounds 2 -json -o clang.new
	is "clang: all ways are tried" "$(printf '%s' "$out" | jq -r '[.candidates[].how] | join(" ")')" "spgo spgo+bolt bolt"
	unlike "clang: all were built and tested" "$(printf '%s' "$out" | jq -r '.candidates[].reason')" 'status|cannot|no perf2bolt'
	is "clang: exit status and file agree" "$status $(ls clang.new 2>/dev/null)" "$(printf '%s' "$out" | jq -r 'if .written then "0 clang.new" else "1 " end')"
	clang-19 -O2 -g1 -Wl,--emit-relocs -o relocs src/main.c src/part.c
	ssrun -q -branches -bursts 100 -o r.1 ./relocs 1 2 3 >/dev/null; ssrun -q -branches -bursts 100 -o r.2 ./relocs 1 2 3 >/dev/null
	run prof optimize -unmodelled -rounds 2 -o relocs.new ./relocs r.1 r.2 -- 1
	like "an image alone is rewritten by BOLT" "$status $out" '^[01] bolt .*(accepted|no gain|slower|not above noise)'
else
	skip "clang and BOLT" "LLVM 19 is not installed: make deps-pgo"
fi

# ---- compilers that lack flags ----
clang=
for c in clang-19 clang-16 clang-15 clang-14 clang; do
	command -v $c >/dev/null && clang=$c && break
done
if [ -n "$clang" ]; then
	cat > old-cc <<END
#!/bin/sh
for word; do
	case \$word in *pseudo-probe* | *profi | *salvage*) echo "unknown argument \$word" >&2; exit 1 ;; esac
done
echo "\$*" >> $work/compiled
exec $clang "\$@"
END
	chmod +x old-cc
	sed "s|\"cc\": \"[^\"]*\"|\"cc\": \"$work/old-cc\"|" good.recipe > old.recipe
	run prof optimize -recipe old.recipe -how spgo -unmodelled -rounds 2 -runs 2 -o old.new
	like "an old clang: built without the flags that it lacks" "$status $out" '^[01] spgo .*(accepted|no gain|slower|not above noise)'
	like "by the profile" "$(cat compiled)" '-fprofile-sample-use=[^ ]* -mllvm -sample-profile-inline-size'
	$clang -O2 -g1 -fdebug-info-for-profiling -o program src/main.c src/part.c
	for i in 1 2; do ssrun -q -branches -bursts 100 -o earlier.$i ./program 1 2 3 >/dev/null; done
	run prof optimize -recipe old.recipe -how spgo -unmodelled -rounds 2 -o old.new2 ./program earlier.1 earlier.2
	like "by records of an earlier build, too" "$status $out" '^[01] spgo .*(accepted|no gain|slower|not above noise)'
else
	skip "an old clang" "no clang is installed: make deps-pgo"
fi
done_testing
