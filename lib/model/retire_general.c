/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock's general path, for every instruction: those with notes (a miss, a branch
 * mispredicted), and those that touch memory more than once or lock it, divide or serialise.
 * retire.c runs the others.
 */
#include "model/retire_loop.h"

/* ---- lines ---- */

/*
 * When what is needed at `at` can be requested, if the request takes `latency`: uses the one of n
 * buffers with the earliest room (0: there is always room). Each has the time when it is finally
 * free and one gap before its last use, so that a load that waits for another one's data does not
 * delay the others.
 */
static uint64_t take_request(struct retire_request *r, uint32_t n, uint64_t at, uint64_t latency)
{
	uint64_t begin = UINT64_MAX;
	uint32_t i, best = 0;

	for (i = 0; i < n; i++) {
		uint64_t gap = later(at, r[i].gap), end = later(at, r[i].end);
		uint64_t begins = gap + latency <= r[i].gap_end ? gap : end;

		best = begins < begin ? i : best;
		begin = begins < begin ? begins : begin;
	}
	if (!n)
		return at;
	r += best;
	if (begin < r->end) {
		r->gap = begin + latency;
	} else {
		r->gap = r->end;
		r->gap_end = begin;
		r->end = begin + latency;
	}
	return begin;
}

/* The sender's turn: not before `at`. */
static uint64_t take_turn(struct retire *t, enum retire_turn sender, uint64_t at)
{
	uint64_t interval = sender == RETIRE_TURN_NONE ? 0 : t->interval[sender], n;

	if (!interval)
		return at;
	for (n = at / interval; t->sent[sender][n % RETIRE_INTERVALS] == n + 1; n++)
		;
	t->sent[sender][n % RETIRE_INTERVALS] = n + 1;
	return later(at, n * interval);
}

uint64_t retire_ahead(struct retire *t, enum retire_turn turn, uint64_t latency)
{
	uint64_t now = t->gone >> RETIRE_CYCLE_BITS;

	return take_turn(t, turn, now) + latency - now;
}

/* The line's set gives away a line at a time, if that is modified: not before `at`. */
static uint64_t take_set(struct retire *t, uint64_t line, uint64_t at)
{
	uint64_t *free = &t->set_free[line % RETIRE_SETS];
	uint32_t *leaving = &t->leaving[line % RETIRE_SETS];

	if (*leaving) {
		at = later(at, *free);
		*free = at + (uint64_t)*leaving * t->conflict;
		*leaving = 0;
	}
	return at;
}

/* Requests the line of an address; returns when it arrives. */
static uint64_t request_line(struct retire *t, uint64_t at, const struct retire_note *note)
{
	enum retire_turn turn = (enum retire_turn)note->turn;
	uint64_t line = note->address >> t->line_bits;
	uint64_t hold = note->what == RETIRE_LOAD ? t->miss_hold : 0;
	uint64_t asked =
		take_request(t->request, t->misses, take_set(t, line, at), note->latency + hold);
	uint64_t begin = take_turn(t, turn, asked), end = begin + note->latency;

	/* A modified line is written back to L2 later. */
	if (note->what == RETIRE_STORE && !t->write_back_own)
		take_turn(t, RETIRE_TURN_L2, begin);
	t->lines[line % RETIRE_LINES] = (struct retire_line){line, end, note->cause};
	t->arrival = later(t->arrival, end);
	return end;
}

/* A translation is looked for from `at` on; when it is there. */
static uint64_t translated(struct retire *t, uint64_t at, const struct retire_note *note)
{
	if (note->latency > t->second_tlb)
		at = take_request(t->walker, t->walkers, at, note->latency);
	return at + note->latency;
}

/* Dispatch waits until `until`; insn, which is next and takes `cost`, is charged. */
static void hold(struct retire *t, const struct model_insn *insn, uint64_t cost,
	enum model_cause cause, uint64_t until)
{
	if (until > t->gone + cost) {
		retire_charge(t, insn, cause, until - t->gone - cost);
		t->gone = until - cost;
	}
	t->came = later(t->came + cost, until) - cost;
}

/* ---- loads and stores ---- */

static int is_level(enum model_cause cause)
{
	return cause >= MODEL_CAUSE_L2 && cause <= MODEL_CAUSE_INTERVENTION;
}

