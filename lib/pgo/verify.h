/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether another build of an image may replace it: the same file from outside, the same results of
 * the program's own tests, and less time. Steps are in this order, and the first one that fails
 * ends it:
 *
 * 1. Sanity of the file: ELF, machine, interpreter, libraries needed, dynamic symbols, entry.
 * 2. Tests: exit status, standard output and error, and files, byte by byte. What differs between
 *    two runs of the old image is left out.
 * 3. Time: runs of both alternate (old, new, new, old), so that a change of the machine's speed
 *    affects both. The gain is that of the medians of CPU time, with a bootstrap interval over
 *    rounds. The lower end must be above `least`, and above what old against old shows. A loss of
 *    elapsed time refuses: a program that waits uses no CPU time. What is timed and is no test must
 * also print the same, but for times.
 * 4. The model: cycles of the retirement clock, which repeat where times do not, but lack what the
 *    model does not know. A loss refuses; a gain in time is needed all the same.
 *
 * Both images run under one path, so that messages with the program's name are equal.
 */
#ifndef PGO_VERIFY_H
#define PGO_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* A command: for the shell, with {} in place of the image; or the image's arguments. */
struct verify_command {
	const char *shell;      /* NULL: arguments */
	char *const *arguments; /* NULL-terminated */
};

struct verify_request {
	const char *old, *new;
	const struct verify_command *tests;
	size_t test_count;
	const struct verify_command *timed;    /* NULL: the first test */
	const struct verify_command *modelled; /* likewise */
	const char *const *files;              /* that tests write, NULL-terminated; may be NULL */
	unsigned long rounds;                  /* of timing; 0: not timed, which accepts nothing */
	double least;                          /* gain that is required, [0,1) */
	double limit;        /* seconds for a run; 0: ten times the old image's, at least ten */
	const char *perfex;  /* the program that models; NULL: not modelled */
	const char *machine; /* the processor to model; NULL: perfex decides */
	struct progress *progress; /* may be NULL */
};

struct verify_interval {
	double value, low, high;
};

typedef VEC(char *) verify_texts;

struct verify_result {
	bool accept;
	verify_texts reasons;               /* of a refusal, the first one decided */
	verify_texts notes;                 /* what was left out */
	size_t tests, passed;               /* run; equal */
	size_t rounds;                      /* timed; 0: not reached */
	double old_seconds, new_seconds;    /* medians of CPU time */
	struct verify_interval gain, noise; /* shares of the old time; of old against old */
	struct verify_interval elapsed;     /* gain of elapsed time */
	bool modelled;
	double old_cycles, new_cycles;
	struct verify_interval model; /* gain */
};

/* 0: there is a verdict in *r; -1 with *e set: it could not be found, because the old image cannot
 * be tested. verify_fini in both cases. */
int verify_run(const struct verify_request *q, struct verify_result *r, struct error *e);
void verify_fini(struct verify_result *r);

/* The verdict as text of several lines, names escaped; and as JSON, schema prof.verify/1. */
void verify_text(const struct verify_request *q, const struct verify_result *r, struct strbuf *out);
int verify_json(const struct verify_request *q, const struct verify_result *r, struct strbuf *out,
	struct error *e);

#endif
