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
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "events/event.h"

enum cost_unit { COST_CYCLES, COST_NS };

/* The figures of a row. */
enum cost_figure { COST_TYPICAL, COST_MINIMUM, COST_MAXIMUM, COST_FIGURES };

/* Where a figure comes from; beyond these, a source of the table. */
enum cost_from {
	COST_FROM_UNSTATED,
	COST_FROM_GUESS,
	COST_FROM_MEASURED,  /* on the table's processor, on its date */
	COST_FROM_ELSEWHERE, /* measured on another */
	COST_FROM_SOURCE,    /* and the number of the source */
};

struct cost {
	bool known;
	enum cost_unit unit;
	double typical, minimum, maximum;
	uint8_t from[COST_FIGURES];
};

#define COST_SOURCES_MAX 24
struct cost_source {
	char tag[16];   /* as rows name it */
	char text[256]; /* what was published, and where */
};

struct cost_table {
	char name[32];       /* "zen4" */
	char processor[128]; /* its maker's name for it */
	char origin[512];    /* file it came from */
	char date[32];       /* of the measurement, YYYY-MM-DD; may be empty */
	char method[256];    /* how the figures were obtained; may be empty */
	double clock_hz;     /* converts cycles to seconds; 0: unknown */
	struct cost cost[EVENT_LIMIT];
	size_t source_count;
	struct cost_source source[COST_SOURCES_MAX];
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

/* The number for a row's figure of the source that has this tag ("guess", "measured" or one of the
 * table's; a new one is added, without text); -1: it is too long, or there are too many. */
int cost_source_number(struct cost_table *t, const char *tag, size_t length);
const char *cost_source_tag(const struct cost_table *t, int from);
/* The sources of a row, as it states them: one for all figures, or three; "": they are not stated.
 */
#define COST_SOURCES_TEXT 64
void cost_sources_text(
	const struct cost_table *t, const struct cost *c, char text[COST_SOURCES_TEXT]);
/* How the typical cost was obtained; here: the table was measured on this processor. */
enum cost_mark {
	COST_MARK_MEASURED,
	COST_MARK_ELSEWHERE,
	COST_MARK_PUBLISHED,
	COST_MARK_GUESS,
	COST_MARKS
};
enum cost_mark cost_mark(const struct cost *c, bool here);
const char *cost_mark_word(enum cost_mark mark);
/* What was measured on the table's processor was measured elsewhere, as seen from another's. */
void costs_disown(struct cost_table *t);
/* This host's processor, as -calibrate names it in its tables; description: the host's. */
void costs_name_processor(const char *description, char *out, size_t size);
/* Was t measured on the host of this description? */
bool costs_measured_here(const struct cost_table *t, const char *description);
/* How many rows were measured (here, or on another processor), published or guessed. */
void costs_provenance(const struct cost_table *t, const char *description, char *text, size_t size);

/* An amount in c's unit, such as count * c->typical, in seconds; NaN for cycles when clock_hz is
 * not positive. */
double cost_seconds(const struct cost *c, double amount, double clock_hz);

#endif
