/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks as rows, for -topblocks and -cfg. */
#ifndef REPORT_REPORT_BLOCKS_H
#define REPORT_REPORT_BLOCKS_H

#include "report/report_culprits.h"

enum report_block_column {
	REPORT_BLOCK_CYCLES,
	REPORT_BLOCK_EXECUTIONS,
	REPORT_BLOCK_CONFIDENCE,
	REPORT_BLOCK_EACH,
	REPORT_BLOCK_BEST,
	REPORT_BLOCK_CAUSE,
	REPORT_BLOCK_MARGIN, /* jumps, where they are drawn beside the blocks */
	REPORT_BLOCK_COLUMNS
};

void report_block_columns(struct report_waits *w, bool margin);

/* One block. */
struct report_block_row {
	uint32_t image, block;
	uint64_t from, to; /* addresses, `to` exclusive */
	const char *procedure, *confidence, *cause, *text;
	const char *unsure; /* report_culprits_unsure */
	struct quantity executions;
	double cycles, best; /* all, and at least a time */
};

double report_block_cycles(const struct explain_result *p, uint32_t block);
struct report_block_row report_block_make(
	struct report_table *t, const struct explain_result *p, uint32_t block);
/* Index of the row. margin: the drawing beside it; NULL if there is no such column. */
size_t report_block_add(
	struct report_waits *w, const struct report_block_row *r, const char *margin);

#endif
