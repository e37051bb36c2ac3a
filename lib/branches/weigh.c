/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "branches/weigh.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

#define SEEN_LEAST   2.0  /* executions of an anchor in bursts */
#define SEEN_MOST    50.0 /* more do not improve it */
#define CHANCE_LEAST 1e-4
#define LOOSE        0.005 /* anchors that differ by less than the root of this count as one */
#define FREE         0.25 /* variance of a weight, as a part of it, squared, before anchors are known */
#define APART        0.005 /* squared sine, of code that goes with an anchor */
#define LEFT_MAX     1.5
#define LEVER_MAX    0.9
#define ROUNDS       4
#define CERTAIN      0.0004 /* variance of an anchor's total, at least, where anchors are compared */
#define AGREED       2.0    /* anchors that agree as expected, before any is known */
#define DISAGREE     25.0   /* one anchor disagrees by no more */
#define PRECISE      0.05 /* variance of an anchor's total that halves what it says of other code */
#define CHOSEN       3.0 /* bursts that an anchor explains by chance, if it is the nearest of many */
#define STEP         2.0    /* a weight changes by no more than this factor in a round */
#define PHASES       12u    /* parts of the time, each of which is known, */
#define PHASE_BURSTS 2u     /* if they have this number of bursts or more, */
#define PHASE_LEAST  0.0004 /* with this variance at least */

int weigh_make(struct weigh *w, size_t bursts, size_t anchors)
{
	*w = (struct weigh){.bursts = bursts, .anchors = anchors, .factor = 1, .disagree = 1};
	anchors += PHASES; /* times */
	w->count = calloc(anchors * bursts + 1, sizeof(double));
	w->total = calloc(anchors + 1, sizeof(double));
	w->doubt = calloc(anchors + 1, sizeof(double));
	w->weight = calloc(bursts + 1, sizeof(double));
	w->matrix = calloc(anchors * anchors + 1, sizeof(double));
	w->lever = calloc(bursts + 1, sizeof(double));
	w->time = calloc(bursts + 1, sizeof(double));
	w->vague = calloc(bursts + 1, sizeof(double));
	w->scaled = calloc(3 * anchors * bursts + bursts + 1, sizeof(double));
	w->part = calloc(5 * anchors + 1, sizeof(double));
	w->left = w->part + anchors;
	w->norm = w->left + anchors;
	w->unsure = w->norm + anchors;
	w->solution = w->unsure + anchors;
	w->by_burst = w->scaled + anchors * bursts;
	w->solved = w->by_burst + anchors * bursts;
	w->rest = w->solved + anchors * bursts;
	return w->count && w->scaled && w->total && w->doubt && w->weight && w->matrix &&
			       w->lever && w->time && w->vague && w->part
		       ? 0
		       : -1;
}

void weigh_free(struct weigh *w)
{
	free(w->count);
	free(w->scaled);
	free(w->total);
	free(w->doubt);
	free(w->weight);
	free(w->matrix);
	free(w->lever);
	free(w->time);
	free(w->vague);
	free(w->part);
	*w = (struct weigh){0};
}

/* What bursts make of the executions of an anchor, in parts of those counted. */
static double weigh_explained(const struct weigh *w, size_t anchor)
{
	const double *count = w->count + anchor * w->bursts;
	double sum = 0;

	for (size_t i = 0; i < w->bursts; i++)
		sum += w->weight[i] * count[i];
	return sum / w->total[anchor];
}

static void drop_rare(struct weigh *w)
{
	size_t kept = 0;

	for (size_t a = 0; a < w->anchors; a++) {
		double seen = 0;

		for (size_t i = 0; i < w->bursts; i++)
			seen += w->count[a * w->bursts + i];
		if (w->total[a] < WEIGH_HITS_LEAST || seen < SEEN_LEAST)
			continue;
		w->total[kept] = w->total[a];
		w->unsure[kept] = w->doubt[a];
		w->doubt[kept] = w->doubt[a] + 1 / seen;
		memmove(w->count + kept * w->bursts, w->count + a * w->bursts,
			w->bursts * sizeof(double));
		kept++;
	}
	w->anchors = kept;
}

/*
 * The variance of a sum over bursts of what they executed in the time that they stand for, as a
 * part of it, squared: of code that is in few bursts, it is what chance makes it.
 */
