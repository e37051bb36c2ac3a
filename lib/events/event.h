/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perfex event table, and events as users name them.
 *
 * A struct event is one row of the static table: the event's description, and the sources that can
 * count it. A struct event_spec is an event requested with -e: a row, a libpfm4 string or a raw
 * code. Encoding for hardware (libpfm4, which is visible in lib/events only) happens on demand:
 * naming and listing events does not initialise libpfm4, because that takes milliseconds.
 */
#ifndef EVENTS_EVENT_H
#define EVENTS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events/numbers.h"

enum event_flag {
	EVENT_OVERLAPS = 1 << 0,  /* its cost may overlap with that of other events */
	EVENT_REDUNDANT = 1 << 1, /* a repetition or a sum of other rows: no cost of its own */
	EVENT_MODEL = 1 << 2,     /* the modelled processor counts it */
	EVENT_OS = 1 << 3,        /* the kernel counts it */
	EVENT_PROVOKED =
		1 << 4, /* the self-test's loop causes it: zero there means it is not counted */
	EVENT_KERNEL_SIDE =
		1 << 5, /* happens in the kernel: counting user mode only would give zero */
};

struct event {
	int number;
	const char *name;       /* "Secondary data cache misses" */
	const char *short_name; /* "dsc": lower case, unique */
	const char *unit;       /* plural: "misses", "cycles", "instructions", "ns" ... */
	const char *today;   /* its name on processors of today; NULL: the same; "not available" if
				there is no similar event */
	const char *meaning; /* one plain sentence */
	const char *pitfall; /* one plain sentence */
	unsigned flags;
};

/* The rows in order of number; *count rows.  Static. */
const struct event *event_table(size_t *count);
/* NULL if there is no such number. */
const struct event *event_by_number(int number);

enum event_level { EVENT_USER = 1 << 0, EVENT_KERNEL = 1 << 1 };

/* The encoding as perf_event_attr has it. */
struct event_code {
	uint32_t type;
	uint64_t config, config1, config2;
	unsigned levels;  /* enum event_level: those in the user's string (":u", ":k"), which
			     override the options of the run; 0: none */
	char text[256];   /* the libpfm4 string, the kernel's name or the maker's name of a raw code
			   */
	const char *note; /* the difference from the row, a phrase; NULL: none. Static */
};

enum event_origin {
	EVENT_ORIGIN_TABLE, /* event is set */
	EVENT_ORIGIN_PFM,   /* a libpfm4 string */
	EVENT_ORIGIN_RAW,   /* rNNN: a raw code of the processor */
};

struct event_spec {
	enum event_origin origin;
	const struct event *event; /* NULL unless EVENT_ORIGIN_TABLE */
	char name[128];            /* its name in reports */
	char argument[128];        /* as given by the user */
	bool encoded;              /* code is valid */
	struct event_code code;
};

/*
 * Parses text: a number ("26"), a short name ("dsc"), a name or an unambiguous part of one (case
 * ignored), "rNNN" (raw, hexadecimal), or else a libpfm4 string. On failure *e names the nearest
 * events. Events from libpfm4 and raw codes come encoded; rows of the table are not (see
 * event_encode).
 */
int event_parse(const char *text, struct event_spec *spec, struct error *e);

/*
 * Fills spec->code for this host's processor: by the table of its family, through libpfm4 if that
 * has the event, else by a generic kernel event of the same meaning. ERR_UNSUPPORTED, with the
 * reason, if this processor has no such event.
 */
int event_encode(struct event_spec *spec, struct error *e);

/*
 * The encoding of a row for a named family ("zen2" "zen3" "zen4" "skl" "icx" "spr" "neoverse-n1",
 * "generic"), whatever this host is; for tables, -list and golden tests. Uses libpfm4 offline if
 * it supports the family.
 */
int event_encode_for(const char *family, int number, struct event_code *code, struct error *e);
/* For a name of `perf list` that is not a row's, also as cpu/NAME/, NAME:u, rNNN or
 * cpu/event=0xNN/: the row that comes nearest, and in what it differs (static). NULL: there is
 * none, and why; *difference NULL, too: another name. */
const struct event *event_perf_nearest(const char *name, const char **difference);
/* The row that counts the same in user mode; NULL: there is none. */
const struct event *event_perf_same(const char *name);
/* An event that is the same as a row's (iTLB-load-misses), but for one of the kernel, becomes that
 * row: for a source that sees user mode only. */
void event_user_row(struct event_spec *spec);
/* The same as a hint; 0: it is another name, and there is no hint. */
int event_perf_hint(const char *name, struct error *e);
/* This host's family as above, or "generic".  Static. */
const char *event_host_family(void);
/* The families, NULL-terminated.  Static. */
const char *const *event_families(void);

#endif
