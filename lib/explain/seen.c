/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/seen.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/values.h"
#include "values/interval.h"

#define ENOUGH 20 /* values; as for reports */

static bool has_enough(const struct prof_value_site *s)
{
	return s && s->sums.count >= ENOUGH && s->sums.moments >= VALUES_MOMENTS_FEW;
}

/* Levels that were not distinguished: any of them at most, and probably the nearest one, unless
 * that is L1. */
static void add_level(
	struct culprit_seen *to, const struct prof_value_site *s, const struct experiment_value *v)
{
	struct value_share share = value_share_fitted(&s->sums, v);
	unsigned first = v->key.value & 15, last = v->key.value >> 4 & 15;

	for (unsigned level = first < 2 ? 2 : first; level <= last && level <= VALUE_LEVEL_MEMORY;
		level++) {
		to->most[level - 2] = fmin(1, to->most[level - 2] + share.high);
		to->alike[level - 2] |= first < 2;
	}
	if (first >= 2 && first <= VALUE_LEVEL_MEMORY)
		to->share[first - 2] += share.share;
}

static bool add_levels(struct culprit_seen *to, const struct prof_values *v, uint32_t image,
	uint64_t address, uint32_t form)
{
	const struct prof_value_site *s = profile_value_find(v, image, address, VALUE_LEVEL, form);

	if (!has_enough(s))
		return false;
	to->levels = true;
	for (size_t i = 0; i < s->list.count; i++)
		add_level(to, s, &s->list.data[i]);
	return true;
}

static bool add_forwarding(
	struct culprit_seen *to, const struct prof_values *v, uint32_t image, uint64_t address)
{
	const struct prof_value_site *s = profile_value_find(v, image, address, VALUE_ACCESS, 0);
	uint64_t loads = 0, blocked = 0;
	struct value_share share;

	for (size_t i = 0; has_enough(s) && i < s->list.count; i++) {
		const struct experiment_value *one = &s->list.data[i];

		loads += one->key.value & VALUE_READS ? one->sure : 0;
		blocked += one->key.value & VALUE_BLOCKED ? one->sure : 0;
	}
	if (loads < ENOUGH)
		return false;
	share = value_share_counted(&s->sums, blocked, loads);
	to->forwarding = true;
	to->blocked = share.share;
	to->blocked_most = share.high;
	return true;
}

int explain_seen_make(
	struct culprit_seen **seen, const struct prof_values *v, const struct explain_code *code)
{
	size_t n = code->flow->insns.count;
	bool any = false;

	*seen = NULL;
	if (!v->sites.count)
		return 0;
	*seen = calloc(n + 1, sizeof(**seen));
	if (!*seen)
		return -1;
	for (size_t k = 0; k < n; k++) {
		uint64_t address = code->flow->insns.data[k].address;

		for (uint32_t form = 0; form < 2; form++)
			any |= add_levels(&(*seen)[k], v, code->image, address, form);
		any |= add_forwarding(&(*seen)[k], v, code->image, address);
	}
	if (!any) {
		free(*seen);
		*seen = NULL;
	}
	return 0;
}
