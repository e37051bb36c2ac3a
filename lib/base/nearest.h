/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean ...": the names nearest to one that is unknown.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#include "base/error.h"

#define NEAREST_MAX 3

struct nearest {
	const char *name[NEAREST_MAX]; /* borrowed from the caller, best first; NULL where there are
					  fewer */
	double distance[NEAREST_MAX];
	const char *wanted;
	const char *prefix; /* of each name in the text: "-" for options; nearest_init sets "" */
};

/* wanted is borrowed for the life of n. */
void nearest_init(struct nearest *n, const char *wanted);
/* Offers a candidate; kept if it is near enough (edit distance, ignoring case; substrings count as
 * near). */
void nearest_offer(struct nearest *n, const char *candidate);
/* Writes "did you mean 'a', 'b' or 'c'?" into text, or "" when nothing was near.  Returns text. */
char *nearest_text(const struct nearest *n, char *text, size_t size);
/* The same as the hint of an error, and after it what printf would print.  Returns -1. */
int nearest_hint(const struct nearest *n, struct error *e, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
