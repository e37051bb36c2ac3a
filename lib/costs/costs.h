/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What events cost: typical, minimum and maximum, in cycles or nanoseconds, per processor.  The
 * file format is documented in perfex-costs(5).
 *
 * Costs are exclusive: an event's cost is the increase over the costs of its preconditions. So a
 * load from memory is charged for the L1 miss (getting it from L2), the L2 miss (L3 instead of L2)
 * and the last-level miss (memory instead of L3), each with its own cost, and the sum over events
 * never counts a cycle twice except for overlap between events, which is the range from minimum to
 * maximum:
 *
 * - maximum: one isolated occurrence that everything waits for (latency);
 *
 * - minimum: as many overlapped as the processor can, next to other work (throughput);
 *
 * - typical: four chains of dependent loads side by side, the overlap of ordinary programs. (The
 *   paper's stride-1 sweeps are prefetched today, and prefetched lines are not counted as misses.)
 *
 * EVENT_REDUNDANT rows cost nothing.  (Zagha et al., section 4; perfex's -y.)
 */
#ifndef COSTS_COSTS_H
#define COSTS_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "events/event.h"

enum cost_unit { COST_CYCLES, COST_NS };

struct cost {
	bool known;
	enum cost_unit unit;
	double typical, minimum, maximum;
};

struct cost_table {
	char name[32];       /* "zen4" */
	char processor[128]; /* its maker's name for it */
	char origin[512];    /* file it came from */
	char date[32];       /* of the measurement, YYYY-MM-DD; may be empty */
	char method[256];    /* how the figures were obtained; may be empty */
	double clock_hz;     /* converts cycles to seconds; 0: unknown */
	struct cost cost[EVENT_LIMIT];
};

/* Errors begin with name: "FILE:LINE:COLUMN: message". Rows given replace those in *t (so a subset
 * may be loaded over a full table). */
int costs_parse(
	const char *text, size_t length, const char *name, struct cost_table *t, struct error *e);
int costs_load(const char *path, struct cost_table *t, struct error *e);
/*
 * The table in force: ours for `machine` (a struct machine's .costs name; "generic" when there is
 * none), over it the system's (/etc/perfex.costs), over that the user's
 * ($XDG_CONFIG_HOME/perfex/costs), over that `file` (-c; may be NULL).  The system's and the user's
 * only apply when they state the same name or none, or when host is set (this machine is what was
 * counted).  A file of the search that exists but cannot be read is an error.
 */
int costs_find(
	const char *machine, bool host, const char *file, struct cost_table *t, struct error *e);
/* Ours only, without the system's and the user's. */
int costs_ours(const char *machine, struct cost_table *t, struct error *e);
/* Appends t in the format that costs_parse reads. */
void costs_print(const struct cost_table *t, struct strbuf *out);
/* Its parts, for callers that insert comments: the header lines; one row, without its newline. */
void costs_print_header(const struct cost_table *t, struct strbuf *out);
void costs_print_row(const struct cost_table *t, int number, struct strbuf *out);

/* An amount in c's unit, such as count * c->typical, in seconds; NaN for cycles when clock_hz is
 * not positive. */
double cost_seconds(const struct cost *c, double amount, double clock_hz);

#endif
