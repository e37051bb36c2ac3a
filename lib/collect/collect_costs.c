/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_costs.h"

#include "base/clock.h"
#include "experiment/branches.h"
#include "machine/machine.h"

struct branches_costs *collect_costs_find(struct collect_costs *c, struct branches_known *known)
{
	struct machine_stop_costs kept;

	c->wanted = true;
	c->before = known && known->used ? clock_of(CLOCK_PROCESS_CPUTIME_ID) : 0;
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
	return experiment_add_tally(
		x, TALLY_COST_NS, clock_of(CLOCK_PROCESS_CPUTIME_ID) - c->before);
}
