/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the retirement clock: the handling of ports, lines and stores in the loop
 * over records (retire.c) and for instructions that are not simple (retire_general.c).
 */
#ifndef MODEL_RETIRE_LOOP_H
#define MODEL_RETIRE_LOOP_H

#include "model/retire.h"

#define INLINE      static inline __attribute__((always_inline))
#define NOINLINE    __attribute__((noinline))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Of struct retire_op. */
enum retire_way {
	RETIRE_PLAIN,    /* touches no memory */
	RETIRE_LOADS,    /* loads once, and then whatever it does */
	RETIRE_STORES,   /* stores once */
	RETIRE_GENERALLY /* anything */
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- why an instruction waits ---- */

enum { PHASES_MAX = 32 };

/* Its phases, other than waiting for operands or being executed, in the order of time; cycles. */
struct phase {
	uint64_t from, until;
	enum model_cause cause;
};

struct phases {
	uint32_t count;
	struct phase phase[PHASES_MAX];
};

static inline void add_phase(
	struct phases *p, enum model_cause cause, uint64_t from, uint64_t until)
{
	if (p->count < PHASES_MAX)
		p->phase[p->count++] = (struct phase){from, until, cause};
}

/* What is in the way of a walk through a record. */
struct walk {
	struct retire *t;
	const struct retire_note *note; /* the next op; the op after the last has no instruction */
	struct phases phases;
};

/* Charges insn with the time from `at` to `done` (parts), split by phases. */
void retire_explain(struct retire *t, const struct model_insn *insn, const struct phases *phases,
	uint64_t at, uint64_t done);

/* Any instruction: number i of the record, `last` if none follows in it. */
void retire_generally(struct walk *w, const struct model_segment *s, const uint64_t *record,
	unsigned i, int last);
/* Dispatches insn, which takes `cost`, when nothing delays it any more. */
void retire_go_on(struct retire *t, const struct model_insn *insn, uint64_t cost);

/* ---- fetch ---- */

/* Of a block that is otherwise prepared: its groups, and where they begin in its lines. */
void retire_count_groups(struct retire *t, const struct model_segment *s);
void retire_prepare_groups(
	const struct retire *t, const struct model_block *b, struct model_segment *s);
void retire_prepare_fetches(const struct retire *t, struct model_block *b);

/* ---- ports ---- */

/* retire_take and take_load if some resource is busy. */
uint64_t retire_take_later(struct retire *t, uint64_t at, uint32_t ports, uint32_t banks);

/* From `at` on: the cycle in which one of these ports is free; it is then taken. */
INLINE uint64_t retire_take(struct retire *t, uint64_t at, uint32_t ports)
{
	struct retire_cycle *c = &t->calendar[at % RETIRE_CALENDAR];
	uint32_t free = ports & ~c->busy;

	if (UNLIKELY(!free))
		return retire_take_later(t, at, ports, 0);
	c->busy |= free & -free & ~RETIRE_NO_PORT;
	return at;
}

/* The same for a load, which also needs its bank. */
INLINE uint64_t take_load(struct retire *t, uint64_t at, uint32_t ports, uint64_t address)
{
	struct retire_cycle *c = &t->calendar[at % RETIRE_CALENDAR];
	uint32_t free = ports & ~c->busy;
	uint32_t banks = t->bank_loads << (address >> 1 & 28), bank = banks & ~c->banks;

	if (UNLIKELY(!free) || UNLIKELY(!bank & (banks != 0)))
		return retire_take_later(t, at, ports, banks);
	c->busy |= free & -free & ~RETIRE_NO_PORT;
	c->banks |= bank & -bank;
	return at;
}

/* ---- places ---- */

/* All that the op takes. */
INLINE uint64_t retire_places(const struct retire_op *op)
{
	return op->waits + op->addresses + op->renames;
}

/* Not, too, where an instruction with several accesses took more places than there are. */
INLINE int has_places(const struct retire *t, uint64_t places)
{
	return (~(t->places - t->places_held - places) & RETIRE_PLACES_FREE & t->limited) == 0;
}

/* Until the cycle `until` is over, or no longer is remembered. */
INLINE void take_places(struct retire *t, uint64_t places, uint64_t until)
{
	uint64_t last = t->cleared + RETIRE_CALENDAR - 1;

	if (!places)
		return;
	until = later(until < last ? until : last, t->cleared);
	t->calendar[until % RETIRE_CALENDAR].leaving += places;
	t->places_held += places;
}

/* An instruction that is dispatched at `at` goes to the vector scheduler, in order, when there is
 * room: when. */
uint64_t retire_enter_vectors(struct retire *t, const struct retire_op *op, uint64_t at);

/* It begins at `begin`. */
INLINE void leave_vectors(struct retire *t, uint64_t begin)
{
	uint64_t until = begin + t->place_hold, last = t->vectors_came + RETIRE_CALENDAR - 1;

	t->vectors_leaving[(until < last ? until : last) % RETIRE_CALENDAR]++;
	t->vectors_held++;
}

/* The same of any scheduler. */
INLINE void leave_scheduler(struct retire *t, const struct retire_op *op, uint64_t begin)
{
	if (op->waits == RETIRE_PLACE_VECTOR)
		leave_vectors(t, begin);
	else
		take_places(t, op->waits, begin + t->place_hold);
}

/* What needs these places comes at `came` (parts), or later: when. */
uint64_t retire_wait_for_places(struct retire *t, uint64_t places, uint64_t came);

/* ---- loads and stores ---- */

/* The line of a load with data at `done` may be on its way: when it has them. */
uint64_t retire_wait_for_line(struct walk *w, uint64_t address, uint64_t done);

/* How the op names its address: the same only as long as the base register is not written, which
 * is known by when it was; 0: not by a base register alone. */
INLINE uint32_t retire_name(const struct retire *t, const struct retire_op *op)
{
	uint32_t written = (uint32_t)t->ready[op->for_address[0]];

	return op->key ? op->key + written * 0x9e3779b1u : 0;
}

/* s, one of the last stores, has the data of a load: when it has them. */
uint64_t retire_pass(struct retire *t, const struct retire_op *op, const struct retire_stored *s,
	uint64_t address, unsigned size, uint64_t done);

/* Do they have bytes in common? */
INLINE int retire_overlaps(const struct retire_stored *s, uint64_t address, unsigned size)
{
	return address - s->address < s->size || s->address - address < size;
}

/* Data arrive at `done`, unless a store has them: then when the store forwards them. */
INLINE uint64_t forwarded(struct retire *t, const struct retire_op *op, uint64_t address,
	unsigned size, uint64_t done)
{
	const struct retire_stored *s = &t->stored[(address >> 3) % RETIRE_STORED];

	if (LIKELY(s->address >> 3 != address >> 3))
		return done;
	if (UNLIKELY(!retire_overlaps(s, address, size))) {
		s = &t->stored_before[(address >> 3) % RETIRE_STORED];
		if (s->address >> 3 != address >> 3 || !retire_overlaps(s, address, size))
			return done;
	}
	if (LIKELY((uint32_t)t->stores - s->number > RETIRE_RENAMED))
		return later(done, s->ready + op->into_vector);
	return retire_pass(t, op, s, address, size, done);
}

INLINE uint64_t begin_load(
	struct walk *w, const struct retire_op *op, uint64_t address, uint64_t at)
{
	uint64_t begin = take_load(w->t, at, op->load_ports, address);

