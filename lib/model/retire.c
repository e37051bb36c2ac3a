/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock: a dependence-driven view of a core, evaluated once per instruction in
 * program order. After Fields, Rubin and Bodik, "Focusing processor policies via critical-path
 * prediction", ISCA 2001: an instruction is dispatched, executes and retires, each bounded by times
 * of earlier instructions.
 *
 * - Dispatch is in order, at most `width` per cycle, once the instruction `window` places before
 *   has retired, the schedulers and registers have room for it and the front end delivers. A fetch
 * miss, a redirection, taken branches too close together, too many groups of operations that fetch
 * takes in a cycle each, and a full store buffer delay all that follow. Some sequential lines of
 * code are requested ahead of time.
 * - A load goes to memory when its address is known and a load port is free. Its data come after
 *   the first level's latency, or when its line arrives, or when the store has them whose bytes it
 *   reads. A line on its way occupies one of `misses` requests, and its sender sends one in an
 *   interval. A load that finds its line on its way waits for it.
 * - Other work begins when all operands are ready and a port is free. Ports are bits in a calendar
 *   by cycle, so an instruction that waits does not keep later ones from overtaking it.
 * - Instructions retire in order, in the last cycle of their execution. Stores then go to the first
 *   level in order, each when its line is there.
 *
 * When an instruction retires later than its turn after the one before, the difference is a stall
 * of that instruction, as a counter at retirement would show it. The stall is divided by what the
 * instruction was waiting for at that time. An operand that is late because of a miss was charged
 * to the load, which had to retire first.
 *
 * Cost: mostly mispredicted branches of the host, since what is executed differs from instruction
 * to instruction. So the loop of retire_record has three paths without branches for what is
 * frequent. Everything else, and every instruction with a note, goes through retire_generally.
 *
 * Known deviations: nothing on the wrong path is modelled; ports are chosen in program order; loads
 * pass stores with unknown addresses always, and without error; free requests of lines are found in
 * program order, and remembered only as long as their tables last.
 */
#include "model/retire_loop.h"

_Static_assert(MODEL_RESULT + MODEL_BLOCK_INSNS_MAX <= MODEL_SLOT_SINK, "slots of results");

uint64_t retire_cycles(const struct retire *t, uint64_t *cycles)
{
	uint64_t sum = 0, parts = t->gone;
	int i;

	/* Base is what no other has. */
	for (i = MODEL_CAUSES - 1; i >= 0; i--) {
		cycles[i] = (i == MODEL_CAUSE_BASE ? parts : t->slots[i]) >> RETIRE_CYCLE_BITS;
		parts -= i == MODEL_CAUSE_BASE ? 0 : t->slots[i];
		sum += cycles[i];
	}
	return sum;
}

NOINLINE void retire_tell(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t parts)
{
	/* Rows belong to the model and are in blocks that only it writes. */
	rows_add(t->rows, (uint32_t *)(uintptr_t)&insn->row, MODEL_ROW_CAUSES + (unsigned)cause,
		parts * t->row_weight);
}

/* ---- ports and places ---- */

/* No later instruction can use these cycles. */
static inline void clear_before(struct retire *t, uint64_t cycle)
{
	if (cycle > t->cleared + RETIRE_CALENDAR)
		t->cleared = cycle - RETIRE_CALENDAR;
	for (; t->cleared < cycle; t->cleared++) {
		struct retire_cycle *c = &t->calendar[t->cleared % RETIRE_CALENDAR];

		t->places_held -= c->leaving;
		*c = (struct retire_cycle){0, 0, 0};
	}
}

NOINLINE uint64_t retire_wait_for_places(struct retire *t, uint64_t places, uint64_t came)
{
	while (!has_places(t, places) && t->places_held)
		clear_before(t, t->cleared + 1);
	return later(came, t->cleared << RETIRE_CYCLE_BITS);
}

NOINLINE uint64_t retire_enter_vectors(struct retire *t, const struct retire_op *op, uint64_t at)
{
	if (at > t->vectors_came + RETIRE_CALENDAR)
		t->vectors_came = at - RETIRE_CALENDAR;
	while (t->vectors_came < at || t->vectors_held >= t->vector_places) {
		uint8_t *leaving = &t->vectors_leaving[t->vectors_came++ % RETIRE_CALENDAR];

		t->vectors_held -= *leaving;
		*leaving = 0;
	}
	take_places(t, op->waits, t->vectors_came);
	return t->vectors_came;
}

