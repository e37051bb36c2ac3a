/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lib/model/retire.c computes, once more and obviously: an instruction at a time, its
 * requirements written down one after the other, whole histories kept, loops for everything.
 */
#ifndef TESTS_RETIRE_REFERENCE_H
#define TESTS_RETIRE_REFERENCE_H

#include <stdint.h>
#include <stdlib.h>

#include "model/retire.h"

struct ref_cycle {
	uint64_t number;
	unsigned busy[16];
};

struct ref_span {
	uint64_t from, until;
	int cause;
};

struct ref_request {
	uint64_t free_from, from, until;
};

struct reference {
	struct ref_request requests[RETIRE_REQUESTS];
	struct model_config config;
	uint64_t *gone; /* of every instruction */
	uint64_t *left; /* the store buffer, of every store */
	size_t count, stores, room;
	uint64_t came, last_gone, taken, barrier, divider, hold_until;
	int hold_cause;
	uint64_t ready[256];
	struct ref_cycle cycles[RETIRE_CALENDAR];
	struct ref_span full[16];
	struct {
		uint64_t line, ready;
		int cause;
	} on_the_way[RETIRE_LINES];
	struct {
		uint64_t granule, ready;
	} stored[RETIRE_STORED];
	uint64_t sent[3][RETIRE_INTERVALS];
	uint64_t slots[MODEL_CAUSES];
	struct ref_span why[64];
	int why_count;
};

static uint64_t ref_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t ref_slots(const struct reference *f, uint64_t cycles)
{
	return cycles * f->config.width;
}

static void ref_begin(struct reference *f, const struct model_config *config)
{
	memset(f, 0, sizeof(*f));
	f->config = *config;
	f->room = 1 << 16;
	f->gone = malloc(f->room * sizeof(*f->gone));
	f->left = malloc(f->room * sizeof(*f->left));
}

static void ref_end(struct reference *f)
{
	free(f->gone);
	free(f->left);
}

/* Which units a kind of instruction needs, how many there are, and how long it takes. */
static int ref_unit(const struct model_config *c, int kind, unsigned *units, uint64_t *latency)
{
	const struct model_execution_config *e = &c->execution;
	int adds = e->fp_adders ? 4 : 5;
	unsigned adders = e->fp_adders ? e->fp_adders : e->fp_multipliers;
	uint64_t lock = c->lock_latency > c->l1d.latency ? c->lock_latency - c->l1d.latency : 1;
	struct {
		int unit;
		unsigned units;
		uint64_t latency;
	} table[] = {
		[MODEL_LATENCY_NONE] = {-1, 0, 0},
		[MODEL_LATENCY_ALU] = {2, e->alus, 1},
		[MODEL_LATENCY_STORE] = {1, e->stores, 1},
		[MODEL_LATENCY_VECTOR_LOAD] = {-1, 0, e->vector_load},
		[MODEL_LATENCY_MULTIPLY] = {3, e->multipliers, e->multiply},
		[MODEL_LATENCY_FP_ADD] = {adds, adders, e->fp_add},
		[MODEL_LATENCY_FP_MULTIPLY] = {5, e->fp_multipliers, e->fp_multiply},
		[MODEL_LATENCY_FUSED] = {5, e->fp_multipliers, e->fused},
		[MODEL_LATENCY_CONVERT] = {adds, adders, e->convert},
		[MODEL_LATENCY_VECTOR] = {6, e->vectors, e->vector},
		[MODEL_LATENCY_VECTOR_MULTIPLY] = {5, e->fp_multipliers, e->vector_multiply},
		[MODEL_LATENCY_SHUFFLE] = {7, e->shuffles, e->shuffle},
		[MODEL_LATENCY_MOVE] = {6, e->vectors, e->move},
		[MODEL_LATENCY_CRYPTO] = {7, e->shuffles, e->crypto},
		[MODEL_LATENCY_MICROCODE] = {-1, 0, e->microcode},
		[MODEL_LATENCY_DIVIDE] = {-1, 0, e->divide},
		[MODEL_LATENCY_FP_DIVIDE] = {-1, 0, e->fp_divide},
		[MODEL_LATENCY_LOCKED] = {-1, 0, lock},
		[MODEL_LATENCY_SERIALISING] = {-1, 0, 1},
	};

	*units = table[kind].units;
	*latency = table[kind].latency;
	if (!*latency && kind != MODEL_LATENCY_NONE && kind != MODEL_LATENCY_VECTOR_LOAD)
		*latency = 1;
	*latency *= c->width;
	return table[kind].units > 15 || table[kind].units == 0 ? -1 : table[kind].unit;
}

