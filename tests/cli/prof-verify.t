# SPDX-License-Identifier: GPL-2.0-or-later
# prof verify: what is worse, or different, is refused with the reason; what is faster and equal is accepted.
# In real time: programs that do three times the work of others are timed.
. "$TOP/tests/lib.sh"
cat > program.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int entry_point(int n) { return n + 1; }
#ifndef LACKS
int plugin_api(int n) { return n - 1; }
#endif

#ifndef WORK
#define WORK 30
#endif
static unsigned work(void)
{
	volatile unsigned x = 1;

	for (long i = 0; i < WORK * 500000L; i++)
		x = x * 1103515245 + 12345;
	return 7;
}

int main(int argc, char **argv)
{
	unsigned r;
	FILE *f;

#ifdef HANGS
	for (;;)
		pause();
#endif
#ifdef CRASHES
	raise(SIGSEGV);
#endif
#ifdef ABORTS
	if (argc > 2)
		abort();
#endif
	r = work();
#ifdef WAITS
	usleep(300000);
#endif
#ifdef WRONG
	r++;
#endif
	printf("result %u\n", r);
	printf("at %ld.%d\n", (long)time(NULL), (int)getpid());
#ifdef PRINTS
	printf("debugging\n");
#endif
	printf("name %s\nend%s", argv[0], 
#ifdef CUT
		""
#else
		"\n"
#endif
	);
#ifdef WARNS
	fprintf(stderr, "a warning\n");
#endif
	if (argc > 1 && strcmp(argv[1], "write") == 0) {
#ifndef NOFILE
		f = fopen("written.txt", "w");
		fprintf(f, "%d lines\n", 10
#ifdef OTHERFILE
			+ 1
#endif
		);
		fclose(f);
#endif
#ifdef MOREFILES
		f = fopen("more.txt", "w");
		fclose(f);
#endif
	}
	(void)f;
#ifdef LIBRARY
	extern double cos(double);
	volatile double d = 1;
	d = cos(d);
#endif
	return argc > 2
#ifdef STATUS
		+ 1
#endif
		;
}
END
make_program() { name=$1; shift; "${CC:-gcc}" -O1 -w -rdynamic -o "$name" program.c "$@" || exit 1; }
make_program old
# refused NAME "REASON" flags of the compiler...
verify() { run prof verify -unmodelled -rounds 3 -file written.txt -file more.txt "$@" -- write more; }
refused() {
	name=$1 reason=$2
	shift 2
	make_program "$name" "$@"
	verify ./old "./$name"
	is "$name: refused" "$status" 1
	like "$name: $reason" "$out" "^refuse .*$reason"
}
refused wrong 'test 1: standard output differs in line 1' -DWRONG
refused prints 'test 1: standard output differs in line 3' -DPRINTS
refused cut 'test 1: standard output differs in line 4' -DCUT
refused warns 'test 1: standard error differs in line 1' -DWARNS
refused status 'test 1: exit status 0 instead of exit status 1' -DSTATUS
refused crashes 'test 1: killed by signal 11 .* instead of exit status 1' -DCRASHES
refused aborts 'test 1: killed by signal 6 .* instead of exit status 1' -DABORTS
refused nofile 'test 1: the file written.txt is missing' -DNOFILE
refused otherfile 'test 1: written.txt differs in line 1' -DOTHERFILE
refused morefiles 'test 1: the file more.txt is new' -DMOREFILES
refused lacks 'lacks the dynamic symbol plugin_api' -DLACKS
refused library 'needs another library: libm' -DLIBRARY -fno-builtin -lm
refused static '(another type|another interpreter|does not name the library)' -static
refused fixed 'of another type: not position-independent' -no-pie
refused slower 'it is slower: [0-9.]+% more time' -DWORK=90
refused equal '(no gain of more than 1.0% of the time can be seen|not above noise|slower)' -DWORK=30
make_program hangs -DHANGS
run prof verify -unmodelled -limit 2 ./old ./hangs -- x
is "hangs: refused" "$status" 1
like "hangs: its reason" "$out" 'refuse test 1: no end within the limit instead of exit status 0'
head -c 9000 old > truncated; chmod +x truncated
verify ./old ./truncated
like "truncated: is cut short, or has no headers" "$out" '^refuse .*(cut short|truncated|not an ELF|section)'
echo 'echo result 7' > script; chmod +x script
verify ./old ./script
like "script: not ELF" "$status$out" '^refuse .*not an ELF'
cp old plain; chmod -x plain
verify ./old ./plain
like "plain: not executable" "$out" '^refuse .*plain is not executable'
cp "$top/tests/fuzz/seeds/image/arm64" arm64; chmod +x arm64
verify ./old ./arm64
like "arm64: another machine" "$out" '^refuse .*for another machine'
python3 - old entry <<'END'
import sys
b = bytearray(open(sys.argv[1], 'rb').read())
b[24:32] = (0x10).to_bytes(8, 'little')
open(sys.argv[2], 'wb').write(b)
END
chmod +x entry
verify ./old ./entry
like "entry: not in code" "$out" '^refuse .*its entry is not in executable code'
verify ./old ./old
like "itself" "$out" '^refuse both names are the same file'
ln -s old link
verify ./old ./link
like "a link to itself" "$out" '^refuse both names are the same file'

