/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a row of the event table to what perf_event_open wants.  The kernel's own counts come first
 * (they are the same everywhere), then the table of the processor's family; the kernel's generic
 * hardware events serve the processors that have no table.  A row that a family's table leaves out
 * is not counted there: the kernel's generic event would be something else, or nothing.
 */
#include "events/encodings.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "events/event.h"
#include "events/libpfm.h"

struct generic {
	const char *text; /* NULL: there is none */
	uint32_t type;
	uint64_t config;
	const char *note;
};

/* clang-format off */
static const struct generic software[EV_COUNT] = {
	[EV_PAGE_FAULTS] = {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, NULL},
	[EV_MAJOR_FAULTS] = {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, NULL},
	[EV_CONTEXT_SWITCHES] = {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, NULL},
	[EV_CPU_MIGRATIONS] = {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, NULL},
	[EV_TASK_CLOCK] = {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, NULL},
};

#define READ_MISS(cache) \
	((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define KERNELS_CHOICE "reads alone, and as the kernel found it best to count on this processor"

/* "cache-misses" and "cache-references" are not among them: they are another level on every processor. */
static const struct generic hardware[EV_COUNT] = {
	[EV_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NULL},
	[EV_L1I_MISSES] = {"L1-icache-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_L1I),
			   "as the kernel found it best to count on this processor"},
	[EV_CYCLES_16] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NULL},
	[EV_INSTRUCTIONS_15] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, NULL},
	[EV_INSTRUCTIONS] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, NULL},
	[EV_MISPREDICTED_BRANCHES] = {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, NULL},
	[EV_L1D_MISSES] = {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_L1D),
			   KERNELS_CHOICE},
	[EV_LL_DATA_MISSES] = {"LLC-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_LL),
			       KERNELS_CHOICE},
	[EV_DTLB_WALKS] = {"dTLB-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_DTLB),
			   KERNELS_CHOICE},
	[EV_ITLB_WALKS] = {"iTLB-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_ITLB),
			   "as the kernel found it best to count on this processor"},
	[EV_FRONTEND_STALLS] = {"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
				PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, NULL},
	[EV_BACKEND_STALLS] = {"stalled-cycles-backend", PERF_TYPE_HARDWARE,
			       PERF_COUNT_HW_STALLED_CYCLES_BACKEND, NULL},
	[EV_BRANCHES] = {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NULL},
};

static const struct {
	const char *name;
	const struct encoding *rows;
} tables[] = {
	{"zen2", encodings_zen2},
	{"zen3", encodings_zen3},
	{"zen4", encodings_zen4},
	{"skl", encodings_skl},
	{"icx", encodings_icx},
	{"spr", encodings_spr},
	{"neoverse-n1", encodings_neoverse_n1},
};
/* clang-format on */

static const char *const families[] = {
	"zen2", "zen3", "zen4", "skl", "icx", "spr", "neoverse-n1", NULL};

const char *const *event_families(void)
{
	return families;
}

static int encodings_fill(struct event_code *code, const struct generic *generic)
{
	memset(code, 0, sizeof(*code));
	code->type = generic->type;
	code->config = generic->config;
	code->note = generic->note;
	snprintf(code->text, sizeof(code->text), "%s", generic->text);
	return 0;
}

static int fill_family(struct event_code *code, const struct encoding *row, struct error *e)
{
	if (!row->raw) {
		if (libpfm_encode(row->event, false, code, e))
			return -1;
	} else {
		memset(code, 0, sizeof(*code));
		code->type = PERF_TYPE_RAW;
		code->config = row->raw;
		snprintf(code->text, sizeof(code->text), "%s", row->event);
	}
	code->note = row->note;
	return 0;
}

/* NULL: not one of ours. */
static const struct encoding *find_family(const char *family)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(tables[i].name, family) == 0)
			return tables[i].rows;
	return NULL;
}

static int unsupported(const char *family, const struct event *event, struct error *e)
{
	error_set(e, ERR_UNSUPPORTED, "%s has no counter for event %d, '%s'",
		strcmp(family, "generic") == 0 ? "the kernel" : family, event->number, event->name);
	if (event->flags & EVENT_MODEL)
		return error_hint(e, "the modelled processor counts it: -source model");
	return error_hint(e, "`perfex -list` shows what can be counted here");
}

int event_encode_for(const char *family, int number, struct event_code *code, struct error *e)
{
	const struct encoding *rows = find_family(family);
	const struct event *event = event_by_number(number);
	struct nearest n;
	char guess[128];

	if (!event)
		return error_set(e, ERR_RANGE, "there is no event %d: they are 0 to %d", number,
			EV_COUNT - 1);
	if (!rows && strcmp(family, "generic") != 0) {
		nearest_init(&n, family);
		for (int i = 0; families[i]; i++)
			nearest_offer(&n, families[i]);
		error_set(e, ERR_NOT_FOUND, "there is no family of processors '%s'", family);
		return error_hint(e, "%s", nearest_text(&n, guess, sizeof(guess)));
	}
	if (software[number].text)
		return encodings_fill(code, &software[number]);
	if (rows && rows[number].event)
		return fill_family(code, &rows[number], e);
	if (!rows && hardware[number].text)
		return encodings_fill(code, &hardware[number]);
	return unsupported(family, event, e);
}

int event_encode(struct event_spec *spec, struct error *e)
{
	if (!spec->encoded &&
		event_encode_for(event_host_family(), spec->event->number, &spec->code, e))
		return -1;
	spec->encoded = true;
	return 0;
}
