/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock: a dependence-driven view of a core, evaluated once per instruction in
 * program order. After Fields, Rubin and Bodik, "Focusing processor policies via critical-path
 * prediction", ISCA 2001: an instruction is dispatched, executes and retires, each bounded by times
 * of earlier instructions.
 *
 * - Dispatch is in order, as many a cycle as the width, once the instruction `window` places before
 *   has retired and the front end delivers. A fetch miss, a redirection, taken branches too close
 *   together and a full store buffer delay all that follow. Some sequential lines of code are
 *   requested ahead of time.
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
 * frequent. Everything else, and every instruction with a note, goes through `generally`.
 *
 * Known deviations: nothing on the wrong path is modelled; ports are chosen in program order; loads
 * pass stores with unknown addresses always, and without error; free requests of lines are found in
 * program order, and remembered only as long as their tables last.
 */
#include "model/retire_loop.h"

#define NOINLINE    __attribute__((noinline))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

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
	/* Rows are the model's own, in blocks that nobody else writes to. */
	rows_add(t->rows, (uint32_t *)(uintptr_t)&insn->row, MODEL_ROW_CAUSES + (unsigned)cause,
		parts);
}

/* ---- ports ---- */

/* Nothing can want them any more. */
static inline void clear_before(struct retire *t, uint64_t cycle)
{
	if (cycle > t->cleared + RETIRE_CALENDAR)
		t->cleared = cycle - RETIRE_CALENDAR;
	for (; t->cleared < cycle; t->cleared++)
		t->calendar[t->cleared % RETIRE_CALENDAR] = t->banks[t->cleared % RETIRE_CALENDAR] =
			0;
}

static inline struct retire_full *full_of(struct retire *t, uint64_t wanted)
{
	return &t->full[(uint32_t)(wanted ^ wanted >> 32) * 0x9e3779b1u >> (32 - RETIRE_FULL_BITS)];
}

/* The first cycle behind one in which all ports or, where banks is not 0, all of these are busy.  A
 * whole calendar of such is all that is looked at. */
static NOINLINE uint64_t take_later(struct retire *t, uint64_t at, uint32_t ports, uint32_t banks)
{
	uint64_t wanted = ports | (uint64_t)banks << 32, cycle = at, last = at + RETIRE_CALENDAR;
	struct retire_full *f = full_of(t, wanted);
	uint32_t free, bank;

	if (f->ports != wanted)
		*f = (struct retire_full){0, 0, wanted};
	for (;; cycle++) {
		if (cycle >= f->from && cycle < f->until)
			cycle = f->until;
		free = ports & ~t->calendar[cycle % RETIRE_CALENDAR];
		bank = banks & ~t->banks[cycle % RETIRE_CALENDAR];
		if ((free && (bank || !banks)) || cycle >= last)
			break;
	}
	t->calendar[cycle % RETIRE_CALENDAR] |= free & -free & ~RETIRE_NO_PORT;
	t->banks[cycle % RETIRE_CALENDAR] |= bank & -bank;
	if (at < f->from || at > f->until)
		f->from = at;
	f->until = cycle;
	return cycle;
}

/* From `at` on: the cycle in which one of these ports is free; it is then taken. */
static inline uint64_t retire_take(struct retire *t, uint64_t at, uint32_t ports)
{
	uint32_t *busy = &t->calendar[at % RETIRE_CALENDAR], free = ports & ~*busy;

	if (UNLIKELY(!free))
		return take_later(t, at, ports, 0);
	*busy |= free & -free & ~RETIRE_NO_PORT;
	return at;
}

/* The same of a load, which wants its bank, too. */
static inline uint64_t take_load(struct retire *t, uint64_t at, uint32_t ports, uint64_t address)
{
	uint32_t *busy = &t->calendar[at % RETIRE_CALENDAR], free = ports & ~*busy;
	uint32_t *taken = &t->banks[at % RETIRE_CALENDAR];
	uint32_t banks = t->bank_loads << (address >> 1 & 28), bank = banks & ~*taken;

	if (UNLIKELY(!free) || UNLIKELY(!bank & (banks != 0)))
		return take_later(t, at, ports, banks);
	*busy |= free & -free & ~RETIRE_NO_PORT;
	*taken |= bank & -bank;
	return at;
}

