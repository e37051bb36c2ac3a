/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of the culprits of any code with any samples: for unit tests and fuzzing. */
#ifndef TESTS_CULPRITS_CHECK_H
#define TESTS_CULPRITS_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprits.h"
#include "analysis/culprits_lines.h"

static const char culprits_core[] =
	"[core]\n"
	"name tiny\n"
	"rename 2\n"
	"retire 2\n"
	"window 32\n"
	"stack-engine yes\n"
	"stack-sync yes\n"
	"[ports]\n"
	"any 0 1\n"
	"multiplier 1\n"
	"memory 2\n"
	"[front]\n"
	"taken 2\n"
	"fuses-compare yes\n"
	"[memory]\n"
	"load memory\n"
	"store-address memory\n"
	"load-latency 3\n"
	"[instructions]\n"
	"* : : any : 1\n"
	"imul add : r, * : multiplier/3 2*any slots=2 : 4 1=2 flags=1\n";

static const struct culprits_machine culprits_machine = {
	.cost = {[CULPRIT_ICACHE] = {10, 300},
		[CULPRIT_ITLB] = {10, 40},
		[CULPRIT_L2] = {8, 10},
		[CULPRIT_LL] = {30, 46},
		[CULPRIT_MEMORY] = {200, 396},
		[CULPRIT_DTLB] = {10, 38},
		[CULPRIT_MISPREDICT] = {17, 21},
		[CULPRIT_STORES] = {20, 396},
		[CULPRIT_FORWARD] = {17, 19},
		[CULPRIT_DIVIDER] = {10, 18},
		[CULPRIT_MULTIPLIER] = {1, 3},
		[CULPRIT_LOCKED] = {6, 18},
		[CULPRIT_SERIALISING] = {300, 20000},
		[CULPRIT_FAULT] = {2000, 10000},
		[CULPRIT_DEPENDENCY] = {1, 1},
		[CULPRIT_FRONT_END] = {1, 4}},
	.line = 64,
	.page = 4096,
	.fetch_lines = 4,
	.fetch_pages = 2};

/* NULL, or what does not hold. */
static inline const char *culprits_check(const struct culprits *c, const struct culprits_input *in)
{
	double told = 0, all = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct culprit_wait *w = &c->wait[i];
		double sum = w->execution + w->fixed + w->dynamic + w->gain + w->error;
		double likely = w->unexplained, n = in->executions[in->flow->block_of[i]];

		all += in->cycles[i];
		told += sum;
		if (!isfinite(sum) || w->execution < 0 || w->gain > 0 || w->unexplained < -1e-6 ||
			w->dynamic < -1e-6)
			return "a part that cannot be";
		if (n > 0 && fabs(sum - in->cycles[i]) > 1e-6 * (1 + in->cycles[i] + n))
			return "the parts of an instruction do not add up to its cycles";
		for (uint32_t k = w->first; k < w->first + w->count; k++) {
			const struct culprit *x = &c->list.data[k];

			likely += x->likely;
			if (!(x->low >= 0 && x->low <= x->high * 1.000001 + 1e-6) ||
				x->likely < 0 || x->likely > x->high * 1.000001 + 1e-6)
				return "bounds that do not hold what is likely";
			if (x->blame != FLOW_NONE && x->blame >= c->count)
				return "no such instruction is to blame";
		}
		if (w->count && fabs(likely - w->dynamic) > 1e-6 * (1 + w->dynamic + all))
			return "the likely shares of a wait are not the wait";
	}
	if (!isfinite(told) || !isfinite(c->untold))
		return "sums that are no numbers";
	return fabs(told + c->untold - all) > 1e-6 * (1 + all + fabs(told)) * 10
		       ? "not all cycles are told of"
		       : NULL;
}

static inline uint64_t culprits_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Made-up samples and frequencies of a graph. */
struct culprits_made {
	double *memory;
	struct schedule_row *rows;
	struct culprits_input in;
};

static inline void culprits_make(
	struct culprits_made *made, const struct flow *f, const struct core *core, uint64_t seed)
{
	size_t n = f->insns.count, b = f->blocks.count, m = f->edges.count;
	double *memory = calloc(4 * n + b + m + 1, sizeof(double));
	double *cycles = memory, *mi = cycles + n, *events = mi + n, *lines = events + n;
	double *executions = lines + n, *edges = executions + b;
	struct schedule_row *rows = calloc(n + 1, sizeof(*rows));
	struct culprits_input in = {.flow = f,
		.core = core,
		.machine = &culprits_machine,
		.cycles = cycles,
		.sample = 1000,
		.executions = executions,
		.edges = edges,
		.mi = mi,
		.rows = rows,
		.line_misses = lines,
		.page_misses = lines,
		.behind_calls = seed & 1,
		.faults = seed & 2,
		.counted = seed & 4};

	seed |= 1u << 20;
	for (size_t i = 0; i < n; i++) {
		cycles[i] =
			(double)(culprits_random(&seed) % 3 ? culprits_random(&seed) % 100000 : 0);
		mi[i] = (double)(culprits_random(&seed) % 8) / 2;
		events[i] = (double)(culprits_random(&seed) % 50);
		lines[i] = (double)(culprits_random(&seed) % 100) / 100;
	}
	for (size_t i = 0; i < b; i++)
		executions[i] =
			culprits_random(&seed) % 5 ? (double)(culprits_random(&seed) % 5000) : 0;
	for (size_t i = 0; i < m; i++)
		edges[i] =
			culprits_random(&seed) % 5 ? (double)(culprits_random(&seed) % 5000) : NAN;
	for (unsigned k = 0; in.counted && k < CULPRITS; k++) {
		in.events[k] = events;
		in.events_most[k] = events;
		in.events_times[k] = seed & 8 ? events : NULL;
		in.events_full[k] = events;
	}
	*made = (struct culprits_made){memory, rows, in};
}

