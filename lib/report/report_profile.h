/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of a profile's report. */
#ifndef REPORT_REPORT_PROFILE_H
#define REPORT_REPORT_PROFILE_H

#include "machine/machine.h"
#include "sources/multiplex.h"
#include "sources/profile.h"

struct profile_report {
	const char *const *command; /* NULL-terminated; borrowed, like all other pointers here */
	const struct machine *machine;
	const struct profile *profile;
	bool blocks_only;               /* only events that execution determines were counted */
	uint64_t instructions;          /* of the whole run */
	uint64_t profiled;              /* of these, in the profile */
	profile_blocks blocks;          /* owned */
	multiplexed_events multiplexed; /* owned; none unless requested */
	size_t counters;                /* of the imitated processor; 0: none */
};

/* counters: 0, or at least 2.  The profile is finished. */
int profile_report_init(
	struct profile_report *r, const struct profile *p, size_t counters, struct error *e);
/* As profile_counts and profile_first_count. */
void profile_report_counts(const struct profile_report *r, size_t insn, uint64_t *counts);
size_t profile_report_first_count(const struct profile_report *r, size_t insn);
void profile_report_fini(struct profile_report *r);

#endif
