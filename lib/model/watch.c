/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See watch.h. Most records need one comparison for each sampler of a static event. A record with
 * an overflow is processed instruction by instruction, access by access.
 */
#include "model/watch.h"
#include "model/jit.h"

#include "model/retire.h"
#include "model/state.h"

#define SKID_MAX 8

/* Events that are another under a second name. */
static const struct {
	uint8_t event, is;
} names[] = {
	{EV_CYCLES_16, EV_CYCLES},
	{EV_INSTRUCTIONS_15, EV_INSTRUCTIONS},
	{EV_STORE_CONDITIONALS, EV_LOCKED_INSTRUCTIONS},
	{EV_DECODED_BRANCHES, EV_CONDITIONAL_BRANCHES},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- samplers ---- */

/* The event that the events of the model are looked up by: the second name of another is the other.
 */
unsigned watch_event(unsigned event)
{
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (names[i].event == event)
			return names[i].is;
	return event;
}

/* The sum that an event is a part of, or 0 (cycles, which no event is a part of). */
static unsigned sum_of(unsigned event)
{
	static const uint8_t sum[EVENT_LIMIT] = {
		[EV_DTLB_WALKS] = EV_TLB_MISSES,
		[EV_ITLB_WALKS] = EV_TLB_MISSES,
		[EV_MISPREDICTED_CONDITIONALS] = EV_MISPREDICTED_BRANCHES,
		[EV_MISPREDICTED_INDIRECTS] = EV_MISPREDICTED_BRANCHES,
		[EV_MISPREDICTED_RETURNS] = EV_MISPREDICTED_BRANCHES,
	};

	return sum[event];
}

int watch_add_sampler(struct model_watch *w, unsigned event, uint64_t period, int skid)
{
	struct model_sampler *s;
	size_t i;

	if (event >= EV_COUNT || event == EV_WALK_CYCLES || !period ||
		w->sampler_count == MODEL_SAMPLERS_MAX)
		return -1;
	event = watch_event(event);
	s = &w->sampler[w->sampler_count++];
	*s = (struct model_sampler){.period = period,
		.event = (uint8_t)event,
		.skid = skid != 0,
		.next = w->sampler_of[event]};
	for (i = 0; i <= MODEL_STATIC_RETURNS; i++)
		if (model_static_event((unsigned)i) == event)
			s->by_static = (uint8_t)(1 + i);
	w->static_count += s->by_static != 0;
	s->unit = 1;
	if (event == EV_CYCLES)
		w->clocks |= s->by_clock = 1;
	if (event == EV_FRONTEND_STALLS || event == EV_BACKEND_STALLS)
		w->clocks |= event == EV_FRONTEND_STALLS ? 2 : 4, s->by_clock = 1;
	w->sampler_of[event] = (uint8_t)w->sampler_count;
	return 0;
}

void watch_thread_init(const struct model_watch *w, struct model_watch_thread *t)
{
	unsigned i;

	for (i = 0; i < w->sampler_count; i++) {
		t->left[i] = w->sampler[i].period * w->sampler[i].unit;
		t->slot[i] = 0;
	}
	t->skid_count = 0;
	t->random = 0x2545f491;
}

void model_set_watch(struct model *m, struct model_watch *w)
{
	unsigned i;

	m->watch = w;
	if (!w)
		return;
	batch_leave(m);
	jit_again(m);
	w->model = m;
	for (i = 0; i < w->sampler_count; i++)
		w->sampler[i].unit = !w->sampler[i].by_clock ? 1
				     : m->cores[0].clocked   ? RETIRE_CYCLE
							     : m->config.width;
	for (i = 0; i < m->config.cores && w->rows.row; i++)
		if (m->sampled)
			sampled_clock_rows(m, &m->cores[i]);
		else if (m->cores[i].clocked)
			m->cores[i].clocked->rows = &w->rows;
}

/* ---- overflows ---- */

/* 1 with probability 1/2, 2 with 1/4 ... */
static uint32_t random_skid(struct model_watch_thread *t)
{
	uint32_t skid;

	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	skid = 1 + (uint32_t)__builtin_ctz(t->random | 1u << 31);
	return skid < SKID_MAX ? skid : SKID_MAX;
}

/* Overflows at instruction `index` of the current record. */
static void overflow(
	struct model_watch *w, unsigned sampler, unsigned index, uint64_t address, uint64_t times)
{
	struct model_watch_thread *t = w->thread;
	const struct model_segment *s = w->segment;
	uint32_t skid = w->sampler[sampler].skid ? random_skid(t) : 0;

	if (index + skid < s->insn_count) {
		w->sample(w->context, sampler, &s->block->insns[index + skid], address, times);
		return;
	}
	/* More than can wait in a real one's shadow: they are exact, and still counted. */
	if (!skid || t->skid_count == MODEL_SKIDS_MAX) {
		w->sample(w->context, sampler, &s->block->insns[index], address, times);
		return;
	}
	t->skids[t->skid_count++] = (struct model_skid){.insns = index + skid - s->insn_count,
		.sampler = sampler,
		.address = address,
		.times = times};
}

static void pass_skids(struct model_watch *w)
{
	struct model_watch_thread *t = w->thread;
	const struct model_segment *s = w->segment;
	uint32_t i, kept = 0;

	for (i = 0; i < t->skid_count; i++) {
		struct model_skid *k = &t->skids[i];

		if (k->insns < s->insn_count) {
			w->sample(w->context, k->sampler, &s->block->insns[k->insns], k->address,
				k->times);
		} else {
			k->insns -= s->insn_count;
			t->skids[kept++] = *k;
		}
	}
	t->skid_count = kept;
}

/* After a whole number of cycles, instructions retire in the same slots of a cycle again. So that
 * samples include all slots, each is one slot later than the one before, then the first again. */
static void shift_slot(struct model_watch *w, unsigned sampler, uint64_t *left)
{
	uint32_t unit = w->sampler[sampler].unit, step = unit / w->model->config.width;
	uint32_t *slot = &w->thread->slot[sampler];

	step = step ? step : 1;
	if (*slot + step < unit) {
		*left += step;
		*slot += step;
	} else if (*left > *slot) {
		*left -= *slot;
		*slot = 0;
	}
}

/* n occurrences: how many overflows are in them. */
static uint64_t overflows(struct model_watch *w, unsigned sampler, uint64_t n)
{
	uint64_t *left = &w->thread->left[sampler], times;
	uint64_t period = w->sampler[sampler].period * w->sampler[sampler].unit;

	if (n < *left) {
		*left -= n;
		return 0;
	}
	n -= *left;
	times = 1 + n / period;
	*left = period - n % period;
	if (w->sampler[sampler].unit > 1)
		shift_slot(w, sampler, left);
	return times;
}

void watch_occur(struct model_watch *w, unsigned sampler, unsigned index, uint64_t n)
{
	uint64_t times = n ? overflows(w, sampler, n) : 0;

	if (times)
		overflow(w, sampler, index, 0, times);
}

static void sample_event(struct model *m, struct model_watch *w, unsigned event, uint64_t n)
{
	unsigned i;

	for (i = w->sampler_of[event]; i; i = w->sampler[i - 1].next) {
		uint64_t times = overflows(w, i - 1, n);
		const struct model_segment *s = w->segment;

		if (!times)
			continue;
		if (s && m->insn >= s->block->insns && m->insn < s->block->insns + s->insn_count)
			overflow(
				w, i - 1, (unsigned)(m->insn - s->block->insns), w->address, times);
		else
			w->sample(w->context, i - 1, m->insn, w->address, times);
	}
}

void watch_count(struct model *m, unsigned event, uint64_t n)
{
	struct model_watch *w = m->watch;
	unsigned sum;

	if (w->rows.row && m->insn)
		rows_add(&w->rows, &m->insn->row, event, n);
	if (w->objects)
		objects_count(w->objects, m, event, n, m->accessed);
	if (!w->sampler_count || !w->thread)
		return;
	sample_event(m, w, event, n);
	sum = sum_of(event);
	if (sum)
		sample_event(m, w, sum, n);
}

/* ---- events that execution determines ---- */

static unsigned branch_tells(const struct model_outcome *o, enum model_static which)
{
	uint16_t statics[MODEL_STATICS] = {0};

	model_outcome_statics(o, statics);
	return statics[which];
}

static unsigned access_tells(const struct model_access *a, enum model_static which)
{
	if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH)
		return 0;
	return which == MODEL_STATIC_LOADS ? a->kind != MODEL_ACCESS_STORE
					   : a->kind != MODEL_ACCESS_LOAD;
}

