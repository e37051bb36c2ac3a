/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorted by their beginning, each with a link to the nearest before it that ends later: if an
 * interval does not contain an address, only those along its links can. */
#include "image/intervals.h"

#include "base/order.h"
#include "base/sort.h"

int intervals_add(struct intervals *s, uint64_t low, uint64_t high, uint32_t value)
{
	struct interval *i;

	if (low >= high)
		return 0;
	if (s->all.count >= INTERVAL_NONE)
		return -1;
	i = vec_push(&s->all);
	if (!i)
		return -1;
	*i = (struct interval){low, high, value, INTERVAL_NONE};
	return 0;
}

/* outer is the order of insertion until the links are made. Longer ones first, so that the
 * innermost is the last. */
static int intervals_compare(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return sort_rising(x->low, y->low) ?:
	       sort_falling(x->high, y->high) ?:
	       sort_rising(x->outer, y->outer);
}

void intervals_settle(struct intervals *s)
{
	struct interval *all = s->all.data;

	for (size_t i = 0; i < s->all.count; i++)
		all[i].outer = (uint32_t)i;
	order_sort(all, s->all.count, sizeof(*all), intervals_compare);
	for (size_t i = 0; i < s->all.count; i++) {
		uint32_t outer = i ? (uint32_t)(i - 1) : INTERVAL_NONE;

		while (outer != INTERVAL_NONE && all[outer].high <= all[i].high)
			outer = all[outer].outer;
		all[i].outer = outer;
	}
}

size_t intervals_before(const struct intervals *s, uint64_t address)
{
	return vec_search(i, s->all.count, s->all.data[i].low <= address);
}

const struct interval *intervals_find(const struct intervals *s, uint64_t address)
{
	size_t before = intervals_before(s, address);
	uint32_t i = before ? (uint32_t)(before - 1) : INTERVAL_NONE;

	while (i != INTERVAL_NONE && s->all.data[i].high <= address)
		i = s->all.data[i].outer;
	return i == INTERVAL_NONE ? NULL : &s->all.data[i];
}

void intervals_fini(struct intervals *s)
{
	vec_fini(&s->all);
}
