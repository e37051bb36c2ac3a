/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/identities.h"

#include <math.h>

/* The first count is at most the second. Chains are ordered from the largest bound down, so that a
 * bound that is itself moved is applied with its final value. */
static const struct {
	int small, large;
} identities[] = {
	{EV_BRANCHES, EV_INSTRUCTIONS},
	{EV_FP_INSTRUCTIONS, EV_INSTRUCTIONS},
	{EV_VECTOR_INSTRUCTIONS, EV_INSTRUCTIONS},
	{EV_LOCKED_INSTRUCTIONS, EV_INSTRUCTIONS},
	{EV_MISPREDICTED_BRANCHES, EV_BRANCHES},
	{EV_CONDITIONAL_BRANCHES, EV_BRANCHES},
	{EV_INDIRECT_BRANCHES, EV_BRANCHES},
	{EV_TAKEN_BRANCHES, EV_BRANCHES},
	{EV_CALLS, EV_BRANCHES},
	{EV_RETURNS, EV_BRANCHES},
	{EV_MISPREDICTED_CONDITIONALS, EV_CONDITIONAL_BRANCHES},
	{EV_MISPREDICTED_INDIRECTS, EV_INDIRECT_BRANCHES},
	{EV_MISPREDICTED_RETURNS, EV_RETURNS},
	{EV_L2D_MISSES, EV_L1D_MISSES},
	{EV_L2I_MISSES, EV_L1I_MISSES},
	{EV_LL_DATA_MISSES, EV_LL_REFERENCES},
	{EV_LL_INSTRUCTION_MISSES, EV_LL_REFERENCES},
	{EV_LL_DATA_MISSES, EV_L2D_MISSES},
	{EV_LL_INSTRUCTION_MISSES, EV_L2I_MISSES},
	{EV_DTLB_WALKS, EV_DTLB_MISSES},
	{EV_ITLB_WALKS, EV_ITLB_MISSES},
	{EV_FRONTEND_STALLS, EV_CYCLES},
	{EV_BACKEND_STALLS, EV_CYCLES},
	{EV_DIVIDER_CYCLES, EV_CYCLES},
	{EV_FAILED_STORE_CONDITIONALS, EV_ISSUED_STORE_CONDITIONALS},
};

/* No identity applies to a row whose encoding counts something slightly different. */
static struct count *identity_find(
	const struct event_spec *specs, struct count *counts, size_t count, int number)
{
	for (size_t i = 0; i < count; i++)
		if (specs[i].origin == EVENT_ORIGIN_TABLE && specs[i].event &&
			specs[i].event->number == number &&
			!(specs[i].encoded && specs[i].code.note) &&
			counts[i].quantity.label != LABEL_NONE)
			return &counts[i];
	return NULL;
}

static void identity_clamp(struct count *small, struct count *large)
{
	struct quantity *s = &small->quantity, *l = &large->quantity;

	if (s->value <= l->value || s->low > l->high)
		return;
	if (s->label == LABEL_SCALED && s->low <= l->value) {
		s->value = l->value;
		s->high = fmax(fmin(s->high, l->high), s->value);
		small->clamped = true;
	} else if (l->label == LABEL_SCALED) {
		l->value = fmin(s->value, l->high);
		l->low = fmin(fmax(l->low, s->low), l->value);
		large->clamped = true;
	}
}

void identities_clamp(const struct event_spec *specs, struct count *counts, size_t count)
{
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		struct count *small = identity_find(specs, counts, count, identities[i].small);
		struct count *large = identity_find(specs, counts, count, identities[i].large);

		if (small && large)
			identity_clamp(small, large);
	}
}
