/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bench's side of workers: start, request, end. */
#ifndef BLOCKBENCH_CREW_H
#define BLOCKBENCH_CREW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "blockbench/channel.h"

struct crew {
	struct channel *channel; /* of the current worker */
	int channel_fd, program_fd;
	pid_t pid;  /* 0: there is none */
	int socket; /* to it */
};

int crew_init(struct crew *crew, struct error *e);
void crew_fini(struct crew *crew);
/* Replaces the worker by a fresh one, with pages of its own. */
int crew_fresh(struct crew *crew, struct error *e);
/* Runs the jobs of the channel, with a new worker if one crashes: its job gets BLOCK_CRASHED or
 * BLOCK_TIMEOUT. */
int crew_work(struct crew *crew, struct error *e);

#endif
