/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/sort.h"

#include "export/private.h"

static int export_branches_take(struct export_branches *b, const struct export_profile *x,
	const uint32_t *key, const struct export_steps *s)
{
	uint32_t *of = calloc(s->all.count + 1, sizeof(*of));
	size_t m = x->metrics.count;
	int rc = of ? 0 : -1;

	for (size_t i = 0; i < s->all.count && rc == 0; i++) {
		const struct export_step *step = &s->all.data[i];
		struct export_branch at = {.key = {UINT32_MAX, UINT32_MAX, UINT32_MAX}}, *own;
		size_t before = b->all.count;

		if (i)
			at = (struct export_branch){
				.key = {of[step->parent], step->group, key[step->function]}};
		own = table_add(&b->all, &at.key);
		if (!own) {
			rc = -1;
			break;
		}
		of[i] = (uint32_t)(own - (struct export_branch *)(void *)b->all.entries);
		if (b->all.count > before)
			b->function[of[i]] = step->function;
		for (size_t k = 0; b->all.count > before && k < m && rc == 0; k++) {
			const uint64_t *slot = vec_push(&b->samples);

			rc = slot ? 0 : -1;
		}
		for (size_t k = 0; k < m && rc == 0; k++)
			b->samples.data[of[i] * m + k] += export_samples(x, step->node, k);
	}
	free(of);
	return rc;
}

static int by_key(const void *a, const void *b, void *context)
{
	const struct export_branch *x = export_branch_at(context, *(const uint32_t *)a),
				   *y = export_branch_at(context, *(const uint32_t *)b);

	return sort_rising(x->key.parent, y->key.parent) ?:
	       sort_rising(x->key.group, y->key.group) ?:
	       sort_rising(x->key.key, y->key.key);
}

/* Depth first, by lists of children. */
static int export_branches_arrange(struct export_branches *b)
{
	size_t count = b->all.count, filled = 0;
	uint32_t *sorted = calloc(count + 1, sizeof(*sorted));
	uint32_t *first = calloc(count + 1, sizeof(*first));
	uint32_t *next = calloc(count + 1, sizeof(*next));
	int rc = -1;

	b->order = calloc(count + 1, sizeof(*b->order));
	if (sorted && first && next && b->order) {
		uint32_t at = 0;

		for (size_t i = 1; i < count; i++)
			sorted[i - 1] = (uint32_t)i;
		qsort_r(sorted, count - 1, sizeof(*sorted), by_key, b);
		for (size_t i = count - 1; i-- > 0;) {
			uint32_t parent = export_branch_at(b, sorted[i])->key.parent;

			next[sorted[i]] = first[parent];
			first[parent] = sorted[i];
		}
		for (;;) {
			b->order[filled++] = at;
			if (first[at]) {
				at = first[at];
				continue;
			}
			while (at && !next[at])
				at = export_branch_at(b, at)->key.parent;
			if (!at)
				break;
			at = next[at];
		}
		rc = 0;
	}
	free(sorted);
	free(first);
	free(next);
	return rc;
}

int export_branches(struct export_branches *b, const struct export_profile *x, const uint32_t *key)
{
	struct export_steps steps = {0};
	int rc = export_steps(&steps, x);

	b->all = (struct table){.entry_size = sizeof(struct export_branch),
		.key_size = sizeof(((struct export_branch *)0)->key)};
	b->function = calloc(steps.all.count + 1, sizeof(*b->function));
	if (rc == 0)
		rc = b->function ? export_branches_take(b, x, key, &steps) : -1;
	vec_fini(&steps.all);
	return rc ? rc : export_branches_arrange(b);
}

void export_branches_fini(struct export_branches *b)
{
	table_fini(&b->all);
	vec_fini(&b->samples);
	free(b->order);
	free(b->function);
}