/* ---- lines ---- */

/*
 * When a line that is wanted at `at` can be asked for, with a request kept for `latency`: in the
 * first request that has room earliest.  Each remembers when it is free for good and one gap before
 * its last use, so that a load that waits for another one's data does not keep the rest waiting.
 */
static uint64_t take_request(struct retire *t, uint64_t at, uint64_t latency)
{
	struct retire_request *r = t->request;
	uint64_t begin = UINT64_MAX;
	uint32_t i, best = 0;

	for (i = 0; i < t->misses; i++) {
		uint64_t gap = later(at, r[i].gap), end = later(at, r[i].end);
		uint64_t begins = gap + latency <= r[i].gap_end ? gap : end;

		best = begins < begin ? i : best;
		begin = begins < begin ? begins : begin;
	}
	if (!t->misses)
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

/* Asks for the line of an address: when it is there. */
static uint64_t request_line(struct retire *t, uint64_t at, const struct retire_note *note)
{
	enum retire_turn turn = (enum retire_turn)note->turn;
	uint64_t begin = take_turn(t, turn, take_request(t, at, note->latency));
	uint64_t line = note->address >> t->line_bits, end = begin + note->latency;

	/* What was stored to goes back to L2 some day. */
	if (note->what == RETIRE_STORE)
		take_turn(t, RETIRE_TURN_L2, begin);
	t->lines[line % RETIRE_LINES] = (struct retire_line){line, end, note->cause};
	t->arrival = later(t->arrival, end);
	return end;
}

/* Nothing comes before `until`; insn, which is next and takes `cost`, has to wait. */
static void hold(struct retire *t, const struct model_insn *insn, uint64_t cost,
	enum model_cause cause, uint64_t until)
{
	if (until > t->gone + cost) {
		retire_charge(t, insn, cause, until - t->gone - cost);
		t->gone = until - cost;
	}
	t->came = later(t->came + cost, until) - cost;
}

/* ---- why an instruction waits ---- */

enum { PHASES_MAX = 32 };

/* What it did, other than wait for operands or be executed, in the order of time; cycles. */
struct phase {
	uint64_t from, until;
	enum model_cause cause;
};

struct phases {
	uint32_t count;
	struct phase phase[PHASES_MAX];
};

static void add_phase(struct phases *p, enum model_cause cause, uint64_t from, uint64_t until)
{
	if (p->count < PHASES_MAX)
		p->phase[p->count++] = (struct phase){from, until, cause};
}

/* The time from `at` to `done` (parts), split by phases, is insn's to bear. */
static NOINLINE void retire_explain(struct retire *t, const struct model_insn *insn,
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

/* ---- loads and stores ---- */

/* What is in the way of a walk through a record. */
struct walk {
	struct retire *t;
	const struct retire_note *note; /* the next one; behind the last is one of no instruction */
	struct phases phases;
};

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
			uint64_t there = at + w->note->latency;

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

/* Its line may be on its way. */
static NOINLINE uint64_t wait_for_line(struct walk *w, uint64_t address, uint64_t done)
{
	uint64_t line = address >> w->t->line_bits;
	const struct retire_line *l = &w->t->lines[line % RETIRE_LINES];

	if (l->line == line && l->ready > done) {
		add_phase(&w->phases, (enum model_cause)l->cause, done, l->ready);
		done = l->ready;
	}
	return done;
}

/* Data there at `done`, unless a store has them: then when they come from there. */
static inline uint64_t forwarded(
	const struct retire *t, const struct retire_op *op, uint64_t address, uint64_t done)
{
	const struct retire_stored *s = &t->stored[(address >> 3) % RETIRE_STORED];
	uint64_t ready = later(done, s->ready);

	ready = s->key == op->key ? s->data : ready;
	return s->granule == address >> 3 ? ready : done;
}

static inline uint64_t begin_load(
	struct walk *w, const struct retire_op *op, uint64_t address, uint64_t at)
{
	uint64_t begin = take_load(w->t, at, op->load_ports, address);

	if (UNLIKELY(begin != at))
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, begin + op->load);
	return begin;
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
	done = begin + op->load;
	if (w->note->insn == insn)
		done = load_noted(w, insn, begin, op->load);
	done = forwarded(t, op, address, done);
	if (w->note->insn == insn && w->note->what == RETIRE_FORWARD)
		done = load_fails(w, done);
	return begin < t->arrival ? wait_for_line(w, address, done) : done;
}

/* Its line or its translation comes late: when it is there. */
static NOINLINE uint64_t store_noted(struct walk *w, const struct model_insn *insn, uint64_t gone)
{
	struct retire *t = w->t;
	uint64_t there = 0;

	for (; w->note->insn == insn && w->note->what == RETIRE_STORE; w->note++)
		there = later(there, is_level((enum model_cause)w->note->cause)
					     ? request_line(t, gone, w->note)
					     : gone + w->note->latency);
	return there;
}

/* Further granules of a store. */
static NOINLINE void store_rest(struct retire *t, uint64_t address, unsigned size, uint64_t ready)
{
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;

	for (last = last - granule > 7 ? granule + 7 : last; granule++ < last;)
		t->stored[granule % RETIRE_STORED] =
			(struct retire_stored){granule, ready, ready, UINT64_MAX};
}

/* The data of a store within a granule, or two: there at `ready`. */
static inline void store_data(
	struct retire *t, uint32_t key, unsigned size, uint64_t address, uint64_t ready)
{
	uint64_t granule = address >> 3;
	struct retire_stored *s = &t->stored[granule % RETIRE_STORED];

	*s = (struct retire_stored){
		granule, ready + t->forward, ready + t->renamed, key ? key : UINT64_MAX};
	if (UNLIKELY((address + size - 1) >> 3 != granule))
		store_rest(t, address, size, ready + t->forward);
}

/* It retired at `gone`. */
static inline void store_leaves(struct retire *t, uint64_t address, uint64_t gone)
{
	uint64_t line = address >> t->line_bits;
	uint64_t leaves =
		later(t->drained + (line == t->stored_line ? t->drain : t->drain_line), gone);

	t->stored_line = line;
	t->drained = leaves;
	t->store_left[t->stores++ % RETIRE_STORES_MAX] = leaves;
}

static inline uint64_t room_of_stores(const struct retire *t)
{
	return t->store_left[(t->stores - t->store_buffer) % RETIRE_STORES_MAX];
}

/* ---- instructions that have met something, or are not simple ---- */

/* A line of code missed: when it is there.  The one behind the last was asked for ahead. */
static uint64_t line_comes(struct retire *t, const struct retire_note *n, uint64_t came)
{
	uint64_t until = came, asked = t->restarted;

	if (t->fetches > 1 && n->address == t->fetched_line + (UINT64_C(1) << t->line_bits)) {
		asked = later(asked, t->fetch_came[(t->fetch_count - t->fetches) % RETIRE_FETCHES]);
		until = asked < came ? asked : came;
	}
	until += (uint64_t)n->latency << RETIRE_CYCLE_BITS;
	t->fetched_line = n->address;
	t->fetch_came[t->fetch_count++ % RETIRE_FETCHES] = later(came, until);
	return until;
}

/* What an instruction's coming waits for: notes, and if it stores, room in the store buffer. */
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

/* Those of enum model_latency that are special, operands there at `at`: when it is done. */
static uint64_t execute_special(struct walk *w, const struct retire_op *op, uint64_t at)
{
	struct retire *t = w->t;
	uint64_t begin = at, done, gone = t->gone + op->cost;

	if (op->special == MODEL_LATENCY_DIVIDE || op->special == MODEL_LATENCY_FP_DIVIDE) {
		begin = later(at, t->divider_free);
		t->divider_free = begin + op->busy;
		done = begin + op->latency;
		add_phase(&w->phases, MODEL_CAUSE_DIVIDER, at, done);
		return done;
	}
	if (op->special == MODEL_LATENCY_LOCKED) {
		done = at + op->latency;
		add_phase(&w->phases, MODEL_CAUSE_LOCKED, 0, done);
		t->barrier = done;
		return done;
	}
	gone = (later(gone, t->drained) + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;
	done = later(later(at, gone), t->divider_free) + op->latency;
	add_phase(&w->phases, MODEL_CAUSE_SERIALISING, 0, done);
	t->redirected = (done + t->mispredict) << RETIRE_CYCLE_BITS;
	t->redirected_by = MODEL_CAUSE_SERIALISING;
	return done;
}

/* The notes of an instruction that has retired which nothing has asked for yet. */
static void take_notes(struct walk *w, const struct model_insn *insn, uint64_t done)
{
	struct retire *t = w->t;

	for (; w->note->insn == insn; w->note++) {
		if (w->note->what == RETIRE_PREFETCH) {
			request_line(t, done, w->note);
		} else if (w->note->what == RETIRE_MISPREDICT) {
			t->redirected = later(t->came + RETIRE_CYCLE, done << RETIRE_CYCLE_BITS) -
					RETIRE_CYCLE +
					((uint64_t)t->mispredict << RETIRE_CYCLE_BITS) + t->slot;
			t->redirected_by = MODEL_CAUSE_MISPREDICT;
		}
	}
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

/* What an instruction does with memory: accesses for which there are words. */
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
		if (retire_loads(m->access[i].kind) && happens(&m->access[i], m->address[i]))
			at = later(at,
				retire_load(w, insn, op, m->address[i], m->access[i].size, from));
	if (op->special)
		return execute_special(w, op, at);
	begin = retire_take(t, at, op->ports);
	done = begin + op->latency;
	for (i = 0; i < op->more_count; i++) {
		begin = retire_take(t, at, op->more[i]);
		done = later(done, begin + 1);
	}
	if (done > at + op->latency)
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, done);
	return done;
}

/* When it has retired that is done at `done`. */
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
	t->retired[t->instructions++ % RETIRE_WINDOW_MAX] = at;
}