static inline struct retire_full *full_of(struct retire *t, uint64_t wanted)
{
	return &t->full[(uint32_t)(wanted ^ wanted >> 32) * 0x9e3779b1u >> (32 - RETIRE_FULL_BITS)];
}

/* The first later cycle in which a port and, if banks is not 0, one of these banks is free.
 * Searches at most one whole calendar. */
NOINLINE uint64_t retire_take_later(struct retire *t, uint64_t at, uint32_t ports, uint32_t banks)
{
	uint64_t wanted = ports | (uint64_t)banks << 32, cycle = at, last = at + RETIRE_CALENDAR;
	struct retire_full *f = full_of(t, wanted);
	struct retire_cycle *c;
	uint32_t free, bank;

	if (f->ports != wanted)
		*f = (struct retire_full){0, 0, wanted};
	for (;; cycle++) {
		if (cycle >= f->from && cycle < f->until)
			cycle = f->until;
		c = &t->calendar[cycle % RETIRE_CALENDAR];
		free = ports & ~c->busy;
		bank = banks & ~c->banks;
		if ((free && (bank || !banks)) || cycle >= last)
			break;
	}
	c->busy |= free & -free & ~RETIRE_NO_PORT;
	c->banks |= bank & -bank;
	if (at < f->from || at > f->until)
		f->from = at;
	f->until = cycle;
	return cycle;
}

/* Charges insn with the time from `at` to `done` (parts), split by phases. */
NOINLINE void retire_explain(struct retire *t, const struct model_insn *insn,
	const struct phases *phases, uint64_t at, uint64_t done)
{
	uint64_t other = done - at;
	uint32_t i;

	for (i = 0; i < phases->count; i++) {
		const struct phase *p = &phases->phase[i];
		uint64_t from = later(at, p->from << RETIRE_CYCLE_BITS);
		uint64_t until = p->until << RETIRE_CYCLE_BITS;

		until = until < done ? until : done;
		if (from >= until)
			continue;
		retire_charge(t, insn, p->cause, until - from);
		other -= until - from;
		at = until;
	}
	if (other)
		retire_charge(t, insn, MODEL_CAUSE_DEPENDENCY, other);
}

/* Its line may be on its way. */
NOINLINE uint64_t retire_wait_for_line(struct walk *w, uint64_t address, uint64_t done)
{
	uint64_t line = address >> w->t->line_bits;
	const struct retire_line *l = &w->t->lines[line % RETIRE_LINES];

	if (l->line == line && l->ready > done) {
		add_phase(&w->phases, (enum model_cause)l->cause, done, l->ready);
		done = l->ready;
	}
	return done;
}

/* Further granules of a store. */
NOINLINE void retire_store_rest(struct retire *t, uint64_t address, unsigned size, uint64_t ready)
{
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;

	for (last = last - granule > 7 ? granule + 7 : last; granule++ < last;) {
		uint64_t rest = address + size - (granule << 3);

		t->stored[granule % RETIRE_STORED] =
			(struct retire_stored){granule << 3, ready, ready, 0, (uint32_t)t->stores,
				RETIRE_LINKS, (uint8_t)(rest < 8 ? rest : 8)};
	}
}

/*
 * Memory renaming: a load gets a register's value at once where it is known which of the last
 * stores has it. That is so if both name the address alike, and the base register was not written
 * in between, or, with links, if the load has got its data from the last store of the same
 * instruction some times in a row. Parts of registers are not renamed, nor are vector registers.
 */
NOINLINE uint64_t retire_pass(struct retire *t, const struct retire_op *op,
	const struct retire_stored *s, uint64_t address, unsigned size, uint64_t done)
{
	uint8_t *held = &t->held[op->link];
	int known = op->key && retire_name(t, op) == s->name;

	/* The register is known only for as long as the store is there. */
	if (t->store_left[s->number % RETIRE_STORES_MAX] <= done << RETIRE_CYCLE_BITS ||
		s->address != address || size < RETIRE_WHOLE || s->link == RETIRE_LINKS ||
		op->into_vector)
		return later(done, s->ready + op->into_vector);
	if (t->linked[op->link] == s->link && t->last_of[s->link] == s->number) {
		known |= t->links && *held == RETIRE_SURE;
		*held = (uint8_t)(*held + (*held < RETIRE_SURE));
	} else {
		*held = 0;
	}
	t->linked[op->link] = s->link;
	return known && s->data < s->ready ? s->data : later(done, s->ready);
}

