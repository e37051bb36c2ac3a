/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Out of order: computes for each instruction in program order the cycles of its renaming, of the
 * issue of its micro-operations, of its result, and of its retirement. A micro-operation is issued
 * in the first cycle, once its inputs are ready, in which one of its ports is free, and on the port
 * of these least used so far. Older ones choose first, as in a scheduler that prefers them.
 *
 * Assumptions: loads hit; the data of a store reach a load of the same address (same origin of base
 * and index, same displacement) by forwarding, and no other addresses overlap; partial registers
 * are whole ones; micro-operations of one instruction issue independently of each other.
 */
#include "schedule/follow.h"

#include <string.h>

#define STORES_AHEAD 8 /* cycles: retirement waits when stores lag by more */

void follow_begin(struct schedule_work *w, const struct schedule_options *options, unsigned window)
{
	uint32_t kept = w->latest < CALENDAR ? w->latest + 1 : CALENDAR;

	memset(w->busy, 0, kept * sizeof(w->busy[0]));
	memset(w->banks, 0, kept * sizeof(w->banks[0]));
	w->latest = 0;
	memset(w->full, 0, sizeof(w->full));
	memset(w->used, 0, sizeof(w->used));
	memset(w->ready, 0, sizeof(w->ready));
	memset(w->ready_op, 0xff, sizeof(w->ready_op));
	memset(w->retired, 0, window * sizeof(*w->retired));
	for (unsigned i = 0; i < 32; i++)
		w->value[i] = (struct value){options->same_values ? 1 : i + 1, 0};
	w->origins = 64;
	w->store_count = 0;
	memset(w->chains, 0, sizeof(w->chains));
	w->commit = w->committed = w->lines = 0;
	w->last_line = UINT64_MAX;
	w->unlocked = 0;
	w->horizon = 0;
}

/* ---- ports ---- */

/* The calendar is a ring: cycles that are too early for any micro-operation are cleared. */
static void forget_before(struct schedule_work *w, uint32_t cycle)
{
	for (; w->horizon < cycle; w->horizon++)
		w->busy[w->horizon % CALENDAR] = w->banks[w->horizon % CALENDAR] = 0;
}

static struct full *full_before(struct schedule_work *w, uint32_t ports)
{
	struct full *f = &w->full[(ports * 2654435761u) >> 26 & (FULL_KEPT - 1)];

	if (f->ports != ports)
		*f = (struct full){ports, 0};
	return f;
}

/* shift, most: of a load, where its bank's count is and how many loads per cycle it may have; most
 * 0: any number. */
static uint32_t take_port_of(struct schedule_work *w, const struct op_uop *u, uint32_t from,
	unsigned shift, unsigned most)
{
	uint32_t cycle = from, limit = w->horizon + CALENDAR - 512, best = CORE_PORTS_MAX;
	struct full *f = full_before(w, u->ports);

	/* Full cycles stay full. */
	if (cycle <= f->before) {
		cycle = f->before;
		while (cycle < limit && !(u->ports & ~w->busy[cycle % CALENDAR]))
			cycle++;
		f->before = cycle;
	}
	while (cycle < limit &&
		(!(u->ports & ~w->busy[cycle % CALENDAR]) ||
			(most && (w->banks[cycle % CALENDAR] >> shift & 15) >= most)))
		cycle++;
	if (most)
		w->banks[cycle % CALENDAR] += 1u << shift;
	for (uint32_t left = u->ports & ~w->busy[cycle % CALENDAR]; left; left &= left - 1) {
		unsigned p = (unsigned)__builtin_ctz(left);

		if (best == CORE_PORTS_MAX || w->used[p] < w->used[best])
			best = p;
	}
	if (best == CORE_PORTS_MAX)
		best = (unsigned)__builtin_ctz(u->ports);
	w->used[best] += u->busy;
	for (uint32_t b = 0; b < u->busy && cycle + b < limit; b++)
		w->busy[(cycle + b) % CALENDAR] |= 1u << best;
	if (cycle + u->busy > w->latest)
		w->latest = cycle + u->busy;
	return cycle;
}

static uint32_t take_port(struct schedule_work *w, const struct op_uop *u, uint32_t from)
{
	return take_port_of(w, u, from, 0, 0);
}

/* ---- addresses ---- */

static struct value follow_value_of(const struct schedule_work *w, unsigned reg)
{
	return reg < 32 ? w->value[reg] : (struct value){0, 0};
}

