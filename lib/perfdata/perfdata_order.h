/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in the order of their times.  They come in rounds: perf reads all its buffers, each in
 * order, and marks the end (PERF_RECORD_FINISHED_ROUND).  What is written in a round may be older
 * than what the round before had last, but not older than what that had when it began; so at each
 * mark all that is not younger than the youngest at the mark before can go.
 */
#ifndef PERFDATA_PERFDATA_ORDER_H
#define PERFDATA_PERFDATA_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct block;

struct waiting {
	uint64_t time;
	const char *data;    /* aligned, its header of this host's byte order */
	struct block *block; /* that holds data; NULL: the file */
	uint64_t offset;     /* in the file */
	uint32_t event;
};

struct order {
	VEC(struct waiting) list; /* in the order in which they came */
	struct waiting *spare;    /* room to merge in */
	size_t spare_count;
	uint64_t youngest, limit; /* of this round; of the one before */
};

/* -1: memory is out. */
int order_add(struct order *o, const struct waiting *w);
/* A round has ended (`last`: the last one): hands on what can go.  call returns 0, or -1 to stop.
 */
int order_round(struct order *o, int last, int (*call)(void *context, const struct waiting *w),
	void *context);
void order_fini(struct order *o);

#endif
