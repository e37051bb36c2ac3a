/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in the order of their times. They come in rounds: perf reads all its buffers, each in
 * order, and marks the end (PERF_RECORD_FINISHED_ROUND). A record of a round may be older than the
 * last one of the round before, but not older than that round's beginning. So at each mark, all
 * records that are not younger than the youngest at the mark before can be passed on.
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
	VEC(struct waiting) list; /* in order of arrival */
	struct waiting *spare;    /* room to merge in */
	size_t spare_count;
	uint64_t youngest, limit; /* of this round; of the one before */
};

/* -1: memory is out. */
int order_add(struct order *o, const struct waiting *w);
/* A round has ended (`last`: the last one): passes on the records that are complete. call returns
 * 0, or -1 to stop. */
int order_round(struct order *o, int last, int (*call)(void *context, const struct waiting *w),
	void *context);
void order_fini(struct order *o);

#endif