	if (UNLIKELY(begin != at))
		add_phase(&w->phases, MODEL_CAUSE_UNIT, at, begin + op->load);
	return begin;
}

/* Further granules of a store. */
void retire_store_rest(struct retire *t, uint64_t address, unsigned size, uint64_t ready);

/* The data of a store within a granule, or two: there at `ready`. name: retire_name, when it began.
 */
INLINE void store_data(struct retire *t, const struct retire_op *op, unsigned size,
	uint64_t address, uint32_t name, uint64_t ready)
{
	struct retire_stored *s = &t->stored[(address >> 3) % RETIRE_STORED];

	if (s->address >> 3 == address >> 3 &&
		(s->address < address || s->address + s->size > address + size))
		t->stored_before[(address >> 3) % RETIRE_STORED] = *s;
	*s = (struct retire_stored){address, ready + op->forward, ready + op->renamed, name,
		(uint32_t)t->stores, size < RETIRE_WHOLE ? RETIRE_LINKS : op->link,
		(uint8_t)(size < 64 ? size : 64)};
	t->last_of[op->link] = (uint32_t)t->stores;
	if (UNLIKELY((address + size - 1) >> 3 != address >> 3))
		retire_store_rest(t, address, size, ready + op->forward);
}

/* It retired at `gone`. */
INLINE void store_leaves(struct retire *t, uint64_t address, uint64_t gone)
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

#endif
