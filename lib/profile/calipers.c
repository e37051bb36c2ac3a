/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The phases that -calipers selects. Point 0 is the beginning of the run; phase n is between point
 * n and the next one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "profile/places_private.h"

static int no_point(const struct experiment *x, const char *word, struct error *e)
{
	struct nearest near;

	if (x->phases.count <= 1) {
		error_set(e, ERR_NOT_FOUND, "-calipers %s: the experiment has no caliper points",
			word);
		return error_hint(e, "call ssrt_caliper_point(\"name\") in the program, or use "
				     "ssrun -cal SECONDS");
	}
	error_set(e, ERR_NOT_FOUND, "-calipers: no point '%s': points are 0 to %zu", word,
		x->phases.count);
	nearest_init(&near, word);
	for (size_t i = 1; i < x->phases.count; i++)
		nearest_offer(&near, x->phases.data[i].name);
	return nearest_hint(&near, e, "%s", "");
}

static bool is_number(const char *word)
{
	return word[0] && !word[strspn(word, "0123456789")];
}

/* The first later point that word names. */
static int find_point(const struct experiment *x, const char *word, uint32_t behind,
	uint32_t *point, struct error *e)
{
	if (is_number(word)) {
		unsigned long n = strtoul(word, NULL, 10);

		*point = (uint32_t)n;
		return n <= x->phases.count ? 0 : no_point(x, word, e);
	}
	for (size_t i = behind; i < x->phases.count; i++)
		if (strcmp(x->phases.data[i].name, word) == 0) {
			*point = (uint32_t)i;
			return 0;
		}
	return no_point(x, word, e);
}

static int find_span(
	const struct experiment *x, const char *calipers, struct prof_span *span, struct error *e)
{
	const char *comma = strchr(calipers, ',');
	char first[128];

	if (!comma && !is_number(calipers)) {
		span->name = calipers;
		span->to = UINT32_MAX;
		return find_point(x, calipers, 1, &span->from, e);
	}
	if (!comma)
		return find_point(x, calipers, 1, &span->to, e);
	snprintf(first, sizeof(first), "%.*s", (int)(comma - calipers), calipers);
	if (find_point(x, first, 1, &span->from, e) ||
		find_point(x, comma + 1, span->from + 1, &span->to, e))
		return -1;
	if (span->from >= span->to)
		return error_set(
			e, ERR_RANGE, "-calipers %s: the second point must come later", calipers);
	return 0;
}

int profile_spans(struct prof_data *d, struct error *e)
{
	for (size_t i = 0; i < d->request->count; i++) {
		struct prof_span *span = vec_push(&d->spans);

		if (!span)
			return error_nomem(e);
		span->to = UINT32_MAX;
		if (d->request->calipers &&
			find_span(d->request->inputs[i].experiment, d->request->calipers, span, e))
			return -1;
	}
	return 0;
}
