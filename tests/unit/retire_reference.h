/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lib/model/retire.c computes, once more and obviously: an instruction at a time, its
 * requirements written down one after the other, whole histories kept, loops for everything.
 */
#ifndef TESTS_RETIRE_REFERENCE_H
#define TESTS_RETIRE_REFERENCE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/retire.h"

struct ref_cycle {
	uint32_t ports;
	unsigned banks[8]; /* loads of each */
};

struct ref_span {
	uint64_t from, until;
	int cause;
};

struct ref_request {
	uint64_t free_from, from, until;
};

struct ref_divider {
	uint64_t gap[RETIRE_GAPS][2]; /* from, until */
	uint64_t end;
};

/* Places of limited number: an instruction has one until a cycle is over. */
enum { REF_ALU, REF_ADDRESS, REF_QUEUE, REF_REGISTER, REF_PLACES, REF_VECTOR = REF_PLACES };

struct ref_held {
	uint64_t *until;
	size_t count, room;
};

struct reference {
	struct ref_held held[REF_PLACES + 1];
	uint64_t vectors_came; /* when the last one came to the vector scheduler */
	struct ref_request requests[RETIRE_REQUESTS], walkers[RETIRE_WALKERS];
	struct model_config config;
	uint64_t *gone; /* of every instruction */
	uint64_t *left; /* the store buffer, of every store */
	size_t count, stores, room;
	uint64_t came, last_gone, taken, barrier, hold_until;
	struct ref_divider divider[2]; /* of other numbers, of integers */
	int hold_cause, restarts;      /* nothing after it is fetched yet */
	uint64_t ready[256];
	struct ref_cycle cycles[RETIRE_CALENDAR];
	uint64_t cleared;
	struct {
		uint64_t from, until, wanted;
	} full[1 << RETIRE_FULL_BITS];
	uint64_t fetched, restarted, *fetch_came, fetch_count, stored_line;
	const struct retire_form *forms;
	const uint32_t *keys;
	struct {
		uint64_t line, ready;
		int cause;
	} on_the_way[RETIRE_LINES];
	uint64_t arrival; /* of the last of them */
	struct ref_stored {
		uint64_t address, end, ready, data, key, number, link;
	} stored[RETIRE_STORED], stored_before[RETIRE_STORED];
	uint64_t linked[RETIRE_LINKS], times_held[RETIRE_LINKS], last_of[RETIRE_LINKS];
	uint64_t sent[3][RETIRE_INTERVALS];
	uint64_t set_free[RETIRE_SETS], leaving[RETIRE_SETS];
	uint64_t slots[MODEL_CAUSES];
	struct ref_span why[64];
	int why_count;
};

static uint64_t ref_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t ref_parts(uint64_t cycles)
{
	return cycles * RETIRE_CYCLE;
}

/* Up. */
static uint64_t ref_cycles(uint64_t parts)
{
	return (parts + RETIRE_CYCLE - 1) / RETIRE_CYCLE;
}

static void ref_begin(struct reference *f, const struct model_config *config)
{
	memset(f, 0, sizeof(*f));
	f->config = *config;
	if (!f->config.store_buffer)
		f->config.store_buffer = RETIRE_STORES_MAX;
	f->room = 1 << 16;
	f->gone = malloc(f->room * sizeof(*f->gone));
	f->left = malloc(f->room * sizeof(*f->left));
	f->fetch_came = malloc(f->room * sizeof(*f->fetch_came));
}

static void ref_end(struct reference *f)
{
	free(f->gone);
	free(f->left);
	free(f->fetch_came);
	for (int kind = 0; kind <= REF_PLACES; kind++)
		free(f->held[kind].until);
}

static void ref_why(struct reference *f, int cause, uint64_t from, uint64_t until)
{
	if (from < until)
		f->why[f->why_count++] = (struct ref_span){from, until, cause};
}

/* ---- places ---- */

/* Cycles before this one are over. */
static void ref_clear(struct reference *f, uint64_t cycle)
{
	for (; f->cleared < cycle; f->cleared++)
		memset(&f->cycles[f->cleared % RETIRE_CALENDAR], 0, sizeof(f->cycles[0]));
	for (int kind = 0; kind <= REF_PLACES; kind++) {
		struct ref_held *h = &f->held[kind];
		size_t kept = 0;

		for (size_t i = 0; i < h->count; i++)
			if (h->until[i] >= (kind == REF_VECTOR ? f->vectors_came : cycle))
				h->until[kept++] = h->until[i];
		h->count = kept;
	}
}

