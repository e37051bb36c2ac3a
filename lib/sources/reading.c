/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/source.h"

int reading_init(struct reading *r, size_t count, struct error *e)
{
	memset(r, 0, sizeof(*r));
	r->counts = calloc(count ? count : 1, sizeof(*r->counts));
	if (!r->counts)
		return error_nomem(e);
	r->count = count;
	return 0;
}

struct thread_reading *reading_add_thread(struct reading *r)
{
	struct thread_reading *grown, *t;

	/* Doubling at powers of two, so that no capacity need be kept. */
	if ((r->thread_count & (r->thread_count - 1)) == 0) {
		size_t capacity = r->thread_count ? r->thread_count * 2 : 1;

		grown = realloc(r->threads, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		r->threads = grown;
	}
	t = &r->threads[r->thread_count];
	memset(t, 0, sizeof(*t));
	t->counts = calloc(r->count ? r->count : 1, sizeof(*t->counts));
	if (!t->counts)
		return NULL;
	r->thread_count++;
	return t;
}

void reading_sort_threads(struct reading *r)
{
	/* Insertion: sources add their rows nearly in order. */
	for (size_t i = 1; i < r->thread_count; i++) {
		struct thread_reading t = r->threads[i];
		size_t j = i;

		for (; j > 0; j--) {
			const struct thread_reading *before = &r->threads[j - 1];

			if (before->pid < t.pid || (before->pid == t.pid && before->tid <= t.tid))
				break;
			r->threads[j] = *before;
		}
		r->threads[j] = t;
	}
}

/* Differences of scaled counts: both scatter, independently. */
static void subtract(struct quantity *q, const struct quantity *p)
{
	double half = hypot((q->high - q->low) / 2, (p->high - p->low) / 2);

	if (q->label == LABEL_NONE || p->label == LABEL_NONE)
		return;
	q->value = fmax(0, q->value - p->value);
	q->low = fmax(0, q->value - half);
	q->high = q->value + half;
}

int reading_since(
	struct reading *now, const struct reading *r, struct reading *before, struct error *e)
{
	if ((!before->counts && reading_init(before, r->count, e)) ||
		reading_init(now, r->count, e))
		return -1;
	memcpy(now->counts, r->counts, r->count * sizeof(*r->counts));
	for (size_t i = 0; i < r->count; i++)
		subtract(&now->counts[i].quantity, &before->counts[i].quantity);
	memcpy(before->counts, r->counts, r->count * sizeof(*r->counts));
	return 0;
}

void reading_fini(struct reading *r)
{
	for (size_t i = 0; i < r->thread_count; i++)
		free(r->threads[i].counts);
	free(r->threads);
	free(r->counts);
	memset(r, 0, sizeof(*r));
}

void reading_uncounted(struct reading *r, const char *why)
{
	for (size_t i = 0; i < r->count; i++) {
		memset(&r->counts[i], 0, sizeof(r->counts[i]));
		snprintf(r->counts[i].why, sizeof(r->counts[i].why), "%s", why);
	}
	for (size_t t = 0; t < r->thread_count; t++)
		memcpy(r->threads[t].counts, r->counts, r->count * sizeof(*r->counts));
}
