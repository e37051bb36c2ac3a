/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sweep, leaders, blocks, edges. */
#include <string.h>

#include "flow/private.h"

enum mark { LEADER = 1, ENTRY = 2, SPLIT = 4 /* the call here does not return */ };

struct builder {
	struct flow *f;
	const struct flow_request *r;
	struct flow_tables tables;
	uint8_t *marks; /* enum mark of each instruction */
	struct error *e;
};

uint32_t flow_insn_over(const struct flow *f, uint64_t address)
{
	for (int back = 0; back < INSN_LENGTH_MAX && address >= f->begin; back++, address--) {
		uint32_t insn = flow_insn_at(f, address);

		if (insn != FLOW_NONE)
			return insn;
	}
	return FLOW_NONE;
}

static int sweep(struct builder *b)
{
	struct flow *f = b->f;
	size_t length;

	f->at = calloc(b->r->size + 1, sizeof(*f->at));
	if (!f->at)
		return error_nomem(b->e);
	for (size_t at = 0; at < b->r->size; at += length) {
		struct insn *insn = vec_push(&f->insns);

		if (!insn)
			return error_nomem(b->e);
		length = isa_decode(
			f->machine, b->r->bytes + at, b->r->size - at, f->begin + at, insn);
		f->at[at] = (uint32_t)f->insns.count;
	}
	return 0;
}

static void build_mark(struct builder *b, uint32_t insn, enum mark how)
{
	if (insn < b->f->insns.count)
		b->marks[insn] |= how;
}

static bool inside(const struct flow *f, uint64_t address)
{
	return address >= f->begin && address < f->end;
}

static void mark_leaders(struct builder *b)
{
	struct flow *f = b->f;

	build_mark(b, 0, LEADER | ENTRY);
	for (size_t i = 0; i < b->r->entry_count; i++)
		build_mark(b, flow_insn_at(f, b->r->entries[i]), LEADER | ENTRY);
	for (size_t i = 0; i < b->tables.targets.count; i++)
		build_mark(b, b->tables.targets.data[i], LEADER);
	for (uint32_t i = 0; i < f->insns.count; i++) {
		const struct insn *insn = &f->insns.data[i];

		if (insn_jumps(insn) && insn->has_target)
			build_mark(b, flow_insn_at(f, insn->target), LEADER);
		if (insn->classes & INSN_CALL && b->r->returns &&
			!b->r->returns(b->r->context, insn))
			build_mark(b, i, SPLIT);
		if (insn_jumps(insn) || !insn_falls_through(insn) || b->marks[i] & SPLIT)
			build_mark(b, i + 1, LEADER);
	}
}

/* Nops and traps that are not reached by falling through or jumping. */
static bool is_padding(const struct flow *f, const struct flow_block *block)
{
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &f->insns.data[i];

		if (!(insn->classes & INSN_NOP) &&
			!(insn->length == 1 && insn->classes & INSN_STOPS))
			return false;
	}
	return true;
}

static int make_blocks(struct builder *b)
{
	struct flow *f = b->f;
	struct flow_block *block = NULL;
	uint32_t *block_of = calloc(f->insns.count + 1, sizeof(*block_of));

	if (!block_of)
		return error_nomem(b->e);
	f->block_of = block_of;
	for (uint32_t i = 0; i < f->insns.count; i++) {
		if (b->marks[i] & LEADER) {
			block = vec_push(&f->blocks);
			if (!block)
				return error_nomem(b->e);
			block->first = i;
			block->dominator = block->loop = FLOW_NONE;
			block->flags = b->marks[i] & ENTRY ? FLOW_ENTRY : 0;
		}
		block->count++;
		f->block_of[i] = (uint32_t)f->blocks.count - 1;
	}
	return 0;
}

static int build_add_edge(
	struct builder *b, uint32_t from, uint32_t to_insn, enum flow_edge_kind kind)
{
	struct flow_edge edge = {.from = from, .to = b->f->block_of[to_insn], .kind = kind};

	return vec_add(&b->f->edges, edge) ? error_nomem(b->e) : 0;
}

/* The direct branch at the end of block. */
static int build_add_target(struct builder *b, uint32_t block, const struct insn *insn)
{
	struct flow *f = b->f;
	uint32_t to = flow_insn_at(f, insn->target);

	if (to != FLOW_NONE)
		return build_add_edge(
			b, block, to, insn->classes & INSN_CONDITIONAL ? FLOW_TAKEN : FLOW_JUMP);
	f->blocks.data[block].flags |= inside(f, insn->target) ? FLOW_MIDDLE : FLOW_LEAVES;
	return 0;
}

static int add_table(struct builder *b, uint32_t block, const struct flow_table *t)
{
	b->f->blocks.data[block].flags |= t->flags;
	for (uint32_t i = 0; i < t->count; i++)
		if (build_add_edge(b, block, b->tables.targets.data[t->first + i], FLOW_TABLE))
			return -1;
	return 0;
}

static int add_fall(struct builder *b, uint32_t block, uint32_t last)
{
	if (last + 1 < b->f->insns.count)
		return build_add_edge(b, block, last + 1, FLOW_FALL);
	b->f->blocks.data[block].flags |= FLOW_RUNS_OUT;
	return 0;
}

