/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which groups the instructions of a block are fetched, as the retirement clock counts them.
 */
#include "model/retire_loop.h"

static unsigned groups_of(const struct retire *t, unsigned instructions)
{
	return (instructions + t->fetch_group - 1) / t->fetch_group;
}

static uint64_t line_of(const struct retire *t, const struct model_insn *n)
{
	return n->address / t->fetch_line;
}

/* Does instruction i begin a line, or is it jumped to? */
static int begins_line(const struct retire *t, const struct model_block *b, unsigned i)
{
	const struct model_insn *n = &b->insns[i];

	return i == 0 || n->address != n[-1].address + n[-1].length ||
	       line_of(t, n) != line_of(t, n - 1);
}

/* A line ends, of which g->last operations are executed; `lines` began so far. */
static void groups_end_line(const struct retire *t, struct model_groups *g, unsigned lines)
{
	unsigned groups;

	if (lines == 1)
		g->first = g->last;
	if (lines <= 1)
		return;
	/* A branch alone that is fused with what the line before has: it is fetched. */
	if (g->last == 0)
		g->last = 1;
	groups = groups_of(t, g->last);
	g->rest = (uint16_t)(g->rest + groups);
	g->rest_long = (uint8_t)(g->rest_long + (groups > t->long_groups));
	g->rest_single = (uint8_t)(g->rest_single + (groups == 1));
	g->rest_lines++;
}

/* Code continues elsewhere after the instruction, whose end is in another line than its begin: that
 * is fetched for it alone. */
static void groups_end_across(
	const struct retire *t, struct model_groups *g, const struct model_insn *last)
{
	if ((last->address + last->length - 1) / t->fetch_line != line_of(t, last)) {
		g->rest++;
		g->rest_single++;
		g->rest_lines++;
	}
}

/* Of the operations of a record that ends in s; what is fused takes no place. */
void retire_prepare_groups(
	const struct retire *t, const struct model_block *b, struct model_segment *s)
{
	struct model_groups g = {0};
	unsigned i, lines = 0;

	for (i = 0; i < s->insn_count; i++) {
		if (begins_line(t, b, i)) {
			groups_end_line(t, &g, lines);
			if (i && b->insns[i].address !=
					 b->insns[i - 1].address + b->insns[i - 1].length)
				groups_end_across(t, &g, &b->insns[i - 1]);
			g.last = 0;
			lines++;
		}
		g.last = (uint16_t)(g.last + (b->ops[i].cost > 0));
	}
	groups_end_line(t, &g, lines);
	if (s->insn_count) {
		if (s->statics[MODEL_STATIC_TAKEN])
			groups_end_across(t, &g, &b->insns[s->insn_count - 1]);
		g.first_line = (uint8_t)line_of(t, &b->insns[0]);
		g.last_line = (uint8_t)line_of(t, &b->insns[s->insn_count - 1]);
	}
	s->groups = g;
}

/* Where groups of the cache of decoded operations begin in the lines of a block, each time it is
 * jumped to: in its first instruction and after each group, whatever line that is in. */
void retire_prepare_fetches(const struct retire *t, struct model_block *b)
{
	struct model_fetch *f = b->fetches, *end = f + b->fetch_count;
	uint64_t line = UINT64_C(1) << t->code_bits;
	unsigned i, filled = 0, fields = 0;

	for (i = 0; i < b->insn_count && f < end; i++) {
		const struct model_insn *n = &b->insns[i];
		unsigned more = (n->traits & MODEL_TRAIT_FIELDS) / MODEL_TRAIT_FIELD;

		while (f + 1 < end && f[1].insn <= i && f->line != (n->address & ~(line - 1)))
			f++;
		if (i == 0 || n->address != n[-1].address + n[-1].length ||
			filled + (b->ops[i].cost > 0) > t->fetch_group ||
			(t->op_cache_fields && fields + more > t->op_cache_fields)) {
			f->groups |= (uint16_t)(1u << ((n->address & (line - 1)) * 16 / line));
			filled = fields = 0;
		}
		filled += b->ops[i].cost > 0;
		fields += more;
	}
}
