/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user of a long run on the model should know soon after its start. */
#ifndef SOURCES_SLOW_RUN_H
#define SOURCES_SLOW_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds. */
#define SLOW_RUN_LONG    10.0 /* a run that takes longer is long */
#define SLOW_RUN_KNOWN   1.0  /* soon enough to estimate how long it will take ... */
#define SLOW_RUN_UNKNOWN 5.0  /* ... or, without -expect, to suppose that it is long */

struct slow_run {
	double elapsed;      /* seconds */
	double instructions; /* so far */
	double expected;     /* in all; 0: unknown */
	double modelled;     /* seconds that the modelled processor would have taken; 0: unknown */
	const char *faster;  /* what is faster, in a few words; NULL: nothing is */
};

/* Is the run known, or supposed, to be long?  False: not yet. */
bool slow_run_is_long(const struct slow_run *r);
/* "1.20 G instructions, 80.0 M/s, 12 s to go": expected as above, speed per second; 0: unknown. */
void slow_run_line(double instructions, double expected, double speed, char *text, size_t size);
void slow_run_text(const struct slow_run *r, char *text, size_t size);

#endif
