/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_profile.h"

#include <string.h>

int profile_report_init(
	struct profile_report *r, const struct profile *p, size_t counters, struct error *e)
{
	memset(r, 0, sizeof(*r));
	r->profile = p;
	r->counters = counters;
	r->instructions = p->counted;
	r->profiled = profile_instructions(p);
	if (profile_find_blocks(p, &r->blocks, e) ||
		(counters && multiplex(p, counters, &r->multiplexed, e))) {
		profile_report_fini(r);
		return -1;
	}
	return 0;
}

void profile_report_counts(const struct profile_report *r, size_t insn, uint64_t *counts)
{
	profile_counts(r->profile, insn, counts);
}

size_t profile_report_first_count(const struct profile_report *r, size_t insn)
{
	return profile_first_count(r->profile, insn);
}

void profile_report_fini(struct profile_report *r)
{
	vec_fini(&r->blocks);
	vec_fini(&r->multiplexed);
}
