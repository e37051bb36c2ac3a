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

INLINE uint64_t loop_stop(const struct clock *c, uint64_t limit)
{
	return c->next_wait < limit ? c->next_wait : limit;
}

/* In windows of the sampled clock, code stops after each record, which then goes to the retirement
 * clock. */
INLINE uint64_t loop_stop_code(const struct model *m, uint64_t limit)
{
	return m->sampled && m->core->retire ? 0 : loop_stop(&m->core->clock, limit);
}

INLINE void loop_enter(const struct model *m, const struct clock *c, struct pace *p, uint64_t limit)
{
	p->tick = m->tick;
	p->order = c->order;
	p->free = c->taken_free - c->front - c->back;
	p->stop = loop_stop(c, limit);
}

/* Does the load, within one granule, overlap a store, except by getting all of its bytes from it?
 */
INLINE int loop_may_meet(const struct model *m, const struct store_buffer *b, uint64_t address,
	unsigned size, uint64_t order)
{
	struct buffered_store s;

	if (LIKELY(!forward_is_near_granule(b, address, size, order)))
		return 0;
	s = forward_search_granule(b, m->config.store_buffer, address, size, order);
	return s.size && !forward_covers(s, address, size);
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