/* How many there are; 0: no limit. */
static uint64_t ref_limit(const struct reference *f, int kind)
{
	const struct model_execution_config *e = &f->config.execution;

	switch (kind) {
	case REF_ALU:
		return e->alu_scheduler;
	case REF_ADDRESS:
		return e->address_scheduler;
	case REF_REGISTER:
		return e->registers;
	default: /* the queue and the scheduler are there together, or not at all */
		return !e->vector_queue || !e->vector_scheduler ? 0
		       : kind == REF_QUEUE                      ? e->vector_queue
								: e->vector_scheduler;
	}
}

/* Are there fewer in this cycle than those that are taken, and `more` besides? */
static int ref_is_full(const struct reference *f, int kind, uint64_t cycle, uint64_t more)
{
	uint64_t limit = ref_limit(f, kind), held = 0;

	for (size_t i = 0; i < f->held[kind].count; i++)
		held += f->held[kind].until[i] >= cycle;
	return limit && held + more > limit;
}

/* No more than a calendar's cycles are looked ahead. */
static void ref_keep(struct reference *f, int kind, uint64_t until)
{
	uint64_t first = kind == REF_VECTOR ? f->vectors_came : f->cleared;
	struct ref_held *h = &f->held[kind];

	if (!ref_limit(f, kind))
		return;
	if (h->count == h->room) {
		h->room = 2 * h->room + 64;
		h->until = realloc(h->until, h->room * sizeof(*h->until));
	}
	if (until > first + RETIRE_CALENDAR - 1)
		until = first + RETIRE_CALENDAR - 1;
	h->until[h->count++] = ref_max(until, first);
}

/* In which scheduler it waits for operands: a place of that, or -1. */
static int ref_waits(const struct model_insn *insn)
{
	switch ((enum model_latency)insn->latency) {
	case MODEL_LATENCY_ALU:
	case MODEL_LATENCY_MULTIPLY:
	case MODEL_LATENCY_MULTIPLY_HIGH:
	case MODEL_LATENCY_LONG_ADDRESS:
	case MODEL_LATENCY_SCALED_ADDRESS:
	case MODEL_LATENCY_SHIFT:
	case MODEL_LATENCY_FLAGS_MOVE:
	case MODEL_LATENCY_MICROCODE:
	case MODEL_LATENCY_DIVIDE:
		return REF_ALU;
	case MODEL_LATENCY_STORE:
		return insn->traits & MODEL_TRAIT_VECTOR ? -1 : REF_ALU;
	case MODEL_LATENCY_NONE:
	case MODEL_LATENCY_VECTOR_LOAD:
	case MODEL_LATENCY_LOCKED:
	case MODEL_LATENCY_SERIALISING:
	case MODEL_LATENCY_SYSTEM_CALL:
	case MODEL_LATENCY_STRING:
	case MODEL_LATENCIES:
		return -1;
	default:
		return REF_QUEUE;
	}
}

/* A result in a general register. */
static int ref_renames(const struct model_block *block, const struct model_insn *insn)
{
	int loads =
		insn->access_count && block->accesses[insn->first_access].kind == MODEL_ACCESS_LOAD;

	if (insn->branch != MODEL_NO_BRANCH || insn->latency == MODEL_LATENCY_STORE ||
		insn->traits & MODEL_TRAIT_VECTOR || insn->traits & MODEL_TRAIT_COMPARES ||
		ref_waits(insn) == REF_QUEUE)
		return 0;
	return loads || (!insn->access_count && insn->latency != MODEL_LATENCY_NONE);
}

/* It comes when there is a place of each kind that it needs. An instruction with several accesses
 * may take more places than there are: then the next one waits, whatever it needs. */
