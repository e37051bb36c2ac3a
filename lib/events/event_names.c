/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as users name them. Tried in this order, so that rows of the table never initialise
 * libpfm4: number, short name, whole name, other names of a row, raw code, part of a name,
 * libpfm4.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/strbuf.h"
#include "events/event.h"
#include "events/libpfm.h"

#define NAME_MAX_LENGTH 127
#define SPACE           " \t\n\v\f\r"

/* perf(1)'s names of events that are the same as a row, and the breakdown's names of its causes.
 * Other words of perf(1) (cache-misses, which is L2 on some processors and the last level on
 * others; L1-dcache-load-misses, which leaves out stores) go to libpfm4. */
static const struct {
	const char *word;
	int number;
} other_words[] = {
	{"cpu cycles", EV_CYCLES},
	{"instructions", EV_INSTRUCTIONS},
	{"branch instructions", EV_BRANCHES},
	{"branch misses", EV_MISPREDICTED_BRANCHES},
	{"stalled cycles frontend", EV_FRONTEND_STALLS},
	{"idle cycles frontend", EV_FRONTEND_STALLS},
	{"stalled cycles backend", EV_BACKEND_STALLS},
	{"idle cycles backend", EV_BACKEND_STALLS},
	{"faults", EV_PAGE_FAULTS},
	{"major faults", EV_MAJOR_FAULTS},
	{"cs", EV_CONTEXT_SWITCHES},
	{"migrations", EV_CPU_MIGRATIONS},
	/* Today's names of caches, in reports and in speech. */
	{"l1 data misses", EV_L1D_MISSES},
	{"l2 data misses", EV_L2D_MISSES},
	{"last level data misses", EV_LL_DATA_MISSES},
	{"l1 instruction misses", EV_L1I_MISSES},
	{"l2 instruction misses", EV_L2I_MISSES},
	{"last level instruction misses", EV_LL_INSTRUCTION_MISSES},
	{"l1 write backs", EV_L1_WRITEBACK_QUADWORDS},
	{"l2 write backs", EV_L2_WRITEBACK_QUADWORDS},
	{"loads", EV_LOADS},
	{"stores", EV_STORES},
	{"floating point", EV_FP_INSTRUCTIONS},
	{"branch mispredictions", EV_MISPREDICTED_BRANCHES},
	{"conditional branch mispredictions", EV_MISPREDICTED_CONDITIONALS},
	{"indirect branch mispredictions", EV_MISPREDICTED_INDIRECTS},
	{"return mispredictions", EV_MISPREDICTED_RETURNS},
	{"data tlb misses", EV_DTLB_MISSES},
	{"data tlb misses (second level hits)", EV_DTLB_MISSES},
	{"instruction tlb misses", EV_ITLB_MISSES},
	{"instruction tlb misses (second level hits)", EV_ITLB_MISSES},
	{"tlb walks", EV_TLB_MISSES},
	{"data tlb walks", EV_DTLB_WALKS},
	{"instruction tlb walks", EV_ITLB_WALKS},
	{"4k aliases", EV_ALIASES_4K},
	{"split accesses", EV_SPLIT_ACCESSES},
	{"lines from other cores", EV_INTERVENTION_HITS},
	{"stores to shared lines", EV_STORES_TO_SHARED},
	{"stores to clean lines", EV_STORES_TO_CLEAN},
	{"memory order clears", EV_MEMORY_ORDER_CLEARS},
	{"instruction way mispredictions", EV_I_WAY_MISPREDICTS},
	{"data way mispredictions", EV_D_WAY_MISPREDICTS},
	{"corrected memory errors", EV_L2_ECC_ERRORS},
};

/* Lower case, '-' and '_' as spaces, no spaces at the ends nor two in a row. name holds
 * NAME_MAX_LENGTH + 1. */
static void normalise(const char *text, char *name)
{
	size_t n = 0;

	for (; *text && n < NAME_MAX_LENGTH; text++) {
		char c = (char)tolower((unsigned char)*text);

		if (c == '-' || c == '_' || strchr(SPACE, c))
			c = ' ';
		if (c == ' ' && (n == 0 || name[n - 1] == ' '))
			continue;
		name[n++] = c;
	}
	if (n && name[n - 1] == ' ')
		n--;
	name[n] = '\0';
}

static int take_row(struct event_spec *spec, const struct event *event)
{
	spec->origin = EVENT_ORIGIN_TABLE;
	spec->event = event;
	snprintf(spec->name, sizeof(spec->name), "%s", event->name);
	return 0;
}

/* 1: text is not a number at all. */
static int event_parse_number(const char *text, struct event_spec *spec, struct error *e)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	long number;

	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return 1;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno == 0 && number >= 0 && number < EV_COUNT && *text != '-')
		return take_row(spec, event_by_number((int)number));
	error_set(e, ERR_RANGE, "no event %s: events are 0 to %d", text, EV_COUNT - 1);
	return error_hint(e, "`perfex -list` shows all events");
}

static const struct event *find_exact(const char *name)
{
	const struct event *found = NULL, *table;
	char candidate[NAME_MAX_LENGTH + 1];
	size_t count;

	table = event_table(&count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].short_name, name) == 0)
			return &table[i];
	/* 15 and 16 repeat the names of 17 and 0, and are never chosen instead of them. */
	for (size_t i = 0; i < count; i++) {
		normalise(table[i].name, candidate);
		if (strcmp(candidate, name) == 0 && (!found || !(table[i].flags & EVENT_REDUNDANT)))
			found = &table[i];
	}
	for (size_t i = 0; !found && i < sizeof(other_words) / sizeof(other_words[0]); i++)
		if (strcmp(other_words[i].word, name) == 0)
			found = event_by_number(other_words[i].number);
	return found;
}

