/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What samples of values have seen of loads (ssrun -values, -values=latency), as evidence of what
 * instructions waited for: where data came from, and stores that could not be forwarded.
 */
#ifndef EXPLAIN_SEEN_H
#define EXPLAIN_SEEN_H

#include "analysis/culprits.h"
#include "explain/code.h"
#include "profile/profile_values.h"

/* By instruction of the code; *seen is NULL if there is nothing. The caller frees it. -1: memory is
 * out. */
int explain_seen_make(
	struct culprit_seen **seen, const struct prof_values *v, const struct explain_code *code);

#endif
