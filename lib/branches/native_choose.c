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
	/* Entries of the bursts by run: those of a run end where those of the next one begin. */
	size_t *first_of;
	struct choice_entry {
		uint32_t burst; /* from `first` on */
		float rate;     /* executions per second in it */
	} * entries;
	VEC(uint32_t) own; /* runs that are, or are counted by, what is looked at */
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

/* Most runs are in few bursts: what is looked at is found faster by run. */
static bool choice_order(struct choice *h)
{
	const struct native *n = h->n;
	size_t begin = choice_burst(h, h->first)->first, runs = n->runs.count, sum = 0;

	h->first_of = calloc(runs + 2, sizeof(*h->first_of));
	h->entries = malloc((n->entries.count - begin + 1) * sizeof(*h->entries));
	if (!h->first_of || !h->entries)
		return false;
	/* The place of each run is that of the next one, until its entries are there. */
	for (size_t k = begin; k < n->entries.count; k++)
		h->first_of[n->entries.data[k].run + 2]++;
	for (size_t r = 0; r < runs; r++)
		h->first_of[r + 1] = sum, sum += h->first_of[r + 2];
	for (size_t i = h->first; i < n->bursts.count; i++)
		for (size_t k = choice_burst(h, i)->first; k < native_last(n, i); k++) {
			const struct native_entry *e = &n->entries.data[k];

			h->entries[h->first_of[e->run + 1]++] =
				(struct choice_entry){(uint32_t)(i - h->first),
					(float)(e->count / choice_burst(h, i)->seconds)};
		}
	return true;
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
	if (!bursts || !h->share || !h->rates || !h->barred || !choice_order(h))
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
	free(h->first_of);
	free(h->entries);
	vec_fini(&h->own);
}

/* Cosines of all runs to what has these rates. */
static void find_cosines(struct choice *h)
{
	const struct native *n = h->n;
	double own = 0, trust = h->bursts / (h->bursts + BURSTS_PRIOR);

	for (size_t i = 0; i < n->bursts.count - h->first; i++)
		own += h->rates[i] * h->rates[i];
	for (size_t r = 0; r < n->runs.count; r++) {
		double sum = 0;

		for (size_t k = h->first_of[r]; k < h->first_of[r + 1]; k++)
			sum += h->rates[h->entries[k].burst] * h->entries[k].rate;
		h->cosine[r] = sum > 0 ? sum * sum / (h->square[r] * own) * trust : 0;
	}
}

static bool counted_by(const struct cache *c, size_t r, const struct anchor *a)
{
	const struct native_run *run = native_run_at(c, r);
	bool counted = false;

	for (size_t i = 0; i < run->anchors.count; i++)
		counted |= &c->anchors->all[run->anchors.data[i]] == a;
	return counted;
}

static void add_own(struct choice *h, size_t r)
{
	if (vec_add(&h->own, (uint32_t)r))
		return;
	for (size_t k = h->first_of[r]; k < h->first_of[r + 1]; k++)
		h->rates[h->entries[k].burst] += h->entries[k].rate;
}

/* Rates of the runs that an anchor counts, or of one run. */
static void look_at(struct choice *h, const struct anchor *a, size_t number)
{
	const struct native *n = h->n;

	h->own.count = 0;
	memset(h->rates, 0, (n->bursts.count - h->first) * sizeof(double));
	if (!a)
		add_own(h, number);
	for (size_t r = 0; a && r < n->runs.count; r++)
		if (counted_by(h->c, r, a))
			add_own(h, r);
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
		if (h->cosine[r] * OTHER > h->near[r])
			h->near[r] = h->cosine[r] * OTHER;
	for (size_t i = 0; i < h->own.count; i++) {
		uint32_t r = h->own.data[i];

		h->near[r] = fmax(h->near[r], h->cosine[r]);
	}
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
		double cosine = h->cosine[r] * (r == wanted ? 1 : OTHER), rate, use;

		/* Of most runs, no more has to be computed. */
		if (h->barred[r] & NO_ANCHOR_IN || cosine < h->near[wanted] + CLOSER ||
			cosine <= most)
			continue;
		rate = h->count[r] / h->seconds;
		use = cosine / (1 + rate / COSTLY);
		if (rate > RATE_MAX || use <= most ||
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
