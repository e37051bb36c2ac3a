/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs of random code, and random walks through them that count blocks and edges. */
#ifndef TESTS_FLOW_WALKS_H
#define TESTS_FLOW_WALKS_H

#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "analysis/classes.h"

static uint32_t dice(uint32_t sides)
{
	return (uint32_t)(chance_next() >> 33) % sides;
}

/* Random code: nops, jumps to their beginnings, calls, returns. */
static inline size_t random_code(uint8_t *bytes, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		uint8_t *u = bytes + 8 * i;
		int32_t to = (int32_t)(8 * dice((uint32_t)units)) - (int32_t)(8 * i + 6);

		memset(u, 0x90, 8);
		switch (dice(5)) {
		case 0:
		case 1: /* jne */
			u[0] = 0x0f;
			u[1] = 0x85;
			memcpy(u + 2, &to, 4);
			break;
		case 2: /* jmp */
			u[1] = 0xe9;
			memcpy(u + 2, &to, 4);
			break;
		case 3:
			if (dice(3) == 0)
				u[7] = 0xc3;
			break;
		}
	}
	bytes[8 * units - 1] = 0xc3;
	return 8 * units;
}

/* The next arc of a walk: blocks, edges, virtual arcs, numbered in this order. */
static uint32_t step(const struct flow *f, const struct analysis_classes *c, uint32_t block)
{
	const struct flow_block *b = &f->blocks.data[block];
	uint32_t ways = b->outs;
	uint32_t choice;

	for (uint32_t i = 0; i < c->arcs.count; i++)
		ways += c->arcs.data[i].block == block && !c->arcs.data[i].into;
	if (!ways)
		return FLOW_NONE;
	choice = dice(ways);
	if (choice < b->outs)
		return b->first_out + choice;
	choice -= b->outs;
	for (uint32_t i = 0; i < c->arcs.count; i++)
		if (c->arcs.data[i].block == block && !c->arcs.data[i].into && choice-- == 0)
			return (uint32_t)f->edges.count + i;
	return FLOW_NONE;
}

/* Walks from outside to outside; false where a way ends without a way out. */
static inline bool walk(
	const struct flow *f, const struct analysis_classes *c, uint32_t *blocks, uint32_t *edges)
{
	for (int round = 0; round < 200; round++) {
		uint32_t way = dice((uint32_t)c->arcs.count), block = c->arcs.data[way].block;

		if (!c->arcs.data[way].into)
			continue;
		while (1) {
			uint32_t next = step(f, c, block);

			blocks[block]++;
			if (next == FLOW_NONE)
				return false;
			if (next >= f->edges.count)
				break;
			edges[next]++;
			block = f->edges.data[next].to;
		}
	}
	return true;
}

static inline struct flow *flow_of(const uint8_t *bytes, size_t size)
{
	struct flow_request r = {
		.machine = ISA_X86_64, .begin = 0x1000, .bytes = bytes, .size = size};
	struct error e;

	return flow_new(&r, &e);
}

#endif
