/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoint sched:sched_waking: a thread, or an interrupt, lets a thread go on. Its
 * number and the places of its fields are in tracefs.
 */
#ifndef COLLECT_WAKES_H
#define COLLECT_WAKES_H

#include <stdbool.h>

#include "base/error.h"
#include "collect/records.h"
#include "experiment/pauses.h"

struct wake_format {
	uint64_t tracepoint; /* 0: there is none */
	uint32_t tid, flags; /* bytes from the beginning: of 4 bytes, of 1 */
};

/* Reads it, and says in the experiment whether wakes are seen. -1: memory is out. */
int wakes_init(struct wake_format *f, struct experiment *x, struct error *e);
/* The same of the text of its file `format`; -1: it makes no sense. */
int wakes_parse_format(struct wake_format *f, const char *text);
/* The thread that is let go on; -1: it makes no sense. */
int wake_parse(
	const struct wake_format *f, const struct record_sample *s, pid_t *tid, bool *interrupt);

#endif
