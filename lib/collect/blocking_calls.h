/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that wait, and what each of them waits for. */
#ifndef COLLECT_BLOCKING_CALLS_H
#define COLLECT_BLOCKING_CALLS_H

#include <stddef.h>

#include "experiment/pauses.h"

enum blocking_object {
	BLOCKING_NOTHING,    /* the reason says all */
	BLOCKING_DESCRIPTOR, /* argument `at` is one: its kind is the reason */
	BLOCKING_FUTEX,      /* argument 0 is its address */
	BLOCKING_CHILD,      /* argument `at` is its number */
	BLOCKING_POLL,       /* argument 0 is an array of pollfd, 1 its length */
	BLOCKING_PATH,       /* argument `at` is a path */
};

struct blocking_call {
	long number;
	const char *name;
	enum experiment_pause_reason reason;
	enum blocking_object object;
	unsigned at;
};

/* NULL: not known. */
const struct blocking_call *blocking_call_find(long number);
const struct blocking_call *blocking_call_named(const char *name, size_t length);

#endif
