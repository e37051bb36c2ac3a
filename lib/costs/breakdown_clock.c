/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run's time divided by what the model's clock saw cycles spent on. No costs are assumed: an
 * access that went to memory is charged where it waited for memory, with all that it waited.
 */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "costs/breakdown.h"

#define NO_EVENT (-1)

struct clocked {
	const char *name; /* NULL: that of the event's cause */
	int number;       /* the event that the time is about */
};

/* clang-format off */
static const struct clocked clocked_causes[MODEL_CAUSES] = {
	[MODEL_CAUSE_BASE] = {NULL, EV_INSTRUCTIONS},
	[MODEL_CAUSE_DEPENDENCY] = {"dependences between instructions", NO_EVENT},
	[MODEL_CAUSE_UNIT] = {"busy execution units", NO_EVENT},
	[MODEL_CAUSE_DIVIDER] = {NULL, EV_DIVIDES},
	[MODEL_CAUSE_L2] = {NULL, EV_L1D_MISSES},
	[MODEL_CAUSE_LL] = {NULL, EV_L2D_MISSES},
	[MODEL_CAUSE_MEMORY] = {NULL, EV_LL_DATA_MISSES},
	[MODEL_CAUSE_INTERVENTION] = {NULL, EV_INTERVENTION_HITS},
	[MODEL_CAUSE_DTLB] = {"data TLB misses and walks", EV_DTLB_MISSES},
	[MODEL_CAUSE_FORWARD] = {NULL, EV_STORE_FORWARD_FAILURES},
	[MODEL_CAUSE_ALIAS] = {NULL, EV_ALIASES_4K},
	[MODEL_CAUSE_STORE_BUFFER] = {"full store buffer", NO_EVENT},
	[MODEL_CAUSE_LOCKED] = {NULL, EV_LOCKED_INSTRUCTIONS},
	[MODEL_CAUSE_SERIALISING] = {"serialising instructions", NO_EVENT},
	[MODEL_CAUSE_FETCH_L2] = {NULL, EV_L1I_MISSES},
	[MODEL_CAUSE_FETCH_LL] = {NULL, EV_L2I_MISSES},
	[MODEL_CAUSE_FETCH_MEMORY] = {NULL, EV_LL_INSTRUCTION_MISSES},
	[MODEL_CAUSE_FETCH_INTERVENTION] = {"instruction lines from other cores", NO_EVENT},
	[MODEL_CAUSE_ITLB] = {"instruction TLB misses and walks", EV_ITLB_MISSES},
	[MODEL_CAUSE_TAKEN] = {NULL, EV_TAKEN_BRANCHES},
	[MODEL_CAUSE_MISPREDICT] = {NULL, EV_MISPREDICTED_BRANCHES},
	[MODEL_CAUSE_SYSTEM_CALL] = {"system calls, at user level", EV_SYSTEM_CALLS},
	[MODEL_CAUSE_PAGE_FAULT] = {"page faults, at user level", EV_PAGE_FAULTS},
	[MODEL_CAUSE_STEAL] = {"interruptions (steal)", NO_EVENT},
};
/* clang-format on */
_Static_assert(MODEL_CAUSES + 1 <= CAUSES_MAX, "more causes than callers have room for");

/* Without a third level, what misses L2 comes from memory. */
static struct clocked clocked_cause(const struct machine *machine, int cause)
{
	bool l2_is_last = machine->model.ll.size == 0;

	if (l2_is_last && cause == MODEL_CAUSE_MEMORY)
		cause = MODEL_CAUSE_LL;
	else if (l2_is_last && cause == MODEL_CAUSE_FETCH_MEMORY)
		cause = MODEL_CAUSE_FETCH_LL;
	return clocked_causes[cause];
}

static int most_first(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	return sort_falling_number(x->share, y->share) ?: x->number - y->number;
}

size_t costs_clock_breakdown(const struct quantity *cycles, const struct machine *machine,
	const struct quantity *whole, struct cause *out)
{
	double sum = 0;
	size_t n = 0;

	for (int i = 0; i < MODEL_CAUSES; i++)
		sum += cycles[i].value;
	if (whole->label == LABEL_NONE || !(whole->value > 0) || !(sum > 0))
		return 0;
	for (int i = 0; i < MODEL_CAUSES; i++) {
		const struct quantity *q = &cycles[i];
		struct clocked c = clocked_cause(machine, i);

		if (!(q->value > 0))
			continue;
		out[n++] = (struct cause){
			.name = c.name ? c.name : costs_cause_name(c.number),
			.number = c.number,
			.seconds = {q->value / sum * whole->value, q->low / sum * whole->low,
				q->high / sum * whole->high,
				whole->label == q->label ? q->label : LABEL_ESTIMATED},
			.share = q->value / sum,
			.share_label = q->label,
		};
	}
	qsort(out, n, sizeof(*out), most_first);
	return n;
}
