/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock.  After the dependence-driven view of a core (Fields, Rubin and Bodik,
 * "Focusing processor policies via critical-path prediction", ISCA 2001: an instruction comes,
 * executes, retires, each bounded by times of earlier ones), evaluated once per instruction as the
 * program goes along; some tens of machine instructions each.
 *
 * - Instructions come in order, one a slot, when the one `window` places before has retired and
 *   the front end delivers: a fetch that misses, a redirection, taken branches too close and a full
 *   store buffer hold all that follow.
 * - A load goes to memory when its address is known and a load unit is free; it has its data after
 *   the first level's latency, or when its line arrives, or when the store has them whose bytes it
 *   reads.  A line on its way keeps one of `misses` requests, and its sender sends one in an
 *   interval.  A load that finds its line on its way waits for it.
 * - What else an instruction does begins when all operands are there and a unit is free.  Units are
 *   kept in a calendar by cycle, so that an instruction that waits keeps nobody from overtaking.
 * - Instructions retire in order, one a slot, in the last cycle of their execution.  Stores then go
 *   to the first level in order, each when its line is there.
 *
 * What a retirement comes later than one slot behind the one before is a stall of that instruction,
 * as a counter at retirement would show it, and is split by what it was waiting for at the time: an
 * operand that is late because of a miss was charged to the load, which had to retire first.
 *
 * Known deviations: nothing wrong-path; a fetch begins when the instruction before has come, so a
 * front end that runs ahead hides nothing; ages of units' choices are by program order; loads pass
 * stores with unknown addresses always, and rightly; requests of lines are found free by program
 * order, and remembered only as long as their tables last.
 */
#include "model/retire.h"

#define NOINLINE    __attribute__((noinline))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- the machine ---- */

enum unit {
	LOADS,
	STORES,
	ALUS,
	MULTIPLIERS,
	FP_ADDERS,
	FP_MULTIPLIERS,
	VECTORS,
	SHUFFLES,
	NO_UNIT
};

_Static_assert((int)NO_UNIT == (int)RETIRE_UNITS,
	"a calendar's entry has four bits for each kind of unit");
_Static_assert(MODEL_RESULT + MODEL_BLOCK_INSNS_MAX <= MODEL_SLOT_SINK, "slots of results");

static const uint8_t unit_of[MODEL_LATENCIES] = {
	[MODEL_LATENCY_NONE] = NO_UNIT,
	[MODEL_LATENCY_ALU] = ALUS,
	[MODEL_LATENCY_STORE] = STORES,
	[MODEL_LATENCY_VECTOR_LOAD] = NO_UNIT,
	[MODEL_LATENCY_MULTIPLY] = MULTIPLIERS,
	[MODEL_LATENCY_FP_ADD] = FP_ADDERS,
	[MODEL_LATENCY_FP_MULTIPLY] = FP_MULTIPLIERS,
	[MODEL_LATENCY_FUSED] = FP_MULTIPLIERS,
	[MODEL_LATENCY_CONVERT] = FP_ADDERS,
	[MODEL_LATENCY_VECTOR] = VECTORS,
	[MODEL_LATENCY_VECTOR_MULTIPLY] = FP_MULTIPLIERS,
	[MODEL_LATENCY_SHUFFLE] = SHUFFLES,
	[MODEL_LATENCY_MOVE] = VECTORS,
	[MODEL_LATENCY_CRYPTO] = SHUFFLES,
	[MODEL_LATENCY_MICROCODE] = NO_UNIT,
	[MODEL_LATENCY_DIVIDE] = NO_UNIT,
	[MODEL_LATENCY_FP_DIVIDE] = NO_UNIT,
	[MODEL_LATENCY_LOCKED] = NO_UNIT,
	[MODEL_LATENCY_SERIALISING] = NO_UNIT,
};

static void set_unit(struct retire_kind *k, uint32_t count, enum unit unit)
{
	if (unit == NO_UNIT || !count || count > 15)
		return;
	k->mask = UINT32_C(15) << 4 * unit;
	k->limit = count << 4 * unit;
	k->one = UINT32_C(1) << 4 * unit;
}