static void ref_why(struct reference *f, int cause, uint64_t from, uint64_t until)
{
	f->why[f->why_count++] = (struct ref_span){from, until, cause};
}

static int ref_free(struct reference *f, uint64_t number, int unit, unsigned units)
{
	struct ref_cycle *c = &f->cycles[number % RETIRE_CALENDAR];

	if (c->number != number)
		memset(c, 0, sizeof(*c));
	c->number = number;
	return c->busy[unit] < units;
}

static uint64_t ref_take(
	struct reference *f, int unit, unsigned units, uint64_t at, uint64_t latency)
{
	uint64_t from = at, number, first;

	if (unit < 0)
		return at + latency;
	for (number = first = at / f->config.width;; number++) {
		struct ref_span *full = &f->full[unit];

		/* Known from the last search? */
		if (number != first || !ref_free(f, number, unit, units))
			while (number >= full->from && number < full->until)
				number++;
		if (!ref_free(f, number, unit, units))
			continue;
		f->cycles[number % RETIRE_CALENDAR].busy[unit]++;
		if (number == first)
			break;
		if (first < full->from || first > full->until)
			full->from = first;
		full->until = number;
		at = number * f->config.width;
		break;
	}
	if (at != from)
		ref_why(f, MODEL_CAUSE_UNIT, from, at + latency);
	return at + latency;
}

/* With so many requests, each with its last use and the gap before that: the first of those in
 * which the line can be asked for earliest. */
static uint64_t ref_request(struct reference *f, uint64_t at, uint64_t latency)
{
	unsigned i;

	for (; f->config.misses; at++)
		for (i = 0; i < f->config.misses; i++) {
			struct ref_request *r = &f->requests[i];

			if (at >= r->until) {
				r->free_from = r->until;
				r->from = at;
				r->until = at + latency;
				return at;
			}
			if (at >= r->free_from && at + latency <= r->from) {
				r->free_from = at + latency;
				return at;
			}
		}
	return at;
}

static uint64_t ref_line(struct reference *f, uint64_t at, const struct retire_note *n)
{
	static const int senders[] = {0, 1, 2, 1};
	int sender = senders[n->cause - MODEL_CAUSE_L2];
	const uint32_t cycles[] = {
		f->config.l2_interval, f->config.ll_interval, f->config.memory_interval};
	uint64_t interval = ref_slots(f, cycles[sender]), number;
	uint64_t line = n->address / f->config.l1d.line;

	at = ref_request(f, at, ref_slots(f, n->latency));
	if (interval) {
		number = at / interval;
		while (f->sent[sender][number % RETIRE_INTERVALS] == number + 1)
			number++;
		f->sent[sender][number % RETIRE_INTERVALS] = number + 1;
		if (number * interval > at)
			at = number * interval;
	}
	at += ref_slots(f, n->latency);
	f->on_the_way[line % RETIRE_LINES].line = line;
	f->on_the_way[line % RETIRE_LINES].ready = at;
	f->on_the_way[line % RETIRE_LINES].cause = n->cause;
	return at;
}

static void ref_hold(struct reference *f, int cause, uint64_t until)
{
	while (f->last_gone + 1 < until) {
		f->slots[cause]++;
		f->last_gone++;
	}
	if (f->came + 1 < until)
		f->came = until - 1;
}

static int ref_level(int cause)
{
	return cause == MODEL_CAUSE_L2 || cause == MODEL_CAUSE_LL || cause == MODEL_CAUSE_MEMORY ||
	       cause == MODEL_CAUSE_INTERVENTION;
}

