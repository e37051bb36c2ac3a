/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What branch records cost: of stops of threads, kept by lib/machine for the tracer of
 * lib/branches; and our own CPU time, which the tracer does not count. */
#ifndef COLLECT_COLLECT_COSTS_H
#define COLLECT_COLLECT_COSTS_H

#include <stdbool.h>

#include "branches/branches.h"
#include "experiment/experiment.h"

/* Of a run; zeroed before. */
struct collect_costs {
	struct branches_costs own, *stops; /* its own, or those that several runs share */
	bool wanted, measured;
	uint64_t before; /* our CPU time that is of the runs before */
};

/* Where the tracer finds what stops cost, or writes it. known: of several runs of one command, or
 * NULL. */
struct branches_costs *collect_costs_find(struct collect_costs *c, struct branches_known *known);
/* The tracer has ended: keeps what it measured, and adds our time. -1: memory is out. */
int collect_costs_end(const struct collect_costs *c, struct experiment *x);

#endif
