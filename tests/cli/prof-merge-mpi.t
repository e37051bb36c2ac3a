# SPDX-License-Identifier: GPL-2.0-or-later
# mpirun prof -merge: any number of ranks writes the bytes that one process writes; what fails on a rank fails as a whole.
. "$TOP/tests/lib.sh"
command -v mpirun > /dev/null || { skip "prof -merge on ranks" "no MPI is installed"; done_testing; }
[ -e "$build/libexec/perfex/prof-merge-mpi" ] || { skip "prof -merge on ranks" "this build is without MPI"; done_testing; }
"$build/tests/programs/make_experiments" . 7 3000 > /dev/null || exit 1
merge() { prof -merge "$@" > out 2>&1; }
# Ranks that share processors leave the work to one; here all of them work.
ranks() { n=$1; shift; PERFEX_RANKS=all mpirun -np "$n" prof -merge "$@" 2>&1; }

ok "one process" merge -o one 0 1 2 3 4 5 6
for n in 1 2 3 4 9; do
	run ranks $n -o "by$n" 0 1 2 3 4 5 6
	is "$n ranks" "$status$out" 0
	ok "write the same" cmp one "by$n"
done
ok "with threads" merge -threads -o one.threads 0 1 2
run ranks 2 -threads -o two.threads 0 1 2
is "on ranks" "$status$out" 0
ok "they stay apart in the same way" cmp one.threads two.threads
mkdir directory && cp 0 directory/0.ssexp && cp 1 directory/1.ssexp
ok "a directory" merge -o one.directory directory
run ranks 2 -o two.directory directory
ok "stands for its files" cmp one.directory two.directory

for n in 2 3; do
	run mpirun -np "$n" prof -merge -o shared 0 1 2 3 4 5 6
	is "$n ranks on the same processors" "$status$out" 0
	ok "write the same" cmp one shared
done
if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
	run mpirun -np 1 taskset -c 0 prof -merge -o apart 0 1 2 3 4 5 6 : -np 2 taskset -c 1 prof -merge -o apart 0 1 2 3 4 5 6
	is "on processors of their own, and two on one" "$status$out" 0
	ok "the same" cmp one apart
else
	skip "ranks on processors of their own" "there are no processors 0 and 1 to use"
fi

# ---- what fails ----
head -c $(($(wc -c < ./3) / 2)) ./3 > cut
run prof -merge -o one.cut 0 1 cut
one=$status
run ranks 2 -o two.cut 0 1 cut
is "a file that is cut: the same status" "$status" "$one"
like "and says so" "$out" '^prof(-merge-mpi)?: cut: .*; what comes before is in the sum'
ok "and the same sum" cmp one.cut two.cut
echo nonsense > nonsense
for n in 2 3; do
	run ranks $n -o none 0 1 2 nonsense
	like "a file that is none, with $n ranks" "$out" '^prof(-merge-mpi)?: nonsense is not an experiment file'
	not_ok "fails" test "$status" = 0
	not_ok "nothing is written" test -e none
done
run ranks 2 -o none 0 missing
like "a file that is missing" "$out" 'missing'
not_ok "fails as well" test "$status" = 0
run ranks 2 -o missing/none 0 1
not_ok "no place for the sum" test "$status" = 0
# MPI itself needs files of 4 MB; the sum is larger than the limit that it works with.
mkdir large && "$build/tests/programs/make_experiments" large 2 2000000 > /dev/null || exit 1
run env PERFEX_RANKS=all mpirun -np 2 sh -c 'ulimit -f 15000; exec prof -merge -o none large/0 large/1'
like "larger than files may be (ulimit -f)" "$out$err" 'prof(-merge-mpi)?: cannot write none: '
like "and what to do" "$out$err" 'raise that'
is "fails as other errors do" "$status" 125
not_ok "nothing is written" test -e none
rm -r large
# Ranks would wait for one that cannot begin. Which ones are limited: the first, the last, all.
for limited in "1 0" "0 1" "1 1"; do
	# shellcheck disable=SC2016 # sh expands it
	run timeout 60 mpirun -np 1 sh -c '[ $0 = 0 ] || ulimit -f 2000; exec prof -merge -o none 0 1 2' "${limited% *}" : \
		-np 2 sh -c '[ $0 = 0 ] || ulimit -f 2000; exec prof -merge -o none 0 1 2' "${limited#* }"
	is "files smaller than those of MPI itself ($limited): all end" "$status" 125
	like "and say why" "$out$err" 'files of this rank may not be as large .*raise ulimit -f'
	not_ok "nothing is written" test -e none
done
run mpirun -np 2 sh -c 'ulimit -S -f 2000; exec prof -merge -o raised 0 1 2 3 4 5 6'
is "a limit that may be raised" "$status$out$err" 0
ok "the same result" cmp one raised

# ---- without the helper ----
mkdir away
run env PERFEX_LIBEXEC="$PWD/away" mpirun -np 2 prof -merge -o alone 0 1 2 3 4 5 6
is "without the helper, rank 0 does all" "$status$err" 0
ok "with the same result" cmp one alone
done_testing
