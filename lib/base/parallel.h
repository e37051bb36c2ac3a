/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results that several threads make and the caller takes in order: the outcome is that of a loop
 * that makes and takes one after the other, whatever the number of threads.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

#include "base/error.h"

struct parallel {
	size_t count;
	size_t size;      /* bytes of a result, > 0 */
	unsigned threads; /* including the caller's; 0: one for each processor of this process */
	void *context;
	/* Makes result i, which is zeroed, in any thread. -1 with *e set. */
	int (*make)(void *context, size_t i, void *result, struct error *e);
	/* Takes result i in the caller's thread; all before it have been taken. -1 with *e set.
	 * NULL: there is nothing to take. */
	int (*take)(void *context, size_t i, void *result, struct error *e);
	/* Frees a result after take, or instead of it, also of a make that failed; in the caller's
	 * thread. NULL: there is nothing to free. */
	void (*drop)(void *context, void *result);
};

/* 0, or -1 with the first error in order; then no later result is taken. ERR_NOMEM if memory is
 * out. At most PARALLEL_AHEAD results are kept at a time. */
enum { PARALLEL_AHEAD = 64 };
int parallel_run(const struct parallel *p, struct error *e);

/* The processors that this process may use, at most `most`. */
unsigned parallel_processors(unsigned most);

#endif
