/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_costs.h"

#include <time.h>

#include "experiment/branches.h"
#include "machine/machine.h"

uint64_t collect_own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct branches_costs *collect_costs_find(struct collect_costs *c, struct branches_known *known)
{
	struct machine_stop_costs kept;

	c->wanted = true;
	c->before = known && known->used ? collect_own_time() : 0;
	c->stops = known ? &known->costs : &c->own;
	if (!(c->stops->elapsed > 0) && machine_stop_costs(&kept))
		*c->stops = (struct branches_costs){kept.elapsed, kept.stopped, kept.interrupted};
	c->measured = !(c->stops->elapsed > 0);
	return c->stops;
}

int collect_costs_end(const struct collect_costs *c, struct experiment *x)
{
	if (c->measured && c->stops->elapsed > 0)
		machine_keep_stop_costs(&(struct machine_stop_costs){
			c->stops->elapsed, c->stops->stopped, c->stops->interrupted});
	return experiment_add_tally(x, TALLY_COST_NS, collect_own_time() - c->before);
}
