/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modelled cycle count: a first-order interval model (after Karkhanis and Smith, "A first-order
 * superscalar processor model", ISCA 2004, and Eyerman et al., TOCS 27(2), 2009, section 3),
 * evaluated during execution instead of from averages.
 *
 * - An instruction takes one slot, 1/width of a cycle: the base.
 * - The front end delivers nothing while an instruction line or page is fetched, nor for
 *   mispredict_penalty cycles after a misprediction. These are charged in full.
 * - A load whose data come after L cycles blocks retirement only when the `window` instructions
 *   after it have been taken in: instruction i + window waits until the load of instruction i has
 *   its data. So a latency of up to window/width cycles is hidden, misses less than a window apart
 *   overlap, and only the part that nothing covers is charged. The same rule holds for the divider,
 *   which does one division after another.
 * - At most config.misses loads can wait for lines at once; others take turns, so that a stream of
 *   misses costs at least latency / misses each (Little's law). Each level sends a core at most one
 *   line per interval (config.l2_interval, ll_interval, memory_interval): its bandwidth.
 * - Fetch continues after at most one taken branch in taken_interval cycles.
 * - A missing store waits in the store buffer; the program waits when the buffer has become full of
 *   later stores.
 * - A locked instruction waits for its own data and lock_latency; a serialising one for all
 *   outstanding work, and for the refill of the pipeline.
 *
 * Charged cycles advance the time, so that stalls that coincide are charged once: cycles are base +
 * front + back. Integer arithmetic in slots; constant cost per event. Known deviations: dependences
 * between instructions are not known here, so a chain of loads of which each needs the one before
 * overlaps when it should not, and latencies of arithmetic do not appear.
 */
#include "model/state.h"

static void wait_until(struct clock *c, uint64_t time)
{
	uint64_t now = clock_now(c);

	if (time > now)
		c->back += time - now;
}

/* Charges the wait for the head of the queue, for instructions that began after its order. Call it
 * before time is advanced otherwise. */
void clock_wait(struct clock *c)
{
	while (c->count && c->queue[c->first].order <= c->order) {
		const struct waiting *w = &c->queue[c->first];
		uint64_t now = w->order + c->front + c->back;

		if (w->ready > now)
			c->back += w->ready - now;
		c->first = (c->first + 1) % WAITING_MAX;
		c->count--;
	}
	c->next_wait = c->count ? c->queue[c->first].order : NEVER;
}

static void clock_enqueue(struct model *m, struct clock *c, uint64_t ready)
{
	struct waiting *last = &c->queue[(c->first + c->count - 1) % WAITING_MAX];

	if (c->count && last->ready >= ready)
		return; /* a wait for that one covers this one */
	if (c->count == WAITING_MAX) {
		last->ready = ready;
		return;
	}
	last = &c->queue[(c->first + c->count) % WAITING_MAX];
	last->order = c->order + m->config.window;
	last->ready = ready;
	if (!c->count++)
		c->next_wait = last->order;
}

/* When a load that misses now has its data: each holds a miss register until then, and if all are
 * held it begins when the oldest is free. */
static uint64_t miss_ready(struct clock *c, uint32_t misses, uint64_t latency)
{
	uint64_t begin = clock_now(c);

	if (!misses)
		return begin + latency;
	if (c->under_way[c->oldest_miss] > begin)
		begin = c->under_way[c->oldest_miss];
	c->under_way[c->oldest_miss] = begin + latency;
	c->oldest_miss = c->oldest_miss + 1 < misses ? c->oldest_miss + 1 : 0;
	return begin + latency;
}

void clock_load(struct model *m, struct core *core, uint64_t latency)
{
	struct clock *c = &core->clock;
	uint64_t ready;

	if (!m->timed)
		return;
	if (core->class_bits & MODEL_LOCKED) {
		c->back += latency;
		return;
	}
	ready = miss_ready(c, m->config.misses, latency);
	if (ready - clock_now(c) >
		m->config.window) /* else the window hides it, whatever follows */
		clock_enqueue(m, c, ready);
}

void clock_store(struct model *m, struct core *core, uint64_t latency)
{
	struct clock *c = &core->clock;
	uint64_t now = clock_now(c), ready = now + latency;

	if (!m->timed)
		return;
	if (core->class_bits & MODEL_LOCKED) {
		c->back += latency;
		return;
	}
	if (now >= c->stores_ready)
		c->stores_full =
			core->stores.number + m->config.store_buffer - (m->config.store_buffer > 0);
	if (ready > c->stores_ready)
		c->stores_ready = ready;
}

/* A store comes when the buffer is full of stores that follow a missing one. */
void clock_store_full(struct clock *c)
{
	wait_until(c, c->stores_ready);
	c->stores_full = NEVER;
}

void clock_divide(struct model *m, struct core *core, uint64_t busy)
{
	struct clock *c = &core->clock;
	uint64_t now = clock_now(c);

	if (c->divider_free < now)
		c->divider_free = now;
	c->divider_free += busy;
	if (c->divider_free - now > m->config.window)
		clock_enqueue(m, c, c->divider_free);
}

void clock_drain(struct model *m, struct core *core)
{
	struct clock *c = &core->clock;

	if (c->count)
		wait_until(c, c->queue[(c->first + c->count - 1) % WAITING_MAX].ready);
	wait_until(c, c->divider_free);
	wait_until(c, c->stores_ready);
	c->count = 0;
	c->next_wait = NEVER;
	c->stores_full = NEVER;
	c->front += m->mispredict;
}

void clock_flush_retired(struct model *m, struct core *core)
{
	struct retire *t = core->clocked;
	uint64_t cycles[MODEL_CAUSES];
	unsigned i;

	retire_cycles(t, cycles);
	for (i = 0; i < MODEL_CAUSES; i++) {
		uint64_t so_far = cycles[i];

		cycles[i] -= t->counted[i];
		t->counted[i] = so_far;
		core->counts[EV_CYCLES] += cycles[i];
		if (m->clock_sums && !m->sampled)
			m->clock_sums->causes[i].value += (double)cycles[i];
	}
	core->counts[EV_BACKEND_STALLS] += retire_stalls(cycles, model_cause_is_back);
	core->counts[EV_FRONTEND_STALLS] += retire_stalls(cycles, model_cause_is_front);
}

/* Brings the counts of the core's thread up to date; parts of a cycle stay for the next time. */
void clock_flush(struct model *m, struct core *core)
{
	struct clock *c = &core->clock;
	uint64_t width = m->config.width;
	uint64_t cycles = (clock_now(c) - c->now_done) / width;
	uint64_t front = (c->front - c->front_done) / width;
	uint64_t back = (c->back - c->back_done) / width;

	if (m->sampled) {
		sampled_clock_flush(m, core);
		return;
	}
	if (core->retire) {
		clock_flush_retired(m, core);
		return;
	}
	c->now_done += cycles * width;
	c->front_done += front * width;
	c->back_done += back * width;
	core->counts[EV_CYCLES] += cycles;
	core->counts[EV_FRONTEND_STALLS] += front;
	core->counts[EV_BACKEND_STALLS] += back;
}

void model_set_clock_sums(struct model *m, struct model_clock_sums *sums)
{
	m->clock_sums = sums;
}
