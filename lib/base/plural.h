/* SPDX-License-Identifier: GPL-2.0-or-later */
/* English forms for a number: "1 row is", "2 rows are". */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

/* After a noun. */
static inline const char *plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}

static inline const char *plural_is(unsigned long long n)
{
	return n == 1 ? "is" : "are";
}

#endif
