/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See blocks.h. While a profile is taken, each superblock has a "shape" (model/wire/profile.h): its
 * contents, written at once, while its code is certainly mapped. A superblock that is discarded
 * leaves its shape, the counts of its segments and the rows of its instructions. The next one with
 * the same shape at the same address takes them over.
 */
#include "valgrind/blocks.h"

#include "model/retire.h"

#include "model/wire/profile.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "valgrind/counted.h"
#include "valgrind/faults.h"
#include "valgrind/images.h"
#include "valgrind/modes.h"
#include "valgrind/profile.h"
#include "valgrind/tool.h"

struct block {
	VgHashNode node;           /* key: the superblock's address */
	struct model_block *model; /* NULL: discarded */
	UChar *shape;              /* NULL: there is no profile */
	uint64_t *ended;           /* of a discarded one, by segment */
	uint32_t *rows;            /* likewise, by instruction; NULL: none has one */
	UInt shape_length, insn_count, segment_count;
	uint16_t *statics; /* of a discarded one, MODEL_STATICS for each segment */
	UInt repeat_uops;
	UInt repeats; /* segment + 1 that a further iteration of its only instruction follows; 0:
			 none */
	struct block_branch branch;
};

static VgHashTable *live, *past;
static Bool keeping, counting_starts;

static VgHashTable *table(VgHashTable **t)
{
	if (!*t)
		*t = VG_(HT_construct)("blocks");
	return *t;
}

/* ---- descriptors ---- */

static SizeT aligned(SizeT n)
{
	return (n + 7) & ~(SizeT)7;
}

#define HOST_LINE 64
_Static_assert(sizeof(struct model_segment) % HOST_LINE == 0,
	"what each record needs of a segment is in two lines");
/* In the order in which they are in memory: the data that each record needs are adjacent. */
struct layout {
	SizeT segments, accesses, fetches, insns, outcomes, specials, ops, total;
};

static struct layout blocks_layout(
	UInt insns, UInt accesses, UInt fetches, UInt segments, UInt outcomes)
{
	struct layout l;

	l.segments = aligned(sizeof(struct model_block));
	l.accesses = l.segments + segments * sizeof(struct model_segment);
	l.fetches = l.accesses + aligned(accesses * sizeof(struct model_access));
	l.insns = l.fetches + aligned(fetches * sizeof(struct model_fetch));
	l.outcomes = l.insns + aligned(insns * sizeof(struct model_insn));
	l.specials = l.outcomes + aligned(outcomes * sizeof(struct model_outcome));
	l.ops = l.specials + aligned(insns);
	l.total = l.ops + (instrument_dependences ? insns * sizeof(struct retire_op) : 0) +
		  HOST_LINE - 1;
	return l;
}

static void blocks_lay_out(struct model_block *m, const struct layout *l, Addr address)
{
	UChar *memory = (UChar *)(((UWord)m + l->segments + HOST_LINE - 1) / HOST_LINE * HOST_LINE -
				  l->segments);

	m->address = address;
	m->segments = (struct model_segment *)(memory + l->segments);
	m->accesses = (struct model_access *)(memory + l->accesses);
	m->fetches = (struct model_fetch *)(memory + l->fetches);
	m->insns = (struct model_insn *)(memory + l->insns);
	m->specials = memory + l->specials;
	if (instrument_dependences)
		m->ops = (struct retire_op *)(memory + l->ops);
}

struct model_block *block_new(Addr address, UInt insns, UInt accesses, UInt fetches, UInt segments,
	UInt outcomes, struct model_outcome **room)
{
	struct layout l = blocks_layout(insns, accesses, fetches, segments, outcomes);
	struct block *b = VG_(calloc)("block", 1, sizeof(*b));
	struct model_block *m = VG_(calloc)("descriptors", 1, l.total);

	blocks_lay_out(m, &l, address);
	*room = (struct model_outcome *)(m->specials - (l.specials - l.outcomes));
	b->node.key = address;
	b->model = m;
	VG_(HT_add_node)(table(&live), b);
	return m;
}

struct model_block *block_scratch(Addr address, UInt insns, UInt accesses, UInt fetches,
	UInt segments, UInt outcomes, struct model_outcome **room)
{
	static struct model_block *m;
	static SizeT size;
	struct layout l = blocks_layout(insns, accesses, fetches, segments, outcomes);

	if (size < l.total) {
		size = l.total;
		m = VG_(realloc)("scratch", m, size);
	}
	VG_(memset)(m, 0, l.total);
	blocks_lay_out(m, &l, address);
	*room = (struct model_outcome *)(m->specials - (l.specials - l.outcomes));
	return m;
}