/* 1: text is not a raw code. */
static int event_parse_raw(const char *text, struct event_spec *spec, struct error *e)
{
	const char *digits = text + 1;
	size_t length = strlen(digits);

	if ((*text != 'r' && *text != 'R') || !length ||
		strspn(digits, "0123456789abcdefABCDEF") != length)
		return 1;
	if (length > 16)
		return error_set(e, ERR_RANGE, "raw event '%s' has more than 64 bits", text);
	spec->origin = EVENT_ORIGIN_RAW;
	spec->encoded = true;
	spec->code.type = PERF_TYPE_RAW;
	spec->code.config = strtoull(digits, NULL, 16);
	snprintf(spec->name, sizeof(spec->name), "r%" PRIx64, spec->code.config);
	snprintf(spec->code.text, sizeof(spec->code.text), "%s", spec->name);
	return 0;
}

/* The only row of which name is a part. If there are several, NULL, and *others lists them. */
static const struct event *find_part(const char *name, struct strbuf *others)
{
	const struct event *found = NULL, *table;
	char candidate[NAME_MAX_LENGTH + 1];
	size_t count, matches = 0;

	if (strlen(name) < 3)
		return NULL;
	table = event_table(&count);
	for (size_t i = 0; i < count; i++) {
		if (i == EV_CYCLES_16 || i == EV_INSTRUCTIONS_15)
			continue; /* they repeat the names of others */
		normalise(table[i].name, candidate);
		if (!strstr(candidate, name))
			continue;
		found = &table[i];
		if (matches++ < 8)
			strbuf_printf(others, "%s%d '%s'", matches > 1 ? ", " : "", found->number,
				found->name);
	}
	if (matches > 8)
		strbuf_printf(others, " and %zu more", matches - 8);
	if (matches == 1)
		strbuf_fini(others);
	return matches == 1 ? found : NULL;
}

static int unknown(const char *text, struct error *e)
{
	const char *event = strstr(text, "::");
	const struct event *table;
	char wanted[NAME_MAX_LENGTH + 1];
	struct nearest n;
	size_t count;

	error_set(e, ERR_NOT_FOUND, "unknown event '%s'", text);
	if (event_perf_hint(text, e))
		return -1;
	/* Compares the event alone, without the PMU before it or the masks and modifiers after
	 * it. */
	snprintf(wanted, sizeof(wanted), "%s", event ? event + 2 : text);
	wanted[strcspn(wanted, ":")] = '\0';
	nearest_init(&n, wanted);
	table = event_table(&count);
	for (size_t i = 0; i < count; i++) {
		nearest_offer(&n, table[i].short_name);
		nearest_offer(&n, table[i].name);
	}
	for (size_t i = 0; i < sizeof(other_words) / sizeof(other_words[0]); i++)
		nearest_offer(&n, other_words[i].word);
	libpfm_offer(&n);
	return nearest_hint(&n, e, "`perfex -list` shows the events");
}

/* The text without spaces around it, which is not empty, as the spec's argument. */
static int take_argument(const char *text, struct event_spec *spec, struct error *e)
{
	size_t length;

	text += strspn(text, SPACE);
	for (length = strlen(text); strchr(SPACE, text[length - 1]);)
		length--;
	if (length >= sizeof(spec->argument))
		return error_set(e, ERR_PARSE,
			"the name of an event has more than %zu characters: '%.40s...'",
			sizeof(spec->argument) - 1, text);
	memcpy(spec->argument, text, length);
	return 0;
}

/* libpfm4's name. None of these has a space or a slash: libpfm4 would say "invalid parameters". */
static int take_libpfm(struct event_spec *spec, struct error *why)
{
	if (strpbrk(spec->argument, SPACE "/")) {
		why->code = ERR_NOT_FOUND;
		return -1;
	}
	if (libpfm_encode(spec->argument, true, &spec->code, why))
		return -1;
	spec->origin = EVENT_ORIGIN_PFM;
	spec->encoded = true;
	snprintf(spec->name, sizeof(spec->name), "%s", spec->argument);
	return 0;
}

/* why: of libpfm4; others: rows of the table that the text could be, "" if there are none. */
static int refuse_name(
	const char *text, const char *others, const struct error *why, struct error *e)
{
	if (why->code != ERR_NOT_FOUND) {
		if (e)
			*e = *why;
		return -1;
	}
	if (!*others)
		return unknown(text, e);
	error_set(e, ERR_CONFLICT, "'%s' is ambiguous: %s", text, others);
	return error_hint(e, "give more of the name, the number or the short name");
}

int event_parse(const char *text, struct event_spec *spec, struct error *e)
{
	char name[NAME_MAX_LENGTH + 1];
	const struct event *event;
	struct strbuf others = {0};
	struct error why = {0};
	int rc;

	memset(spec, 0, sizeof(*spec));
	normalise(text, name);
	if (!*name) {
		error_set(e, ERR_PARSE, "the name of an event is empty");
		return error_hint(e, "`perfex -list` shows the events");
	}
	if (take_argument(text, spec, e))
		return -1;
	text = spec->argument;
	if ((rc = event_parse_number(text, spec, e)) <= 0)
		return rc;
	if ((event = find_exact(name)))
		return take_row(spec, event);
	if ((rc = event_parse_raw(text, spec, e)) <= 0)
		return rc;
	if ((event = find_part(name, &others)))
		return take_row(spec, event);
	rc = take_libpfm(spec, &why);
	if (rc && why.code == ERR_NOT_FOUND && (event = event_perf_same(text)))
		rc = take_row(spec, event);
	else if (rc)
		rc = refuse_name(text, strbuf_text(&others), &why, e);
	strbuf_fini(&others);
	return rc;
}