static void store_all(struct walk *w, const struct model_insn *insn, const struct retire_op *op,
	const struct touched *m, uint64_t ready)
{
	struct retire *t = w->t;
	uint64_t gone = (t->gone + RETIRE_CYCLE - 1) >> RETIRE_CYCLE_BITS;
	unsigned i;

	for (i = 0; i < m->count; i++)
		if (stores(m->access[i].kind) && happens(&m->access[i], m->address[i])) {
			uint64_t there = store_noted(w, insn, gone) << RETIRE_CYCLE_BITS;

			store_data(t, op->key, m->access[i].size, m->address[i], ready);
			store_leaves(t, m->address[i], later(t->gone, there));
		}
}

/* insn comes when nothing holds it any more. */
static NOINLINE void go_on(struct retire *t, const struct model_insn *insn, uint64_t cost)
{
	hold(t, insn, cost, (enum model_cause)t->redirected_by, t->redirected);
	if (t->redirected_by != MODEL_CAUSE_TAKEN)
		t->restarted = t->redirected;
	t->redirected = 0;
}

/* Any instruction: number i of the record, `last` if none follows in it. */
static NOINLINE void generally(
	struct walk *w, const struct model_segment *s, const uint64_t *record, unsigned i, int last)
{
	struct retire *t = w->t;
	const struct model_insn *insn = &s->block->insns[i];
	const struct retire_op *op = &s->block->ops[i];
	struct touched m = {&s->block->accesses[insn->first_access],
		&record[1 + insn->first_access], insn->access_count};
	uint64_t at, from, done, data;
	unsigned k;

