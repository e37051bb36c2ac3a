/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hidden part of misses and mispredictions that were counted. An instruction does one thing
 * after another: the branch before it is resolved, the instruction is fetched, its address is
 * translated, its data come. As long as earlier instructions keep retirement busy, none of this
 * shows as a wait. So the beginning is hidden: of a short wait the translation first, which comes
 * before the data.
 *
 * Retirement is busy for a time h that varies; assume an exponential distribution with mean m. Of
 * a delay L, then L - m (1 - exp(-L / m)) is seen on average. m is chosen so that the seen parts
 * add up to the wait. (With the usual costs in proportion instead, half of the charge to
 * translations was due to the data.)
 */
#include <math.h>

#include "analysis/culprits_private.h"

enum { WRONG, FETCH, WALK, DATA, PHASES, KINDS_MAX = 32, STEPS = 26 };

/* Executions with the same delays. */
struct kind {
	double times;
	double takes[PHASES];    /* cycles */
	enum culprit_cause data; /* the level that had the data; CULPRITS: the first */
};

struct kinds {
	uint32_t count;
	struct kind kind[KINDS_MAX];
};

static const enum culprit_cause levels[] = {CULPRIT_MEMORY, CULPRIT_LL, CULPRIT_L2, CULPRITS};
enum { LEVELS = sizeof(levels) / sizeof(*levels) };

/* The number counted, and the cycles of each. */
static double times_of(const struct culprit_search *s, enum culprit_cause cause, double *takes)
{
	const double *times = s->in->events_times[cause];
	double n = times ? fmin(times[s->insn], s->executions) : 0;

	if (n > 0)
		*takes = s->in->events_full[cause][s->insn] / times[s->insn];
	return n;
}

/* Mispredictions and misses of code are as likely with any data. */
struct before {
	double wrong, penalty; /* share of executions, cycles */
	double missed, fetch;
};

/* weight: of those without an earlier delay. */
static void hidden_add(struct kinds *k, const struct before *b, double times, double walk,
	double data, enum culprit_cause from, double weight)
{
	for (unsigned i = 0; i < 4; i++) {
		bool wrong = i & 1, missed = i & 2;
		double n = times * (wrong ? b->wrong : 1 - b->wrong) *
			   (missed ? b->missed : 1 - b->missed) * (i ? 1 : weight);

		if (n > 0)
			k->kind[k->count++] = (struct kind){n,
				{wrong ? b->penalty : 0, missed ? b->fetch : 0, walk, data}, from};
	}
}

/* Cycles of a load that hits in the first level. The address of the procedure's own stack is known
 * early. */
static double hit(const struct culprit_search *s, const struct op *op)
{
	bool stack = op->load.there && culprit_is_stack(s, &op->load);

	return op->loads && !stack ? (double)op->load_latency : 0;
}

/* How often data came from a level beyond the first. */
static double from_level(const struct culprit_search *s, const struct op *op,
	enum culprit_cause level, double left, double *takes)
{
	return op->loads ? fmin(times_of(s, level, takes), left) : 0;
}

static struct before hidden_before(const struct culprit_search *s)
{
	const struct culprit_suspect *x = &s->suspect[CULPRIT_MISPREDICT];
	struct before b = {.penalty = s->in->machine->cost[CULPRIT_MISPREDICT].typical};

	b.missed = times_of(s, CULPRIT_ICACHE, &b.fetch) / s->executions;
	if (x->there && s->in->events[CULPRIT_MISPREDICT] && b.penalty > 0)
		b.wrong = fmin(x->usual / b.penalty / s->executions, 1);
	return b;
}

/* A load that runs ahead has its translation and a hit's data before its turn. Untranslated data
 * probably come from farther away. If data miss, hits may be links of a chain as well; if only
 * earlier delays are known to have waited, they are not. */