static inline void sort_notes(struct retire *t)
{
	uint32_t i, j;

	for (i = 1; i < t->notes; i++) {
		struct retire_note n = t->note[i];

		for (j = i; j > 0 &&
			    (t->note[j - 1].insn > n.insn || (t->note[j - 1].insn == n.insn &&
								     t->note[j - 1].what > n.what));
			j--)
			t->note[j] = t->note[j - 1];
		t->note[j] = n;
	}
	t->note[t->notes].insn = (const struct model_insn *)0;
	t->notes = 0;
}

void retire_note(struct retire *t, const struct model_insn *insn, enum retire_what what,
	enum model_cause cause, uint32_t latency, uint64_t address)
{
	static const uint8_t turns[MODEL_CAUSES] = {
		[MODEL_CAUSE_L2] = RETIRE_TURN_L2,
		[MODEL_CAUSE_LL] = RETIRE_TURN_LL,
		[MODEL_CAUSE_MEMORY] = RETIRE_TURN_MEMORY,
		[MODEL_CAUSE_INTERVENTION] = RETIRE_TURN_LL,
	};

	if (t->notes < RETIRE_NOTES_MAX)
		t->note[t->notes++] = (struct retire_note){
			insn, address, latency, (uint8_t)what, (uint8_t)cause, turns[cause]};
}

enum { GROUPS_AT_ONCE = 4 }; /* without a taken branch: their time is then looked at */

/* Of indirect branches that had several targets. Where branches are predicted ahead of fetch, one
 * that is taken between two of them costs nothing more. */
static uint64_t varied_time(struct retire *t, unsigned taken)
{
	uint32_t varied = t->varied, hidden = 0;

	t->between += taken - (varied < taken ? varied : taken);
	if (!varied || !t->taken_indirect)
		return 0;
	if (t->group_time < RETIRE_CYCLE)
		hidden = t->between < varied ? t->between : varied;
	t->varied = t->between = 0;
	return varied * (uint64_t)t->taken_indirect - hidden * (uint64_t)t->taken;
}

/* After the last instruction of a record; `taken` branches were. Fetch takes whole groups of
 * instructions: one that a taken branch ends is not filled up by what follows, except where all
 * since the branch before make a small group. */
static void space_taken(struct retire *t, const uint16_t *statics)
{
	unsigned taken = statics[MODEL_STATIC_TAKEN];
	uint64_t fetching = (uint64_t)taken * t->taken, more = 0,
		 groups = (uint64_t)t->fetching + (uint64_t)t->decoded * RETIRE_CYCLE +
			  (uint64_t)t->changes * t->decode_change;

	more += (uint64_t)statics[MODEL_STATIC_RETURNS] * t->taken_return;
	more += varied_time(t, taken);
	more += (uint64_t)t->from_second * t->btb_second;
	/* Where fetch takes several groups in a cycle, branches are predicted ahead of it, in each
	 * line that has some of the code up to the next. */
	if (t->group_time < RETIRE_CYCLE) {
		if (t->fetched_lines > taken)
			fetching = (uint64_t)t->fetched_lines * t->taken;
		t->predicted += fetching + more;
		t->taken_last = later(t->taken_last + groups, t->predicted);
	} else {
		t->taken_last += later(fetching, groups) + more;
	}
	t->fetching = t->fetched_lines = t->decoded = t->changes = 0;
	t->from_second = 0;
	if (t->taken_last + t->fetch_ahead < t->came)
		t->taken_last = t->came - t->fetch_ahead;
	if (t->predicted + t->fetch_ahead < t->came)
		t->predicted = t->came - t->fetch_ahead;
	if (t->taken_last > t->came && t->taken_last + t->slot > t->redirected) {
		t->redirected = t->taken_last + t->slot;
		t->redirected_by = MODEL_CAUSE_TAKEN;
	}
}

/* Groups of `size` that n more operations begin. */
static inline uint32_t more_groups(uint32_t before, uint32_t n, uint32_t size)
{
	return (before + n + size - 1) / size - (before + size - 1) / size;
}

