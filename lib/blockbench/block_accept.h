/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check of blocks before they run, and the worker's data on them. */
#ifndef BLOCKBENCH_BLOCK_ACCEPT_H
#define BLOCKBENCH_BLOCK_ACCEPT_H

#include "blockbench/blockbench.h"
#include "blockbench/channel.h"

/* Decodes a block; refuses it (its class), or adds it to channel as the next job. warnings and
 * instructions of *r are filled. *full: it did not fit after the jobs already there. */
enum block_class block_accept(struct channel *c, uint32_t *bytes_used, uint32_t *relocations_used,
	const struct block *block, const struct block_options *options, struct block_result *r,
	bool *full);

#endif
