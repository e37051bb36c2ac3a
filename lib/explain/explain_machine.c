/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of each cause, from the cost table in force and the description of the machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costs/costs.h"
#include "explain/explain.h"
#include "machine/machine.h"

/* A cause is a set of events whose costs add up: a line from memory is a miss of all levels. */
static const struct {
	enum culprit_cause cause;
	int events[3]; /* ended by 0 */
	double share;  /* share of the maximum that is typical; 0: the events' own */
} made_of[] = {
	/* A wait for code is hardly hidden: it is near the latency. */
	{CULPRIT_ICACHE, {EV_L1I_MISSES, EV_L2I_MISSES, EV_LL_INSTRUCTION_MISSES}, 0.03},
	{CULPRIT_ITLB, {EV_ITLB_MISSES, EV_TLB_MISSES}, 0.5},
	{CULPRIT_L2, {EV_L1D_MISSES}, 0.8},
	{CULPRIT_LL, {EV_L1D_MISSES, EV_L2D_MISSES}, 0.8},
	{CULPRIT_MEMORY, {EV_L1D_MISSES, EV_L2D_MISSES, EV_LL_DATA_MISSES}, 0.8},
	{CULPRIT_DTLB, {EV_DTLB_MISSES, EV_TLB_MISSES}, 0.4},
	{CULPRIT_MISPREDICT, {EV_MISPREDICTED_BRANCHES}, 0},
	{CULPRIT_STORES, {EV_L1D_MISSES, EV_L2D_MISSES, EV_LL_DATA_MISSES}, 0.1},
	{CULPRIT_FORWARD, {EV_STORE_FORWARD_FAILURES}, 0},
	{CULPRIT_DIVIDER, {EV_DIVIDES}, 0},
	{CULPRIT_LOCKED, {EV_STORE_CONDITIONALS}, 0},
	{CULPRIT_SERIALISING, {EV_SYSTEM_CALLS}, 0.02},
	{CULPRIT_FAULT, {EV_PAGE_FAULTS}, 0},
};

/* A load that has missed waits for all of its latency, including that of a hit. */
static void add_hit(struct explain *x, const struct model_config *m)
{
	for (unsigned k = CULPRIT_L2; k <= CULPRIT_MEMORY; k++) {
		struct culprit_cost *to = &x->machine.cost[k];

		to->typical *= (to->maximum + m->l1d.latency) / to->maximum;
		to->maximum += m->l1d.latency;
	}
}

/* The share of its latency for which a miss visibly delays retirement. */
#define USUAL_SHARE 0.7

static double cycles(const struct cost *c, double amount, double clock_hz)
{
	return c->unit == COST_NS ? amount * 1e-9 * clock_hz : amount;
}

/* Of each event alone. */
static void take_singles(struct explain *x, const struct cost_table *t, double clock_hz)
{
	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *c = &t->cost[i];
		double most = c->known ? cycles(c, c->maximum, clock_hz) : 0;

		x->single[i] = (struct culprit_cost){
			fmax(cycles(c, c->typical, clock_hz), USUAL_SHARE * most), most};
	}
}

static void take_costs(struct explain *x, const struct cost_table *t, double clock_hz)
{
	for (size_t i = 0; i < sizeof(made_of) / sizeof(*made_of); i++) {
		struct culprit_cost *to = &x->machine.cost[made_of[i].cause];

		for (size_t k = 0; k < 3 && made_of[i].events[k]; k++) {
			const struct cost *c = &t->cost[made_of[i].events[k]];

			to->typical += cycles(c, c->typical, clock_hz);
			to->maximum += cycles(c, c->maximum, clock_hz);
		}
		if (made_of[i].share > 0)
			to->typical = made_of[i].share * to->maximum;
	}
}

/* A machine with this core: the first one by name. */
struct wanted {
	const char *core;
	char name[32];
};

static void explain_machine_look_at(const char *name, void *context)
{
	struct wanted *w = context;
	struct machine m;

	if (!w->name[0] && machine_find(name, &m, NULL) == 0 && strcmp(m.core, w->core) == 0)
		snprintf(w->name, sizeof(w->name), "%s", m.name);
}

static int find_machine(struct explain *x, struct machine *m, bool *host, struct error *e)
{
	struct wanted w = {.core = x->d->request->core};

	*host = !w.core;
	if (!w.core)
		return machine_find("host", m, e);
	if (machine_walk(explain_machine_look_at, &w, e))
		return -1;
	return machine_find(w.name[0] ? w.name : "generic", m, e);
}

/* Waits at retirement are hardly hidden: a load from the third level has missed twice. */
void explain_event_cost(struct explain *x, size_t which, int event)
{
	static const struct {
		int event;
		enum culprit_cause cause; /* event whose cost it is */
	} whole[] = {
		{EV_L1D_MISSES, CULPRIT_L2},
		{EV_L2D_MISSES, CULPRIT_LL},
		{EV_LL_DATA_MISSES, CULPRIT_MEMORY},
		{EV_PAGE_FAULTS, CULPRIT_FAULT},
	};
	struct culprit_cost *to = &x->event_cost[which];

	*to = x->single[event];
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (whole[i].event == event)
			*to = x->machine.cost[whole[i].cause];
	if (event == EV_DTLB_WALKS || event == EV_ITLB_WALKS)
		*to = x->single[EV_TLB_MISSES];
}

int explain_machine(struct explain *x, struct error *e)
{
	struct culprits_machine *to = &x->machine;
	struct cost_table table;
	struct machine m;
	bool host;

	if (find_machine(x, &m, &host, e))
		return -1;
	if (host ? costs_find(m.costs, true, NULL, &table, e) : costs_ours(m.costs, &table, e))
		return -1;
	take_costs(x, &table, (double)m.model.clock_hz);
	add_hit(x, &m.model);
	take_singles(x, &table, (double)m.model.clock_hz);
	/* Fetching anew is part of the misprediction, and so are latencies that are otherwise
	 * hidden. */
	if (m.model.mispredict_penalty)
		to->cost[CULPRIT_MISPREDICT].typical = x->single[EV_MISPREDICTED_BRANCHES].typical =
			fmin(to->cost[CULPRIT_MISPREDICT].typical,
				(double)m.model.mispredict_penalty);
	to->cost[CULPRIT_MULTIPLIER] = (struct culprit_cost){1, m.model.execution.multiply};
	to->cost[CULPRIT_FRONT_END] = (struct culprit_cost){1, 4};
	to->cost[CULPRIT_DEPENDENCY] = (struct culprit_cost){1, 1};
	to->line = m.model.l1i.line ? m.model.l1i.line : 64;
	to->page = m.model.page_size ? m.model.page_size : 4096;
	to->fetch_lines = m.model.l1i.size / to->line;
	to->fetch_pages = m.model.itlb.entries;
	to->data[0] = (double)m.model.l1d.size;
	to->data[1] = (double)m.model.l2.size;
	to->data[2] = (double)m.model.ll.size;
	snprintf(x->machine_name, sizeof(x->machine_name), "%s", m.name);
	snprintf(x->cost_table, sizeof(x->cost_table), "%s", table.name);
	return 0;
}