/* The same of what the op cache does not have: branches are fused only after the decoders. */
static NOINLINE void count_decoded(struct retire *t, const struct model_segment *s)
{
	t->decoded += more_groups(t->decoded_filled, s->insn_count, t->decode);
	t->decoded_filled = s->statics[MODEL_STATIC_TAKEN]
				    ? 0
				    : (t->decoded_filled + s->insn_count) % t->decode;
	t->jumped = 1;
}

/* Counts the groups in which a whole record of s is fetched. */
static void count_groups(struct retire *t, const struct model_segment *s)
{
	if (UNLIKELY(t->decodes != t->decoding)) {
		t->decoding = t->decodes;
		t->decoded_filled = 0;
		t->changes++;
	}
	if (UNLIKELY(t->decodes)) {
		count_decoded(t, s);
		return;
	}
	retire_count_groups(t, s);
}

/* ---- records ---- */

/* It retires at `at`, perhaps later than in its turn. */
static NOINLINE void wait_longer(
	struct walk *w, const struct model_insn *insn, uint64_t gone, uint64_t at)
{
	if (at > gone)
		retire_explain(w->t, insn, &w->phases, gone + RETIRE_CYCLE, at + RETIRE_CYCLE);
	w->phases.count = 0;
}

/* The first op that something is noted of, or null. */
static inline const struct retire_op *noted_op(
	const struct walk *w, const struct model_block *block)
{
	return w->note->insn ? &block->ops[w->note->insn - block->insns]
			     : (const struct retire_op *)0;
}

/* A load that hits, its address known at `from`: when it has its data. */
INLINE uint64_t load_hit(
	struct walk *w, const struct retire_op *op, uint64_t address, uint64_t from)
{
	uint64_t begin = begin_load(w, op, address, later(from, w->t->barrier));
	uint64_t done = forwarded(w->t, op, address, op->size, begin + op->load);

	take_places(w->t, op->addresses, begin + w->t->place_hold);
	return UNLIKELY(begin < w->t->arrival) ? retire_wait_for_line(w, address, done) : done;
}

/* Likewise a store with data at `ready`: when its address is computed. */
INLINE uint64_t store_hit(struct retire *t, const struct retire_op *op, uint64_t address,
	uint64_t from, uint64_t ready)
{
	store_data(t, op, op->size, address, retire_name(t, op), ready);
	from = retire_take(t, from, t->store_ports);
	take_places(t, op->addresses, from + t->place_hold);
	return from;
}

/* When the op has its operands, not before `from`. */
INLINE uint64_t has_operands(const uint64_t *ready, const struct retire_op *op, uint64_t from)
{
	uint64_t at = later(from, later(ready[op->source[0]], ready[op->source[1]]));

	return UNLIKELY(op->many) ? later(at, later(ready[op->source[2]], ready[op->source[3]]))
				  : at;
}

/* Executes the op, which came at `came` and has its operands at `at`: when its results are there.
 */
INLINE uint64_t run_op(
	struct walk *w, const struct retire_op *op, uint64_t *ready, uint64_t came, uint64_t at)
{
	uint64_t done;

	if (op->waits == RETIRE_PLACE_VECTOR)
		at = later(at, retire_enter_vectors(w->t, op, came));
	done = retire_take(w->t, at, op->ports) + op->latency;

	if (UNLIKELY(done != at + op->latency))
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, done);
	leave_scheduler(w->t, op, done - op->latency);
	ready[op->result[0]] = done;
	ready[op->result[1]] = done;
	return done;
}

/* When the op, which could come at `next`, has a place in the window and all others. */
INLINE uint64_t has_room(
	struct retire *t, const struct retire_op *op, uint64_t number, uint64_t next)
{
	next = later(next, t->retired[(number - t->window) & t->retired_mask]);
	return UNLIKELY(!has_places(t, retire_places(op)))
		       ? retire_wait_for_places(t, retire_places(op), next)
		       : next;
}

/*
 * Runs ops up to one that needs retire_generally: returns that op, or the end. careful: an
 * instruction may have to wait for room in the window or for places, or has notes, or waits are
 * counted by instruction; else none of that applies in the whole record.
 */