static double weigh_chance(const struct weigh *w, const double *executed)
{
	double n = (double)w->bursts, sum = 0, time = 0, squares = 0;

	for (size_t i = 0; i < w->bursts; i++) {
		sum += executed[i];
		time += w->time[i];
	}
	for (size_t i = 0; i < w->bursts; i++) {
		double off = executed[i] - (time > 0 ? sum / time * w->time[i] : sum / n);

		squares += off * off;
	}
	return n > 1 ? squares / (sum * sum) * n / (n - 1) : 1;
}

/* What an anchor says of the factor. all: adds what bursts make of its executions, so weighed. */
static struct stats_weighed weigh_opinion(const struct weigh *w, size_t a, double *own, double *all)
{
	double explained = weigh_explained(w, a), weight;

	for (size_t i = 0; i < w->bursts; i++)
		own[i] = w->weight[i] * w->count[a * w->bursts + i] / w->total[a] / explained;
	weight = fmin(1 / (w->doubt[a] + weigh_chance(w, own)), SEEN_MOST);
	for (size_t i = 0; i < w->bursts; i++)
		all[i] += weight * own[i];
	return (struct stats_weighed){1 / explained, weight};
}

/*
 * One factor for all, by the median of anchors. Together they say no more than the bursts that have
 * them; and the clock, by which the factor is 1, counts as one more.
 */
static void find_factor(struct weigh *w)
{
	struct stats_weighed *each = calloc(w->anchors + 1, sizeof(*each));
	double *own = calloc(2 * w->bursts + 1, sizeof(*own)), *all;
	double sum = 0, most, clock = w->open > 0 ? 1 / w->open : 0;

	if (!each || !own) {
		free(each);
		free(own);
		return;
	}
	all = own + w->bursts;
	for (size_t a = 0; a < w->anchors; a++) {
		each[a] = weigh_opinion(w, a, own, all);
		sum += each[a].weight;
	}
	most = 1 / fmax(weigh_chance(w, all), CHANCE_LEAST);
	for (size_t a = 0; a < w->anchors; a++)
		each[a].weight *= fmin(most / sum, 1);
	each[w->anchors] = (struct stats_weighed){1, clock};
	w->factor = stats_weighed(each, w->anchors + (clock > 0), (fmin(sum, most) + clock) / 2);
	w->open = clock > 0 ? 1 / (fmin(sum, most) + clock) : 0;
	free(each);
	free(own);
	for (size_t i = 0; i < w->bursts; i++)
		w->weight[i] *= w->factor;
}

/* Products of anchors over bursts, and their Cholesky factor, in place. */
static void make_matrix(struct weigh *w)
{
	size_t n = w->anchors;

	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b <= a; b++) {
			const double *x = w->count + a * w->bursts, *y = w->count + b * w->bursts;
			double sum = 0;

			for (size_t i = 0; i < w->bursts; i++)
				sum += w->weight[i] * w->weight[i] * x[i] * y[i];
			w->matrix[a * n + b] = sum / (w->total[a] * w->total[b]);
		}
	for (size_t a = 0; a < n; a++) {
		w->norm[a] = w->matrix[a * n + a];
		w->matrix[a * n + a] += (LOOSE + w->doubt[a] / FREE) * w->norm[a];
	}
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b <= a; b++) {
			double sum = w->matrix[a * n + b];

			for (size_t k = 0; k < b; k++)
				sum -= w->matrix[a * n + k] * w->matrix[b * n + k];
			w->matrix[a * n + b] =
				a == b ? sqrt(fmax(sum, 1e-12)) : sum / w->matrix[b * n + b];
		}
}

static void weigh_solve(const struct weigh *w, double *x)
{
	size_t n = w->anchors;

	for (size_t a = 0; a < n; a++) {
		for (size_t k = 0; k < a; k++)
			x[a] -= w->matrix[a * n + k] * x[k];
		x[a] /= w->matrix[a * n + a];
	}
	for (size_t a = n; a-- > 0;) {
		x[a] /= w->matrix[a * n + a];
		for (size_t k = 0; k < a; k++)
			x[k] -= w->matrix[a * n + k] * x[a];
	}
}

/* How much each burst decides its own weight: what is left unexplained of it is less than what
 * other bursts would leave. */
