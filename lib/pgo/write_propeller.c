/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clusters of basic blocks for clang -fbasic-block-sections=list=FILE, version 1: "v1", and of each
 * function "f NAME" and one "c ID ...". Blocks that were executed are chained along their heaviest
 * edges (Pettis and Hansen, "Profile guided code positioning", PLDI 1990), the entry's chain first;
 * blocks that are not listed become the cold part.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "pgo/private.h"

struct unit_block {
	struct image_block is;
	uint64_t count;
	uint32_t chain;      /* the block that its chain begins with */
	uint32_t next, last; /* in the chain; last: of the chain that it begins */
	bool listed;
};

struct block_edge { /* table entry */
	struct {
		uint32_t from, to;
	} key;
	uint64_t count;
};

struct layout {
	VEC(struct unit_block) blocks; /* by address */
	struct table edges;
	struct pgo *p;
};

static int take_block(void *context, const struct image_block *block)
{
	struct layout *l = context;
	const struct unit_block b = {.is = *block, .next = UINT32_MAX};

	return vec_add(&l->blocks, b);
}

static int blocks_by_address(const void *a, const void *b)
{
	const struct unit_block *x = a, *y = b;

	return sort_rising(x->is.address, y->is.address) ?: sort_rising(x->is.size, y->is.size);
}

static long block_at(const struct layout *l, uint64_t address)
{
	size_t i = vec_search(k, l->blocks.count, l->blocks.data[k].is.address <= address);

	return i && address - l->blocks.data[i - 1].is.address < l->blocks.data[i - 1].is.size
		       ? (long)i - 1
		       : -1;
}

static int edge_count(struct layout *l, long from, long to, uint64_t count)
{
	const struct block_edge key = {.key = {(uint32_t)from, (uint32_t)to}};
	struct block_edge *edge;

	if (from == to || l->blocks.data[from].is.function != l->blocks.data[to].is.function)
		return 0;
	edge = table_add(&l->edges, &key.key);
	if (!edge)
		return -1;
	edge->count += count;
	return 0;
}

/* Counts of blocks are those of their first instructions; a block goes on to the next one as often
 * as its last instruction was executed and did not jump. */
static int count_blocks(struct layout *l)
{
	const struct pgo_code *code = &l->p->code;
	const struct table *branches = &l->p->counts.branches;

	for (size_t i = 0; i < code->insns.count; i++) {
		const struct pgo_insn *insn = &code->insns.data[i];
		long b = insn->count ? block_at(l, insn->address) : -1, next;

		if (b < 0)
			continue;
		if (l->blocks.data[b].count < insn->count)
			l->blocks.data[b].count = insn->count;
		next = block_at(l, insn->address + insn->length);
		if (next < 0 || next == b || (insn->classes & INSN_RETURN) ||
			((insn->classes & INSN_BRANCH) &&
				!(insn->classes & (INSN_CONDITIONAL | INSN_CALL))))
			continue;
		if (edge_count(l, b, next, insn->count))
			return -1;
	}
	for (size_t i = 0; i < branches->count; i++) {
		const struct pgo_arc *arc = pgo_arc_at(branches, i);
		long from = block_at(l, arc->key.from), to = block_at(l, arc->key.to);
		long after;
		struct block_edge key, *fall;
		const struct pgo_insn *insn = pgo_insn_at(code, arc->key.from);

		if (from < 0 || to < 0 || !insn || l->blocks.data[to].is.address != arc->key.to)
			continue;
		if (edge_count(l, from, to, arc->count))
			return -1;
		/* what jumped did not go on; a branch recorded without being taken did */
		after = block_at(l, insn->address + insn->length);
		if (after < 0 || after == to)
			continue;
		key = (struct block_edge){.key = {(uint32_t)from, (uint32_t)after}};
		fall = table_find(&l->edges, &key.key);
		if (fall)
			fall->count -= fall->count < arc->count ? fall->count : arc->count;
	}
	return 0;
}

