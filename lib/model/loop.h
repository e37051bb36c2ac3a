/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the loop over records (loop.c) and the code of segments (jit.h) share. */
#ifndef MODEL_LOOP_H
#define MODEL_LOOP_H

#include "model/run.h"

/*
 * The part of the first-order clock that the loop keeps in variables of its own while it runs: the
 * order of the last instruction, and `free`, the order from which on a taken branch need not wait
 * for the one before. `free` is the clock's taken_free minus the front and back stalls until then.
 * At order `stop` an instruction has to wait, or the loop is to end.
 */
struct pace {
	uint64_t tick, order, free, stop;
};

INLINE void loop_leave(struct model *m, struct clock *c, const struct pace *p)
{
	m->tick = p->tick;
	c->order = p->order;
	c->taken_free = p->free + c->front + c->back;
}

/* Instructions after which a stop is due at the latest: the store buffer has to look at its
 * numbers.
 */
#define STOP_MOST 8192

INLINE uint64_t loop_stop(const struct clock *c, uint64_t order, uint64_t limit)
{
	uint64_t stop = order + STOP_MOST;

	stop = c->next_wait < stop ? c->next_wait : stop;
	return stop < limit ? stop : limit;
}

INLINE void loop_enter(const struct model *m, const struct clock *c, struct pace *p, uint64_t limit)
{
	p->tick = m->tick;
	p->order = c->order;
	p->free = c->taken_free - c->front - c->back;
	p->stop = loop_stop(c, p->order, limit);
}

/* Does the load, within one granule, overlap a store, except by getting all of its bytes from it?
 */
INLINE int loop_may_meet(const struct model *m, const struct store_buffer *b, uint32_t window,
	uint64_t address, unsigned size, uint64_t order)
{
	const struct buffered_store *s;
	unsigned back;

	if (LIKELY((uint32_t)order - b->orders[address / 8 % (STORE_BYTES / 8)] > window))
		return 0;
	back = forward_back_near(b, address, size);
	if (LIKELY(back > m->config.store_buffer))
		return 0;
	s = &b->ring[(b->number - back) % STORES_MAX];
	return !forward_covers(s, address, size) && (uint32_t)order - s->order <= window;
}

/* May a store go to the line, and into the buffer? */
INLINE int loop_may_store(const struct core *core, uint64_t address, const unsigned parts)
{
	return LIKELY(core->storable[(address >> COMMON_LINE) % LINE_SLOTS]) &&
	       (!(parts & MODEL_PART_STORES) ||
		       LIKELY(core->stores.number < core->clock.stores_full));
}

/* An access that may change more than the times of its line and page. All state has been brought
 * up to date, to the instruction before the record; only the clock's order changes without need. */
void loop_access(struct model *m, const struct model_segment *s, const struct model_access *a,
	uint64_t address);
/* A branch that is neither conditional nor a direct jump. All state has been brought up to date. */
void loop_outcome(struct model *m, const struct model_segment *s, const struct model_outcome *o,
	const uint64_t *record);

#endif
