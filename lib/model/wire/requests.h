/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client requests: a program that runs under the model uses them to read its own counts (libperfex
 * does). Elsewhere, natively or under another Valgrind tool, each is a few instructions without
 * effect that return 0.
 *
 * A request is itself counted: some ten instructions each. Counts never decrease, so start, stop
 * and read are differences of two readings.
 */
#ifndef MODEL_WIRE_REQUESTS_H
#define MODEL_WIRE_REQUESTS_H

#include <stdint.h>

#include "events/numbers.h"

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define MODEL_HAS_REQUESTS 1
#endif
#endif

#define MODEL_REQUEST_VERSION_NUMBER 1
/* The name of an ELF note in programs that are linked with libperfex.a: perfex then leaves no event
 * out. */
#define MODEL_NOTE "perfex"

enum model_request {
	MODEL_REQUEST_BASE = 'P' << 24 | 'X' << 16,
	/* () -> MODEL_REQUEST_VERSION_NUMBER */
	MODEL_REQUEST_VERSION = MODEL_REQUEST_BASE,
	/* (uint64_t *counts, size_t n) -> how many were written: the first n counts of the calling
	   thread, up to date */
	MODEL_REQUEST_READ_THREAD,
	/* (uint64_t *counts, size_t n) -> how many were written: the sum over all threads of this
	   process, ended ones included, since it began or was forked */
	MODEL_REQUEST_READ_PROCESS,
	/* () -> the modelled processor's clock in Hz */
	MODEL_REQUEST_CLOCK,
	/* (number) -> 1 if the modelled machine has what that event counts and the run counts it,
	   0 if its count means nothing */
	MODEL_REQUEST_COUNTS_EVENT,
	/* (const char *name) -> 1 if there is a profile: a point between two phases of the run,
	 * with the counts of all threads */
	MODEL_REQUEST_CALIPER,
	/* (enum model_sampling) -> 1 if this process is sampled */
	MODEL_REQUEST_SAMPLING,
};

/* The same numbers as in collect/points.h. */
enum model_sampling {
	MODEL_SAMPLING_SUSPEND = 1, /* samples from here on do not count, until ... */
	MODEL_SAMPLING_RESTART,     /* ... here */
	MODEL_SAMPLING_CLEAR,       /* samples until here do not count */
	MODEL_SAMPLING_END,         /* nor any later ones */
};

#ifdef MODEL_HAS_REQUESTS
static inline uint64_t model_request(enum model_request request, uintptr_t a, uintptr_t b)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, request, a, b, 0, 0, 0);
}
#else
static inline uint64_t model_request(enum model_request request, uintptr_t a, uintptr_t b)
{
	(void)request, (void)a, (void)b;
	return 0;
}
#endif

/* 0: this program does not run under the model. */
static inline unsigned model_request_version(void)
{
	return (unsigned)model_request(MODEL_REQUEST_VERSION, 0, 0);
}

/* counts: n of them, indexed by event number; EVENT_LIMIT is all.  Returns how many were written.
 */
static inline unsigned model_request_read_thread(uint64_t *counts, unsigned n)
{
	return (unsigned)model_request(MODEL_REQUEST_READ_THREAD, (uintptr_t)counts, n);
}

static inline unsigned model_request_read_process(uint64_t *counts, unsigned n)
{
	return (unsigned)model_request(MODEL_REQUEST_READ_PROCESS, (uintptr_t)counts, n);
}

static inline int model_request_caliper(const char *name)
{
	return (int)model_request(MODEL_REQUEST_CALIPER, (uintptr_t)name, 0);
}

static inline uint64_t model_request_clock(void)
{
	return model_request(MODEL_REQUEST_CLOCK, 0, 0);
}

static inline int model_request_counts_event(int number)
{
	return (int)model_request(MODEL_REQUEST_COUNTS_EVENT, (uintptr_t)number, 0);
}

#endif
