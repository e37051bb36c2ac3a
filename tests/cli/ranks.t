# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks of a real MPI: each writes its experiment, and prof adds them up, in any order to the same bytes.
# In real time: ranks that meet, sampled.
. "$TOP/tests/lib.sh"
command -v mpicc > /dev/null && command -v mpirun > /dev/null || { skip "ranks" "no MPI is installed"; done_testing; }
cat > rank.c <<'E2'
#include <mpi.h>
#include <stdio.h>
#include <time.h>

/* 0.2 s of CPU time each, then all meet. */
int main(int argc, char **argv)
{
	int rank, size, mine = 1, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (volatile unsigned n = 0; clock() < CLOCKS_PER_SEC / 5;)
		n++;
	MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d of %d ranks\n", all, size);
	MPI_Finalize();
	return 0;
}
E2
ok "a program of several ranks" mpicc -g -o rank rank.c
run mpirun -np 4 ssrun -q -pcsamp ./rank
is "runs under ssrun as without" "$out" "4 of 4 ranks"
is "each rank has its file" "$(find . -name 'rank.pcsamp.r*' | sed 's/.*\.r\([0-9]*\)\.[0-9]*$/\1/' | sort | tr '\n' ' ')" "0 1 2 3 "
run mpirun -np 3 ssrun -pcsamp -o named ./rank
is "-o: the first says what all wrote" "$status $err" "0 ssrun: each rank wrote a file: prof named.r*"
is "no rank's file replaces another's" "$(echo named*)" "named.r0 named.r1 named.r2"
run mpirun -np 3 perfex -q -source os -e tclk -o counts ./rank
is "perfex: likewise" "$status $(echo counts*)" "0 counts.r0 counts.r1 counts.r2"
run env PMI_RANK=1 PMI_SIZE=2 perfex -q -e gi -plot costs.png -profile insns -o picture true
is "perfex -plot, -profile: likewise, a picture before its ending" "$status $(echo costs.*[ge] insns* picture*)" \
	"0 $(ls costs.r1.png 2> /dev/null || echo 'costs.*[ge]') insns.r1 picture.r1"
ok "the script of the picture is this rank's" test -s costs.r1.gp
run env PMI_RANK=0 PMI_SIZE=1 ssrun -pcsamp -o alone true
is "a rank that is alone has the file that was named" "$status $err $(echo alone*)" "0  alone"
run env SLURM_PROCID=0 SLURM_NTASKS=4 ssrun -pcsamp -o script true
is "a script of Slurm is no rank" "$status $err $(echo script*)" "0  script"
# shellcheck disable=SC2012,SC2046 # names are plain
{
	ok "added up" prof -merge -o forwards $(ls rank.pcsamp.r* | sort)
	ok "the other way round" prof -merge -o backwards $(ls rank.pcsamp.r* | sort -r)
}
ok "the same bytes" cmp forwards backwards
run prof -dump forwards
like "four runs" "$out" '^run type "pcsamp" runs 4 complete 1 '
like "of ranks 0 to 3" "$out" '^folded processes 4 threads [0-9]* failed 0 ranks 4 from 0 to 3$'
like "all of them sampled" "$out" '^sample metric 0 thread 0 '
# shellcheck disable=SC2046 # names are plain
run prof -dump $(find . -name 'rank.pcsamp.r3.*')
like "a rank's own file knows which it is" "$out" '^process 1 .* rank 3 status 0 '
done_testing
