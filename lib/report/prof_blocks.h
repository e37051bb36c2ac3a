/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks as rows: what -topblocks and -cfg have in common. */
#ifndef REPORT_PROF_BLOCKS_H
#define REPORT_PROF_BLOCKS_H

#include "report/prof_culprits.h"

struct prof_block_columns {
	long cycles, executions, each, best, confidence, cause, margin;
};

/* margin: jumps are drawn beside them. */
int prof_block_columns(struct prof_block_columns *c, struct prof_table *t,
	const struct prof_explain *x, bool margin);

/* One block. */
struct prof_block_row {
	uint32_t image, block;
	uint64_t from, to; /* addresses, the second behind its last byte */
	const char *procedure, *confidence, *cause, *text;
	struct quantity executions;
	double cycles, best; /* all, and at least a time */
};

int prof_block_make(struct prof_block_row *r, struct prof_table *t, const struct prof_explained *p,
	uint32_t block);
/* Index of the row; -1 when memory is out. */
long prof_block_add(const struct prof_block_columns *c, struct prof_table *t,
	const struct prof_explain *x, const struct prof_block_row *r);

#endif