# uses less processor time, and waits: CPU time alone would accept it
refused waits 'it waits longer: [0-9.]+% more elapsed time' -DWORK=10 -DWAITS
# other results, of what is timed alone
make_program timed -DWORK=10 -DWRONG
run prof verify -unmodelled -rounds 3 -test '{} | grep -c result' -time '{} x' ./old ./timed
is "another result when it is timed" "$status" 1
like "is the reason" "$out" '^refuse when it is timed, standard output differs in line 1'
make_program faster -DWORK=10
run prof verify -unmodelled -rounds 3 -test '{} | grep -c result' -time '{} x; case $(readlink {}) in *faster) echo took .. 7 ms, 9.1 MB/s ;; *) echo took ...... 12 ms, 8 MB/s ;; esac' ./old ./faster
is "times may differ" "$status$err" 0

# ---- accepted ----
make_program faster -DWORK=10
verify ./old ./faster
is "faster: accepted" "$status" 0
like "the verdict" "$(printf '%s\n' "$out" | tail -1)" '^accept$'
like "its gain" "$out" '^time   [0-9.]+ s -> [0-9.]+ s: [3-9][0-9]\.[0-9]% less \(95%: [0-9.]+ to [0-9.]+%\); old against old [0-9.]+%; 3 rounds, measured'
like "what differs between runs of the old image is left out" "$out" 'note   test 1: 1 lines of standard output were left out'
like "tests" "$out" '^tests  1 of 1 equal$'
run prof verify -unmodelled -json -rounds 3 ./old ./faster -o verdict.json -- x
is "JSON" "$status$out" 0
is "its schema and verdict" "$(jq -r '.schema, .verdict, .tests.equal, .gain.label, (.gain.low <= .gain.value and .gain.value <= .gain.high), .modelled' verdict.json | tr '\n' ' ')" "prof.verify/1 accept 1 measured true null "
verify -json ./old ./wrong
is "JSON of a refusal" "$status $(printf '%s' "$out" | jq -r '.verdict, .reasons[0], .gain' | tr '\n' ' ')" "1 refuse test 1: standard output differs in line 1 null "
run prof verify -unmodelled -rounds 3 -least 95% ./old ./faster -- x
like "a gain below what is required" "$status$out" '^refuse no gain of more than 95.0% of the time can be seen'
not_ok "nothing is left in the temporary directory" ls -d /tmp/prof-verify.*.old

# ---- several tests, by the shell ----
run prof verify -unmodelled -rounds 3 -test '{} | sed -n 1p' -test 'x={}; $x a b | wc -l' ./old ./aborts
like "the second test finds it" "$out" '^refuse test 2: standard output differs in line 1'
run prof verify -unmodelled -rounds 3 ./old ./faster -test '{} | sed -n 1p' -time '{} > /dev/null'
is "tests of the shell, options behind" "$status" 0

# ---- the model ----
make_program small -DWORK=1; make_program smaller -DWORK=1 -DWRONG; make_program small2 -DWORK=2
run prof verify -rounds 2 -machine zen4 -time 'true; sleep 0; {} x > /dev/null' -model '{} x' ./old ./faster -test '{} | sed -n 1p'
like "modelled beside" "$out" '^model  [0-9]+ -> [0-9]+ cycles: [0-9.]+% less'
# what is timed faster and modelled slower is refused: the commands differ, so that it can be known
run prof verify -rounds 2 -machine zen4 -time 'true; {} x' -model './small x; case $(readlink {}) in *faster) ./small2 x ;; esac' ./old ./faster -test '{} | sed -n 1p'
is "a loss in the model" "$status" 1
like "is its reason" "$out" '^refuse the model sees a loss: [0-9.]+% more cycles'

# ---- what cannot be verified ----
run prof verify -unmodelled ./old ./faster
like "no test" "$status$err" "125prof: there is no test to run"
run prof verify -unmodelled ./old
like "one program" "$status$err" "125prof: prof verify compares two programs, not 1"
run prof verify -unmodelled -test 'exit 127' ./old ./faster
like "the test fails with the old one" "$status$err" "125prof: test 1 fails with the old image: exit status 127"
run prof verify -unmodelled ./missing ./faster -- x
like "no old image" "$status$err" "125prof: .*missing"
run prof verify -unmodelled ./old ./missing -- x
like "no new image" "$status$err" "125prof: .*missing"
run prof verify ./old ./missing
like "also where there is no test" "$status$err" "125prof: ./missing: No such file"
run prof verify -least ten ./old ./faster -- x
like "-least" "$err" "give a percentage"
done_testing
