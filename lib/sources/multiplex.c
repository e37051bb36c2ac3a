/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/multiplex.h"

#include <math.h>

#include "sources/estimate.h"

static const struct profile_slice *slice_at(const struct profile *p, size_t i)
{
	return table_at(&p->slices, i);
}

static int choose_events(
	const struct profile *p, size_t counters, multiplexed_events *to, struct error *e)
{
	uint64_t total[EV_COUNT] = {0};

	for (size_t i = 0; i < p->slices.count; i++)
		for (int event = 0; event < EV_COUNT; event++)
			total[event] += slice_at(p, i)->counts[event];
	for (int event = 0; event < EV_COUNT; event++) {
		struct multiplexed *m;

		if (event == EV_INSTRUCTIONS || event == EV_INSTRUCTIONS_15 || !total[event])
			continue;
		m = vec_push(to);
		if (!m)
			return error_nomem(e);
		m->event = event;
		m->group = (to->count - 1) / (counters - 1);
		m->exact = total[event];
	}
	return 0;
}

static void add_slice(
	struct multiplexed *m, struct spread *spread, const struct profile_slice *s, bool on)
{
	double cycles = (double)s->counts[EV_CYCLES];
	struct observation o = {.enabled = cycles};

	if (on) {
		o.value = (double)s->counts[m->event];
		o.anchor = (double)s->counts[EV_INSTRUCTIONS];
		o.running = cycles;
		m->turns++;
		m->seen += s->counts[m->event];
		m->running += cycles;
	}
	m->enabled += cycles;
	estimate_spread_add(spread, &o, INFINITY);
}

static void take_turns(const struct profile *p, struct multiplexed *m, size_t groups)
{
	struct spread spread = {0};
	double anchor = 0;
	size_t process = SIZE_MAX, turn = 0;

	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *s = slice_at(p, i);

		if (s->key.process != process)
			turn = 0;
		process = s->key.process;
		anchor += (double)s->counts[EV_INSTRUCTIONS];
		add_slice(m, &spread, s, turn++ % groups == m->group);
	}
	m->estimate = estimate_spread(&spread, anchor);
}

int multiplex(const struct profile *p, size_t counters, multiplexed_events *to, struct error *e)
{
	size_t groups;

	if (counters < 2)
		return error_set(
			e, ERR_RANGE, "at least two counters are needed: one is for instructions");
	if (choose_events(p, counters, to, e))
		return -1;
	groups = to->count ? to->data[to->count - 1].group + 1 : 0;
	for (size_t i = 0; i < to->count; i++)
		take_turns(p, &to->data[i], groups);
	return 0;
}