static unsigned insn_tells(const struct model_insn *d, enum model_static which)
{
	switch (which) {
	case MODEL_STATIC_INSTRUCTIONS:
		return 1;
	case MODEL_STATIC_MICRO_OPS:
		return d->uops;
	case MODEL_STATIC_FP:
		return (d->class_bits & MODEL_FP) != 0;
	case MODEL_STATIC_VECTOR:
		return (d->class_bits & MODEL_VECTOR) != 0;
	case MODEL_STATIC_FLOPS:
		return d->flops;
	default:
		return 0;
	}
}

/* A static of a record, in the order of its occurrences. */
struct walk {
	struct model_watch *watch;
	unsigned sampler;
	unsigned left; /* of the record's sum, not yet found: occurrences that do not follow from
			  the parts are at the end */
};

static void watch_tell(struct walk *w, unsigned n, unsigned insn, uint64_t address)
{
	uint64_t times;

	n = n < w->left ? n : w->left;
	w->left -= n;
	times = n ? overflows(w->watch, w->sampler, n) : 0;
	if (times)
		overflow(w->watch, w->sampler, insn, address, times);
}

/* n of them are in the record; first: the first instruction that counts. */
static void walk_static(struct model_watch *watch, unsigned sampler, unsigned n,
	const uint64_t *record, unsigned first)
{
	enum model_static which = (enum model_static)(watch->sampler[sampler].by_static - 1);
	const struct model_segment *s = watch->segment;
	const struct model_block *b = s->block;
	struct walk w = {watch, sampler, n};
	unsigned i;

	if (which == MODEL_STATIC_LOADS || which == MODEL_STATIC_STORES)
		for (i = 0; i < s->access_count; i++)
			watch_tell(&w, access_tells(&b->accesses[i], which), b->accesses[i].insn,
				record[1 + i]);
	else if (which >= MODEL_STATIC_BRANCHES)
		for (i = 0; i < s->outcome_count; i++)
			watch_tell(
				&w, branch_tells(&s->outcomes[i], which), s->outcomes[i].insn, 0);
	else
		for (i = first; i < s->insn_count; i++)
			watch_tell(&w, insn_tells(&b->insns[i], which), i, 0);
	if (w.left && s->insn_count)
		watch_tell(&w, w.left, s->insn_count - 1u, 0);
}

