/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks to be measured, and their sources: text, files of text, the assembler, images. */
#ifndef BLOCKBENCH_BLOCK_ITEMS_H
#define BLOCKBENCH_BLOCK_ITEMS_H

#include "base/vec.h"
#include "blockbench/blockbench.h"

struct block_item {
	uint8_t *bytes; /* NULL: class has the reason */
	size_t length;
	uint64_t address; /* in its image; 0: none */
	char *hex;        /* its text, if there are no bytes; may be NULL */
	char *where;      /* may be NULL */
	char *function;   /* likewise */
	double share;     /* of the samples; -1: not of an experiment */
	enum block_class class;
};

typedef VEC(struct block_item) block_items;

/* Zeroed except for its share; NULL when memory is out. */
struct block_item *block_item_new(block_items *items, const void *bytes, size_t length);
void block_items_fini(block_items *items);

int blocks_from_hex(block_items *items, const char *text, struct error *e);
int blocks_from_file(block_items *items, const char *path, struct error *e);
/* Through as(1) and objcopy(1). */
int blocks_from_asm(block_items *items, const char *text, struct error *e);
/* range: A, up to the first branch, or A..B. */
int blocks_from_image(block_items *items, const char *path, const char *range, struct error *e);

#endif