static uint64_t ref_load(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, uint64_t address, uint64_t from, int first)
{
	const uint64_t usual = ref_slots(f, f->config.l1d.latency);
	const uint32_t units = f->config.execution.loads;
	int hit = 1;
	size_t i;
	uint64_t at, done = 0, latest = 0, line = address / f->config.l1d.line;

	if (from < f->barrier)
		from = f->barrier;
	at = ref_take(f, units && units < 16 ? 0 : -1, units, from, usual) - usual;
	from = at;
	for (i = 0; i < count && first; i++) {
		const struct retire_note *n = &notes[i];

		if (n->insn != insn || n->what != RETIRE_LOAD || n->cause == MODEL_CAUSE_FORWARD)
			continue;
		if (ref_level(n->cause)) {
			uint64_t there = ref_line(f, at, n);

			hit = 0;
			ref_why(f, n->cause, ref_max(at, latest), there);
			latest = ref_max(latest, there);
		} else {
			ref_why(f, n->cause, at, at + ref_slots(f, n->latency));
			at += ref_slots(f, n->latency);
		}
	}
	done = ref_max(latest, hit ? at + usual : at);
	if (f->stored[(address / 8) % RETIRE_STORED].granule == address / 8)
		done = ref_max(done, f->stored[(address / 8) % RETIRE_STORED].ready);
	for (i = 0; i < count && first; i++)
		if (notes[i].insn == insn && notes[i].what == RETIRE_FORWARD) {
			uint64_t left = f->stores ? f->left[f->stores - 1] : 0;

			left = ref_max(done, left) + ref_slots(f, notes[i].latency);
			ref_why(f, MODEL_CAUSE_FORWARD, done, left);
			done = left;
		}
	if (f->on_the_way[line % RETIRE_LINES].line == line &&
		f->on_the_way[line % RETIRE_LINES].ready > done) {
		/* Nothing is on its way any more when the last line asked for is there. */
		ref_why(f, f->on_the_way[line % RETIRE_LINES].cause, done,
			f->on_the_way[line % RETIRE_LINES].ready);
		done = f->on_the_way[line % RETIRE_LINES].ready;
	}
	return done;
}

static uint64_t ref_special(struct reference *f, int kind, uint64_t at)
{
	uint64_t latency, begin, done;
	unsigned units;

	ref_unit(&f->config, kind, &units, &latency);
	switch (kind) {
	case MODEL_LATENCY_DIVIDE:
	case MODEL_LATENCY_FP_DIVIDE:
		begin = ref_max(at, f->divider);
		f->divider = begin + ref_slots(f, kind == MODEL_LATENCY_DIVIDE
							  ? f->config.divide_latency
							  : f->config.fp_divide_latency);
		ref_why(f, MODEL_CAUSE_DIVIDER, at, begin + latency);
		return begin + latency;
	case MODEL_LATENCY_LOCKED:
		f->barrier = at + latency;
		ref_why(f, MODEL_CAUSE_LOCKED, 0, at + latency);
		return at + latency;
	default:
		begin = ref_max(at, f->last_gone + 1);
		begin = ref_max(begin, f->divider);
		if (f->stores)
			begin = ref_max(begin, f->left[f->stores - 1]);
		done = begin + latency;
		ref_why(f, MODEL_CAUSE_SERIALISING, f->last_gone, done);
		f->hold_until = ref_max(f->last_gone + 1, done - f->config.width) +
				ref_slots(f, f->config.mispredict_penalty) + 1;
		f->hold_cause = MODEL_CAUSE_SERIALISING;
		return done;
	}
}

static void ref_retire(struct reference *f, uint64_t done)
{
	uint64_t slot = ++f->last_gone + f->config.width;
	int i;

	f->slots[MODEL_CAUSE_BASE]++;
	/* Slot by slot: which of the spans that hold it in their order lies over it? */
	for (i = 0; slot < done; slot++) {
		while (i < f->why_count && f->why[i].until <= slot)
			i++;
		if (i < f->why_count && f->why[i].from <= slot)
			f->slots[f->why[i].cause]++;
		else
			f->slots[MODEL_CAUSE_DEPENDENCY]++;
		f->last_gone++;
	}
	f->why_count = 0;
}

static void ref_store(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, uint64_t address, unsigned size, uint64_t data, int first)
{
	const struct model_execution_config *e = &f->config.execution;
	uint64_t granule, leaves, drain = e->stores ? f->config.width / e->stores : 0;
	size_t i;

	for (granule = address / 8; granule <= (address + size - 1) / 8; granule++) {
		f->stored[granule % RETIRE_STORED].granule = granule;
		f->stored[granule % RETIRE_STORED].ready = data + ref_slots(f, e->forward);
	}
	leaves = ref_max(f->last_gone, (f->stores ? f->left[f->stores - 1] : 0) + drain);
	for (i = 0; i < count && first; i++) {
		const struct retire_note *n = &notes[i];

		if (n->insn != insn || n->what != RETIRE_STORE)
			continue;
		if (ref_level(n->cause))
			leaves = ref_max(leaves, ref_line(f, f->last_gone, n));
		else
			leaves = ref_max(leaves, f->last_gone + ref_slots(f, n->latency));
	}
	f->left[f->stores++] = leaves;
}

static uint64_t ref_operands(const struct reference *f, const uint8_t *slots, unsigned count)
{
	uint64_t at = 0;
	unsigned i;

	for (i = 0; i < count; i++)
		if (slots[i] != MODEL_SLOT_NONE)
			at = ref_max(at, f->ready[slots[i]]);
	return at;
}