/* insn loads from `at` on, and it is not as simple as a hit; when it has its data. */
static NOINLINE uint64_t load_noted(
	struct walk *w, const struct model_insn *insn, uint64_t at, uint64_t hit)
{
	struct retire *t = w->t;
	uint64_t line = 0;

	for (; w->note->insn == insn; w->note++) {
		enum model_cause cause = (enum model_cause)w->note->cause;

		if (w->note->what != RETIRE_LOAD)
			break;
		if (is_level(cause)) {
			uint64_t there = request_line(t, at, w->note);

			hit = 0;
			add_phase(&w->phases, cause, later(at, line), there);
			line = later(line, there);
		} else {
			uint64_t there = translated(t, at, w->note);

			add_phase(&w->phases, cause, at, there);
			at = there;
		}
	}
	return later(line, at + hit);
}

/* A load that would have its data at `done` is not forwarded them: it waits until the stores before
 * it have left the buffer, and then gets them from the cache. */
static NOINLINE uint64_t load_fails(struct walk *w, uint64_t done)
{
	uint64_t from = done, drained = (w->t->drained + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;

	done = later(done, drained) + w->note++->latency;
	add_phase(&w->phases, MODEL_CAUSE_FORWARD, from, done);
	return done;
}

/* A load that begins then looks as if a store had some of its bytes: while that is in the buffer,
 * the load begins once more, that much later. */
static NOINLINE uint64_t load_aliases(
	struct walk *w, const struct retire_op *op, uint64_t address, uint64_t begin, uint64_t done)
{
	const struct retire *t = w->t;
	const struct retire_note *n = w->note++;
	uint64_t left = t->store_left[(t->stores - n->address) % RETIRE_STORES_MAX], from = done;

	if (begin << RETIRE_CYCLE_BITS >= left + RETIRE_LEAVES)
		return done;
	done += begin_load(w, op, address, begin + n->latency) - begin;
	add_phase(&w->phases, MODEL_CAUSE_ALIAS, from, done);
	return done;
}

/* at: when the address is known.  When the data are there. */
static uint64_t retire_load(struct walk *w, const struct model_insn *insn,
	const struct retire_op *op, uint64_t address, unsigned size, uint64_t at)
{
	struct retire *t = w->t;
	uint64_t begin, done;

	begin = begin_load(w, op, address, later(at, t->barrier));
	/* Lines are loaded one after the other. */
	if ((address & ((1u << t->line_bits) - 1)) + size > 1u << t->line_bits)
		begin = begin_load(w, op, address + size - 1, begin);
	take_places(t, op->addresses, begin + t->place_hold);
	done = begin + op->load;
	if (w->note->insn == insn)
		done = load_noted(w, insn, begin, op->load);
	if (op->special != MODEL_LATENCY_LOCKED) /* which waited until stores were in the cache */
		done = forwarded(t, op, address, size, done);
	if (w->note->insn == insn && w->note->what == RETIRE_FORWARD)
		done = load_fails(w, done);
	else if (w->note->insn == insn && w->note->what == RETIRE_ALIAS)
		done = load_aliases(w, op, address, begin, done);
	return begin < t->arrival ? retire_wait_for_line(w, address, done) : done;
}

/* Its line or its translation arrives late: when it is there. */
static NOINLINE uint64_t store_noted(struct walk *w, const struct model_insn *insn, uint64_t gone)
{
	struct retire *t = w->t;
	uint64_t there = 0;

	for (; w->note->insn == insn && w->note->what == RETIRE_STORE; w->note++)
		there = later(there, is_level((enum model_cause)w->note->cause)
					     ? request_line(t, gone, w->note)
					     : translated(t, gone, w->note));
	return there;
}

/* ---- instructions with notes, or that are not simple ---- */

/* A line of code missed: when it arrives. The line after the last missed one was requested ahead,
 * and, if fetch runs ahead of execution, so was one that was jumped to. */
static uint64_t line_comes(struct retire *t, const struct retire_note *n, uint64_t came)
{
	uint64_t until = came, asked = t->restarted;

	uint32_t ahead = n->address == t->fetched_line + (UINT64_C(1) << t->line_bits)
				 ? t->fetches
				 : t->jump_fetches;

	if (ahead > 1) {
		asked = later(asked, t->fetch_came[(t->fetch_count - ahead) % RETIRE_FETCHES]);
		until = asked < came ? asked : came;
	}
	until += (uint64_t)n->latency << RETIRE_CYCLE_BITS;
	t->fetched_line = n->address;
	t->fetch_came[t->fetch_count++ % RETIRE_FETCHES] = later(came, until);
	return until;
}

/* Delays the dispatch of an instruction: notes, and if it stores, a full store buffer. */
static void come_late(struct walk *w, const struct model_insn *insn, uint64_t cost, uint64_t room)
{
	struct retire *t = w->t;

	for (; w->note->insn == insn && w->note->what == RETIRE_FETCH; w->note++) {
		const struct retire_note *n = w->note;
		uint64_t came = t->came + cost;
		int line = n->cause >= MODEL_CAUSE_FETCH_L2 &&
			   n->cause <= MODEL_CAUSE_FETCH_INTERVENTION;

		hold(t, insn, cost, (enum model_cause)n->cause,
			line ? line_comes(t, n, came)
			     : came + ((uint64_t)n->latency << RETIRE_CYCLE_BITS));
	}
	hold(t, insn, cost, MODEL_CAUSE_STORE_BUFFER, room);
}

/* What follows is fetched anew, at `until` (parts) at the earliest. */
static void retire_redirect(struct retire *t, uint64_t until, enum model_cause cause)
{
	t->restarts = 1;
	if (until <= t->redirected)
		return;
	t->redirected = until;
	t->redirected_by = cause;
}

static void divider_gap(struct retire_divider *d, uint64_t from, uint64_t until)
{
	if (from < until)
		d->gap[d->gaps++ % RETIRE_GAPS] = (struct retire_gap){from, until};
}

/* From `at` on: when a divider is free for `busy` cycles; it is then taken. */
static uint64_t take_divider(struct retire_divider *d, uint64_t at, uint64_t busy)
{
	uint64_t begin = later(at, d->end);
	struct retire_gap *used = (struct retire_gap *)0;
	uint32_t i;

	if (!busy)
		return at;
	for (i = 0; i < RETIRE_GAPS; i++) {
		uint64_t from = later(at, d->gap[i].from);

		if (from < begin && from + busy <= d->gap[i].until) {
			begin = from;
			used = &d->gap[i];
		}
	}
	if (used) {
		uint64_t from = used->from;

		used->from = begin + busy;
		divider_gap(d, from, begin);
	} else {
		divider_gap(d, d->end, begin);
		d->end = begin + busy;
	}
	return begin;
}

/* Those of enum model_latency that are special, operands there at `at`: when it is done. */
static uint64_t execute_special(struct walk *w, const struct retire_op *op, uint64_t at)
{
	struct retire *t = w->t;
	uint64_t begin = at, done, gone = t->gone + op->cost;
	enum model_cause why = op->special == MODEL_LATENCY_SYSTEM_CALL ? MODEL_CAUSE_SYSTEM_CALL
									: MODEL_CAUSE_SERIALISING;

	if (op->special <= MODEL_LATENCY_FP_ROOT) {
		begin = take_divider(
			&t->divider[op->special != MODEL_LATENCY_DIVIDE], at, op->busy);
		leave_scheduler(t, op, begin);
		done = begin + op->latency;
		add_phase(&w->phases, MODEL_CAUSE_DIVIDER, at, done);
		return done;
	}
	if (op->special == MODEL_LATENCY_STRING)
		return at + 1;
	if (op->special == MODEL_LATENCY_LOCKED) {
		done = at + op->latency;
		add_phase(&w->phases, MODEL_CAUSE_LOCKED, 0, done);
		t->barrier = done;
		return done;
	}
	gone = (later(gone, t->drained) + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;
	done = later(later(at, gone), later(t->divider[0].end, t->divider[1].end)) + op->latency;
	add_phase(&w->phases, why, 0, done);
	retire_redirect(t, (done + t->mispredict) << RETIRE_CYCLE_BITS, why);
	return done;
}

/* Handles the remaining notes of an instruction that has retired. */
static void take_notes(struct walk *w, const struct model_insn *insn, uint64_t done)
{
	struct retire *t = w->t;

	for (; w->note->insn == insn; w->note++) {
		if (w->note->what == RETIRE_PREFETCH) {
			request_line(t, done, w->note);
		} else if (w->note->what == RETIRE_TARGET && w->note->latency) {
			retire_redirect(t,
				t->came + RETIRE_CYCLE +
					((uint64_t)w->note->latency << RETIRE_CYCLE_BITS),
				MODEL_CAUSE_TAKEN);
		} else if (w->note->what >= RETIRE_TARGET) {
			retire_redirect(t,
				later(t->came + RETIRE_CYCLE, done << RETIRE_CYCLE_BITS) +
					((uint64_t)t->mispredict << RETIRE_CYCLE_BITS) + t->slot,
				(enum model_cause)w->note->cause);
		}
	}
}

/* Does an access load, or store? */
static inline int retire_loads(unsigned kind)
{
	return kind == MODEL_ACCESS_LOAD || kind == MODEL_ACCESS_MODIFY;
}

static inline int stores(unsigned kind)
{
	return kind == MODEL_ACCESS_STORE || kind == MODEL_ACCESS_MODIFY;
}

static inline int happens(const struct model_access *a, uint64_t address)
{
	return !a->guarded || address;
}

/* The memory accesses of an instruction, with the words of their addresses. */
struct touched {
	const struct model_access *access;
	const uint64_t *address;
	unsigned count;
};

static int any_stores(const struct model_access *a, unsigned n)
{
	for (; n > 0; n--, a++)
		if (stores(a->kind))
			return 1;
	return 0;
}

static int any_loads(const struct model_access *a, unsigned n)
{
	for (; n > 0; n--, a++)
		if (retire_loads(a->kind))
			return 1;
	return 0;
}

/* A locked instruction waits until it is alone. */
static uint64_t be_alone(struct walk *w, uint64_t from)
{
	uint64_t alone = (later(w->t->gone, w->t->drained) + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;

	add_phase(&w->phases, MODEL_CAUSE_LOCKED, from, alone);
	return later(from, alone);
}

/* Is it a further repetition of a string instruction? */
static int further_repetition(const struct retire *t, const struct model_insn *insn)
{
	return t->string == insn && t->string_number == t->instructions;
}

/* Some bytes of a string, which need no port of their own. */
static uint64_t load_string(
	struct walk *w, const struct model_insn *insn, uint64_t address, uint64_t at)
{
	uint64_t done = at;

	if (w->note->insn == insn)
		done = load_noted(w, insn, at, 0);
	return at < w->t->arrival ? retire_wait_for_line(w, address, done) : done;
}

/* All that it executes, from cycle `at` on, its address known at `from`: when it is done. */
static uint64_t retire_execute(struct walk *w, const struct model_insn *insn,
	const struct retire_op *op, const struct touched *m, uint64_t at, uint64_t from)
{
	struct retire *t = w->t;
	uint64_t begin, done;
	unsigned i;

	if (m->count && op->special == MODEL_LATENCY_LOCKED)
		from = be_alone(w, from);
	if (m->count)
		at = later(at, from);
	for (i = 0; i < m->count; i++)
		if (m->access[i].kind == MODEL_ACCESS_STORE &&
			happens(&m->access[i], m->address[i])) {
			begin = retire_take(t, from, t->store_ports);
			take_places(t, op->addresses, begin + t->place_hold);
			at = later(at, begin);
		} else if (op->special == MODEL_LATENCY_STRING &&
			   m->access[i].kind == MODEL_ACCESS_LOAD)
			at = later(at, load_string(w, insn, m->address[i], from));
		else if (retire_loads(m->access[i].kind) && happens(&m->access[i], m->address[i]))
			at = later(at,
				retire_load(w, insn, op, m->address[i], m->access[i].size, from));
	if (op->waits == RETIRE_PLACE_VECTOR)
		at = later(at, retire_enter_vectors(t, op, t->came >> RETIRE_CYCLE_BITS));
	if (op->special)
		return execute_special(w, op, at);
	begin = retire_take(t, at, op->ports);
	leave_scheduler(t, op, begin);
	done = begin + op->latency;
	for (i = 0; i < op->more_count; i++) {
		begin = retire_take(t, at, op->more[i]);
		done = later(done, begin + 1);
	}
	if (done > at + op->latency)
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, done);
	return done;
}

/* Retires an instruction that is done at `done`. Further repetitions have no place in the window.
 */
static void go(
	struct walk *w, const struct model_insn *insn, const struct retire_op *op, uint64_t done)
{
	struct retire *t = w->t;
	uint64_t gone = t->gone + op->cost;
	uint64_t at = later(done << RETIRE_CYCLE_BITS, gone + RETIRE_CYCLE) - RETIRE_CYCLE;

	if (at > gone)
		retire_explain(t, insn, &w->phases, gone + RETIRE_CYCLE, done << RETIRE_CYCLE_BITS);
	w->phases.count = 0;
	t->gone = at;
	if (op->special == MODEL_LATENCY_STRING && further_repetition(t, insn))
		return;
	take_places(t, op->renames, at >> RETIRE_CYCLE_BITS);
	t->retired[t->instructions++ & t->retired_mask] = at;
	if (op->special == MODEL_LATENCY_STRING) {
		t->string = insn;
		t->string_number = t->instructions;
	}
}

static void store_all(struct walk *w, const struct model_insn *insn, const struct retire_op *op,
	const struct touched *m, uint32_t name, uint64_t ready)
{
	struct retire *t = w->t;
	uint64_t gone = (t->gone + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;
	unsigned i;

	for (i = 0; i < m->count; i++)
		if (stores(m->access[i].kind) && happens(&m->access[i], m->address[i])) {
			uint64_t there = store_noted(w, insn, gone) << RETIRE_CYCLE_BITS;

			/* A string is stored in whole lines. */
			if (op->special == MODEL_LATENCY_STRING &&
				t->stored_line == m->address[i] >> t->line_bits)
				continue;
			store_data(t, op, m->access[i].size, m->address[i], name, ready);
			store_leaves(t, m->address[i], later(t->gone, there));
		}
}

/* Dispatches insn when nothing delays it any more. */
NOINLINE void retire_go_on(struct retire *t, const struct model_insn *insn, uint64_t cost)
{
	hold(t, insn, cost, (enum model_cause)t->redirected_by, t->redirected);
	if (t->restarts) {
		t->restarted = t->redirected;
		if (t->fetch_group)
			t->taken_last = t->predicted = t->redirected;
		t->fetching = t->fetched_lines = t->line_groups = 0;
		t->decoded = t->decoded_filled = t->changes = 0;
		t->jumped = 1;
	}
	t->restarts = 0;
	t->redirected = 0;
}

/* Any instruction: number i of the record, `last` if none follows in it. */
NOINLINE void retire_generally(
	struct walk *w, const struct model_segment *s, const uint64_t *record, unsigned i, int last)
{
	struct retire *t = w->t;
	const struct model_insn *insn = &s->block->insns[i];
	const struct retire_op *op = &s->block->ops[i];
	struct touched m = {&s->block->accesses[insn->first_access],
		&record[1 + insn->first_access], insn->access_count};
	uint64_t at, from, done, data;
	uint32_t name = retire_name(t, op);
	unsigned k;

	if (op->special == MODEL_LATENCY_STRING && !further_repetition(t, insn))
		hold(t, insn, op->cost, MODEL_CAUSE_UNIT,
			t->came + op->cost + ((uint64_t)t->string_start << RETIRE_CYCLE_BITS));
	come_late(w, insn, op->cost, any_stores(m.access, m.count) ? room_of_stores(t) : 0);
	t->came = later(
		t->came + op->cost, t->retired[(t->instructions - t->window) & t->retired_mask]);
	if (!has_places(t, retire_places(op)))
		t->came = retire_wait_for_places(t, retire_places(op), t->came);
	/* The loop over records may have waited for them before it came to this. */
	t->came = later(t->came, t->cleared << RETIRE_CYCLE_BITS);
	at = from = t->came >> RETIRE_CYCLE_BITS;
	for (k = 0; k < MODEL_SOURCES_MAX; k++)
		at = later(at, t->ready[op->source[k]]);
	for (k = 0; k < 2; k++)
		from = later(from, t->ready[op->for_address[k]]);
	/* Of the last one there are not always words for all. */
	if (last && m.count > s->access_count - (unsigned)insn->first_access)
		m.count = s->access_count - (unsigned)insn->first_access;
	done = retire_execute(w, insn, op, &m, at, from);
	data = op->special || any_loads(m.access, m.count) ? done : at + op->latency;
	for (k = 0; k < MODEL_RESULTS_MAX; k++)
		t->ready[insn->result[k]] = done;
	t->ready[MODEL_RESULT + i] = done;
	go(w, insn, op, done);
	store_all(w, insn, op, &m, name, data);
	take_notes(w, insn, done);
	if (t->redirected && !last)
		retire_go_on(t, insn + 1, op[1].cost);
}
