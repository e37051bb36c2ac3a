/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a run gets its values: by windows, timed loads, or what bursts of branch records log. */
#ifndef COLLECT_COLLECT_VALUES_H
#define COLLECT_COLLECT_VALUES_H

#include "branches/branches.h"
#include "collect/collect.h"
#include "collect/sampler.h"

/* Whether any experiment has one of these flags. */
bool collect_wants(const struct collect_request *r, unsigned flags);
/* Loads a user's module, while there is one thread only. */
int collect_values_load(const struct collect_request *r, struct sampler *s, struct error *e);
/* Fills the request for a tracer by what is wanted. -1: that is not possible here. */
int collect_values_begin(const struct collect_request *r, struct sampler *s,
	struct branches_request *request, struct error *e);

#endif