static inline void culprits_unmake(struct culprits_made *made)
{
	free(made->memory);
	free(made->rows);
}

/* NULL where all holds. */
static inline const char *culprits_try(const struct flow *f, const struct core *core, uint64_t seed)
{
	struct culprits_made made;
	struct culprits_sum sum = {0};
	struct culprits c = {0};
	const char *wrong = "memory is out";

	culprits_make(&made, f, core, seed);
	if (culprits_find(&c, &made.in, NULL) == 0) {
		wrong = culprits_check(&c, &made.in);
		culprits_add(&sum, &c, &made.in, NULL);
	}
	culprits_fini(&c);
	culprits_unmake(&made);
	return wrong;
}

/* What the schedule lets neighbours wait (culprits_net.c) is not bounded by its own. */
/* Does what is found with times as many executions lie within the bounds of c? */
static inline const char *culprits_within(
	const struct culprits *c, const struct culprits_input *from, double times)
{
	const struct flow *f = from->flow;
	struct culprits_input in = *from;
	double *executions = calloc(f->blocks.count + f->edges.count + 1, sizeof(double));
	double *edges = executions + f->blocks.count, data;
	const char *wrong = NULL;
	struct culprits other = {0};

	for (size_t i = 0; i < f->blocks.count; i++)
		executions[i] = from->executions[i] * times;
	for (size_t i = 0; i < f->edges.count; i++)
		edges[i] = from->edges[i] * times;
	in.executions = executions;
	in.edges = edges;
	if (culprits_find(&other, &in, NULL))
		wrong = "memory is out";
	for (uint32_t i = 0; !wrong && i < c->count; i++) {
		const struct culprit_wait *w = &c->wait[i], *o = &other.wait[i];
		double slack = 1e-6 * (1 + in.cycles[i]);

		if (!w->unsure)
			continue;
		data = 0;
		for (uint32_t k = o->first; !wrong && k < o->first + o->count; k++) {
			const struct culprit *x = &other.list.data[k], *y = NULL;

			data += CULPRIT_DATA >> x->cause & 1 ? x->high : 0;
			for (uint32_t l = w->first; l < w->first + w->count && !y; l++)
				y = c->list.data[l].cause == x->cause ? &c->list.data[l] : NULL;
			if (!y)
				wrong = "a culprit that is not listed";
			else if (x->high > y->high + slack ||
				 (x->low < y->low - slack && o->shown == 0))
				wrong = "more or less than the bounds allow";
		}
		if (fmin(data, o->wait) > w->data_high + slack)
			wrong = "the data cache can have had more than its bound";
		if (o->error == 0 && o->fixed <= o->most + slack &&
			(o->fixed > w->fixed_high + slack || o->fixed < w->fixed_low - slack))
			wrong = "the schedule is not within its bounds";
	}
	culprits_fini(&other);
	free(executions);
	return wrong;
}

/* Bounds for executions from a tenth to thrice as many hold what is found with any in between. */
static inline const char *culprits_try_unsure(
	const struct flow *f, const struct core *core, uint64_t seed)
{
	size_t n = f->blocks.count;
	double *bounds = calloc(2 * n + 1, sizeof(double));
	struct culprits_made made;
	struct culprits c = {0};
	const char *wrong = "memory is out";

	culprits_make(&made, f, core, seed & ~UINT64_C(4));
	for (size_t i = 0; i < n; i++) {
		bounds[i] = made.in.executions[i] * 0.1;
		bounds[n + i] = made.in.executions[i] * 3;
	}
	made.in.least = bounds;
	made.in.most = bounds + n;
	if (culprits_find(&c, &made.in, NULL) == 0 && culprits_unsure(&c, &made.in, NULL) == 0)
		wrong = culprits_check(&c, &made.in);
	for (double times = 0.1; !wrong && times <= 3; times *= 1.4)
		wrong = culprits_within(&c, &made.in, times);
	culprits_fini(&c);
	culprits_unmake(&made);
	free(bounds);
	return wrong;
}

/* Misses of lines are probabilities. */
static inline const char *culprits_try_lines(const struct flow *f, const struct core *core)
{
	struct culprit_lines *l = culprit_lines_new(&culprits_machine, NULL);
	double *memory = calloc(f->blocks.count + 2 * f->insns.count + 1, sizeof(double));
	double *lines = memory + f->blocks.count, *pages = lines + f->insns.count;
	struct culprits_input in = {
		.flow = f, .core = core, .machine = &culprits_machine, .executions = memory};
	const char *wrong = NULL;

	for (size_t i = 0; i < f->blocks.count; i++)
		memory[i] = (double)(i * 37 % 1000);
	if (!l || culprit_lines_add(l, 1, &in, NULL))
		wrong = "memory is out";
	if (!wrong) {
		culprit_lines_settle(l);
		culprit_lines_misses(l, 1, f, lines, pages);
	}
	for (size_t i = 0; !wrong && i < f->insns.count; i++)
		if (!(lines[i] >= 0 && lines[i] <= 1 && pages[i] >= 0 && pages[i] <= 1))
			wrong = "a probability that is none";
	culprit_lines_free(l);
	free(memory);
	return wrong;
}

#endif