static void init_units(struct retire *t, const struct model_execution_config *e)
{
	const uint32_t count[RETIRE_UNITS] = {e->loads, e->stores, e->alus, e->multipliers,
		e->fp_adders, e->fp_multipliers, e->vectors, e->shuffles};
	int i;

	set_unit(&t->load, count[LOADS], LOADS);
	for (i = 0; i < MODEL_LATENCIES; i++) {
		enum unit unit = (enum unit)unit_of[i];

		if (unit == FP_ADDERS && !count[FP_ADDERS])
			unit = FP_MULTIPLIERS;
		set_unit(&t->kind[i], unit == NO_UNIT ? 0 : count[unit], unit);
	}
}

/* The least latency is a cycle. */
static uint32_t at_least_one(uint32_t cycles)
{
	return cycles ? cycles : 1;
}

static void init_latencies(struct retire *t, const struct model_config *config)
{
	const struct model_execution_config *e = &config->execution;
	const uint32_t cycles[MODEL_LATENCIES] = {
		[MODEL_LATENCY_NONE] = 0,
		[MODEL_LATENCY_ALU] = 1,
		[MODEL_LATENCY_STORE] = 1,
		[MODEL_LATENCY_VECTOR_LOAD] = e->vector_load,
		[MODEL_LATENCY_MULTIPLY] = at_least_one(e->multiply),
		[MODEL_LATENCY_FP_ADD] = at_least_one(e->fp_add),
		[MODEL_LATENCY_FP_MULTIPLY] = at_least_one(e->fp_multiply),
		[MODEL_LATENCY_FUSED] = at_least_one(e->fused),
		[MODEL_LATENCY_CONVERT] = at_least_one(e->convert),
		[MODEL_LATENCY_VECTOR] = at_least_one(e->vector),
		[MODEL_LATENCY_VECTOR_MULTIPLY] = at_least_one(e->vector_multiply),
		[MODEL_LATENCY_SHUFFLE] = at_least_one(e->shuffle),
		[MODEL_LATENCY_MOVE] = at_least_one(e->move),
		[MODEL_LATENCY_CRYPTO] = at_least_one(e->crypto),
		[MODEL_LATENCY_MICROCODE] = at_least_one(e->microcode),
		[MODEL_LATENCY_DIVIDE] = at_least_one(e->divide),
		[MODEL_LATENCY_FP_DIVIDE] = at_least_one(e->fp_divide),
		[MODEL_LATENCY_LOCKED] = config->lock_latency > config->l1d.latency
						 ? config->lock_latency - config->l1d.latency
						 : 1,
		[MODEL_LATENCY_SERIALISING] = 1,
	};
	int i;

	for (i = 0; i < MODEL_LATENCIES; i++)
		t->kind[i].latency = cycles[i] * config->width;
}

void retire_init(struct retire *t, const struct model_config *config)
{
	const struct model_execution_config *e = &config->execution;
	uint32_t width = config->width;

	t->width = width;
	t->window = config->window < RETIRE_WINDOW_MAX ? config->window : RETIRE_WINDOW_MAX;
	t->misses = config->misses;
	t->store_buffer = config->store_buffer ? config->store_buffer : RETIRE_STORES_MAX;
	t->reciprocal = ((UINT64_C(1) << 63) + width - 1) / width;
	init_units(t, e);
	init_latencies(t, config);
	t->load.latency = at_least_one(config->l1d.latency) * width;
	t->forward = e->forward * width;
	t->mispredict = config->mispredict_penalty * width;
	t->taken = config->taken_interval * width;
	t->drain = e->stores ? width / e->stores : 0;
	t->divide = config->divide_latency * width;
	t->fp_divide = config->fp_divide_latency * width;
	t->interval[0] = config->l2_interval * width;
	t->interval[1] = config->ll_interval * width;
	t->interval[2] = config->memory_interval * width;
	t->line_bits = 31 - (uint32_t)__builtin_clz(config->l1d.line | 1);
}

uint64_t retire_cycles(const struct retire *t, uint64_t *cycles)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < MODEL_CAUSES; i++) {
		cycles[i] = (i == MODEL_CAUSE_BASE ? t->instructions : t->slots[i]) / t->width;
		sum += cycles[i];
	}
	return sum;
}

