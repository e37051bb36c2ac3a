/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -merge: adds up many files into one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "experiment/experiment.h"
#include "process/rank.h"
#include "prof.h"
#include "report.h"

/* Under mpirun this process becomes a rank of the helper (mpi/mpi_merge.c). False: it is not there.
 */
static bool become_rank(const struct options *o)
{
	char *path = file_libexec_path("prof-merge-mpi", NULL);
	VEC(const char *) words = {0};
	int rc = path ? vec_add(&words, path) : -1;

	if (rc == 0 && o->request.threads)
		rc = vec_add(&words, "-threads");
	if (rc == 0)
		rc = vec_add(&words, "-o") || vec_add(&words, o->output);
	for (size_t i = 0; rc == 0 && o->files[i]; i++)
		rc = vec_add(&words, o->files[i]);
	if (rc == 0)
		rc = vec_add(&words, NULL);
	if (rc == 0)
		execv(path, (char *const *)(uintptr_t)words.data);
	vec_fini(&words);
	free(path);
	return false;
}

/* Ranks wait for all others in MPI_Init, also for those that have ended before. MPICH's launcher
 * ends them if it is asked to, by its protocol (PMI). */
static void end_other_ranks(void)
{
	const char *text = getenv("PMI_FD");
	int fd = text && *text ? atoi(text) : -1;
	char c = 0;

	if (fd < 0 || dprintf(fd, "cmd=init pmi_version=1 pmi_subversion=1\n") < 0)
		return;
	while (c != '\n' && read(fd, &c, 1) == 1)
		; /* its answer */
	dprintf(fd, "cmd=abort exitcode=%d\n", EXIT_OURS);
}

/* MPI ends its ranks, and does not say why, if its shared memory may not be as large as it wants
 * it: MPICH has files of 4.3 MB. */
static bool mpi_has_room(void)
{
	const rlim_t least = 5 << 20;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= least)
		return true;
	limit.rlim_cur = limit.rlim_max < least ? limit.rlim_max : least;
	if (limit.rlim_cur == least && setrlimit(RLIMIT_FSIZE, &limit) == 0)
		return true;
	say("files of this rank may not be as large as MPI needs them: raise ulimit -f for all "
	    "ranks, or run prof -merge without mpirun");
	return false;
}

int do_merge(const struct options *o)
{
	int rank = rank_here();
	struct arguments arguments = {0};
	struct loaded loaded = {0};
	struct error e = {0};
	int rc;

	if (rank >= 0 && !mpi_has_room()) {
		end_other_ranks();
		return EXIT_OURS;
	}
	if (rank >= 0 && !become_rank(o) && rank > 0)
		return 0; /* rank 0 does it all */
	rc = arguments_find(&arguments, o->files, &e);
	if (rc == 0)
		rc = reporting_load(&loaded, o, &arguments, &e);
	if (rc == 0 && loaded.damaged)
		say("%s; what comes before is in the sum", loaded.damage);
	if (rc == 0)
		rc = experiment_write(&loaded.experiments.data[0], o->output, &e);
	if (rc)
		say_error(&e);
	loaded_fini(&loaded);
	arguments_fini(&arguments);
	return rc ? EXIT_OURS : loaded.damaged ? EXIT_INCOMPLETE : 0;
}