static const struct {
	uint32_t class, flag;
} endings[] = {
	{INSN_RETURN, FLOW_RETURNS},
	{INSN_STOPS, FLOW_STOPS},
	{INSN_BAD, FLOW_BAD},
};

static int make_edges(struct builder *b)
{
	struct flow *f = b->f;
	size_t table = 0;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		struct flow_block *block = &f->blocks.data[i];
		uint32_t last = block->first + block->count - 1;
		const struct insn *insn = &f->insns.data[last];
		bool jumps = insn_jumps(insn);

		block->first_out = (uint32_t)f->edges.count;
		for (size_t k = 0; k < sizeof(endings) / sizeof(*endings); k++)
			if (insn->classes & endings[k].class)
				block->flags |= endings[k].flag;
		if (b->marks[last] & SPLIT)
			block->flags |= FLOW_NO_RETURN;
		else if (insn_falls_through(insn) && add_fall(b, i, last))
			return -1;
		if (jumps && insn->has_target && build_add_target(b, i, insn))
			return -1;
		while (table < b->tables.tables.count && b->tables.tables.data[table].jump < last)
			table++;
		if (jumps && table < b->tables.tables.count &&
			b->tables.tables.data[table].jump == last &&
			add_table(b, i, &b->tables.tables.data[table]))
			return -1;
		block->outs = (uint32_t)f->edges.count - block->first_out;
		if (block->flags & (FLOW_UNKNOWN | FLOW_MIDDLE))
			f->missing = true;
	}
	return 0;
}

/* Removes the edges of padding, which is never executed. */
static void drop_padding(struct flow *f)
{
	uint32_t *ins = f->in; /* counts, here */
	size_t kept = 0;

	for (size_t i = 0; i < f->edges.count; i++)
		ins[f->edges.data[i].to]++;
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		struct flow_block *block = &f->blocks.data[i];
		uint32_t first = block->first_out, outs = block->outs;
		bool drop = !ins[i] && !(block->flags & FLOW_ENTRY) && is_padding(f, block);

		block->first_out = (uint32_t)kept;
		if (drop) {
			block->flags = FLOW_PADDING;
			for (uint32_t k = 0; k < outs; k++)
				ins[f->edges.data[first + k].to]--;
			block->outs = 0;
			continue;
		}
		if (outs && kept != first)
			memmove(f->edges.data + kept, f->edges.data + first,
				outs * sizeof(*f->edges.data));
		kept += outs;
	}
	f->edges.count = kept;
}

static int make_in(struct builder *b)
{
	struct flow *f = b->f;
	size_t room = f->edges.count > f->blocks.count ? f->edges.count : f->blocks.count;
	uint32_t *in = calloc(room + 1, sizeof(*in)), at = 0;

	if (!in)
		return error_nomem(b->e);
	f->in = in;
	drop_padding(f);
	for (size_t i = 0; i < f->edges.count; i++)
		f->blocks.data[f->edges.data[i].to].ins++;
	for (size_t i = 0; i < f->blocks.count; i++) {
		f->blocks.data[i].first_in = at;
		at += f->blocks.data[i].ins;
		f->blocks.data[i].ins = 0;
	}
	for (uint32_t i = 0; i < f->edges.count; i++) {
		struct flow_block *to = &f->blocks.data[f->edges.data[i].to];

		f->in[to->first_in + to->ins++] = i;
	}
	return 0;
}

static int build(struct builder *b)
{
	struct flow_order order = {0};
	int status = -1;

	if (sweep(b))
		return -1;
	b->marks = calloc(b->f->insns.count + 1, 1);
	if (!b->marks)
		return error_nomem(b->e);
	if (flow_tables_find(b->f, b->r, &b->tables, b->e))
		return -1;
	mark_leaders(b);
	if (make_blocks(b) || make_edges(b) || make_in(b))
		return -1;
	if (flow_order_make(b->f, &order) || flow_dominators(b->f, &order) ||
		flow_loops(b->f, &order))
		error_nomem(b->e);
	else
		status = 0;
	flow_order_fini(&order);
	return status;
}

struct flow *flow_new(const struct flow_request *r, struct error *e)
{
	struct builder b = {.r = r, .e = e};
	int status;

	if (r->size > INT32_MAX) {
		error_set(e, ERR_RANGE, "a function of %zu bytes is too large", r->size);
		return NULL;
	}
	b.f = calloc(1, sizeof(*b.f));
	if (!b.f) {
		error_nomem(e);
		return NULL;
	}
	b.f->machine = r->machine;
	b.f->begin = r->begin;
	b.f->end = r->begin + r->size;
	status = build(&b);
	free(b.marks);
	vec_fini(&b.tables.tables);
	vec_fini(&b.tables.targets);
	if (status) {
		flow_free(b.f);
		return NULL;
	}
	return b.f;
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	vec_fini(&f->insns);
	vec_fini(&f->blocks);
	vec_fini(&f->edges);
	vec_fini(&f->loops);
	free(f->in);
	free(f->block_of);
	free(f->at);
	free(f);
}
