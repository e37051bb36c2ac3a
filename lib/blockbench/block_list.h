/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of blocks: one per line, in hexadecimal, up to the first comma or the end of the line;
 * text after a comma is ignored, as are empty lines, those that begin with '#', and a first line
 * whose first field is "hex".
 */
#ifndef BLOCKBENCH_BLOCK_LIST_H
#define BLOCKBENCH_BLOCK_LIST_H

#include "base/vec.h"
#include "blockbench/blockbench.h"

struct block_entry {
	size_t text, text_length;   /* the hexadecimal text, in the parsed text */
	size_t bytes, bytes_length; /* in block_list.bytes */
	unsigned long line;
	enum block_class class; /* BLOCK_OK, or the reason why there are no bytes */
};

struct block_list {
	VEC(struct block_entry) entries;
	VEC(uint8_t) bytes;
};

/* Bad lines become entries with their class; -1 only when memory is out. */
int block_list_parse(struct block_list *l, const char *text, size_t length, struct error *e);
void block_list_fini(struct block_list *l);

#endif
