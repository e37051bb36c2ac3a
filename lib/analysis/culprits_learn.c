/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/culprits_learn.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/culprits_private.h"

enum { ROUNDS = 12 };
/* This share of the possible waits counts as seen before: factors of rare causes stay near 1. */
#define DOUBT 0.01
#define LEAST 0.02
#define MOST  50.0

struct item {
	uint8_t cause;
	float high, weight, usual;
};

struct wait {
	double cycles;
	uint32_t first, count;
};

struct culprits_learn {
	VEC(struct wait) waits;
	VEC(struct item) items;
	double possible[CULPRITS + 1], all;
};

struct culprits_learn *culprits_learn_new(struct error *e)
{
	struct culprits_learn *l = calloc(1, sizeof(*l));

	if (!l)
		error_nomem(e);
	return l;
}

void culprits_learn_free(struct culprits_learn *l)
{
	if (!l)
		return;
	vec_fini(&l->waits);
	vec_fini(&l->items);
	free(l);
}

static int add_item(
	struct culprits_learn *l, struct wait *w, unsigned cause, const struct culprit *c)
{
	struct item x = {(uint8_t)cause, (float)c->high, (float)c->weight, (float)c->usual};

	if (!(c->high > 0) || !(c->weight > 0))
		return 0;
	if (vec_add(&l->items, x))
		return -1;
	w->count++;
	return 0;
}

int culprits_learn_add(struct culprits_learn *l, const struct culprits *c, struct error *e)
{
	for (unsigned k = 0; k <= CULPRITS; k++)
		l->possible[k] += c->possible[k];
	for (size_t i = 0; i < c->count; i++) {
		const struct culprit_wait *w = &c->wait[i];
		struct wait *to;

		if (!(w->wait > 0))
			continue;
		to = vec_push(&l->waits);
		if (!to)
			return error_nomem(e);
		*to = (struct wait){.cycles = w->wait, .first = (uint32_t)l->items.count};
		l->all += w->wait;
		if (add_item(l, to, CULPRITS,
			    &(struct culprit){
				    .high = fmin(w->most, w->wait), .weight = w->most * w->trust}))
			return error_nomem(e);
		for (uint32_t k = w->first; k < w->first + w->count; k++) {
			const struct culprit *x = &c->list.data[k];

			if (add_item(l, to, x->cause, x))
				return error_nomem(e);
		}
	}
	return 0;
}

static void one_round(const struct culprits_learn *l, const double *factor, double *seen)
{
	for (size_t i = 0; i < l->waits.count; i++) {
		const struct wait *w = &l->waits.data[i];
		struct culprit list[CULPRITS + 1];
		double weight[CULPRITS + 1];

		for (uint32_t k = 0; k < w->count; k++) {
			const struct item *x = &l->items.data[w->first + k];

			list[k] = (struct culprit){.cause = x->cause,
				.high = (double)x->high,
				.usual = (double)x->usual};
			weight[k] = (double)x->weight * factor[x->cause];
		}
		culprits_divide(list, weight, w->count, w->cycles);
		for (uint32_t k = 0; k < w->count; k++)
			seen[list[k].cause] += list[k].likely;
	}
}

void culprits_learn_factors(struct culprits_learn *l, double factor[CULPRITS + 1])
{
	for (unsigned k = 0; k <= CULPRITS; k++)
		factor[k] = 1;
	for (int round = 0; round < ROUNDS; round++) {
		double seen[CULPRITS + 1] = {0};

		one_round(l, factor, seen);
		for (unsigned k = 0; k <= CULPRITS; k++) {
			double before = DOUBT * l->all / (CULPRITS + 1);
			double share = (seen[k] + before) / (l->possible[k] + before);

			factor[k] = l->all > 0 ? fmin(fmax(share, LEAST), MOST) : 1;
		}
	}
}
