/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of cycles. The clocks have no single occurrences to report, so after each record the time
 * that passed in it is charged.
 *
 * The retirement clock has the time of each instruction: the slots from the retirement of the one
 * before to its own. The first-order clock has only the waits of a whole record: each instruction
 * gets one slot, and all waits are charged to the last instruction with a miss or misprediction, or
 * to the last one if there is none.
 */
#include "model/retire.h"
#include "model/state.h"
#include "model/watch.h"

enum { CYCLES, FRONT, BACK, CLOCKS };

/* Slots so far. */
static uint64_t read_clock(const struct core *core, unsigned which)
{
	const struct retire *t = core->retire;
	const struct clock *c = &core->clock;

	switch (which) {
	case CYCLES:
		return t ? t->gone : clock_now(c);
	case FRONT:
		return t ? retire_stalls(t->slots, model_cause_is_front) : c->front;
	default:
		return t ? retire_stalls(t->slots, model_cause_is_back) : c->back;
	}
}

static unsigned clock_of(unsigned event)
{
	return event == EV_CYCLES ? CYCLES : event == EV_FRONTEND_STALLS ? FRONT : BACK;
}

/* The instruction that waited, in a record that retired `retired` instructions from order `first`
 * on. */
static unsigned find_waiter(
	const struct model_watch *w, const struct core *core, uint64_t first, unsigned retired)
{
	const struct model *m = w->model;
	const struct model_segment *s = w->segment;
	const struct retire *t = core->retire;
	uint64_t before = w->clock_at[CYCLES], most = 0;
	unsigned i, found = s->insn_count ? s->insn_count - 1u : 0;

	if (!t)
		return m->insn >= s->block->insns && m->insn <= s->block->insns + found
			       ? (unsigned)(m->insn - s->block->insns)
			       : found;
	for (i = 0; i < retired; i++) {
		uint64_t gone = t->retired[(first + i) & t->retired_mask];

		if (gone - before > most) {
			most = gone - before;
			found = i;
		}
		before = gone;
	}
	return found;
}

/* Cycles of a record: which instruction each overflow is in. */
static void walk_cycles(struct model_watch *w, unsigned sampler, const struct core *core,
	uint64_t passed, uint64_t first, unsigned retired)
{
	const struct retire *t = core->retire;
	unsigned i, n = w->segment->insn_count;
	unsigned waiter = t ? 0 : find_waiter(w, core, first, retired);
	uint64_t before = w->clock_at[CYCLES], waits = passed > n ? passed - n : 0;

	for (i = 0; i < n && passed; i++) {
		uint64_t own = 1 + (i == waiter ? waits : 0);

		if (t && i < retired) {
			uint64_t gone = t->retired[(first + i) & t->retired_mask];

			own = gone - before;
			before = gone;
		} else if (t) {
			own = passed;
		}
		own = own < passed && i + 1 < n ? own : passed;
		passed -= own;
		watch_occur(w, sampler, i, own);
	}
}

static void clock_forget(struct model_watch *w, const struct core *core)
{
	unsigned i;

	w->clock_core = core;
	w->clock_thread = w->thread;
	for (i = 0; i < CLOCKS; i++)
		w->clock_at[i] = read_clock(core, i);
	w->clock_order = core->retire ? core->retire->instructions : 0;
}

void watch_clock(struct model_watch *w)
{
	const struct core *core = w->model->core;
	uint64_t first = w->clock_order, passed[CLOCKS];
	unsigned i, retired = core->retire ? (unsigned)(core->retire->instructions - first) : 0;

	if (!w->thread)
		return;
	if (w->clock_core != core || w->clock_thread != w->thread) {
		clock_forget(w, core);
		return;
	}
	for (i = 0; i < CLOCKS; i++)
		passed[i] = (w->clocks & 1u << i) || !i ? read_clock(core, i) - w->clock_at[i] : 0;
	for (i = 0; i < w->sampler_count; i++) {
		unsigned which = clock_of(w->sampler[i].event);
		uint64_t *left = &w->thread->left[i];

		if (!w->sampler[i].by_clock)
			continue;
		if (passed[which] < *left)
			*left -= passed[which];
		else if (which == CYCLES)
			walk_cycles(w, i, core, passed[which], first, retired);
		else
			watch_occur(w, i, find_waiter(w, core, first, retired), passed[which]);
	}
	for (i = 0; i < CLOCKS; i++)
		w->clock_at[i] += passed[i];
	w->clock_order = first + retired;
}