/* The struct block of a live descriptor. */
static struct block *blocks_known(const struct model_block *block)
{
	struct block *b = VG_(HT_lookup)(table(&live), block->address);

	tl_assert(b && b->model == block);
	return b;
}

struct model_block *block_find(Addr address)
{
	struct block *b = VG_(HT_lookup)(table(&live), address);

	return b ? b->model : NULL;
}

/* ---- shapes ---- */

/* Of an instruction, before the block's access `end`; guarded ones are counted where they happen.
 */
static void count_accesses(const struct model_block *m, const struct model_insn *d, UInt end,
	UInt *loads, UInt *stores)
{
	*loads = *stores = 0;
	for (UInt i = d->first_access; i < (UInt)d->first_access + d->access_count && i < end;
		i++) {
		const struct model_access *a = &m->accesses[i];

		if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH)
			continue;
		*loads += a->kind != MODEL_ACCESS_STORE;
		*stores += a->kind != MODEL_ACCESS_LOAD;
	}
}

/* expected: where the one before ends. */
static void shape_insn(
	struct bytes *to, const struct model_block *m, const struct model_insn *d, Addr expected)
{
	UInt loads, stores, what = 0;

	count_accesses(m, d, m->access_count, &loads, &stores);
	what |= d->address != expected ? MODEL_INSN_ELSEWHERE : 0;
	what |= d->class_bits ? MODEL_INSN_CLASS : 0;
	what |= d->branch != MODEL_NO_BRANCH ? MODEL_INSN_BRANCH : 0;
	what |= d->uops != 1 ? MODEL_INSN_UOPS : 0;
	what |= d->flops ? MODEL_INSN_FLOPS : 0;
	what |= loads ? MODEL_INSN_LOADS : 0;
	what |= stores ? MODEL_INSN_STORES : 0;
	bytes_byte(to, d->length);
	bytes_byte(to, what);
	if (what & MODEL_INSN_ELSEWHERE) {
		bytes_z(to, (Long)(d->address - expected));
		bytes_v(to, images_at(d->address));
	}
	if (what & MODEL_INSN_CLASS)
		bytes_v(to, d->class_bits);
	if (what & MODEL_INSN_BRANCH)
		bytes_v(to, d->branch);
	if (what & MODEL_INSN_UOPS)
		bytes_v(to, d->uops);
	if (what & MODEL_INSN_FLOPS)
		bytes_v(to, d->flops);
	if (what & MODEL_INSN_LOADS)
		bytes_v(to, loads);
	if (what & MODEL_INSN_STORES)
		bytes_v(to, stores);
}

static void shape_segment(
	struct bytes *to, const struct model_block *m, const struct model_segment *s)
{
	UInt loads = 0, stores = 0;

	/* It may end within its last instruction, before that one's accesses. */
	if (s->insn_count)
		count_accesses(m, &m->insns[s->insn_count - 1], s->access_count, &loads, &stores);
	bytes_v(to, s->insn_count);
	bytes_v(to, loads);
	bytes_v(to, stores);
	bytes_v(to, s->next != 0);
	if (s->next)
		bytes_z(to, (Long)(s->next - m->address));
	bytes_v(to, s->outcome_count);
	for (UInt i = 0; i < s->outcome_count; i++) {
		const struct model_outcome *o = &s->outcomes[i];

		bytes_v(to, o->insn);
		bytes_v(to, 2u * o->kind + o->taken);
		bytes_z(to, (Long)(o->target - m->address));
	}
}

static Bool in_a_file(UInt image)
{
	return image && images_get(image)->kind == IMAGE_FILE;
}

static void shape(struct bytes *to, const struct model_block *m)
{
	UInt image = images_at(m->address);
	Bool code = !in_a_file(image);
	Addr expected = m->address;

	bytes_v(to, image);
	bytes_v(to, m->address);
	bytes_v(to, (m->indirect ? MODEL_SHAPE_INDIRECT : 0u) | (code ? MODEL_SHAPE_CODE : 0u));
	bytes_v(to, m->insn_count);
	for (UInt i = 0; i < m->insn_count; i++) {
		shape_insn(to, m, &m->insns[i], expected);
		expected = m->insns[i].address + m->insns[i].length;
	}
	for (UInt i = 0; code && i < m->insn_count; i++)
		bytes_raw(to, (const void *)m->insns[i].address, m->insns[i].length);
	bytes_v(to, m->segment_count);
	for (UInt i = 0; i < m->segment_count; i++)
		shape_segment(to, m, &m->segments[i]);
}

