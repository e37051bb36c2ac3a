/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a row of the event table to perf_event_open's encoding. The kernel's own counts come first
 * (they are the same everywhere), then the table of the processor's family; processors without a
 * table use the kernel's generic hardware events. A row that a family's table leaves out is not
 * counted there: the kernel's generic event would count something else, or nothing.
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

/* "cache-misses" and "cache-references" are not included: their level differs between
 * processors. */
static const struct generic hardware[EV_COUNT] = {
	[EV_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, NULL},
	[EV_L1I_MISSES] = {"L1-icache-load-misses", PERF_TYPE_HW_CACHE, READ_MISS(PERF_COUNT_HW_CACHE_L1I),
			   "as the kernel found it best to count on this processor"},
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

/* clang-format on */

static const struct encoding_family *const families[] = {&encodings_zen2, &encodings_zen3,
	&encodings_zen4, &encodings_skl, &encodings_icx, &encodings_spr, &encodings_neoverse_n1};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

const char *const *event_families(void)
{
	static const char *const names[] = {
		"zen2", "zen3", "zen4", "skl", "icx", "spr", "neoverse-n1", NULL};

	_Static_assert(sizeof(names) / sizeof(names[0]) == FAMILIES + 1, "one name a family");
	return names;
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

static int fill_family(struct event_code *code, const struct encoding_family *family,
	const struct encoding *row, struct error *e)
{
	char text[sizeof(code->text)];

	if (!row->raw) {
		snprintf(text, sizeof(text), "%s%s", family->prefix, row->event);
		if (libpfm_encode(text, false, code, e))
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

/* NULL: not one of the kernel's. */
static const struct encoding_family *find_family(const char *name)
{
	for (size_t i = 0; i < FAMILIES; i++)
		if (strcmp(families[i]->name, name) == 0)
			return families[i];
	return NULL;
}

/* The family's own row or the nearest base's; NULL: it cannot count the event. */
static const struct encoding *find_row(const struct encoding_family *family, int number)
{
	for (; family; family = family->base)
		if (family->rows[number].event)
			return *family->rows[number].event ? &family->rows[number] : NULL;
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

int event_encode_for(const char *name, int number, struct event_code *code, struct error *e)
{
	const struct encoding_family *family = find_family(name);
	const struct event *event = event_by_number(number);
	const struct encoding *row;
	struct nearest n;

	if (!event)
		return error_set(
			e, ERR_RANGE, "no event %d: events are 0 to %d", number, EV_COUNT - 1);
	if (!family && strcmp(name, "generic") != 0) {
		nearest_init(&n, name);
		for (int i = 0; i < FAMILIES; i++)
			nearest_offer(&n, families[i]->name);
		error_set(e, ERR_NOT_FOUND, "unknown processor family '%s'", name);
		return nearest_hint(&n, e, "%s", "");
	}
	/* The same on the R10000's other counter. */
	if (number == EV_CYCLES_16 || number == EV_INSTRUCTIONS_15)
		number = number == EV_CYCLES_16 ? EV_CYCLES : EV_INSTRUCTIONS;
	if (software[number].text)
		return encodings_fill(code, &software[number]);
	row = find_row(family, number);
	if (row)
		return fill_family(code, family, row, e);
	if (!family && hardware[number].text)
		return encodings_fill(code, &hardware[number]);
	return unsupported(name, event, e);
}

int event_encode(struct event_spec *spec, struct error *e)
{
	if (!spec->encoded &&
		event_encode_for(event_host_family(), spec->event->number, &spec->code, e))
		return -1;
	spec->encoded = true;
	return 0;
}