static void address_of(const struct schedule_work *w, const struct op_memory *m, struct stored *to)
{
	struct value base = follow_value_of(w, m->base), index = follow_value_of(w, m->index);

	to->base = base.origin;
	to->index = index.origin * 16 + m->scale;
	if (m->index == REG_NONE)
		to->index = 0;
	to->at = base.offset + index.offset * m->scale + (uint64_t)m->displacement;
	to->size = m->size;
}

/* The chain of those of this base and index, which has a last one unless it is empty. */
static struct chain *chain_of(struct schedule_work *w, const struct stored *s)
{
	uint32_t hash = (s->base + s->index) * 2654435761u;
	struct chain *chain = &w->chains[hash >> 25 & (STORE_CHAINS - 1)];

	if (chain->last + STORES_KEPT <= w->store_count)
		*chain = (struct chain){0, 0};
	return chain;
}

static uint64_t eights_of(const struct stored *s)
{
	unsigned first = s->at >> 3 & 63, n = (unsigned)((s->at & 7) + s->size + 7) / 8;
	uint64_t bits = n < 1 ? 1 : (UINT64_C(1) << n) - 1;

	return n > 63 ? UINT64_MAX : bits << first | bits >> (-first & 63);
}

/* The last one that overlaps; numbers begin at 1. */
static const struct stored *find_store(struct schedule_work *w, const struct stored *load)
{
	struct chain *chain = chain_of(w, load);
	uint32_t n = chain->eights & eights_of(load) ? chain->last : 0;

	while (n && n + STORES_KEPT > w->store_count) {
		const struct stored *s = &w->stores[(n - 1) % STORES_KEPT];

		if (s->base == load->base && s->index == load->index &&
			(load->at - s->at < s->size || s->at - load->at < load->size))
			return s;
		n = s->before;
	}
	return NULL;
}

static void change_value(struct schedule_work *w, const struct op *op)
{
	if (op->changed >= 32)
		return;
	switch ((enum op_change)op->change) {
	case OP_CHANGE_NEW:
		w->value[op->changed] = (struct value){w->origins++, 0};
		return;
	case OP_CHANGE_ADD:
		w->value[op->changed].offset += (uint64_t)op->constant;
		return;
	case OP_CHANGE_COPY:
		w->value[op->changed] = follow_value_of(w, op->from);
		w->value[op->changed].offset += (uint64_t)op->constant;
		return;
	}
}

/* ---- one instruction ---- */

static void follow_wait_for(
	struct times *t, uint32_t cycle, enum schedule_cause cause, uint32_t blame)
{
	if (cycle <= t->start)
		return;
	t->start = cycle;
	t->cause = cause;
	t->blame = blame;
}

/* Not before this cycle. */
static void rename_from(struct walk *k, uint32_t cycle, enum schedule_cause cause, struct times *t)
{
	if (k->front >= cycle)
		return;
	k->front = cycle;
	k->place = 0;
	t->cause = cause;
}

/* In order, at most a number of half slots per cycle, when there is room in the window. */
static void rename_op(struct walk *k, const struct op *op, struct times *t)
{
	t->cause = SCHEDULE_FRONT_END;
	t->blame = UINT32_MAX;
	rename_from(k, k->w->retired[k->slot], SCHEDULE_WINDOW, t);
	rename_from(k, k->serial, SCHEDULE_SERIAL, t);
	if (k->c->fetch && !k->options->loop)
		rename_from(k, (uint32_t)(k->fetched / k->c->fetch), SCHEDULE_FETCH, t);
	k->fetched += op->length;
	t->rename = k->front;
	t->start = t->rename + 1;
	for (k->place += op->half_slots; k->place >= 2 * k->c->rename; k->place -= 2 * k->c->rename)
		k->front++;
}

