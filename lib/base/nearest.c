/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nearest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void nearest_init(struct nearest *n, const char *wanted)
{
	memset(n, 0, sizeof(*n));
	n->wanted = wanted;
	n->prefix = "";
}

/* Optimal string alignment distance, case ignored: O(|a||b|), three rows.  -1 for strings over 127.
 */
static int edit_distance(const char *a, const char *b)
{
	enum { LIMIT = 127 };
	int row[3][LIMIT + 1], *two = row[0], *one = row[1], *now = row[2], *rotated;
	size_t la = strlen(a), lb = strlen(b);

	if (la > LIMIT || lb > LIMIT)
		return -1;
	memset(row, 0, sizeof(row));
	for (size_t j = 0; j <= lb; j++)
		one[j] = (int)j;
	for (size_t i = 1; i <= la; i++) {
		int ca = tolower((unsigned char)a[i - 1]);

		now[0] = (int)i;
		for (size_t j = 1; j <= lb; j++) {
			int cb = tolower((unsigned char)b[j - 1]), best = one[j - 1] + (ca != cb);

			if (one[j] + 1 < best)
				best = one[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
				tolower((unsigned char)a[i - 2]) == cb && two[j - 2] + 1 < best)
				best = two[j - 2] + 1;
			now[j] = best;
		}
		rotated = two;
		two = one;
		one = now;
		now = rotated;
	}
	return one[lb];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t length = strlen(n->wanted);
	double distance = edit_distance(n->wanted, candidate), limit = 1 + (double)length / 3;

	for (int i = 0; i < NEAREST_MAX && n->name[i]; i++)
		if (strcmp(n->name[i], candidate) == 0)
			return;
	if (length >= 3 && strcasestr(candidate, n->wanted)) {
		double inside = 0.5 + (double)strlen(candidate) / 1000;

		if (distance < 0 || inside < distance)
			distance = inside;
	}
	if (distance < 0 || distance > limit)
		return;
	for (int i = 0; i < NEAREST_MAX; i++) {
		if (n->name[i] && n->distance[i] <= distance)
			continue;
		memmove(&n->name[i + 1], &n->name[i],
			(size_t)(NEAREST_MAX - 1 - i) * sizeof(n->name[0]));
		memmove(&n->distance[i + 1], &n->distance[i],
			(size_t)(NEAREST_MAX - 1 - i) * sizeof(n->distance[0]));
		n->name[i] = candidate;
		n->distance[i] = distance;
		return;
	}
}

char *nearest_text(const struct nearest *n, char *text, size_t size)
{
	const char *a = n->name[0], *b = n->name[1], *c = n->name[2], *p = n->prefix;

	if (size)
		text[0] = '\0';
	if (a && b && c)
		snprintf(text, size, "did you mean '%s%s', '%s%s' or '%s%s'?", p, a, p, b, p, c);
	else if (a && b)
		snprintf(text, size, "did you mean '%s%s' or '%s%s'?", p, a, p, b);
	else if (a)
		snprintf(text, size, "did you mean '%s%s'?", p, a);
	return text;
}

int nearest_hint(const struct nearest *n, struct error *e, const char *format, ...)
{
	char near[256], more[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(more, sizeof(more), format, ap);
	va_end(ap);
	nearest_text(n, near, sizeof(near));
	return error_hint(e, "%s%s%s", near, near[0] && more[0] ? " " : "", more);
}