/* ---- from translation to discard, and back ---- */

static Word blocks_differs(const void *node1, const void *node2)
{
	const struct block *a = node1, *b = node2;

	return a->shape_length != b->shape_length ||
	       VG_(memcmp)(a->shape, b->shape, a->shape_length);
}

static void block_free(void *node)
{
	struct block *b = node;

	VG_(free)(b->model);
	VG_(free)(b->shape);
	VG_(free)(b->ended);
	VG_(free)(b->rows);
	VG_(free)(b->statics);
	VG_(free)(b);
}

/* How many records ended in a segment. */
static uint64_t ended_in(const struct block *b, UInt segment)
{
	const struct model_segment *s;

	if (!b->model)
		return b->ended[segment];
	s = &b->model->segments[segment];
	if (!counting_starts || segment + 1 == b->segment_count)
		return s->ended;
	return s->ended - s[1].ended;
}

/* Continues with the counts of the same superblock before. */
static void take_over(struct block *b)
{
	struct block *before = past ? VG_(HT_gen_remove)(past, b, blocks_differs) : NULL;

	if (!before)
		return;
	for (UInt i = b->segment_count; i-- > 0;) {
		b->model->segments[i].ended = before->ended[i];
		if (counting_starts && i + 1 < b->segment_count)
			b->model->segments[i].ended += b->model->segments[i + 1].ended;
	}
	if (b->segment_count)
		b->branch.since = b->model->segments[b->segment_count - 1].ended;
	for (UInt i = 0; before->rows && i < b->insn_count; i++)
		b->model->insns[i].row = before->rows[i];
	block_free(before);
}

/* The segment after which its last instruction, a repeated one, continues. */
static UInt find_repeats(const struct model_block *m)
{
	const struct model_insn *last = &m->insns[m->insn_count - 1u];

	for (UInt i = 0;
		m->insn_count && (last->class_bits & MODEL_STEPPED) && i < m->segment_count; i++)
		if (m->segments[i].next == last->address && m->segments[i].insn_count)
			return i + 1;
	return 0;
}

void block_ready(struct model_block *block)
{
	struct block *b = blocks_known(block);
	struct bytes text = {0};

	b->insn_count = block->insn_count;
	b->segment_count = block->segment_count;
	b->repeats = find_repeats(block);
	b->repeat_uops = b->repeats ? block->insns[block->insn_count - 1].uops : 0;
	if (!keeping)
		return;
	shape(&text, block);
	b->shape = VG_(realloc)("shape", text.data, text.length);
	b->shape_length = (UInt)text.length;
	take_over(b);
}

static Bool blocks_executed(const struct block *b)
{
	ULong n = 0;

	for (UInt i = 0; i < b->segment_count; i++)
		n |= ended_in(b, i);
	return n != 0;
}

static UInt blocks_row_of(const struct block *b, UInt insn)
{
	if (b->model)
		return b->model->insns[insn].row;
	return b->rows ? b->rows[insn] : 0;
}

static void keep_statics(struct block *b)
{
	SizeT size = MODEL_STATICS * sizeof(*b->statics);

	b->statics = VG_(malloc)("statics", b->segment_count * size);
	for (UInt i = 0; i < b->segment_count; i++)
		VG_(memcpy)(b->statics + i * MODEL_STATICS, b->model->segments[i].statics, size);
}

static void retire(struct block *b)
{
	UInt any = 0;

	for (UInt i = 0; i < b->insn_count; i++)
		any |= blocks_row_of(b, i);
	if (any)
		b->rows = VG_(malloc)("rows", b->insn_count * sizeof(*b->rows));
	for (UInt i = 0; any && i < b->insn_count; i++)
		b->rows[i] = blocks_row_of(b, i);
	b->ended = VG_(malloc)("ended", b->segment_count * sizeof(*b->ended));
	for (UInt i = 0; i < b->segment_count; i++)
		b->ended[i] = ended_in(b, i);
	if (counting_starts)
		keep_statics(b);
	VG_(free)(b->model);
	b->model = NULL;
	VG_(HT_add_node)(table(&past), b);
}

/* ---- indirect branches, without a model ---- */

struct block_branch *block_branch(struct model_block *block)
{
	struct block *b = blocks_known(block);

	b->branch.block = block;
	return &b->branch;
}

static void blocks_tell(struct block_branch *branch, uint64_t until)
{
	const struct model_block *m = branch->block;

	if (until > branch->since)
		profile_goes(
			m->insns[m->insn_count - 1].address, branch->to, until - branch->since);
	branch->since = until;
}

