/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfex: a program counts its own events. See libperfex(3). Link with -lperfex.
 *
 * Counts come from the processor's counters where there are any; from the modelled processor when
 * the program runs under `perfex -source model`; clocks, page faults and context switches from the
 * kernel. Each value has a label that names its source. If nothing can count an event, adding it
 * fails, and the error explains why and what to do. A count that is missing is never shown as zero.
 */
#ifndef PERFEX_H
#define PERFEX_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/*
 * ---- The classic five calls: two events, by number, of the calling thread. ----
 *
 * Events are numbered as `perfex -list` shows them. The environment variables T5_EVENT0 and
 * T5_EVENT1, if set, replace e0 and e1 in all five calls. All return -1 on failure, with errno set
 * and details in perfex_last_error().
 */

/* Sets both counts to zero and starts counting.  Returns the generation, a number above 0 that
 * differs for each start. */
int start_counters(int e0, int e1);
/* Stops counting and stores the counts; -1 in both if that failed.  e0 and e1 are those that were
 * started. Returns the generation. */
int read_counters(int e0, long long *c0, int e1, long long *c1);
/* Writes both counts to stderr, each with the label that counts of the event had when last read. */
int print_counters(int e0, long long c0, int e1, long long c1);
/* Writes to stderr what each count cost: typical, minimum and maximum time in seconds. */
int print_costs(int e0, long long c0, int e1, long long c1);
/* Uses the costs in a file, perfex-costs(5), instead of the machine's own. */
int load_costs(char *file);

/*
 * ---- The modern set: any number of events, errors as values. ----
 *
 * A handle belongs to one thread at a time.
 */

struct perfex; /* opaque */

enum perfex_scope {
	PERFEX_THREAD = 0, /* the thread that calls perfex_start first; it must also stop, and read
			      while counting is on */
	PERFEX_PROCESS = 1 /* the whole process: all of its threads, including later ones */
};

enum perfex_label {
	PERFEX_NONE = 0,     /* no number: not counted */
	PERFEX_MEASURED = 1, /* counted all the time */
	PERFEX_SCALED = 2,   /* counted part of the time and scaled up */
	PERFEX_MODEL = 3,    /* counted exactly on a modelled processor */
	PERFEX_ESTIMATED = 4 /* computed from others */
};

struct perfex_value {
	double value;     /* NaN with PERFEX_NONE */
	double low, high; /* 95% interval; both equal value where that is exact */
	int label;        /* enum perfex_label */
	char why[160];    /* with PERFEX_NONE: why there is no number */
};

enum perfex_error_code {
	PERFEX_OK = 0,
	PERFEX_ERR_NOMEM = 1,
	PERFEX_ERR_SYSTEM = 2,      /* a system call failed; errnum is its errno */
	PERFEX_ERR_PARSE = 3,       /* an event or a file is malformed */
	PERFEX_ERR_NOT_FOUND = 4,   /* no such event or file */
	PERFEX_ERR_UNSUPPORTED = 5, /* no source on this machine can count it */
	PERFEX_ERR_PERMISSION = 6,  /* a source could count it, but permission is missing */
	PERFEX_ERR_BUSY = 7,        /* the counters are in use by another process */
	PERFEX_ERR_CONFLICT = 8,    /* the calls are in a wrong order */
	PERFEX_ERR_RANGE = 9        /* a number out of its range */
};

struct perfex_error {
	int code;          /* enum perfex_error_code */
	int errnum;        /* errno of the failed system call; else 0 */
	char message[512]; /* one line */
	char hint[512];    /* what to do; may be empty */
};

/* Every struct perfex_error * may be NULL. */

/* NULL on failure. */
struct perfex *perfex_open(int scope, struct perfex_error *error);
/* Adds an event: a number, a name, a short name, a libpfm4 string or a raw code, as for `perfex
 * -e`.  Only before the first start.  Returns its index, 0 for the first; -1 on failure. */
int perfex_add(struct perfex *p, const char *event, struct perfex_error *error);
/* Starts or continues counting: counts add up over several starts and stops. */
int perfex_start(struct perfex *p, struct perfex_error *error);
/* Stores the counts so far of the first `count` events; counting continues. Returns how many were
 * stored. */
int perfex_read(
	struct perfex *p, struct perfex_value *values, int count, struct perfex_error *error);
/* Stops. The counts do not change any more. */
int perfex_stop(struct perfex *p, struct perfex_error *error);
/* p may be NULL. */
void perfex_close(struct perfex *p);

/* The name that reports use for an added event; NULL if there is none with this index. Valid until
 * perfex_close. */
const char *perfex_event_name(const struct perfex *p, int index);
/* Where it is counted: "pmu", "os" or "model". */
const char *perfex_event_source(const struct perfex *p, int index);
/* "measured", "scaled", ...; "" for PERFEX_NONE and for values that are not labels. */
const char *perfex_label_name(int label);

/* The error of the last classic call in this thread that failed; code PERFEX_OK if none did. */
const struct perfex_error *perfex_last_error(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
