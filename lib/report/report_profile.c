/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_profile.h"

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

void profile_report_counts(const struct profile_insn *insn, uint64_t *counts)
{
	profile_counts(insn, counts);
}

void profile_report_fini(struct profile_report *r)
{
	vec_fini(&r->blocks);
	vec_fini(&r->multiplexed);
}
