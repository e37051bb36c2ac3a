/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a program that have most samples of the first metric. Blocks are cut at calls,
 * since a call's cycles are not the block's; a sample counts for the piece with its address.
 */
#ifndef EXPLAIN_HOT_BLOCKS_H
#define EXPLAIN_HOT_BLOCKS_H

#include "profile/places.h"

struct hot_block {
	uint32_t image; /* of the data */
	uint64_t begin, samples;
	size_t length;
	uint8_t *bytes;       /* owned */
	const char *function; /* lives as long as the data */
};

struct hot_blocks {
	VEC(struct hot_block) list; /* most samples first; all have some */
	uint64_t total, lost;       /* samples; those without x86-64 code */
};

/* d is named. */
int hot_blocks_find(struct hot_blocks *h, const struct prof_data *d, struct error *e);
void hot_blocks_fini(struct hot_blocks *h);

#endif