/* ---- what is shared by instructions ---- */

NOINLINE void retire_tell(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t slots)
{
	/* Rows are the model's own, in blocks that nobody else writes to. */
	rows_add(t->rows, (uint32_t *)(uintptr_t)&insn->row, MODEL_ROW_CAUSES + (unsigned)cause,
		slots);
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t *calendar_entry(struct retire *t, uint64_t cycle)
{
	uint64_t *entry = &t->calendar[cycle % RETIRE_CALENDAR];

	if (*entry >> 32 != (uint32_t)cycle)
		*entry = cycle << 32;
	return entry;
}

/* All units are busy in `cycle`: takes one in the next in which not, and tells when that begins.
 * Cycles that were found full last time are not looked at again. */
static NOINLINE uint64_t take_unit_later(
	struct retire *t, uint64_t cycle, const struct retire_kind *k)
{
	struct retire_full *f = &t->full[(unsigned)__builtin_ctz(k->one) / 4];
	uint64_t first = cycle, *entry;

	for (;; cycle++) {
		if (cycle >= f->from && cycle < f->until)
			cycle = f->until;
		entry = calendar_entry(t, cycle);
		if (((uint32_t)*entry & k->mask) < k->limit)
			break;
	}
	*entry += k->one;
	if (first < f->from || first > f->until)
		f->from = first;
	f->until = cycle;
	return cycle * t->width;
}

/* From `at` on, when a unit is free; it is taken. */
static inline uint64_t take_unit(struct retire *t, uint64_t at, const struct retire_kind *k)
{
	uint64_t cycle, *entry;

	if (!k->one)
		return at;
	cycle = (uint64_t)((unsigned __int128)(at << 1) * t->reciprocal >> 64);
	entry = calendar_entry(t, cycle);
	if (UNLIKELY(((uint32_t)*entry & k->mask) >= k->limit))
		return take_unit_later(t, cycle, k);
	*entry += k->one;
	return at;
}

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

/* Asks for the line of an address: when it is there. */
static uint64_t request_line(struct retire *t, uint64_t at, const struct retire_note *note)
{
	uint32_t level = (note->cause - (uint32_t)MODEL_CAUSE_L2), sender = level == 3 ? 1 : level;
	uint64_t latency = (uint64_t)note->latency * t->width, interval = t->interval[sender], n;
	uint64_t begin = take_request(t, at, latency), end;
	uint64_t line = note->address >> t->line_bits;
	struct retire_line *l = &t->lines[line % RETIRE_LINES];

	if (interval) {
		for (n = begin / interval; t->sent[sender][n % RETIRE_INTERVALS] == n + 1; n++)
			;
		t->sent[sender][n % RETIRE_INTERVALS] = n + 1;
		begin = later(begin, n * interval);
	}
	end = begin + latency;
	*l = (struct retire_line){line, end, note->cause};
	t->arrival = later(t->arrival, end);
	return end;
}

/* Nothing comes before `until`; insn, which is next, has to wait. */
static void hold(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t until)
{
	if (until > t->gone + 1) {
		retire_charge(t, insn, cause, until - t->gone - 1);
		t->gone = until - 1;
	}
	t->came = later(t->came + 1, until) - 1;
}

/* ---- why an instruction waits ---- */

enum { PHASES_MAX = 32 };

/* What it did, other than wait for operands or be executed, in the order of time. */
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

/* The time from `at` to `done`, split by phases, is insn's to bear. */
static NOINLINE void explain(struct retire *t, const struct model_insn *insn,
	const struct phases *phases, uint64_t at, uint64_t done)
{
	uint64_t other = done - at;
	uint32_t i;

	for (i = 0; i < phases->count; i++) {
		const struct phase *p = &phases->phase[i];
		uint64_t from = later(at, p->from), until = p->until < done ? p->until : done;

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
static NOINLINE uint64_t load_noted(struct walk *w, const struct model_insn *insn, uint64_t at)
{
	struct retire *t = w->t;
	uint64_t line = 0, hit = t->load.latency;

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
			uint64_t there = at + (uint64_t)w->note->latency * t->width;

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
	uint64_t from = done;

	done = later(done, w->t->drained) + (uint64_t)w->note++->latency * w->t->width;
	add_phase(&w->phases, MODEL_CAUSE_FORWARD, from, done);
	return done;
}

static inline int happens(const struct model_access *a, uint64_t address)
{
	return !a->guarded || address;
}

/* at: when the address is known.  When the data are there. */
static inline uint64_t load(
	struct walk *w, const struct model_insn *insn, uint64_t address, uint64_t at, int noted)
{
	struct retire *t = w->t;
	const struct retire_stored *s = &t->stored[(address >> 3) % RETIRE_STORED];
	uint64_t begin, done;

	at = later(at, t->barrier);
	begin = take_unit(t, at, &t->load);
	if (UNLIKELY(begin != at))
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, begin + t->load.latency);
	done = begin + t->load.latency;
	if (UNLIKELY(noted) && w->note->insn == insn)
		done = load_noted(w, insn, begin);
	done = later(done, s->ready & -(uint64_t)(s->granule == address >> 3));
	if (UNLIKELY(noted) && w->note->insn == insn && w->note->what == RETIRE_FORWARD)
		done = load_fails(w, done);
	if (UNLIKELY(begin < t->arrival)) {
		uint64_t line = address >> t->line_bits;
		const struct retire_line *l = &t->lines[line % RETIRE_LINES];

		if (l->line == line && l->ready > done) {
			add_phase(&w->phases, (enum model_cause)l->cause, done, l->ready);
			done = l->ready;
		}
	}
	return done;
}

/* Its line or its translation comes late: when it is there. */
static NOINLINE uint64_t store_noted(struct walk *w, const struct model_insn *insn, uint64_t gone)
{
	struct retire *t = w->t;
	uint64_t there = 0;

	for (; w->note->insn == insn && w->note->what == RETIRE_STORE; w->note++)
		there = later(there, is_level((enum model_cause)w->note->cause)
					     ? request_line(t, gone, w->note)
					     : gone + (uint64_t)w->note->latency * t->width);
	return there;
}

/* One store that retired at `gone`, its data there at `ready`. */
static inline void store(struct walk *w, const struct model_insn *insn, uint64_t address,
	unsigned size, uint64_t ready, uint64_t gone, int noted)
{
	struct retire *t = w->t;
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;
	uint64_t leaves = later(t->drained + t->drain, gone);

	if (UNLIKELY(last - granule > 7))
		last = granule + 7;
	ready += t->forward;
	for (; granule <= last; granule++)
		t->stored[granule % RETIRE_STORED] = (struct retire_stored){granule, ready};
	if (UNLIKELY(noted))
		leaves = later(leaves, store_noted(w, insn, gone));
	t->drained = leaves;
	t->store_left[t->stores++ % RETIRE_STORES_MAX] = leaves;
}

/* ---- instructions ---- */

/* What an instruction's coming waits for: notes, and if it stores, room in the store buffer. */
static NOINLINE void come_late(struct walk *w, const struct model_insn *insn, uint64_t room)
{
	struct retire *t = w->t;

	for (; w->note->insn == insn && w->note->what == RETIRE_FETCH; w->note++)
		hold(t, insn, (enum model_cause)w->note->cause,
			t->came + 1 + (uint64_t)w->note->latency * t->width);
	hold(t, insn, MODEL_CAUSE_STORE_BUFFER, room);
}

/* Those of enum model_latency that are special, operands there at `at`: when it is done. */
static NOINLINE uint64_t execute_special(struct walk *w, enum model_latency kind, uint64_t at)
{
	struct retire *t = w->t;
	uint64_t begin = at, done;

	if (kind == MODEL_LATENCY_DIVIDE || kind == MODEL_LATENCY_FP_DIVIDE) {
		begin = later(at, t->divider_free);
		t->divider_free = begin + (kind == MODEL_LATENCY_DIVIDE ? t->divide : t->fp_divide);
		done = begin + t->kind[kind].latency;
		add_phase(&w->phases, MODEL_CAUSE_DIVIDER, at, done);
		return done;
	}
	if (kind == MODEL_LATENCY_LOCKED) {
		done = at + t->kind[kind].latency;
		add_phase(&w->phases, MODEL_CAUSE_LOCKED, 0, done);
		t->barrier = done;
		return done;
	}
	done = later(later(at, t->gone + 1), later(t->drained, t->divider_free)) +
	       t->kind[kind].latency;
	add_phase(&w->phases, MODEL_CAUSE_SERIALISING, t->gone, done);
	t->redirected = later(t->gone + 1, done - t->width) + t->mispredict + 1;
	t->redirected_by = MODEL_CAUSE_SERIALISING;
	return done;
}

/* The notes of an instruction that has retired which nothing has asked for yet. */
static NOINLINE void take_notes(struct walk *w, const struct model_insn *insn, uint64_t done)
{
	struct retire *t = w->t;

	for (; w->note->insn == insn; w->note++) {
		if (w->note->what == RETIRE_PREFETCH) {
			request_line(t, done, w->note);
		} else if (w->note->what == RETIRE_MISPREDICT) {
			t->redirected = later(t->came, later(done, t->width) - t->width) +
					t->mispredict + 1;
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
	if (t->notes < RETIRE_NOTES_MAX)
		t->note[t->notes++] =
			(struct retire_note){insn, address, latency, (uint8_t)what, (uint8_t)cause};
}

/* Does an access load, or store? */
static inline int loads(unsigned kind)
{
	return kind == MODEL_ACCESS_LOAD || kind == MODEL_ACCESS_MODIFY;
}

static inline int stores(unsigned kind)
{
	return kind == MODEL_ACCESS_STORE || kind == MODEL_ACCESS_MODIFY;
}

/* Several accesses. */
static NOINLINE uint64_t load_all(struct walk *w, const struct model_insn *insn,
	const struct model_access *a, const uint64_t *address, unsigned n, uint64_t from)
{
	uint64_t done = from;

	for (; n > 0; n--, a++, address++)
		if (loads(a->kind) && happens(a, *address))
			done = later(done, load(w, insn, *address, from, 1));
	return done;
}

static NOINLINE void store_all(struct walk *w, const struct model_insn *insn,
	const struct model_access *a, const uint64_t *address, unsigned n, uint64_t ready,
	uint64_t gone)
{
	for (; n > 0; n--, a++, address++)
		if (stores(a->kind) && happens(a, *address))
			store(w, insn, *address, a->size, ready, gone, 1);
}

/* How many accesses of an instruction there are words for: of the last one not always all. */
static NOINLINE unsigned executed(const struct model_segment *s, const struct model_insn *insn)
{
	unsigned left = s->access_count - insn->first_access;

	return insn->access_count < left ? insn->access_count : left;
}

static NOINLINE int any_stores(const struct model_access *a, unsigned n)
{
	for (; n > 0; n--, a++)
		if (stores(a->kind))
			return 1;
	return 0;
}

/* A locked instruction waits until it is alone. */
static NOINLINE uint64_t be_alone(struct walk *w, uint64_t from, uint64_t gone)
{
	uint64_t alone = later(gone, w->t->drained);

	add_phase(&w->phases, MODEL_CAUSE_LOCKED, from, alone);
	return later(from, alone);
}

/* After the last instruction of a record; `taken` branches were. */
static void space_taken(struct retire *t, unsigned taken)
{
	t->taken_last = later(t->came, t->taken_last + (uint64_t)taken * t->taken);
	if (t->taken_last > t->came && t->taken_last + 1 > t->redirected) {
		t->redirected = t->taken_last + 1;
		t->redirected_by = MODEL_CAUSE_TAKEN;
	}
}

/* What follows insn comes late. */
static NOINLINE void redirect(
	struct walk *w, const struct model_insn *insn, const struct model_insn *end, uint64_t done)
{
	struct retire *t = w->t;

	take_notes(w, insn, done);
	if (t->redirected && insn + 1 < end) {
		hold(t, insn + 1, (enum model_cause)t->redirected_by, t->redirected);
		t->redirected = 0;
	}
}

void retire_record(
	struct retire *t, const struct model_segment *s, const uint64_t *record, unsigned insns)
{
	const struct model_insn *insn = s->block->insns, *end = insn + insns;
	const struct model_access *accesses = s->block->accesses;
	struct walk w;
	uint64_t came, gone, order = t->instructions, width = t->width, waited = 0;
	uint64_t *ready = t->ready, *result = ready + MODEL_RESULT;

	w.t = t;
	w.note = t->note;
	w.phases.count = 0;
	sort_notes(t);
	if (t->redirected) {
		hold(t, insn, (enum model_cause)t->redirected_by, t->redirected);
		t->redirected = 0;
	}
	came = t->came;
	gone = t->gone;
	for (; insn < end; insn++) {
		const struct retire_kind *k = &t->kind[insn->latency];
		const struct model_access *a = &accesses[insn->first_access];
		const uint64_t *address = &record[1 + insn->first_access];
		uint64_t at, done, room = 0;
		unsigned n = insn->access_count;
		int noted = w.note->insn == insn;

		if (n && (n == 1 ? stores(a->kind) : any_stores(a, n)))
			room = t->store_left[(t->stores - t->store_buffer) % RETIRE_STORES_MAX];
		if (UNLIKELY(noted | (room > came + 1))) {
			t->came = came;
			t->gone = gone;
			come_late(&w, insn, room);
			came = t->came;
			gone = t->gone;
		}
		came = later(came + 1, t->retired[(order - t->window) % RETIRE_WINDOW_MAX]);
		at = later(came, later(ready[insn->source[0]], ready[insn->source[1]]));
		if (UNLIKELY(insn->source[2] != MODEL_SLOT_NONE))
			at = later(at, later(ready[insn->source[2]], ready[insn->source[3]]));
		if (n) {
			uint64_t from = later(came,
				later(ready[insn->for_address[0]], ready[insn->for_address[1]]));

			if (UNLIKELY(insn->latency == MODEL_LATENCY_LOCKED))
				from = be_alone(&w, from, gone);
			if (insn + 1 == end)
				n = executed(s, insn);
			if (UNLIKELY(n > 1))
				from = load_all(&w, insn, a, address, n, from);
			else if (n && loads(a->kind) && happens(a, *address))
				from = load(&w, insn, *address, from, noted);
			at = later(at, from);
		}
		if (LIKELY(insn->latency < MODEL_LATENCY_SPECIAL)) {
			done = take_unit(t, at, k) + k->latency;
			if (UNLIKELY(done != at + k->latency))
				add_phase(&w.phases, MODEL_CAUSE_UNIT, at, done);
		} else {
			t->gone = gone;
			done = execute_special(&w, (enum model_latency)insn->latency, at);
		}
		*result++ = done;
		ready[insn->result[0]] = done;
		if (insn->result[1] != MODEL_SLOT_SINK) {
			ready[insn->result[1]] = done;
			ready[insn->result[2]] = done;
		}
		gone++;
		at = later(done, gone + width) - width;
		if (LIKELY(!w.phases.count)) {
			waited += at - gone;
			if (UNLIKELY(t->rows != 0) && at > gone)
				retire_tell(t, insn, MODEL_CAUSE_DEPENDENCY, at - gone);
		} else {
			if (at > gone)
				explain(t, insn, &w.phases, gone + width, done);
			w.phases.count = 0;
		}
		gone = at;
		t->retired[order++ % RETIRE_WINDOW_MAX] = gone;
		if (UNLIKELY(n > 1))
			store_all(&w, insn, a, address, n, done, gone);
		else if (n && stores(a->kind) && happens(a, *address))
			store(&w, insn, *address, a->size, done, gone, noted);
		if (UNLIKELY(noted | (insn->latency == MODEL_LATENCY_SERIALISING))) {
			t->came = came;
			t->gone = gone;
			redirect(&w, insn, end, done);
			came = t->came;
			gone = t->gone;
		}
	}
	t->came = came;
	t->gone = gone;
	t->instructions = order;
	t->slots[MODEL_CAUSE_DEPENDENCY] += waited;
	if (insns == s->insn_count && s->statics[MODEL_STATIC_TAKEN] && t->taken)
		space_taken(t, s->statics[MODEL_STATIC_TAKEN]);
}