INLINE const struct retire_op *run(struct walk *w, const struct model_block *block,
	const struct retire_op *op, const struct retire_op *end, const uint64_t *record,
	const int careful)
{
	struct retire *t = w->t;
	const struct retire_op *noted = careful ? noted_op(w, block) : end;
	uint64_t came = t->came, gone = t->gone, number = t->instructions;
	uint64_t told = 0; /* parts that are not waits, or whose causes are known */
	const uint64_t line_bytes = UINT64_C(1) << t->line_bits;
	uint64_t *const ready = t->ready;
	const uint32_t mask = t->retired_mask;

	for (; op < end; op++) {
		uint64_t at, done, address = 0, next = came + op->cost;
		unsigned way = op->way;

		if (careful) {
			if (UNLIKELY(op == noted))
				break;
			next = has_room(t, op, number, next);
		}
		at = has_operands(ready, op, next >> RETIRE_CYCLE_BITS);
		if (way != RETIRE_PLAIN) {
			uint64_t from = later(next >> RETIRE_CYCLE_BITS,
				later(ready[op->for_address[0]], ready[op->for_address[1]]));

			if (UNLIKELY(way == RETIRE_GENERALLY))
				break;
			address = record[1 + op->first_access];
			if (UNLIKELY((address & (line_bytes - 1)) + op->size > line_bytes))
				break;
			if (way == RETIRE_LOADS) {
				at = later(at, from);
				from = load_hit(w, op, address, from);
			} else {
				if (UNLIKELY(room_of_stores(t) > came + op->cost))
					break;
				from = store_hit(t, op, address, from, at + op->latency);
			}
			at = later(at, from);
		}
		came = next;
		done = run_op(w, op, ready, next >> RETIRE_CYCLE_BITS, at);
		gone += op->cost;
		at = later(done << RETIRE_CYCLE_BITS, gone + RETIRE_CYCLE) - RETIRE_CYCLE;
		if (careful)
			told += op->cost;
		if (UNLIKELY(w->phases.count) || (careful && t->rows)) {
			wait_longer(w, &block->insns[op - block->ops], gone, at);
			told += at - gone;
		}
		gone = at;
		take_places(t, op->renames, gone >> RETIRE_CYCLE_BITS);
		t->retired[number++ & mask] = gone;
		if (way == RETIRE_STORES)
			store_leaves(t, address, gone);
	}
	if (!careful) /* the sum of costs */
		told += came - t->came;
	t->slots[MODEL_CAUSE_DEPENDENCY] += gone - t->gone - told;
	t->came = came;
	t->gone = gone;
	t->instructions = number;
	return op;
}

static NOINLINE void run_carefully(struct walk *w, const struct model_segment *s,
	const struct retire_op *op, const struct retire_op *end, const uint64_t *record)
{
	while ((op = run(w, s->block, op, end, record, 1)) < end) {
		retire_generally(w, s, record, (unsigned)(op - s->block->ops), op + 1 == end);
		op++;
	}
}

void retire_record(
	struct retire *t, const struct model_segment *s, const uint64_t *record, unsigned insns)
{
	const struct retire_op *op = s->block->ops, *end = op + insns;
	uint64_t number = t->instructions + insns - 1 - t->window;
	struct walk w;

	w.t = t;
	w.note = t->note;
	w.phases.count = 0;
	if (UNLIKELY(t->redirected))
		retire_go_on(t, s->block->insns, op->cost);
	clear_before(t, t->came >> RETIRE_CYCLE_BITS);
	if (LIKELY(!t->notes) && LIKELY(!t->rows) && LIKELY(t->window >= MODEL_BLOCK_INSNS_MAX) &&
		LIKELY(t->retired[number & t->retired_mask] <= t->came) &&
		LIKELY(has_places(t, end[-1].places))) {
		t->note[0].insn = (const struct model_insn *)0;
		op = run(&w, s->block, op, end, record, 0);
	} else {
		sort_notes(t);
	}
	if (UNLIKELY(op < end))
		run_carefully(&w, s, op, end, record);
	if (insns != s->insn_count)
		return;
	if (t->fetch_group)
		count_groups(t, s);
	if ((s->statics[MODEL_STATIC_TAKEN] && (t->taken || t->fetching)) ||
		t->fetching + t->decoded * t->group_time >= GROUPS_AT_ONCE * t->group_time)
		space_taken(t, s->statics);
}