static void ref_find_places(struct reference *f, const struct model_block *block,
	const struct model_insn *insn, uint64_t cost)
{
	uint64_t wanted[REF_PLACES] = {0};
	int full;

	if (cost && ref_waits(insn) >= 0)
		wanted[ref_waits(insn)] = 1;
	wanted[REF_ADDRESS] = insn->access_count > 0;
	wanted[REF_REGISTER] = ref_renames(block, insn) != 0;
	for (uint64_t cycle = f->cleared;; cycle++) {
		full = 0;
		for (int k = 0; k < REF_PLACES; k++)
			full |= ref_is_full(f, k, cycle, wanted[k]);
		if (!full) {
			f->came = ref_max(f->came, ref_parts(cycle));
			ref_clear(f, cycle);
			return;
		}
	}
}

/* It comes to the vector scheduler from the queue, in order: when. */
static uint64_t ref_enter(struct reference *f)
{
	f->vectors_came = ref_max(f->vectors_came, f->came / RETIRE_CYCLE);
	while (ref_is_full(f, REF_VECTOR, f->vectors_came, 1))
		f->vectors_came++;
	ref_keep(f, REF_QUEUE, f->vectors_came);
	return f->vectors_came;
}

/* It begins. */
static void ref_leave(
	struct reference *f, const struct model_insn *insn, uint64_t cost, uint64_t begin)
{
	int waits = cost ? ref_waits(insn) : -1;

	if (waits >= 0)
		ref_keep(f, waits == REF_QUEUE ? REF_VECTOR : waits,
			begin + f->config.execution.scheduler_hold);
}

/* Of address; -1: banks do not matter. */
static int ref_bank(const struct reference *f, uint64_t address)
{
	uint32_t loads = f->config.execution.bank_loads;

	return loads && loads < 4 ? (int)(address / 8 % 8) : -1;
}

static int ref_free(struct reference *f, uint64_t number, uint32_t ports, int bank)
{
	const struct ref_cycle *c = &f->cycles[number % RETIRE_CALENDAR];

	return (ports & ~c->ports) && (bank < 0 || c->banks[bank] < f->config.execution.bank_loads);
}

/* Where what was found full for these is kept. */
static unsigned ref_place(uint64_t wanted)
{
	uint32_t folded = (uint32_t)wanted ^ (uint32_t)(wanted >> 32);

	return folded * 0x9e3779b1u >> (32 - RETIRE_FULL_BITS);
}

static uint64_t ref_take(struct reference *f, uint32_t ports, int bank, uint64_t at)
{
	uint64_t wanted = ports, number = at;
	struct ref_cycle *c;
	uint32_t port;

	if (bank >= 0)
		wanted |= (uint64_t)((1u << f->config.execution.bank_loads) - 1) << 4 * bank << 32;
	if (!ref_free(f, at, ports, bank)) {
		uint64_t *from = &f->full[ref_place(wanted)].from;
		uint64_t *until = &f->full[ref_place(wanted)].until;

		if (f->full[ref_place(wanted)].wanted != wanted)
			*from = *until = 0;
		f->full[ref_place(wanted)].wanted = wanted;
		for (;; number++) {
			while (number >= *from && number < *until)
				number++;
			if (ref_free(f, number, ports, bank) || number >= at + RETIRE_CALENDAR)
				break;
		}
		if (at < *from || at > *until)
			*from = at;
		*until = number;
	}
	c = &f->cycles[number % RETIRE_CALENDAR];
	/* The last one looked at may be taken though it is not free: then what is. */
	for (port = 1; port && !(port & ports & ~c->ports); port *= 2)
		;
	if (port != RETIRE_NO_PORT)
		c->ports |= port;
	if (bank >= 0 && c->banks[bank] < f->config.execution.bank_loads)
		c->banks[bank]++;
	return number;
}

/* With n requests, each with its last use and the gap before that: the first of those that can
 * begin earliest. */
