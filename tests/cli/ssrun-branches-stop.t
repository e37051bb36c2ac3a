# SPDX-License-Identifier: GPL-2.0-or-later
# A job that is stopped and continued while its branches are followed, or its values looked at: nothing but time is lost.
# The same of breakpoints that are removed while threads run.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
branchy=$build/tests/programs/branchy

only_on x86_64 "a job that is stopped" "-branches needs x86-64"

stops() { # name, runs, experiment, argument ...
	_name=$1 _runs=$2 _how=$3
	shift 3
	"$branchy" "$@" > want
	_good=0
	for _seed in $(seq "$_runs"); do
		# shellcheck disable=SC2086 # words of an experiment
		SEED=$_seed python3 "$TOP/tests/stops.py" "$branchy" want ssrun $_how -o run "$branchy" "$@" 2> err && prof run > report && _good=$((_good + 1))
		[ -s err ] && _show "$(cat err)"
	done
	is "$_name: the program's result, and a file, each time" "$_good" "$_runs"
}

stops "threads" 12 "-branches -bursts 300" threads 4 2000
stops "one thread" 4 "-branches -bursts 300" mix 6000
stops "system calls" 3 "-branches -bursts 300" calls 1000
stops "values" 3 "-values -rate 300" threads 4 2000
# Breakpoints instead of copies, because of the limit, and more of them in a burst than there were places for removed ones: threads
# that are on their way into the tracer when they are removed go on.
{
	echo '#include <pthread.h>
	static volatile unsigned long s;
	static void *work(void *a) { for (unsigned x = 0; x < 60000; x++) {'
	for i in $(seq 1500); do
		echo "if (x & $((1 << i % 7))) s += $i;"
	done
	echo 'if (!x) s++; } return a; }
	int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }'
} > many.c
ok "a program of many branches" "${CC:-gcc}" -O1 -pthread -o many many.c
run ssrun -q -branches -bursts 300 -o many.exp sh -c 'ulimit -v 1000000; exec ./many'
is "many breakpoints that are removed end no program" "$status $err" "0 "
run prof -head many.exp
like "... there were bursts" "$out" '^Bursts  *[1-9]'
done_testing
