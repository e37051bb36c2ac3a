/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test Anything Protocol for C unit tests: ok(), is_int(), is_str(), skip(), and `return done();`
 * at the end. A skip needs a reason: it is counted and shown.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool tap_ok(
	bool good, const char *file, int line, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(good, ...) tap_ok((good), __FILE__, __LINE__, __VA_ARGS__)

#define is_int(got, want, ...)                                                                     \
	do {                                                                                       \
		long long tap_got = (long long)(got), tap_want = (long long)(want);                \
		if (!tap_ok(tap_got == tap_want, __FILE__, __LINE__, __VA_ARGS__))                 \
			printf("# got %lld, want %lld\n", tap_got, tap_want);                      \
	} while (0)

#define is_str(got, want, ...)                                                                     \
	do {                                                                                       \
		const char *tap_got = (got), *tap_want = (want);                                   \
		if (!tap_ok(tap_got && strcmp(tap_got, tap_want) == 0, __FILE__, __LINE__,         \
			    __VA_ARGS__))                                                          \
			printf("# got '%s', want '%s'\n", tap_got ? tap_got : "(null)", tap_want); \
	} while (0)

#define is_near(got, want, tolerance, ...)                                                         \
	do {                                                                                       \
		double tap_got = (got), tap_want = (want);                                         \
		if (!tap_ok(fabs(tap_got - tap_want) <= (tolerance), __FILE__, __LINE__,           \
			    __VA_ARGS__))                                                          \
			printf("# got %.12g, want %.12g\n", tap_got, tap_want);                    \
	} while (0)

/* How much random input a test takes: `usual` in make check, `all` in make check-long (LONG=1). */
__attribute__((unused)) static unsigned tap_amount(unsigned usual, unsigned all)
{
	return getenv("LONG") ? all : usual;
}

#define skip(reason) printf("ok %d # SKIP %s\n", ++tap_count, (reason))

__attribute__((unused)) static int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
