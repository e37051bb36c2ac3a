/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers, from outside: started, asked, ended. */
#ifndef BLOCKBENCH_CREW_H
#define BLOCKBENCH_CREW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "blockbench/channel.h"

struct crew {
	struct channel *channel; /* of whichever worker there is */
	int channel_fd, program_fd;
	pid_t pid;  /* 0: there is none */
	int socket; /* to it */
};

int crew_init(struct crew *crew, struct error *e);
void crew_fini(struct crew *crew);
/* A fresh worker, with pages of its own, instead of the one there is. */
int crew_fresh(struct crew *crew, struct error *e);
/* Has the jobs of the channel done, by another worker when one dies: the job that it died of gets
 * BLOCK_CRASHED or BLOCK_TIMEOUT. */
int crew_work(struct crew *crew, struct error *e);

#endif