static void ref_come(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, int is_store)
{
	size_t i;

	if (f->hold_until)
		ref_hold(f, f->hold_cause, f->hold_until);
	f->hold_until = 0;
	for (i = 0; i < count; i++)
		if (notes[i].insn == insn && notes[i].what == RETIRE_FETCH)
			ref_hold(f, notes[i].cause, f->came + 1 + ref_slots(f, notes[i].latency));
	if (is_store && f->stores >= f->config.store_buffer)
		ref_hold(f, MODEL_CAUSE_STORE_BUFFER, f->left[f->stores - f->config.store_buffer]);
	f->came++;
	if (f->count >= f->config.window)
		f->came = ref_max(f->came, f->gone[f->count - f->config.window]);
}

static int ref_does(const struct model_access *a, uint64_t address, int kind)
{
	return (a->kind == kind || a->kind == MODEL_ACCESS_MODIFY) && (!a->guarded || address);
}

static void ref_instruction(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_block *block, int index, const uint64_t *record)
{
	const struct model_insn *insn = &block->insns[index];
	const struct model_access *accesses = &block->accesses[insn->first_access];
	const uint64_t *addresses = &record[1 + insn->first_access];
	uint64_t from, at, done, latency;
	int i, unit, stores = 0, first = 1;
	unsigned units;
	size_t n;

	for (i = 0; i < insn->access_count; i++)
		stores |= accesses[i].kind == MODEL_ACCESS_STORE ||
			  accesses[i].kind == MODEL_ACCESS_MODIFY;
	ref_come(f, notes, count, insn, stores);
	at = f->came;
	from = ref_max(at, ref_operands(f, insn->for_address, 2));
	if (insn->access_count) {
		if (insn->latency == MODEL_LATENCY_LOCKED) {
			uint64_t alone =
				ref_max(f->last_gone, f->stores ? f->left[f->stores - 1] : 0);

			ref_why(f, MODEL_CAUSE_LOCKED, from, alone);
			from = ref_max(from, alone);
		}
		at = from;
	}
	for (i = 0; i < insn->access_count; i++)
		if (ref_does(&accesses[i], addresses[i], MODEL_ACCESS_LOAD)) {
			at = ref_max(
				at, ref_load(f, notes, count, insn, addresses[i], from, first));
			first = 0;
		}
	at = ref_max(at, ref_operands(f, insn->source, MODEL_SOURCES_MAX));
	if (insn->latency >= MODEL_LATENCY_SPECIAL) {
		done = ref_special(f, insn->latency, at);
	} else {
		unit = ref_unit(&f->config, insn->latency, &units, &latency);
		done = ref_take(f, unit, units, at, latency);
	}
	f->ready[MODEL_RESULT + index] = done;
	for (i = 0; i < MODEL_RESULTS_MAX; i++)
		if (insn->result[i] != MODEL_SLOT_SINK)
			f->ready[insn->result[i]] = done;
	ref_retire(f, done);
	f->gone[f->count++] = f->last_gone;
	for (i = 0, first = 1; i < insn->access_count; i++)
		if (ref_does(&accesses[i], addresses[i], MODEL_ACCESS_STORE)) {
			ref_store(
				f, notes, count, insn, addresses[i], accesses[i].size, done, first);
			first = 0;
		}
	for (n = 0; n < count; n++) {
		if (notes[n].insn != insn)
			continue;
		if (notes[n].what == RETIRE_PREFETCH)
			ref_line(f, done, &notes[n]);
		if (notes[n].what == RETIRE_MISPREDICT) {
			f->hold_until = ref_max(f->came + f->config.width, done) - f->config.width +
					ref_slots(f, f->config.mispredict_penalty) + 1;
			f->hold_cause = MODEL_CAUSE_MISPREDICT;
		}
	}
}

static void ref_record(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_segment *s, const uint64_t *record)
{
	int i;

	if (f->count + 256 * 8 > f->room || f->stores + 2048 > f->room) {
		f->room *= 2;
		f->gone = realloc(f->gone, f->room * sizeof(*f->gone));
		f->left = realloc(f->left, f->room * sizeof(*f->left));
	}
	for (i = 0; i < s->insn_count; i++)
		ref_instruction(f, notes, count, s->block, i, record);
	if (s->statics[MODEL_STATIC_TAKEN] && f->config.taken_interval) {
		f->taken = ref_max(f->came, f->taken + ref_slots(f, f->config.taken_interval) *
							       s->statics[MODEL_STATIC_TAKEN]);
		if (f->taken > f->came && f->taken + 1 > f->hold_until) {
			f->hold_until = f->taken + 1;
			f->hold_cause = MODEL_CAUSE_TAKEN;
		}
	}
}

#endif
