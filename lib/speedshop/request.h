/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two requests to the model for points (model/wire/requests.h, which a test compares), and the
 * test whether the model is there. */
#ifndef SPEEDSHOP_REQUEST_H
#define SPEEDSHOP_REQUEST_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define SPEEDSHOP_HAS_MODEL 1
#endif
#endif

enum {
	SPEEDSHOP_REQUEST_VERSION = 'P' << 24 | 'X' << 16,
	SPEEDSHOP_REQUEST_CALIPER = SPEEDSHOP_REQUEST_VERSION + 5,
	SPEEDSHOP_REQUEST_SAMPLING = SPEEDSHOP_REQUEST_VERSION + 6,
};

static inline uint64_t speedshop_request(unsigned request, uintptr_t argument)
{
#ifdef SPEEDSHOP_HAS_MODEL
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, request, argument, 0, 0, 0, 0);
#else
	(void)request, (void)argument;
	return 0;
#endif
}

#endif
