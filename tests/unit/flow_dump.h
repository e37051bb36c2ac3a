/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A graph as text: one line a block, with its addresses, edges, dominator, loop and flags. */
#ifndef TESTS_FLOW_DUMP_H
#define TESTS_FLOW_DUMP_H

#include "base/strbuf.h"
#include "flow/flow.h"

static const char *const edge_kinds[] = {
	[FLOW_FALL] = "", [FLOW_TAKEN] = "taken ", [FLOW_JUMP] = "jump ", [FLOW_TABLE] = "table "};

static const char *const block_flags[] = {"entry", "orphan", "padding", "returns", "leaves",
	"unknown", "no return", "stops", "bad", "runs out", "middle", "guessed", "head", "seen"};

static void dump_loop(const struct flow *f, uint32_t l, struct strbuf *out)
{
	const struct flow_loop *loop = &f->loops.data[l];

	strbuf_printf(out, "loop %u: head %u, depth %u, blocks %u, entries %u", l, loop->head,
		loop->depth, loop->blocks, loop->entries);
	if (loop->parent != FLOW_NONE)
		strbuf_printf(out, ", in %u", loop->parent);
	strbuf_puts(out, loop->irreducible ? ", irreducible\n" : "\n");
}

static void flow_dump(const struct flow *f, struct strbuf *out)
{
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		const struct insn *last = flow_last(f, b);

		strbuf_printf(out, "%u %llx..%llx", i,
			(unsigned long long)f->insns.data[b->first].address,
			(unsigned long long)(last->address + last->length));
		for (uint32_t k = 0; k < b->outs; k++) {
			const struct flow_edge *edge = &f->edges.data[b->first_out + k];

			strbuf_printf(out, "%s %s%u%s", k ? "," : " ->", edge_kinds[edge->kind],
				edge->to, edge->back ? " back" : "");
		}
		if (b->dominator != FLOW_NONE)
			strbuf_printf(out, "; below %u", b->dominator);
		if (b->loop != FLOW_NONE)
			strbuf_printf(out, "; loop %u", b->loop);
		for (unsigned bit = 0; bit < sizeof(block_flags) / sizeof(*block_flags); bit++)
			if (b->flags >> bit & 1)
				strbuf_printf(out, "; %s", block_flags[bit]);
		strbuf_putc(out, '\n');
	}
	for (uint32_t l = 0; l < f->loops.count; l++)
		dump_loop(f, l, out);
}

#endif
