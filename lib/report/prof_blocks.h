/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks as rows: what -topblocks and -cfg have in common. */
#ifndef REPORT_PROF_BLOCKS_H
#define REPORT_PROF_BLOCKS_H

#include "report/prof_culprits.h"

enum prof_block_column {
	BLOCK_CYCLES,
	BLOCK_EXECUTIONS,
	BLOCK_EACH,
	BLOCK_BEST,
	BLOCK_CONFIDENCE,
	BLOCK_CAUSE,
	BLOCK_MARGIN, /* jumps, where they are drawn beside the blocks */
	BLOCK_COLUMNS
};

void prof_block_columns(struct prof_waits *w, bool margin);

/* One block. */
struct prof_block_row {
	uint32_t image, block;
	uint64_t from, to; /* addresses, the second behind its last byte */
	const char *procedure, *confidence, *cause, *text;
	struct quantity executions;
	double cycles, best; /* all, and at least a time */
};

double prof_block_cycles(const struct prof_explained *p, uint32_t block);
struct prof_block_row prof_block_make(
	struct prof_table *t, const struct prof_explained *p, uint32_t block);
/* Index of the row.  margin: what is drawn beside it; NULL where there is no such column. */
size_t prof_block_add(struct prof_waits *w, const struct prof_block_row *r, const char *margin);

#endif
