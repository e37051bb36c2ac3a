# SPDX-License-Identifier: GPL-2.0-or-later
# Two builds in one command (ssrun -versus), for prof -diff.
# In real time: samples of programs that run.
. "$TOP/tests/lib.sh"

for n in 4 40; do
	echo "volatile unsigned long s; __attribute__((noinline)) void inner(long n) { for (long i = 0; i < n; i++) s += i; }
	int main(void) { int c = getchar(); inner(${n}0000000); putchar(c); return 0; }" > b$n.c
	${CC:-gcc} -g -O1 -include stdio.h -o b$n b$n.c || exit 1
done

printf x > input
run ssrun -fpcsamp -o both -versus ./b40 ./b4 < input
is "both programs run, with the same input" "$status $out" "0 xx"
is "how to compare is said" "$err" "ssrun: wrote both and both.versus: prof -diff both both.versus"
run prof -diff both both.versus
is "that compares them" "$status $err" "0 "
like "the two commands" "$out" '^Command +\./b4; \./b40$'
like "and the function that became slower" "$out" ' \+[0-9.]+ .* inner \(b4'
run sh -c 'printf y | ssrun -q -fpcsamp -runs 3 -versus ./b4 ./b4'
is "of a pipe too, as often as asked for, without a word" "$status $out $err" "0 yyyyyy "
is "and each has a file of its own" "$(find . -name 'b4.fpcsamp.*' | grep -c .)" 2
like "of three runs" "$(prof -q 1 "$(find . -name 'b4.fpcsamp.*' | head -1)")" ', 3 runs added up$'

run ssrun -fpcsamp -o gone -versus ./none ./b4 < input
is "a second program that is not there: its status" "$status" 127
like "and a message" "$err" "^ssrun: cannot find ./none: No such file"
ok "nothing was run" test ! -e gone
run ssrun -fpcsamp -versus ./b4 -pid $$
like "-pid has no second program" "$status $err" '^125 ssrun: -versus runs two programs: leave out -pid and -a'
done_testing