static void find_levers(struct weigh *w)
{
	size_t n = w->anchors;

	for (size_t i = 0; i < w->bursts; i++) {
		double sum = 0;

		for (size_t a = 0; a < n; a++) {
			w->part[a] = w->weight[i] * w->count[a * w->bursts + i] / w->total[a];
			for (size_t k = 0; k < a; k++)
				w->part[a] -= w->matrix[a * n + k] * w->part[k];
			w->part[a] /= w->matrix[a * n + a];
			sum += w->part[a] * w->part[a];
		}
		w->lever[i] = fmin(sum, LEVER_MAX);
	}
}

static void change_weights(struct weigh *w)
{
	for (size_t i = 0; i < w->bursts; i++) {
		double by = 1;

		for (size_t a = 0; a < w->anchors; a++)
			by += w->part[a] * w->weight[i] * w->count[a * w->bursts + i] / w->total[a];
		w->weight[i] *= fmin(fmax(by, 1 / STEP), STEP);
	}
}

/* The time from one burst to another as one more anchor, as known as bursts know theirs. */
static void add_phase(struct weigh *w, size_t first, size_t last)
{
	double *row = w->count + w->anchors * w->bursts, total = 0, vague = 0;

	for (size_t i = 0; i < w->bursts; i++) {
		bool in = i >= first && i < last && w->weight[i] > 0;

		row[i] = in ? w->time[i] * w->factor / w->weight[i] : 0;
		total += in ? w->time[i] : 0;
		vague += in ? w->time[i] * w->vague[i] : 0;
	}
	if (!(total > 0))
		return;
	vague /= total;
	w->total[w->anchors] = total * w->factor;
	w->doubt[w->anchors] = fmax(vague * vague, PHASE_LEAST);
	w->unsure[w->anchors] = w->open;
	w->anchors++;
}

/* What bursts stand for adds up to the time of each phase: if weights of some grow, those of others
 * near to them must become less. Else anchors of one phase would change the weights of others,
 * where there are none. */
static void weigh_add_times(struct weigh *w)
{
	size_t phases = w->bursts / PHASE_BURSTS;

	phases = phases > PHASES ? PHASES : phases ? phases : 1;
	for (size_t i = 0; i < phases; i++)
		add_phase(w, i * w->bursts / phases, (i + 1) * w->bursts / phases);
}

/* What sums are made of. A solution is a sum, too: of those of the bursts. */
static void weigh_scale(struct weigh *w)
{
	size_t n = w->anchors;

	for (size_t a = 0; a < n; a++)
		for (size_t i = 0; i < w->bursts; i++)
			w->scaled[a * w->bursts + i] = w->by_burst[i * n + a] =
				w->solved[i * n + a] =
					w->weight[i] * w->count[a * w->bursts + i] / w->total[a];
	for (size_t i = 0; i < w->bursts; i++)
		weigh_solve(w, w->solved + i * n);
}

/* How much more than expected the weights leave unexplained of anchors: the ratio of Birge
 * (Physical Review 40, 1932), by which the doubts of measurements that disagree are too small. At
 * least 1. */
static double weigh_disagree(const struct weigh *w)
{
	double sum = AGREED;

	for (size_t a = 0; a < w->counted; a++)
		sum += fmin(w->left[a] * w->left[a] / (w->unsure[a] + CERTAIN), DISAGREE);
	return fmax(sum / ((double)w->counted + AGREED), 1);
}

/* What anchors are off by that no weights explain, beyond their doubts: squared, in logarithms. So
 * is code that goes with none of them. */
static double weigh_off(const struct weigh *w)
{
	double sum = 0, all = AGREED;

	for (size_t a = 0; a < w->counted; a++) {
		double weight = PRECISE / (PRECISE + w->unsure[a]);

		sum += weight * (w->left[a] * w->left[a] - w->unsure[a]);
		all += weight;
	}
	return fmax(sum / all, 0);
}

