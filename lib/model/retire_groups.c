/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which groups the instructions of a block are fetched, as the retirement clock counts them.
 *
 * A group begins where code is jumped to, and after each full one. It is fetched with the line in
 * which it begins, and has operations of the next line, too, if the machine says so (fetch_across).
 */
#include "model/retire_loop.h"

static uint64_t line_of(const struct retire *t, uint64_t address)
{
	return address / t->fetch_line;
}

/* Of the operations of a record that ends in s; what is fused takes no place. */
void retire_prepare_groups(
	const struct retire *t, const struct model_block *b, struct model_segment *s)
{
	struct model_groups g = {0};
	uint64_t line = 0, first = 0;
	unsigned i;

	for (i = 0; i < s->insn_count; i++) {
		const struct model_insn *n = &b->insns[i];
		uint8_t *ops;

		first = i == 0 ? line_of(t, n->address) : first;
		line = line_of(t, n->address) - first;
		ops = line < MODEL_GROUP_LINES ? &g.ops[line] : &g.more;
		*ops = (uint8_t)(*ops + (b->ops[i].cost > 0));
		line = line_of(t, n->address + n->length - 1) - first;
		g.lines = (uint8_t)(line + 1);
	}
	g.first_line = (uint8_t)first;
	g.last_line = (uint8_t)(first + line);
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

/* ---- as records are run ---- */

/* Parts that a line takes in which this number of groups begins. Those that are more than one cycle
 * takes wait for the line. After such a line, one that is jumped to is fetched meanwhile. */
static uint32_t line_time(const struct retire *t, uint32_t groups)
{
	uint32_t cycles = (groups + t->long_groups - 1) / t->long_groups;

	if (t->long_time && cycles > 1)
		return cycles * RETIRE_CYCLE + (cycles - 1) * t->long_time;
	if (t->line_hidden)
		return 0;
	return groups * t->group_time + (groups == 1 ? t->single_time : 0);
}

/* The operations of line i of a record. */
static uint32_t line_operations(const struct model_groups *g, uint32_t i)
{
	uint32_t rest = g->lines - MODEL_GROUP_LINES, at = i - MODEL_GROUP_LINES;

	if (LIKELY(i < MODEL_GROUP_LINES))
		return g->ops[i];
	return g->more * (at + 1) / rest - g->more * at / rest; /* about */
}

/* Fetch takes n more operations of the line. */
static void take_operations(struct retire *t, uint32_t n)
{
	uint32_t room = t->fetch_group - t->group_filled, groups;

	if (n <= room) {
		t->group_filled += n;
		return;
	}
	groups = (n - room + t->fetch_group - 1) / t->fetch_group;
	t->fetching += line_time(t, t->line_groups + groups) - line_time(t, t->line_groups);
	t->line_groups += groups;
	t->group_filled = n - room - (groups - 1) * t->fetch_group;
}

static void begin_line(struct retire *t)
{
	t->fetched_lines++;
	t->line_hidden = t->long_time && t->jumped && t->line_groups > t->long_groups;
	t->line_before = t->line_groups;
	t->line_groups = 0;
	if (t->jumped || !t->fetch_across)
		t->group_filled = t->fetch_group;
	t->jumped = 0;
}

void retire_count_groups(struct retire *t, const struct model_segment *s)
{
	const struct model_groups *g = &s->groups;
	uint32_t i;

	for (i = 0; i < g->lines; i++) {
		if (i > 0 || t->jumped || g->first_line != t->group_line)
			begin_line(t);
		take_operations(t, line_operations(g, i));
	}
	t->group_line = g->last_line;
	if (!s->statics[MODEL_STATIC_TAKEN])
		return;
	/* The branch is in a line in which no group begins. */
	if (!t->line_groups)
		t->fetching += t->line_before >= t->long_groups ? RETIRE_CYCLE : line_time(t, 1);
	t->jumped = 1;
}
