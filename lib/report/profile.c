/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile.h"

#include <string.h>

int profile_report_init(
	struct profile_report *r, const struct profile *p, size_t counters, struct error *e)
{
	memset(r, 0, sizeof(*r));
	r->profile = p;
	r->counters = counters;
	if (profile_find_blocks(p, &r->blocks, e) ||
		(counters && multiplex(p, counters, &r->multiplexed, e))) {
		profile_report_fini(r);
		return -1;
	}
	return 0;
}

void profile_report_fini(struct profile_report *r)
{
	vec_fini(&r->blocks);
	vec_fini(&r->multiplexed);
}

bool profile_event_modelled(int event)
{
	static const bool executed[EV_COUNT] = {
		[EV_INSTRUCTIONS] = true,
		[EV_INSTRUCTIONS_15] = true,
		[EV_MICRO_OPS] = true,
		[EV_LOADS] = true,
		[EV_STORES] = true,
		[EV_FP_INSTRUCTIONS] = true,
		[EV_VECTOR_INSTRUCTIONS] = true,
		[EV_FP_OPERATIONS] = true,
		[EV_BRANCHES] = true,
		[EV_CONDITIONAL_BRANCHES] = true,
		[EV_DECODED_BRANCHES] = true,
		[EV_TAKEN_BRANCHES] = true,
		[EV_CALLS] = true,
		[EV_INDIRECT_BRANCHES] = true,
		[EV_RETURNS] = true,
	};

	return event < 0 || event >= EV_COUNT || !executed[event];
}
