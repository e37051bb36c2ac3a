/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Possible causes of a wait, with bounds. */
#include "analysis/culprits_private.h"

#include <math.h>

void culprit_suspect_cycles(struct culprit_search *s, enum culprit_cause cause, double most,
	double likely, uint32_t blame)
{
	struct culprit_suspect *x = &s->suspect[cause];

	if (!(most > 0))
		return;
	if (!x->there || blame != FLOW_NONE)
		x->blame = blame;
	x->there = true;
	x->high += most;
	x->weight += likely;
}

void culprit_suspect(struct culprit_search *s, enum culprit_cause cause, double most, double times,
	uint32_t blame)
{
	const struct culprit_cost *c = &s->in->machine->cost[cause];

	culprit_suspect_cycles(s, cause, most * c->maximum, times * c->typical, blame);
}

/* What a modelled miss has in another memory, or with another translation, at most, beyond `most`
 * cycles: that of a line from memory. */
static double farther(const struct culprit_search *s, enum culprit_cause cause, double most)
{
	const double *times = s->in->events_times[cause];
	bool data = cause >= CULPRIT_L2 && cause <= CULPRIT_DTLB;

	if (!times || !data)
		return 0;
	return fmax(times[s->insn] * s->in->machine->cost[CULPRIT_MEMORY].maximum - most, 0);
}

/* Counts of events are better than rules. */
void culprit_counted(struct culprit_search *s, enum culprit_cause cause, double usual, double most,
	uint32_t blame)
{
	struct culprit_suspect *x = &s->suspect[cause];

	if (!x->there && !(usual > 0))
		return;
	if (!x->there)
		x->blame = blame;
	x->there = most > 0;
	x->high = most;
	x->spare = s->in->modelled ? farther(s, cause, most) : 0;
	x->weight = usual + CULPRIT_DOUBT * most;
	/* Nothing of these is hidden and nothing adds to them: the cost is as given. */
	if (cause == CULPRIT_MISPREDICT)
		x->usual = fmax(usual, 1e-9);
}
