/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress bar on stderr: only on a terminal, only for work of over a second, redrawn at most
 * ten times a second, and erased when done. The one thing in lib/ that writes to the terminal;
 * libraries get it from the command that calls them, as a pointer that may be NULL (then nothing
 * is drawn).
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>

struct progress {
	bool enabled, drawn;
	double begin, last; /* seconds of clock_seconds */
};

void progress_begin(struct progress *p, bool enabled);
/* fraction in [0,1], or below 0 if unknown, which draws no bar; what: a few words on the current
 * step. p may be NULL. */
void progress_step(struct progress *p, double fraction, const char *what);
void progress_end(struct progress *p);

#endif