/* The last segment has counted this time already. */
void block_goes(struct block_branch *branch, Addr to)
{
	const struct model_block *m = branch->block;

	blocks_tell(branch, m->segments[m->segment_count - 1].ended - 1);
	branch->to = to;
}

static void tell_branch(struct block *b)
{
	if (b->model && b->branch.block)
		blocks_tell(&b->branch, b->model->segments[b->segment_count - 1].ended);
}

void blocks_tell_branches(void)
{
	struct block *b;

	VG_(HT_ResetIter)(table(&live));
	while ((b = VG_(HT_Next)(live)) != NULL)
		tell_branch(b);
}

void block_discard(Addr address)
{
	struct block *b = live ? VG_(HT_remove)(live, address) : NULL;

	if (!b)
		return;
	tell_branch(b);
	if (b->shape && blocks_executed(b))
		retire(b);
	else
		block_free(b);
}

void blocks_discard(Addr address, VexGuestExtents extents)
{
	(void)extents;
	modes_discarded();
	faults_discard(address);
	if (modes_counts(address)) {
		counted_discard(address);
		return;
	}
	trace_flush();
	block_discard(address);
}

void blocks_keep(Bool starts)
{
	keeping = True;
	counting_starts = starts;
}

void blocks_reset(void)
{
	struct block *b;

	if (past)
		VG_(HT_destruct)(past, block_free);
	past = NULL;
	VG_(HT_ResetIter)(table(&live));
	while ((b = VG_(HT_Next)(live)) != NULL) {
		for (UInt i = 0; i < b->model->segment_count; i++)
			b->model->segments[i].ended = 0;
		for (UInt i = 0; i < b->model->insn_count; i++)
			b->model->insns[i].row = 0;
		b->branch.since = 0;
	}
}

/* ---- the executed code ---- */

struct visit {
	struct bytes *to;
	void (*events)(struct bytes *to, UInt row);
	uint64_t sums[MODEL_STATICS];
};

static void each_executed(struct visit *v, void (*what)(struct visit *v, const struct block *b))
{
	VgHashTable *tables[] = {live, past};

	for (UInt i = 0; i < 2; i++) {
		const struct block *b;

		if (!tables[i])
			continue;
		VG_(HT_ResetIter)(tables[i]);
		while ((b = VG_(HT_Next)(tables[i])) != NULL)
			if (b->shape && blocks_executed(b))
				what(v, b);
	}
}

static void write_block(struct visit *v, const struct block *b)
{
	UInt rows = 0;

	bytes_v(v->to, b->shape_length);
	bytes_raw(v->to, b->shape, b->shape_length);
	for (UInt i = 0; i < b->segment_count; i++)
		bytes_v(v->to, ended_in(b, i));
	for (UInt i = 0; i < b->insn_count; i++)
		rows += blocks_row_of(b, i) != 0;
	bytes_v(v->to, rows);
	for (UInt i = 0; rows && i < b->insn_count; i++)
		if (blocks_row_of(b, i)) {
			bytes_v(v->to, i);
			v->events(v->to, blocks_row_of(b, i));
		}
}

void blocks_write(struct bytes *to, void (*events)(struct bytes *to, UInt row))
{
	struct visit v = {.to = to, .events = events};

	each_executed(&v, write_block);
}

static const uint16_t *statics_of(const struct block *b, UInt segment)
{
	return b->model ? b->model->segments[segment].statics
			: b->statics + segment * MODEL_STATICS;
}

static void sum_block(struct visit *v, const struct block *b)
{
	for (UInt i = 0; i < b->segment_count; i++) {
		uint64_t n = ended_in(b, i);

		for (UInt k = 0; n && k < MODEL_STATICS; k++)
			v->sums[k] += n * statics_of(b, i)[k];
	}
	/* Further iterations do not count as instructions. */
	if (b->repeats) {
		v->sums[MODEL_STATIC_INSTRUCTIONS] -= ended_in(b, b->repeats - 1);
		v->sums[MODEL_STATIC_MICRO_OPS] -= ended_in(b, b->repeats - 1) * b->repeat_uops;
	}
}

void blocks_sum(uint64_t *counts)
{
	struct visit v = {0};

	each_executed(&v, sum_block);
	for (UInt k = 0; k <= MODEL_STATIC_RETURNS; k++)
		counts[model_static_event(k)] = v.sums[k];
	counts[EV_INSTRUCTIONS_15] = counts[EV_INSTRUCTIONS];
	counts[EV_DECODED_BRANCHES] = counts[EV_CONDITIONAL_BRANCHES];
}
