/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bench's side of workers: start, request, end. */
#ifndef BLOCKBENCH_CREW_H
#define BLOCKBENCH_CREW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "blockbench/channel.h"

struct crew {
	/* What is asked and what was answered. Workers have another one, as a block can write to
	 * it. */
	struct channel *channel;
	struct channel *shared; /* with the worker: nothing there is believed */
	int channel_fd, program_fd;
	pid_t pid;  /* 0: there is none */
	int socket; /* to it */
};

int crew_init(struct crew *crew, struct error *e);
void crew_fini(struct crew *crew);
/* Runs the jobs of the channel in a fresh worker, with pages of its own, and in another one if it
 * crashes: its job gets BLOCK_CRASHED or BLOCK_TIMEOUT. */
int crew_work(struct crew *crew, struct error *e);

#endif