static void make_kinds(const struct culprit_search *s, const struct op *op, struct kinds *k)
{
	double left = s->executions, misses = 0, walk = 0;
	struct before b = hidden_before(s);
	bool ahead = culprit_runs_ahead(s, op);
	double walks = op->loads && !ahead ? times_of(s, CULPRIT_DTLB, &walk) : 0;

	k->count = 0;
	for (unsigned i = 0; i < LEVELS; i++) {
		bool there = levels[i] == CULPRITS;
		double data = hit(s, op);
		double n = there ? left : from_level(s, op, levels[i], left, &data);
		double both = fmin(walks, n), weight = 1;

		misses += there ? both : n;
		if (there)
			weight = misses > 0 && !ahead
					 ? misses / (misses + (b.missed + b.wrong) * s->executions)
					 : 0;
		hidden_add(k, &b, both, walk, data, levels[i], 1);
		hidden_add(k, &b, n - both, 0, data, levels[i], weight);
		walks -= both;
		left -= n;
	}
}

/* Of `takes` cycles. */
static double seen(double takes, double mean)
{
	return mean > 0 ? takes + mean * expm1(-takes / mean) : takes;
}

static double seen_of_all(const struct kinds *k, double mean)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->count; i++) {
		double all = 0;

		for (unsigned p = 0; p < PHASES; p++)
			all += k->kind[i].takes[p];
		sum += k->kind[i].times * seen(all, mean);
	}
	return sum;
}

static double find_mean(const struct kinds *k, double wait)
{
	double low = -4, high = 14; /* log2 */

	if (seen_of_all(k, 0) <= wait)
		return 0;
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;

		if (seen_of_all(k, exp2(middle)) > wait)
			low = middle;
		else
			high = middle;
	}
	return exp2(high);
}

static void hidden_take(struct culprit_search *s, enum culprit_cause cause, double cycles)
{
	struct culprit_suspect *x = &s->suspect[cause];

	if (x->there)
		x->weight = x->usual = fmax(cycles, 1e-9);
}

/* Counted causes handled here; the others keep their share. */
static bool hidden_mine(unsigned cause)
{
	return cause == CULPRIT_ICACHE || cause == CULPRIT_MISPREDICT ||
	       (cause >= CULPRIT_L2 && cause <= CULPRIT_DTLB);
}

/* For one kind, the visible part of each phase. */
static void share(double *sums, const struct kind *k, double mean)
{
	const enum culprit_cause causes[PHASES] = {
		CULPRIT_MISPREDICT, CULPRIT_ICACHE, CULPRIT_DTLB, k->data};
	double until = 0, before = 0;

	for (unsigned p = 0; p < PHASES; p++) {
		double now = seen(until += k->takes[p], mean);

		sums[causes[p]] += k->times * (now - before);
		before = now;
	}
}

double culprit_hidden(struct culprit_search *s, const struct op *op, double wait)
{
	double sums[CULPRITS + 1] = {0}, others = 0, all, mean;
	struct kinds k;

	if (s->in->core->in_order || !(wait > 0) || !s->in->events_times[CULPRIT_ICACHE] ||
		(op->loads && !s->in->events_times[CULPRIT_L2]))
		return -1;
	make_kinds(s, op, &k);
	all = seen_of_all(&k, 0);
	if (!(all > 0))
		return -1;
	for (unsigned c = 0; c < CULPRITS; c++)
		if (s->in->events[c] && !hidden_mine(c) && s->suspect[c].there)
			others += s->suspect[c].weight;
	wait = fmax(wait - others, wait * all / (all + others));
	mean = find_mean(&k, wait);
	for (uint32_t i = 0; i < k.count; i++)
		share(sums, &k.kind[i], mean);
	for (unsigned c = 0; c < CULPRITS; c++)
		if (hidden_mine(c) && s->in->events[c])
			hidden_take(s, (enum culprit_cause)c, sums[c]);
	return mean > 0 && all > others ? sums[CULPRITS] : -1;
}
