# SPDX-License-Identifier: GPL-2.0-or-later
# A job that is stopped and continued while its branches are followed, or its values looked at: nothing but time is lost.
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
done_testing