static uint32_t issue_load(struct walk *k, const struct op *op, struct times *t, uint32_t *issued)
{
	struct schedule_work *w = k->w;
	uint32_t from = t->start, ready = 0, shift = 0;
	const struct stored *s;
	struct stored wanted;

	for (unsigned n = 0; n < op->address_count; n++) {
		unsigned reg = op->address[n];

		follow_wait_for(t, w->ready[reg], SCHEDULE_INPUT, w->ready_op[reg]);
	}
	from = t->start;
	if (op->load.there) {
		address_of(w, &op->load, &wanted);
		shift = (unsigned)(wanted.at >> 3 & 7) * 4;
	}
	for (unsigned n = 0; n < op->loads; n++) {
		uint32_t cycle = take_port_of(
			w, &op->uops[n], from, shift, op->load.there ? k->c->bank_loads : 0);

		if (cycle > *issued)
			*issued = cycle;
		if (cycle > t->start) {
			t->cause = SCHEDULE_PORT;
			t->ports = op->uops[n].ports;
			t->start = cycle;
		}
		if (cycle + op->load_latency > ready)
			ready = cycle + op->load_latency;
	}
	if (!op->load.there)
		return ready;
	s = find_store(w, &wanted);
	if (s && s->ready > ready) {
		ready = s->ready;
		t->cause = SCHEDULE_MEMORY;
		t->blame = s->op;
	}
	return ready;
}

static void note_store(struct walk *k, const struct op *op, uint32_t number, uint32_t data)
{
	struct schedule_work *w = k->w;
	struct stored *s = &w->stores[w->store_count % STORES_KEPT];
	struct chain *chain;

	if (!op->store.there)
		return;
	address_of(w, &op->store, s);
	/* A store by the base register and a displacement can be renamed to the load. */
	s->ready = data + (op->vector ? k->c->vector_forward
				  : k->c->rename_memory && op->store.index == REG_NONE
					  ? k->c->forward_renamed
					  : k->c->forward);
	s->op = number;
	chain = chain_of(w, s);
	s->before = chain->last;
	chain->eights |= eights_of(s);
	chain->last = ++w->store_count;
}

/* Stores leave in order: limited in number per cycle, and in lines. */
static uint32_t commit_store(struct walk *k, const struct op *op, uint32_t complete)
{
	struct schedule_work *w = k->w;
	const struct stored *s = &w->stores[(w->store_count - 1) % STORES_KEPT];
	unsigned most = op->vector && k->c->vector_stores ? k->c->vector_stores : k->c->stores;
	bool same = op->store.there && s->base == w->last_line_value.origin &&
		    s->index == w->last_line_value.offset && s->at >> 6 == w->last_line;

	if (complete > w->commit) {
		w->commit = complete;
		w->committed = w->lines = 0;
	}
	if ((most && w->committed >= most) ||
		(!same && k->c->store_lines && w->lines >= k->c->store_lines)) {
		w->commit++;
		w->committed = w->lines = 0;
	}
	w->lines += !same || !w->committed;
	w->committed++;
	w->last_line_value = (struct value){s->base, s->index};
	w->last_line = s->at >> 6;
	return w->commit;
}

/* Inputs; those that are needed later may be ready later. */
static void wait_for_inputs(struct walk *k, const struct op *op, struct times *t)
{
	for (unsigned n = 0; n < op->input_count && (op->executes || !op->loads); n++) {
		unsigned reg = op->input[n].reg;
		uint32_t when = k->w->ready[reg], late = op->input[n].late;

		follow_wait_for(
			t, when > late ? when - late : 0, SCHEDULE_INPUT, k->w->ready_op[reg]);
	}
}

/* The load and the inputs; returns when the data arrive. */
static uint32_t begin_op(struct walk *k, const struct op *op, struct times *t, uint32_t *issued)
{
	struct schedule_work *w = k->w;
	uint32_t loaded = 0;

	if (op->locked)
		follow_wait_for(t, w->unlocked, SCHEDULE_SERIAL, UINT32_MAX);
	if (op->loads)
		loaded = issue_load(k, op, t, issued);
	if (op->locked) {
		w->unlocked = t->start + k->c->locked;
		if (loaded + op->latency < w->unlocked)
			loaded = w->unlocked - op->latency;
	}
	wait_for_inputs(k, op, t);
	if (op->loads && loaded > t->start) {
		if (t->cause != SCHEDULE_MEMORY && t->cause != SCHEDULE_PORT &&
			t->cause != SCHEDULE_INPUT)
			t->cause = SCHEDULE_LATENCY;
		t->start = loaded;
	}
	return loaded;
}

/* A micro-operation that nothing else waits for, from a cycle on: is it the last to complete? */
static bool issue_store(
	struct walk *k, const struct op_uop *u, uint32_t from, struct times *t, uint32_t *issued)
{
	uint32_t cycle = take_port(k->w, u, from);

	if (cycle > *issued)
		*issued = cycle;
	if (cycle + 1 <= t->complete)
		return false;
	t->complete = cycle + 1;
	if (cycle > from) {
		t->cause = SCHEDULE_PORT;
		t->ports = u->ports;
	}
	return true;
}