static uint64_t ref_request(struct ref_request *all, unsigned n, uint64_t at, uint64_t latency)
{
	unsigned i;

	for (; n; at++)
		for (i = 0; i < n; i++) {
			struct ref_request *r = &all[i];

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

static uint64_t ref_turn(struct reference *f, int sender, uint64_t interval, uint64_t at)
{
	uint64_t number;

	if (!interval)
		return at;
	number = at / interval;
	while (f->sent[sender][number % RETIRE_INTERVALS] == number + 1)
		number++;
	f->sent[sender][number % RETIRE_INTERVALS] = number + 1;
	return ref_max(at, number * interval);
}

static uint64_t ref_line(struct reference *f, uint64_t at, const struct retire_note *n)
{
	const uint32_t cycles[] = {
		f->config.l2_interval, f->config.ll_interval, f->config.memory_interval, 0};
	uint64_t line = n->address / f->config.l1d.line;

	if (f->leaving[line % RETIRE_SETS]) {
		at = ref_max(at, f->set_free[line % RETIRE_SETS]);
		f->set_free[line % RETIRE_SETS] =
			at + f->leaving[line % RETIRE_SETS] * f->config.l1d_conflict;
		f->leaving[line % RETIRE_SETS] = 0;
	}
	at = ref_request(f->requests, f->config.misses, at,
		n->latency + (n->what == RETIRE_LOAD ? f->config.miss_hold : 0));
	at = ref_turn(f, n->turn, cycles[n->turn], at);
	if (n->what == RETIRE_STORE)
		ref_turn(f, 0, cycles[0], at);
	at += n->latency;
	f->on_the_way[line % RETIRE_LINES].line = line;
	f->on_the_way[line % RETIRE_LINES].ready = at;
	f->on_the_way[line % RETIRE_LINES].cause = n->cause;
	f->arrival = ref_max(f->arrival, at);
	return at;
}

static void ref_hold(struct reference *f, uint64_t cost, int cause, uint64_t until)
{
	if (f->last_gone + cost < until) {
		f->slots[cause] += until - cost - f->last_gone;
		f->last_gone = until - cost;
	}
	if (f->came + cost < until)
		f->came = until - cost;
}

static int ref_level(int cause)
{
	return cause == MODEL_CAUSE_L2 || cause == MODEL_CAUSE_LL || cause == MODEL_CAUSE_MEMORY ||
	       cause == MODEL_CAUSE_INTERVENTION;
}

static uint64_t ref_load_port(
	struct reference *f, const struct retire_form *form, uint64_t address, uint64_t at)
{
	uint64_t begin = ref_take(f, form->load_ports, ref_bank(f, address), at);

	if (begin != at)
		ref_why(f, MODEL_CAUSE_UNIT, at, begin + form->load);
	return begin;
}

/* Translations that are not in the second level are found by one of so many walkers. */
static uint64_t ref_walk(struct reference *f, uint64_t at, const struct retire_note *n)
{
	if (n->latency > f->config.stlb_latency)
		at = ref_request(f->walkers, f->config.walkers, at, n->latency);
	return at + n->latency;
}

/* One of the last two stores to where the load begins that have bytes of it. */
static const struct ref_stored *ref_source(
	const struct reference *f, uint64_t address, unsigned size)
{
	const struct ref_stored *of[] = {&f->stored[(address / 8) % RETIRE_STORED],
		&f->stored_before[(address / 8) % RETIRE_STORED]};

	for (int k = 0; k < 2; k++)
		if (of[k]->address / 8 != address / 8)
			return NULL;
		else if (ref_max(of[k]->address, address) - address <
				 size && /* the later begin is in both */
			 ref_max(of[k]->address, address) - of[k]->address <
				 of[k]->end - of[k]->address)
			return of[k];
	return NULL;
}

/* When a load has its data that the cache has at `done`: perhaps one of the last stores has them.
 */
static uint64_t ref_pass(struct reference *f, const struct model_insn *insn, uint64_t key,
	uint64_t address, unsigned size, uint64_t done)
{
	size_t mine = retire_link(insn->address);
	const struct ref_stored *s = ref_source(f, address, size);
	int known, left;

	if (!s)
		return done;
	known = key && key == s->key;
	left = f->left[s->number] <= ref_parts(done);
	done = ref_max(done, s->ready);
	if (f->stores - s->number > RETIRE_RENAMED || left || s->address != address ||
		size < RETIRE_WHOLE || s->link == RETIRE_LINKS)
		return done;
	if (f->linked[mine] == s->link && f->last_of[s->link] == s->number) {
		if (f->config.execution.renaming == MODEL_RENAMING_STORES &&
			f->times_held[mine] >= RETIRE_SURE)
			known = 1;
		f->times_held[mine]++;
	} else {
		f->times_held[mine] = 0;
	}
	f->linked[mine] = s->link;
	return known && s->data < s->ready ? s->data : done;
}

static uint64_t ref_load(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, const struct retire_form *form, uint64_t key,
	uint64_t address, unsigned size, uint64_t from, int first)
{
	int hit = 1;
	size_t i;
	uint64_t at, done, latest = 0, line = address / f->config.l1d.line;

	if (from < f->barrier)
		from = f->barrier;
	at = ref_load_port(f, form, address, from);
	if (address % f->config.l1d.line + size > f->config.l1d.line)
		at = ref_load_port(f, form, address + size - 1, at);
	ref_keep(f, REF_ADDRESS, at + f->config.execution.scheduler_hold);
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
			uint64_t there = ref_walk(f, at, n);

			ref_why(f, n->cause, at, there);
			at = there;
		}
	}
	done = ref_max(latest, hit ? at + form->load : at);
	if (form->special != MODEL_LATENCY_LOCKED)
		done = ref_pass(f, insn, key, address, size, done);
	for (i = 0; i < count && first; i++)
		if (notes[i].insn == insn && notes[i].what == RETIRE_FORWARD) {
			uint64_t left = f->stores ? f->left[f->stores - 1] : 0;

			left = ref_max(done, ref_cycles(left)) + notes[i].latency;
			ref_why(f, MODEL_CAUSE_FORWARD, done, left);
			done = left;
		} else if (notes[i].insn == insn && notes[i].what == RETIRE_ALIAS) {
			uint64_t later, ago = notes[i].address,
					left = ago > f->stores ? 0 : f->left[f->stores - ago];

			if (ref_parts(from) >= left + 10 * RETIRE_CYCLE)
				continue;
			later = done - from +
				ref_load_port(f, form, address, from + notes[i].latency);
			ref_why(f, MODEL_CAUSE_ALIAS, done, later);
			done = later;
		}
	if (f->on_the_way[line % RETIRE_LINES].line == line &&
		f->on_the_way[line % RETIRE_LINES].ready > done && from < f->arrival) {
		ref_why(f, f->on_the_way[line % RETIRE_LINES].cause, done,
			f->on_the_way[line % RETIRE_LINES].ready);
		done = f->on_the_way[line % RETIRE_LINES].ready;
	}
	return done;
}