static void sample_statics(struct model_watch *w, const uint64_t *record, int repeats)
{
	const struct model_segment *s = w->segment;
	unsigned i;

	for (i = 0; i < w->sampler_count; i++) {
		unsigned which = w->sampler[i].by_static, n;

		if (!which)
			continue;
		n = s->statics[which - 1];
		if (repeats)
			n -= insn_tells(&s->block->insns[0], (enum model_static)(which - 1));
		if (LIKELY(n < w->thread->left[i]))
			w->thread->left[i] -= n;
		else
			walk_static(w, i, n, record, repeats != 0);
	}
}

/* ---- records that need not be reported singly ---- */

/* The assumed maximum of each event per instruction: see watch_exceeds. */
static const uint8_t at_most[MODEL_STATICS] = {
	[MODEL_STATIC_INSTRUCTIONS] = 1,
	[MODEL_STATIC_MICRO_OPS] = 6,
	[MODEL_STATIC_LOADS] = 4,
	[MODEL_STATIC_STORES] = 4,
	[MODEL_STATIC_FP] = 1,
	[MODEL_STATIC_VECTOR] = 1,
	[MODEL_STATIC_FLOPS] = 16,
	[MODEL_STATIC_BRANCHES] = 1,
	[MODEL_STATIC_CONDITIONALS] = 1,
	[MODEL_STATIC_TAKEN] = 1,
	[MODEL_STATIC_CALLS] = 1,
	[MODEL_STATIC_INDIRECTS] = 1,
	[MODEL_STATIC_RETURNS] = 1,
};

int watch_is_calm(const struct model_watch *w)
{
	unsigned i;

	if (w->paths || w->clocks || (w->thread && w->thread->skid_count))
		return 0;
	for (i = 0; i < w->sampler_count; i++)
		if (w->sampler[i].skid)
			return 0;
	return 1;
}

uint64_t watch_ahead(const struct model_watch *w)
{
	uint64_t least = UINT64_C(1) << 62;
	unsigned i;

	for (i = 0; w->thread && i < w->sampler_count; i++) {
		unsigned which = w->sampler[i].by_static;
		uint64_t ahead = which ? (w->thread->left[i] - 1) / at_most[which - 1] : least;

		least = ahead < least ? ahead : least;
	}
	return least > MODEL_BLOCK_INSNS_MAX ? least - MODEL_BLOCK_INSNS_MAX : 0;
}

void watch_settle(struct model_watch *w, uint64_t *ran)
{
	unsigned i;

	for (i = 0; w->thread && i < w->sampler_count; i++)
		if (w->sampler[i].by_static)
			w->thread->left[i] -= ran[w->sampler[i].by_static - 1];
	for (i = 0; i < MODEL_STATICS; i++)
		ran[i] = 0;
}

int watch_exceeds(const struct model_watch *w, const struct model_segment *segment)
{
	unsigned i, k, insns = segment->insn_count;

	for (i = 0; w->static_count && i < w->sampler_count; i++) {
		unsigned which = w->sampler[i].by_static, n;

		if (!which)
			continue;
		n = segment->statics[which - 1];
		/* Those that are guarded count only when they happen. */
		if (which - 1 == MODEL_STATIC_LOADS || which - 1 == MODEL_STATIC_STORES)
			for (k = 0; k < segment->access_count; k++)
				n += segment->block->accesses[k].guarded;
		if (n > insns * at_most[which - 1])
			return 1;
	}
	return 0;
}

void watch_record(struct model_watch *w, const struct model_segment *segment,
	const uint64_t *record, int repeats)
{
	const struct model_block *b = segment->block;

	watch_end(w);
	w->segment = segment;
	w->record = record;
	w->address = 0;
	if (b->indirect && segment->insn_count == b->insn_count && !segment->next &&
		w->targets.entry)
		targets_add(
			&w->targets, b->insns[b->insn_count - 1].address, record[b->words - 1], 1);
	if (!w->thread)
		return;
	if (w->thread->skid_count)
		pass_skids(w);
	if (w->static_count)
		sample_statics(w, record, repeats);
}

void watch_part(struct model_watch *w, const struct model_segment *segment, unsigned insns)
{
	unsigned i;

	for (i = 0; w->rows.row && i < insns; i++)
		rows_add(&w->rows, &segment->block->insns[i].row, MODEL_ROW_EXECUTED, 1);
}
