/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/numeral.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool numeral_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno || *end || n < least || n > most)
		return false;
	*value = n;
	return true;
}

bool numeral_real(const char *text, const char *unit, double least, double most, double *value)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || (*end && (!unit || strcmp(end, unit) != 0)) ||
		!(n >= least && n <= most)) /* nor NaN */
		return false;
	*value = n;
	return true;
}

bool numeral_pid(const char *text, pid_t *pid)
{
	uint64_t n;

	if (!numeral_whole(text, 1, INT32_MAX, &n))
		return false;
	*pid = (pid_t)n;
	return true;
}