static void ref_leave_gap(struct ref_divider *d, uint64_t from, uint64_t until)
{
	if (from >= until)
		return;
	memmove(&d->gap[1], &d->gap[0], sizeof(d->gap) - sizeof(d->gap[0]));
	d->gap[0][0] = from;
	d->gap[0][1] = until;
}

/* When a division can begin: in the first gap that is long enough, or behind all others. The gap
 * that was left last comes first. */
static uint64_t ref_divide(struct ref_divider *d, uint64_t at, uint64_t busy)
{
	uint64_t begin = UINT64_MAX, from;
	int used = -1;

	if (!busy)
		return at;
	for (int i = 0; i < RETIRE_GAPS; i++) {
		from = ref_max(at, d->gap[i][0]);
		if (from + busy <= d->gap[i][1] && from < begin) {
			used = i;
			begin = from;
		}
	}
	if (used < 0 || begin >= ref_max(at, d->end)) {
		begin = ref_max(at, d->end);
		ref_leave_gap(d, d->end, begin);
		d->end = begin + busy;
	} else {
		from = d->gap[used][0];
		d->gap[used][0] = begin + busy;
		ref_leave_gap(d, from, begin);
	}
	return begin;
}

static uint64_t ref_special(struct reference *f, const struct model_insn *insn,
	const struct retire_form *form, uint64_t cost, uint64_t at)
{
	uint64_t begin, done;
	enum model_cause why;

	switch (form->special) {
	case MODEL_LATENCY_DIVIDE:
	case MODEL_LATENCY_FP_DIVIDE:
	case MODEL_LATENCY_FP_ROOT:
		begin = ref_divide(
			&f->divider[form->special == MODEL_LATENCY_DIVIDE], at, form->busy);
		ref_leave(f, insn, cost, begin);
		ref_why(f, MODEL_CAUSE_DIVIDER, at, begin + form->latency);
		return begin + form->latency;
	case MODEL_LATENCY_LOCKED:
		f->barrier = at + form->latency;
		ref_why(f, MODEL_CAUSE_LOCKED, 0, at + form->latency);
		return at + form->latency;
	default:
		begin = ref_max(at, ref_cycles(f->last_gone + cost));
		begin = ref_max(begin, ref_max(f->divider[0].end, f->divider[1].end));
		if (f->stores)
			begin = ref_max(begin, ref_cycles(f->left[f->stores - 1]));
		done = begin + form->latency;
		why = form->special == MODEL_LATENCY_SYSTEM_CALL ? MODEL_CAUSE_SYSTEM_CALL
								 : MODEL_CAUSE_SERIALISING;
		ref_why(f, why, 0, done);
		f->hold_until = ref_parts(done + f->config.mispredict_penalty);
		f->hold_cause = why;
		f->restarts = 1;
		return done;
	}
}

