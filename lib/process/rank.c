/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/rank.h"

#include <stdlib.h>

/* A script of Slurm has a rank, too, but only what it launches has the number of ranks. */
static const struct {
	const char *rank, *ranks;
	int otherwise; /* ranks, where their number is not said */
} launchers[] = {
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 2},
	{"PMI_RANK", "PMI_SIZE", 2},
	{"PMIX_RANK", "PMIX_SIZE", 2},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", 1},
};

/* Of the environment; -1: it is no number. */
static int rank_number(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	long number = text ? strtol(text, &end, 10) : -1;

	return text && *text && !*end && number >= 0 && number < 0x7fffffff ? (int)number : -1;
}

int rank_here(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		int rank = rank_number(launchers[i].rank);

		if (rank >= 0)
			return rank;
	}
	return -1;
}

bool rank_of_several(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		int ranks = rank_number(launchers[i].ranks);

		if (rank_number(launchers[i].rank) >= 0)
			return (ranks < 0 ? launchers[i].otherwise : ranks) > 1;
	}
	return false;
}
