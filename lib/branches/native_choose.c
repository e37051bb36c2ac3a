/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions become anchors. Two runs are near if bursts have them in a constant ratio (the
 * cosine of their rates in bursts): if the executions of one are known, so are those of the other.
 * So anchors are chosen one after the other: the run with most time that is near no anchor gets
 * one; not necessarily in itself, but in a run near to it that is executed seldom enough to be
 * cheap.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branches/native.h"

#define COSTLY   1e6    /* executions per second that halve the use of an anchor */
#define RATE_MAX 3e7    /* per second: otherwise a stub slows down the code around it too much */
#define CLOSER   0.02   /* more than before (squared cosine), for another anchor */
#define OTHER    0.9    /* of it, if the anchor does not count the run itself */
#define LEAST    0.0003 /* share of the time that needs no anchor */
#define ALONE                                                                                      \
	0.5 /* squared cosine to the nearest anchor up to which code may have an expensive one */
#define AT_FIRST 4  /* few bursts do not show what goes with what */
#define AT_ONCE  24 /* new anchors */
#define TRIES    64

struct choice {
	const struct native *n;
	struct cache *c;
	size_t first; /* of the bursts looked at */
	double bursts, seconds, time;
	unsigned seldom; /* anchors that are not */
	/* By run: its share of the time; executions; the sum of squared rates; squared cosine to
	 * its nearest anchor, and to the run or anchor that is looked at. */
	double *share, *count, *square, *near, *cosine;
	double *rates;   /* by burst, of what is looked at */
	uint8_t *barred; /* cannot be, or needs no anchor */
	bool *own;       /* by run: it is, or is counted by, what is looked at */
};

enum { NO_ANCHOR_IN = 1, GIVEN_UP = 2 };

static const struct native_burst *choice_burst(const struct choice *h, size_t i)
{
	return &h->n->bursts.data[i];
}

/* Bytes of a run are about in proportion to its time. */
static void choice_add_up(struct choice *h)
{
	const struct native *n = h->n;

	for (size_t i = h->first; i < n->bursts.count; i++) {
		h->seconds += choice_burst(h, i)->seconds;
		for (size_t k = choice_burst(h, i)->first; k < native_last(n, i); k++) {
			const struct native_entry *e = &n->entries.data[k];
			double rate = e->count / choice_burst(h, i)->seconds;

			h->count[e->run] += e->count;
			h->share[e->run] += rate;
			h->square[e->run] += rate * rate;
		}
	}
	for (size_t r = 0; r < n->runs.count; r++) {
		const struct native_run *run = table_at(&n->runs, r);

		h->share[r] *= (double)(run->key.end - run->key.begin) + 4;
		h->time += h->share[r];
	}
}

static bool make_choice(struct choice *h, struct cache *c)
{
	const struct native *n = c->native;
	size_t runs = n->runs.count, bursts = n->bursts.count;

	h->n = n;
	h->c = c;
	h->first = bursts > BURSTS_LOOKED_AT ? bursts - BURSTS_LOOKED_AT : 0;
	h->bursts = (double)(bursts - h->first);
	h->share = calloc(5 * runs + 1, sizeof(double));
	h->rates = calloc(bursts + 1, sizeof(double));
	h->barred = calloc(runs + 1, 1);
	h->own = calloc(runs + 1, sizeof(*h->own));
	if (!h->share || !h->rates || !h->barred || !h->own)
		return false;
	h->count = h->share + runs;
	h->square = h->count + runs;
	h->near = h->square + runs;
	h->cosine = h->near + runs;
	choice_add_up(h);
	return h->time > 0;
}

static void free_choice(struct choice *h)
{
	free(h->share);
	free(h->rates);
	free(h->barred);
	free(h->own);
}

/* Cosines of all runs to what has these rates. */
static void find_cosines(struct choice *h)
{
	const struct native *n = h->n;
	double own = 0, trust = h->bursts / (h->bursts + BURSTS_PRIOR);

	memset(h->cosine, 0, n->runs.count * sizeof(double));
	for (size_t i = h->first; i < n->bursts.count; i++) {
		double rate = h->rates[i] / choice_burst(h, i)->seconds;

		own += h->rates[i] * h->rates[i];
		if (!(rate > 0))
			continue;
		for (size_t k = choice_burst(h, i)->first; k < native_last(n, i); k++)
			h->cosine[n->entries.data[k].run] += rate * n->entries.data[k].count;
	}
	for (size_t r = 0; r < n->runs.count; r++)
		if (h->square[r] > 0 && own > 0)
			h->cosine[r] *= h->cosine[r] / (h->square[r] * own) * trust;
}

static bool counted_by(const struct cache *c, size_t r, const struct anchor *a)
{
	const struct native_run *run = native_run_at(c, r);
	bool counted = false;

	for (size_t i = 0; i < run->anchors.count; i++)
		counted |= &c->anchors->all[run->anchors.data[i]] == a;
	return counted;
}