/* Which of the spans that hold it in their order lies over a part of a cycle?  Changes only where
 * spans do, so whole stretches are looked at. */
static void ref_retire(struct reference *f, uint64_t cost, uint64_t done)
{
	uint64_t at = (f->last_gone += cost) + RETIRE_CYCLE, end = ref_parts(done), until;
	int i;

	f->slots[MODEL_CAUSE_BASE] += cost;
	for (i = 0; at < end; at = until) {
		int cause = MODEL_CAUSE_DEPENDENCY;

		while (i < f->why_count && ref_parts(f->why[i].until) <= at)
			i++;
		until = end;
		if (i < f->why_count && ref_parts(f->why[i].from) <= at) {
			cause = f->why[i].cause;
			until = ref_parts(f->why[i].until);
		} else if (i < f->why_count) {
			until = ref_parts(f->why[i].from);
		}
		until = until < end ? until : end;
		f->slots[cause] += until - at;
		f->last_gone += until - at;
	}
	f->why_count = 0;
}

static void ref_store(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, uint64_t key, uint64_t address, unsigned size, uint64_t data,
	int first)
{
	const struct model_execution_config *e = &f->config.execution;
	uint64_t granule, leaves, line = address / f->config.l1d.line;
	uint64_t drain = e->stores ? RETIRE_CYCLE / e->stores : 0;
	uint64_t renamed = e->forward_renamed < e->forward ? e->forward_renamed : e->forward;
	size_t i;

	if (line != f->stored_line && e->store_lines)
		drain = ref_max(drain, RETIRE_CYCLE / e->store_lines);
	f->stored_line = line;
	for (granule = address / 8; granule <= (address + size - 1) / 8; granule++) {
		struct ref_stored *old = &f->stored[granule % RETIRE_STORED];
		int begins = granule == address / 8;

		if (begins && old->address / 8 == granule &&
			(old->address < address || old->end > address + size))
			f->stored_before[granule % RETIRE_STORED] = *old;
		f->stored[granule % RETIRE_STORED].address = begins ? address : granule * 8;
		f->stored[granule % RETIRE_STORED].end = begins || address + size < granule * 8 + 8
								 ? address + size
								 : granule * 8 + 8;
		f->stored[granule % RETIRE_STORED].number = f->stores;
		f->stored[granule % RETIRE_STORED].link =
			begins && size >= RETIRE_WHOLE ? retire_link(insn->address) : RETIRE_LINKS;
		f->stored[granule % RETIRE_STORED].ready = data + e->forward;
		f->stored[granule % RETIRE_STORED].data = data + (begins ? renamed : e->forward);
		f->stored[granule % RETIRE_STORED].key = begins ? key : 0;
	}
	f->last_of[retire_link(insn->address)] = f->stores;
	leaves = (f->stores ? f->left[f->stores - 1] : 0) + drain;
	leaves = ref_max(f->last_gone, leaves);
	for (i = 0; i < count && first; i++) {
		const struct retire_note *n = &notes[i];
		uint64_t gone = ref_cycles(f->last_gone);

		if (n->insn != insn || n->what != RETIRE_STORE)
			continue;
		gone = ref_level(n->cause) ? ref_line(f, gone, n) : ref_walk(f, gone, n);
		leaves = ref_max(leaves, ref_parts(gone));
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

/* A line of code missed.  Of lines in sequence some are asked for at once. */
static uint64_t ref_fetch(struct reference *f, const struct retire_note *n, uint64_t came)
{
	unsigned ahead = f->config.fetches < RETIRE_FETCHES ? f->config.fetches : RETIRE_FETCHES;
	uint64_t asked = came, there;

	if (ahead > 1 && n->address == f->fetched + f->config.l1d.line) {
		asked = f->restarted;
		if (f->fetch_count >= ahead)
			asked = ref_max(asked, f->fetch_came[f->fetch_count - ahead]);
		asked = asked < came ? asked : came;
	}
	there = asked + ref_parts(n->latency);
	f->fetched = n->address;
	f->fetch_came[f->fetch_count++] = ref_max(came, there);
	return there;
}

static void ref_go_on(struct reference *f, uint64_t cost)
{
	ref_hold(f, cost, f->hold_cause, f->hold_until);
	if (f->restarts)
		f->restarted = f->hold_until;
	f->restarts = 0;
	f->hold_until = 0;
}

static void ref_come(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_insn *insn, uint64_t cost, int is_store)
{
	size_t i;

	if (f->hold_until)
		ref_go_on(f, cost);
	for (i = 0; i < count; i++) {
		const struct retire_note *n = &notes[i];

		if (n->insn != insn || n->what != RETIRE_FETCH)
			continue;
		ref_hold(f, cost, n->cause,
			n->cause == MODEL_CAUSE_ITLB ? f->came + cost + ref_parts(n->latency)
						     : ref_fetch(f, n, f->came + cost));
	}
	if (is_store && f->stores >= f->config.store_buffer)
		ref_hold(f, cost, MODEL_CAUSE_STORE_BUFFER,
			f->left[f->stores - f->config.store_buffer]);
	f->came += cost;
	if (f->count >= f->config.window)
		f->came = ref_max(f->came, f->gone[f->count - f->config.window]);
}

static int ref_does(const struct model_access *a, uint64_t address, int kind)
{
	return (a->kind == kind || a->kind == MODEL_ACCESS_MODIFY) && (!a->guarded || address);
}

/* Its micro-operations. */
static uint64_t ref_execute(struct reference *f, const struct model_insn *insn,
	const struct retire_form *form, uint64_t cost, uint64_t at)
{
	uint64_t begin = ref_take(f, form->ports, -1, at), done = begin + form->latency;

	ref_leave(f, insn, cost, begin);
	for (int i = 0; i < form->more_count; i++)
		done = ref_max(done, ref_take(f, form->more[i], -1, at) + 1);
	if (done > at + form->latency)
		ref_why(f, MODEL_CAUSE_UNIT, at, done);
	return done;
}

/* Units of loads have the lowest bits. */
static uint32_t ref_store_ports(const struct model_execution_config *e)
{
	return e->store_address == MODEL_ADDRESS_SHARED && e->loads ? (UINT32_C(1) << e->loads) - 1
								    : RETIRE_NO_PORT;
}

static void ref_instruction(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_block *block, int index, const uint64_t *record, int last)
{
	const struct model_insn *insn = &block->insns[index];
	const struct retire_form *form = &f->forms[index];
	const struct model_access *accesses = &block->accesses[insn->first_access];
	const uint64_t *addresses = &record[1 + insn->first_access];
	const uint64_t slot = (RETIRE_CYCLE + f->config.width / 2) / f->config.width;
	uint64_t from, at, done, data, cost = slot * form->half_slots / 2;
	/* The base register's value is known by when it was written. */
	uint64_t key = insn->access_count == 1 && f->keys[index]
			       ? (uint64_t)f->keys[index] << 40 | f->ready[insn->for_address[0]]
			       : 0;
	int i, stores = 0, loads = 0, first = 1, words = insn->access_count;
	size_t n;

	/* Of the last instruction there are not always words for all. */
	if (last >= 0 && words > last)
		words = last;
	for (i = 0; i < words; i++)
		loads |= accesses[i].kind == MODEL_ACCESS_LOAD ||
			 accesses[i].kind == MODEL_ACCESS_MODIFY;
	for (i = 0; i < insn->access_count; i++)
		stores |= accesses[i].kind == MODEL_ACCESS_STORE ||
			  accesses[i].kind == MODEL_ACCESS_MODIFY;
	ref_come(f, notes, count, insn, cost, stores);
	ref_find_places(f, block, insn, cost);
	at = f->came / RETIRE_CYCLE;
	from = ref_max(at, ref_operands(f, insn->for_address, 2));
	data = ref_max(at, ref_operands(f, insn->source, MODEL_SOURCES_MAX));
	if (words) {
		if (form->special == MODEL_LATENCY_LOCKED) {
			uint64_t alone =
				ref_max(f->last_gone, f->stores ? f->left[f->stores - 1] : 0);

			ref_why(f, MODEL_CAUSE_LOCKED, from, ref_cycles(alone));
			from = ref_max(from, ref_cycles(alone));
		}
		at = from;
	}
	for (i = 0; i < words; i++)
		if (ref_does(&accesses[i], addresses[i], MODEL_ACCESS_LOAD)) {
			at = ref_max(at, ref_load(f, notes, count, insn, form, key, addresses[i],
						 accesses[i].size, from, first));
			first = 0;
		} else if (ref_does(&accesses[i], addresses[i], MODEL_ACCESS_STORE)) {
			uint64_t begin =
				ref_take(f, ref_store_ports(&f->config.execution), -1, from);

			ref_keep(f, REF_ADDRESS, begin + f->config.execution.scheduler_hold);
			at = ref_max(at, begin);
		}
	at = ref_max(at, data);
	if (cost && ref_waits(insn) == REF_QUEUE)
		at = ref_max(at, ref_enter(f));
	done = form->special ? ref_special(f, insn, form, cost, at)
			     : ref_execute(f, insn, form, cost, at);
	/* What is only stored may be there before the address is. */
	data = loads || form->special ? done : data + form->latency;
	f->ready[MODEL_RESULT + index] = done;
	for (i = 0; i < MODEL_RESULTS_MAX; i++)
		if (insn->result[i] != MODEL_SLOT_SINK)
			f->ready[insn->result[i]] = done;
	ref_retire(f, cost, done);
	if (ref_renames(block, insn))
		ref_keep(f, REF_REGISTER, f->last_gone / RETIRE_CYCLE);
	f->gone[f->count++] = f->last_gone;
	for (i = 0, first = 1; i < words; i++)
		if (ref_does(&accesses[i], addresses[i], MODEL_ACCESS_STORE)) {
			ref_store(f, notes, count, insn, key, addresses[i], accesses[i].size, data,
				first);
			first = 0;
		}
	for (n = 0; n < count; n++) {
		if (notes[n].insn != insn)
			continue;
		if (notes[n].what == RETIRE_PREFETCH)
			ref_line(f, done, &notes[n]);
		if (notes[n].what == RETIRE_MISPREDICT) {
			f->hold_until = ref_max(f->came + ref_parts(1), ref_parts(done)) +
					ref_parts(f->config.mispredict_penalty) + slot;
			f->hold_cause = MODEL_CAUSE_MISPREDICT;
			f->restarts = 1;
		}
	}
}

static void ref_record(struct reference *f, const struct retire_note *notes, size_t count,
	const struct model_segment *s, const uint64_t *record)
{
	int i;

	if (f->count + 256 * 8 > f->room || f->stores + 2048 > f->room ||
		f->fetch_count + 2048 > f->room) {
		f->room *= 2;
		f->gone = realloc(f->gone, f->room * sizeof(*f->gone));
		f->left = realloc(f->left, f->room * sizeof(*f->left));
		f->fetch_came = realloc(f->fetch_came, f->room * sizeof(*f->fetch_came));
	}
	if (f->hold_until) {
		const uint64_t slot = (RETIRE_CYCLE + f->config.width / 2) / f->config.width;

		ref_go_on(f, slot * f->forms[0].half_slots / 2);
	}
	if (f->cleared < f->came / RETIRE_CYCLE)
		ref_clear(f, f->came / RETIRE_CYCLE);
	for (i = 0; i < s->insn_count; i++)
		ref_instruction(f, notes, count, s->block, i, record,
			i + 1 == s->insn_count ? s->access_count - s->block->insns[i].first_access
					       : -1);
	if (s->statics[MODEL_STATIC_TAKEN] && f->config.taken_interval) {
		const uint64_t slot = (RETIRE_CYCLE + f->config.width / 2) / f->config.width;

		f->taken = ref_max(f->came,
			f->taken + ref_parts(f->config.taken_interval) /
					   (f->config.fetch_groups ? f->config.fetch_groups : 1) *
					   s->statics[MODEL_STATIC_TAKEN]);
		if (f->taken > f->came && f->taken + slot > f->hold_until) {
			f->hold_until = f->taken + slot;
			f->hold_cause = MODEL_CAUSE_TAKEN;
		}
	}
}

#endif
