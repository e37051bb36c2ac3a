/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measured blocks as text, CSV and JSON (prof-block(1)). */
#ifndef RENDER_BLOCK_H
#define RENDER_BLOCK_H

#include <stdio.h>

#include "base/strbuf.h"
#include "blockbench/blockbench.h"
#include "report/block_schedule.h"

/* One block; texts are borrowed, "" where there is none. */
struct block_row {
	struct block block;
	const char *hex;   /* the input, if it is not a block */
	const char *where; /* line of a file, address in an image; "" */
	const char *function;
	double share; /* of the experiment's samples, [0,1]; below 0: not of an experiment */
	const struct block_result *result;     /* NULL: not measured */
	const struct block_schedule *schedule; /* NULL: there is none */
};

/* All results of the block. */
void render_block_text(const struct block_row *row, enum block_mode mode, struct strbuf *out);
/* One line per block, after a line of headings. */
void render_blocks_head(struct strbuf *out, bool functions);
void render_blocks_line(const struct block_row *row, bool functions, struct strbuf *out);
void render_blocks_csv_head(struct strbuf *out);
void render_blocks_csv(const struct block_row *row, struct strbuf *out);
/* One object on one line, schema prof.block/1. */
void render_block_json(const struct block_row *row, enum block_mode mode, FILE *out);

#endif