/* Rates of the runs that an anchor counts, or of one run. */
static void look_at(struct choice *h, const struct anchor *a, size_t number)
{
	const struct native *n = h->n;

	for (size_t r = 0; r < n->runs.count; r++)
		h->own[r] = a ? counted_by(h->c, r, a) : r == number;
	for (size_t i = h->first; i < n->bursts.count; i++) {
		double count = 0;

		for (size_t k = choice_burst(h, i)->first; k < native_last(n, i); k++)
			if (h->own[n->entries.data[k].run])
				count += n->entries.data[k].count;
		h->rates[i] = count / choice_burst(h, i)->seconds;
	}
	find_cosines(h);
}

/* Whether an anchor with this rate can be in place always: those with lower rates come first. */
static bool has_room(const struct choice *h, double rate)
{
	const struct anchors *all = h->c->anchors;
	double sum = rate;

	for (unsigned i = 0; i < all->count; i++)
		if (anchor_rate(&all->all[i]) < rate)
			sum += anchor_rate(&all->all[i]);
	return sum <= native_most(h->c);
}

static void choice_take(struct choice *h, const struct anchor *a)
{
	h->seldom += !has_room(h, anchor_rate(a));
	look_at(h, a, 0);
	for (size_t r = 0; r < h->n->runs.count; r++)
		h->near[r] = fmax(h->near[r], h->cosine[r] * (h->own[r] ? 1 : OTHER));
}

/* The run with most time that no anchor is near; false: none has much. */
static bool farthest(const struct choice *h, size_t *run)
{
	double most = LEAST * h->time;

	for (size_t r = 0; r < h->n->runs.count; r++) {
		double far = h->share[r] * (1 - h->near[r]);

		if (h->barred[r] & GIVEN_UP || far <= most)
			continue;
		most = far;
		*run = r;
	}
	return most > LEAST * h->time;
}

/* Where the anchor goes for the run that is looked at: false: nowhere. */
static bool best_for(const struct choice *h, size_t wanted, size_t *run)
{
	double most = 0;

	for (size_t r = 0; r < h->n->runs.count; r++) {
		double rate = h->count[r] / h->seconds;
		double cosine = h->cosine[r] * (r == wanted ? 1 : OTHER);
		double use = cosine / (1 + rate / COSTLY);

		if (h->barred[r] & NO_ANCHOR_IN || rate > RATE_MAX || use <= most ||
			cosine < h->near[wanted] + CLOSER ||
			(!has_room(h, rate) &&
				(h->seldom == ANCHORS_SELDOM || h->near[wanted] > ALONE)))
			continue;
		most = use;
		*run = r;
	}
	return most > 0;
}

/* All executions of its instruction in the bursts looked at. */
static void estimate_rate(const struct choice *h, struct anchor *a)
{
	a->seconds = h->seconds;
	for (size_t r = 0; r < h->n->runs.count; r++) {
		const struct native_run *run = table_at(&h->n->runs, r);

		if (anchor_counts(a, run->key.begin, run->key.end, run->key.to))
			a->counts += h->count[r];
	}
}

static struct anchor *choose_in(struct choice *h, struct held *f, size_t r)
{
	const struct native_run *run = table_at(&h->n->runs, r);
	struct anchor *a = anchors_add(h->c, f, run->key.begin, run->key.end, run->key.to);

	h->barred[r] |= NO_ANCHOR_IN;
	if (!a)
		return NULL;
	a->since = h->n->all;
	a->after = h->n->bursts.count;
	estimate_rate(h, a);
	if (anchor_rate(a) <= RATE_MAX)
		return a;
	h->c->anchors->count--; /* its stub is not used */
	return NULL;
}

static void choose_some(struct choice *h, struct held *f)
{
	unsigned found = 0;
	size_t wanted = 0, r = 0;
	bool again = false;

	for (int i = 0; i < TRIES && found < AT_FIRST + h->bursts / 2 && found < AT_ONCE; i++) {
		struct anchor *a;

		if (!again) {
			if (!farthest(h, &wanted))
				return;
			look_at(h, NULL, wanted);
		}
		again = best_for(h, wanted, &r);
		if (!again) {
			h->barred[wanted] |= GIVEN_UP;
			continue;
		}
		a = choose_in(h, f, r);
		if (!a)
			continue;
		choice_take(h, a);
		again = false;
		found++;
	}
}

void native_choose(struct cache *c, struct held *f)
{
	struct native *n = c->native;
	size_t bursts = n->bursts.count;
	struct choice h = {0};

	/* At 1, 2, 4, 7, 11, 17 ... bursts, and then now and then. */
	if (bursts < n->next_choice || c->anchors->count == ANCHORS_MAX)
		return;
	n->next_choice =
		bursts + (bursts < BURSTS_LOOKED_AT ? bursts / 2 + 1 : BURSTS_LOOKED_AT / 2);
	if (make_choice(&h, c)) {
		for (unsigned i = 0; i < c->anchors->count; i++)
			choice_take(&h, &c->anchors->all[i]);
		choose_some(&h, f);
	}
	free_choice(&h);
}