static int edges_by_count(const void *a, const void *b)
{
	const struct block_edge *x = a, *y = b;

	return sort_falling(x->count, y->count) ?: sort_rising(x->key.from, y->key.from)
		       ?: sort_rising(x->key.to, y->key.to);
}

static void chain_blocks(struct layout *l)
{
	struct unit_block *blocks = l->blocks.data;

	for (uint32_t i = 0; i < l->blocks.count; i++)
		blocks[i].chain = blocks[i].last = i;
	table_sort(&l->edges, edges_by_count);
	for (size_t i = 0; i < l->edges.count; i++) {
		const struct block_edge *edge = table_at(&l->edges, i);
		uint32_t from = blocks[edge->key.from].chain, to = edge->key.to;

		/* the end of one chain, and the beginning of another that is not the entry's */
		if (!edge->count || from == blocks[to].chain || blocks[to].chain != to ||
			blocks[from].last != edge->key.from || !blocks[to].is.id)
			continue;
		blocks[edge->key.from].next = to;
		blocks[from].last = blocks[to].last;
		for (uint32_t k = to; k != UINT32_MAX; k = blocks[k].next)
			blocks[k].chain = from;
	}
}

static void put_chain(struct layout *l, FILE *out, uint32_t first)
{
	for (uint32_t k = first; k != UINT32_MAX; k = l->blocks.data[k].next) {
		fprintf(out, " %" PRIu32, l->blocks.data[k].is.id);
		l->blocks.data[k].listed = true;
	}
}

/* The hottest chain that is not listed yet, of [begin, end); UINT32_MAX: none. */
static uint32_t hottest(const struct layout *l, size_t begin, size_t end)
{
	uint64_t most = 0;
	uint32_t best = UINT32_MAX;

	for (size_t i = begin; i < end; i++)
		if (!l->blocks.data[i].listed && l->blocks.data[i].count > most) {
			most = l->blocks.data[i].count;
			best = l->blocks.data[i].chain;
		}
	return best;
}

static void put_function(struct layout *l, FILE *out, const struct pgo_function *f)
{
	size_t begin = vec_search(i, l->blocks.count, l->blocks.data[i].is.address < f->begin);
	size_t end = begin;
	uint32_t first = UINT32_MAX;

	while (end < l->blocks.count && l->blocks.data[end].is.function == f->begin)
		end++;
	for (size_t i = begin; i < end; i++)
		if (!l->blocks.data[i].is.id)
			first = l->blocks.data[i].chain;
	if (first == UINT32_MAX || !pgo_name_fits(f->name))
		return;
	fprintf(out, "f %s\nc", f->name);
	put_chain(l, out, first);
	while ((first = hottest(l, begin, end)) != UINT32_MAX)
		put_chain(l, out, first);
	fputc('\n', out);
}

int pgo_write_propeller(struct pgo *p, FILE *out, struct error *e)
{
	struct layout l = {.edges = TABLE_OF(struct block_edge), .p = p};
	size_t count = 0;
	uint32_t *order = NULL;
	int rc = image_blocks(p->file, take_block, &l, e);

	if (rc == 0) {
		if (l.blocks.count)
			qsort(l.blocks.data, l.blocks.count, sizeof(*l.blocks.data),
				blocks_by_address);
		rc = count_blocks(&l) ? error_nomem(e) : 0;
	}
	if (rc == 0) {
		chain_blocks(&l);
		order = pgo_cluster(&p->code, &p->counts, &count);
		rc = order ? 0 : error_nomem(e);
	}
	if (rc == 0)
		fputs("v1\n", out);
	for (size_t i = 0; rc == 0 && i < count; i++)
		put_function(&l, out, &p->code.functions.data[order[i]]);
	free(order);
	vec_fini(&l.blocks);
	table_fini(&l.edges);
	return rc;
}
