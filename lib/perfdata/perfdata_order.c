/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A merge sort that begins with the existing runs: a round consists of a few of them. */
#include "perfdata/perfdata_order.h"

#include <string.h>

int order_add(struct order *o, const struct waiting *w)
{
	struct waiting *own = vec_push(&o->list);

	if (!own)
		return -1;
	*own = *w;
	if (w->time > o->youngest)
		o->youngest = w->time;
	return 0;
}

/* Where the run that begins at `at` ends. */
static size_t run_end(const struct waiting *w, size_t at, size_t count)
{
	size_t end = at + 1;

	while (end < count && w[end - 1].time <= w[end].time)
		end++;
	return end;
}

/* Merges two adjacent runs into out; equal times keep their order. */
static void order_merge(
	const struct waiting *w, size_t at, size_t middle, size_t end, struct waiting *out)
{
	size_t a = at, b = middle;

	while (a < middle && b < end)
		*out++ = w[b].time < w[a].time ? w[b++] : w[a++];
	memcpy(out, w + a, (middle - a) * sizeof(*w));
	memcpy(out + (middle - a), w + b, (end - b) * sizeof(*w));
}

/* Every pair of runs becomes one, in the other array.  How many runs there were. */
static size_t merge_pairs(const struct waiting *w, size_t count, struct waiting *out)
{
	size_t runs = 0;

	for (size_t at = 0; at < count;) {
		size_t middle = run_end(w, at, count);
		size_t end = middle < count ? run_end(w, middle, count) : middle;

		order_merge(w, at, middle, end, out + at);
		runs += end > middle ? 2 : 1;
		at = end;
	}
	return runs;
}

static int order_sort(struct order *o)
{
	size_t count = o->list.count;

	if (run_end(o->list.data, 0, count) >= count)
		return 0;
	if (o->spare_count < o->list.capacity) {
		struct waiting *spare = realloc(o->spare, o->list.capacity * sizeof(*o->spare));

		if (!spare)
			return -1;
		o->spare = spare;
		o->spare_count = o->list.capacity;
	}
	for (;;) {
		size_t runs = merge_pairs(o->list.data, count, o->spare);
		struct waiting *merged = o->spare;
		size_t room = o->spare_count;

		o->spare = o->list.data;
		o->spare_count = o->list.capacity;
		o->list.data = merged;
		o->list.capacity = room;
		if (runs <= 2)
			return 0;
	}
}

int order_round(struct order *o, int last, int (*call)(void *context, const struct waiting *w),
	void *context)
{
	size_t i = 0;
	int rc = 0;

	if (o->list.count && order_sort(o))
		return -1;
	while (rc == 0 && i < o->list.count && (last || o->list.data[i].time <= o->limit))
		rc = call(context, &o->list.data[i++]);
	if (i)
		memmove(o->list.data, o->list.data + i,
			(o->list.count - i) * sizeof(*o->list.data));
	o->list.count -= i;
	o->limit = o->youngest;
	return rc;
}

void order_fini(struct order *o)
{
	vec_fini(&o->list);
	free(o->spare);
	o->spare = NULL;
}