void weigh_calibrate(struct weigh *w)
{
	drop_rare(w);
	if (!w->anchors)
		return;
	find_factor(w);
	w->counted = w->anchors;
	if (w->open > 0)
		weigh_add_times(w);
	for (int round = 0; round < ROUNDS; round++) {
		make_matrix(w);
		for (size_t a = 0; a < w->anchors; a++)
			w->part[a] = 1 - weigh_explained(w, a);
		weigh_solve(w, w->part);
		change_weights(w);
	}
	make_matrix(w);
	find_levers(w);
	for (size_t a = 0; a < w->anchors; a++)
		w->left[a] = fmin(fmax(-log(weigh_explained(w, a)), -LEFT_MAX), LEFT_MAX);
	w->disagree = weigh_disagree(w);
	w->off = weigh_off(w);
	weigh_scale(w);
}

/* What weights leave unexplained of the anchors that code with these products goes with: the
 * logarithm of a factor. alone: the part of it that goes with none. */
static double weigh_rest(const struct weigh *w, double squares, double *alone)
{
	double sum = 0, all = 1;

	for (size_t a = 0; a < w->anchors; a++) {
		double near, weight;

		near = fmin(w->part[a] * w->part[a] / (w->norm[a] * squares), 1);
		weight = near / (1 - near + w->doubt[a] + APART);
		sum += weight * w->left[a];
		all += weight;
	}
	*alone = 1 / all;
	return sum / all;
}

/* The variance of what is made of anchors, by these parts of each, and of the rest of the sum,
 * which has the factor of all, as times have. What is not known of an anchor's total is mostly its
 * own: which spells it was in place in, and for how long. */
static double weigh_totals(const struct weigh *w, const double *by, double sum)
{
	double variance = 0;

	for (size_t a = 0; a < w->counted; a++) {
		variance += by[a] * by[a] * w->unsure[a];
		sum -= by[a];
	}
	return variance * w->disagree + sum * sum * w->open;
}

/*
 * The variance of a sum in proportion to the anchor that it goes with best: what differs from that,
 * and the doubt of the anchor: of its total, and by chance in bursts for what does not go with it.
 * Where there are as many anchors as bursts, what each burst by itself leaves unexplained says
 * nothing, and this does. One that is chosen among many is nearer by chance: so it counts as if it
 * explained some bursts less. rest: what the sum is multiplied by, in logarithms; an anchor from
 * which this leads away is no measure of it.
 */
static double weigh_nearest(const struct weigh *w, double squares, double sum, double rest)
{
	double least = INFINITY, bursts = (double)w->bursts;

	for (size_t a = 0; a < w->anchors && bursts > CHOSEN + 1; a++) {
		double near = fmin(w->part[a] * w->part[a] / (w->norm[a] * squares), 1);
		double chance = squares * bursts / (bursts - 1 - CHOSEN) +
				sum * sum * (w->doubt[a] - w->unsure[a]);
		double off = w->left[a] - rest;
		double own = (1 - near) * chance + sum * sum * (w->unsure[a] + off * off);

		least = fmin(least, own);
	}
	return least;
}

static void weigh_add(double *sum, const double *x, double by, size_t n)
{
	for (size_t k = 0; k < n; k++)
		sum[k] += by * x[k];
}

double weigh_sum(struct weigh *w, const double *count, double *variance)
{
	size_t n = w->anchors;
	double *by = w->part, *solved = w->solution, sum = 0, squares = 0, rest, factor, nearest,
	       alone;

	*variance = 0;
	memset(by, 0, n * sizeof(*by));
	memset(solved, 0, n * sizeof(*solved));
	for (size_t i = 0; i < w->bursts; i++) {
		double own = w->weight[i] * count[i];

		w->rest[i] = own;
		if (!(own > 0))
			continue;
		sum += own;
		squares += own * own;
		weigh_add(by, w->by_burst + i * n, own, n);
		weigh_add(solved, w->solved + i * n, own, n);
	}
	if (!(squares > 0))
		return 0;
	rest = weigh_rest(w, squares, &alone);
	factor = exp(rest);
	nearest = weigh_nearest(w, squares, sum, rest);
	for (size_t a = 0; a < n; a++)
		weigh_add(w->rest, w->scaled + a * w->bursts, -solved[a], w->bursts);
	for (size_t i = 0; i < w->bursts; i++)
		*variance += pow(w->rest[i] / (1 - w->lever[i]), 2);
	*variance = fmin(*variance + weigh_totals(w, solved, sum), nearest);
	*variance = (*variance + alone * w->off * sum * sum) * factor * factor;
	return sum * factor;
}
