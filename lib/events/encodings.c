/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a row of the event table to what perf_event_open wants.  The kernel's own counts come first
 * (they are the same everywhere), then the table of the processor's family, then the kernel's
 * generic hardware events, each only where it means the row.
 */
#include "events/encodings.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "events/event.h"
#include "events/pfm.h"

struct generic {
	const char *text; /* NULL: there is none */
	uint32_t type;
	uint64_t config;
};

static const struct generic software[EV_COUNT] = {
	[EV_PAGE_FAULTS] = {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	[EV_MAJOR_FAULTS] = {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	[EV_CONTEXT_SWITCHES] = {"context-switches", PERF_TYPE_SOFTWARE,
		PERF_COUNT_SW_CONTEXT_SWITCHES},
	[EV_CPU_MIGRATIONS] = {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	[EV_TASK_CLOCK] = {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

/* The kernel defines no more than these so that they mean the same everywhere: "cache-misses" and
 * the like are whatever its author found nearest on each processor. */
static const struct generic hardware[EV_COUNT] = {
	[EV_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[EV_CYCLES_16] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[EV_INSTRUCTIONS] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[EV_INSTRUCTIONS_15] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[EV_BRANCHES] = {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	[EV_MISPREDICTED_BRANCHES] = {"branch-misses", PERF_TYPE_HARDWARE,
		PERF_COUNT_HW_BRANCH_MISSES},
	[EV_FRONTEND_STALLS] = {"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
		PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	[EV_BACKEND_STALLS] = {"stalled-cycles-backend", PERF_TYPE_HARDWARE,
		PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

static const char *const families[] = {
	"zen2", "zen3", "zen4", "skl", "icx", "spr", "neoverse-n1", NULL};

const char *const *event_families(void)
{
	return families;
}

static int fill(const struct generic *generic, struct event_code *code)
{
	memset(code, 0, sizeof(*code));
	code->type = generic->type;
	code->config = generic->config;
	snprintf(code->text, sizeof(code->text), "%s", generic->text);
	return 0;
}

static int find_family(const char *family, const struct encoding **rows, struct error *e)
{
	static const struct encoding *const tables[] = {NULL};
	char guess[128];
	struct nearest n;

	(void)tables;
	for (int i = 0; families[i]; i++)
		if (strcmp(families[i], family) == 0) {
			*rows = NULL;
			return 0;
		}
	nearest_init(&n, family);
	for (int i = 0; families[i]; i++)
		nearest_offer(&n, families[i]);
	error_set(e, ERR_NOT_FOUND, "there is no family of processors '%s'", family);
	return error_hint(e, "%s", nearest_text(&n, guess, sizeof(guess)));
}

int event_encode_for(const char *family, int number, struct event_code *code, struct error *e)
{
	const struct encoding *rows;

	if (number < 0 || number >= EV_COUNT)
		return error_set(e, ERR_RANGE, "there is no event %d: they are 0 to %d", number,
			EV_COUNT - 1);
	if (find_family(family, &rows, e))
		return -1;
	if (software[number].text)
		return fill(&software[number], code);
	return error_set(e, ERR_UNSUPPORTED, "%s has nothing like event %d, '%s'", family, number,
		event_by_number(number)->name);
}

const char *event_host_family(void)
{
	return "generic";
}

int event_encode(struct event_spec *spec, struct error *e)
{
	const char *family = event_host_family();
	int number;

	if (spec->encoded)
		return 0;
	number = spec->event->number;
	if (software[number].text)
		fill(&software[number], &spec->code);
	else if (hardware[number].text)
		fill(&hardware[number], &spec->code);
	else
		return error_set(e, ERR_UNSUPPORTED, "%s has nothing like event %d, '%s'", family,
			number, spec->event->name);
	spec->encoded = true;
	return 0;
}