/* The address as soon as its registers are there, the data with the result. */
static void issue_stores(struct walk *k, const struct op *op, const struct op_uop *u, uint32_t data,
	struct times *t, uint32_t *issued)
{
	for (unsigned n = 0; n < op->addresses; n++, u++) {
		uint32_t from = t->rename + 1;

		for (unsigned a = 0; a < op->address_count; a++)
			if (k->w->ready[op->address[a]] > from)
				from = k->w->ready[op->address[a]];
		if (!op->datas && data > from)
			from = data;
		if (issue_store(k, u, from, t, issued))
			t->ports = u->ports;
	}
	for (unsigned n = 0; n < op->datas; n++, u++)
		issue_store(k, u, data, t, issued);
}

static void follow_execute(struct walk *k, const struct op *op, uint32_t number, struct times *t)
{
	struct schedule_work *w = k->w;
	uint32_t issued = 0, first = UINT32_MAX, last = 0, result, data;
	uint32_t loaded = begin_op(k, op, t, &issued);
	const struct op_uop *u = op->uops + op->loads;

	for (unsigned n = 0; n < op->executes; n++, u++) {
		uint32_t cycle = take_port(w, u, t->start);

		if (cycle < first)
			first = cycle;
		if (cycle > last) {
			last = cycle;
			if (cycle > t->start) {
				t->cause = SCHEDULE_PORT;
				t->ports = u->ports;
			}
		}
	}
	if (op->executes)
		result = first + op->latency > last + 1 ? first + op->latency : last + 1;
	else if (op->loads)
		result = loaded;
	else
		result = op->moves && !op->address_count
				 ? t->start
				 : t->start + (op->zeroes || op->addresses ? 0 : op->latency);
	if (op->executes && last > issued)
		issued = last;
	t->complete = result;
	data = op->executes || op->loads ? result : t->start;
	issue_stores(k, op, u, data, t, &issued);
	t->issue = issued ? issued : t->start;
	for (unsigned n = 0; n < op->output_count; n++) {
		unsigned reg = op->output[n];
		bool flag = reg >= REG_CARRY && reg <= REG_OVERFLOW;

		w->ready[reg] = flag && op->executes && op->flags_latency != op->latency
					? first + op->flags_latency
					: result;
		w->ready_op[reg] = number;
	}
	if (op->addresses)
		note_store(k, op, number, data);
	change_value(w, op);
}

static void retire_op(struct walk *k, const struct op *op, struct times *t)
{
	unsigned uops = (op->half_slots + 1u) / 2u;
	uint32_t at = t->complete;

	if (op->addresses) {
		uint32_t left = commit_store(k, op, t->complete);

		/* Because of the store buffer, retirement may be ahead of stores by its length. */
		if (left > at + STORES_AHEAD) {
			at = left - STORES_AHEAD;
			t->cause = SCHEDULE_STORES;
		}
	}
	if (at < k->last_retire)
		at = k->last_retire;
	if (at > k->last_retire) {
		k->retired_in_cycle = 0;
	} else if (k->retired_in_cycle + uops > k->c->retire) {
		at++;
		k->retired_in_cycle = 0;
		if (t->complete < at)
			t->cause = SCHEDULE_RETIREMENT;
	}
	k->retired_in_cycle += uops;
	k->last_retire = at;
	t->retire = at;
	for (unsigned n = 0; n < uops; n++) {
		k->w->retired[k->slot] = at;
		k->slot = k->slot + 1 == k->c->window ? 0 : k->slot + 1;
	}
	if (op->serialises)
		k->serial = at;
}

/* ---- one repetition ---- */

void follow(struct walk *k, const struct op *ops, size_t count, bool taken, struct times *t)
{
	for (size_t i = 0; i < count; i++) {
		t[i].ports = 0;
		rename_op(k, &ops[i], &t[i]);
		follow_execute(k, &ops[i], k->first + (uint32_t)i, &t[i]);
		retire_op(k, &ops[i], &t[i]);
	}
	if (k->last_retire > 4096)
		forget_before(k->w, t[0].rename);
	/* A taken branch ends the cycle's renaming, and the next one has a minimal distance. */
	if (taken && count && ops[count - 1].branch && k->c->taken && k->place) {
		k->front++;
		k->place = 0;
	}
}