	come_late(w, insn, op->cost, any_stores(m.access, m.count) ? room_of_stores(t) : 0);
	t->came = later(
		t->came + op->cost, t->retired[(t->instructions - t->window) % RETIRE_WINDOW_MAX]);
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
	store_all(w, insn, op, &m, data);
	take_notes(w, insn, done);
	if (t->redirected && !last)
		go_on(t, insn + 1, op[1].cost);
}

/* After the last instruction of a record; `taken` branches were. */
static void space_taken(struct retire *t, unsigned taken)
{
	t->taken_last =
		later(t->came, t->taken_last + (((uint64_t)taken * t->taken) << RETIRE_CYCLE_BITS));
	if (t->taken_last > t->came && t->taken_last + t->slot > t->redirected) {
		t->redirected = t->taken_last + t->slot;
		t->redirected_by = MODEL_CAUSE_TAKEN;
	}
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

/*
 * Goes through ops until something is in the way that `generally` is for: that op, or the end.
 * careful: an instruction may have to wait for room in the window or has met something, or somebody
 * wants to know who waits; else none of that is so in the whole record.
 */
static inline __attribute__((always_inline)) const struct retire_op *run(struct walk *w,
	const struct model_block *block, const struct retire_op *op, const struct retire_op *end,
	const uint64_t *record, const int careful)
{
	struct retire *t = w->t;
	const struct retire_op *noted = careful ? noted_op(w, block) : end;
	uint64_t came = t->came, gone = t->gone, number = t->instructions, waited = 0;
	const uint64_t line_bytes = UINT64_C(1) << t->line_bits;
	uint64_t *const ready = t->ready;

	for (; op < end; op++) {
		uint64_t at, done, begin, address = 0, next = came + op->cost;
		unsigned way = op->way;

		if (careful) {
			if (UNLIKELY(op == noted))
				break;
			next = later(next, t->retired[(number - t->window) % RETIRE_WINDOW_MAX]);
		}
		at = later(next >> RETIRE_CYCLE_BITS,
			later(ready[op->source[0]], ready[op->source[1]]));
		if (UNLIKELY(op->many))
			at = later(at, later(ready[op->source[2]], ready[op->source[3]]));
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
				from = later(from, t->barrier);
				begin = take_load(t, from, op->load_ports, address);
				if (UNLIKELY(begin != from))
					add_phase(&w->phases, MODEL_CAUSE_UNIT, from,
						begin + op->load);
				done = forwarded(t, op, address, begin + op->load);
				if (UNLIKELY(begin < t->arrival))
					done = wait_for_line(w, address, done);
				from = done;
			} else {
				if (UNLIKELY(room_of_stores(t) > came + op->cost))
					break;
				store_data(t, op->key, op->size, address, at + op->latency);
			}
			at = later(at, from);
		}
		came = next;
		done = retire_take(t, at, op->ports);
		if (UNLIKELY(done != at))
			add_phase(&w->phases, MODEL_CAUSE_UNIT, at, done + op->latency);
		done += op->latency;
		ready[op->result[0]] = done;
		ready[op->result[1]] = done;
		gone += op->cost;
		at = later(done << RETIRE_CYCLE_BITS, gone + RETIRE_CYCLE) - RETIRE_CYCLE;
		if (UNLIKELY(w->phases.count) || (careful && t->rows))
			wait_longer(w, &block->insns[op - block->ops], gone, at);
		else
			waited += at - gone;
		gone = at;
		t->retired[number++ % RETIRE_WINDOW_MAX] = gone;
		if (way == RETIRE_STORES)
			store_leaves(t, address, gone);
	}
	t->came = came;
	t->gone = gone;
	t->instructions = number;
	t->slots[MODEL_CAUSE_DEPENDENCY] += waited;
	return op;
}

static NOINLINE void run_carefully(struct walk *w, const struct model_segment *s,
	const struct retire_op *op, const struct retire_op *end, const uint64_t *record)
{
	while ((op = run(w, s->block, op, end, record, 1)) < end) {
		generally(w, s, record, (unsigned)(op - s->block->ops), op + 1 == end);
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
		go_on(t, s->block->insns, op->cost);
	clear_before(t, t->came >> RETIRE_CYCLE_BITS);
	if (LIKELY(!t->notes) && LIKELY(!t->rows) && LIKELY(t->window >= MODEL_BLOCK_INSNS_MAX) &&
		LIKELY(t->retired[number % RETIRE_WINDOW_MAX] <= t->came)) {
		t->note[0].insn = (const struct model_insn *)0;
		op = run(&w, s->block, op, end, record, 0);
	} else {
		sort_notes(t);
	}
	if (UNLIKELY(op < end))
		run_carefully(&w, s, op, end, record);
	if (insns == s->insn_count && s->statics[MODEL_STATIC_TAKEN] && t->taken)
		space_taken(t, s->statics[MODEL_STATIC_TAKEN]);
}
