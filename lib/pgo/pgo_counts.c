/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of an image as ranges and branches. Where all bursts were timed, runs of branch records
 * are weighed by the executions that their rates stand for (experiment/branches.h). Counts of runs
 * compare time: a burst is as likely in code that waits as its time, and has as many transfers.
 * Against exact counts of the same input (six runs of `ssrun -branches -bursts 60`), profiles by
 * executions are more similar by llvm-profdata overlap: mawk 99% instead of 75%, sqlite 95% instead
 * of 91% (hot blocks 91% instead of 78%), lua 93% instead of 89% (75% to 94% instead of 71%).
 * Branch stacks of processors have no rates, so these are weighed by counts.
 */
#include <math.h>

#include "base/sort.h"
#include "experiment/branches.h"
#include "pgo/private.h"

int pgo_arc_add(struct table *t, uint64_t from, uint64_t to, uint64_t count)
{
	const struct pgo_arc key = {.key = {from, to}};
	struct pgo_arc *arc;

	if (!count)
		return 0;
	arc = table_add(t, &key.key);
	if (!arc)
		return -1;
	if (__builtin_add_overflow(arc->count, count, &arc->count))
		arc->count = UINT64_MAX;
	return 0;
}

/* The image of the data; UINT32_MAX: the row names none. */
static uint32_t image_in(const struct prof_data *d, size_t input, uint32_t image)
{
	const struct experiment *x = d->request->inputs[input].experiment;

	return image < x->images.count ? d->image_of.data[input][image] : UINT32_MAX;
}

/* Executions by the rates of an experiment, and by its counts where a run has no rate. */
struct pgo_unit {
	double per_rate; /* 0: there are no rates */
	double per_count;
};

static struct pgo_unit pgo_unit_of(const struct experiment *x)
{
	double bursts = (double)experiment_tally(x, TALLY_BURSTS_TIMED);
	double seconds = (double)experiment_tally(x, TALLY_PROGRAM_NS) * 1e-9;
	struct pgo_unit u = {.per_count = 1};
	double executions = 0, counts = 0;

	if (!(bursts > 0) || !(seconds > 0))
		return u;
	for (size_t i = 0; i < experiment_runs(x); i++) {
		const struct experiment_run *run = experiment_run_at(x, i);

		if (run->rate > 0) {
			executions += run->rate / bursts * seconds;
			counts += (double)run->count;
		}
	}
	if (executions > 0)
		u = (struct pgo_unit){seconds / bursts, executions / counts};
	return u;
}

/* Do all experiments that have runs have rates? */
static bool have_rates(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		if (experiment_runs(x) && !(pgo_unit_of(x).per_rate > 0))
			return false;
	}
	return true;
}

static uint64_t run_weight(const struct experiment_run *run, const struct pgo_unit *u)
{
	double executions = u->per_rate > 0 && run->rate > 0 ? run->rate * u->per_rate
							     : (double)run->count * u->per_count;

	return executions < 1 ? 1 : executions < 1e18 ? (uint64_t)llround(executions) : UINT64_MAX;
}

static int take_runs(struct pgo_counts *c, const struct prof_data *d, uint32_t image)
{
	bool rates = have_rates(d);

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		struct pgo_unit unit = rates ? pgo_unit_of(x) : (struct pgo_unit){0, 1};

		c->bursts += experiment_tally(x, TALLY_BURSTS);
		for (size_t k = 0; k < experiment_runs(x); k++) {
			const struct experiment_run *run = experiment_run_at(x, k);
			bool here = image_in(d, i, run->key.image) == image;
			bool to = image_in(d, i, run->key.to_image) == image;
			uint64_t n = run_weight(run, &unit);

			c->transfers += here ? run->count : 0;
			if (here && pgo_arc_add(&c->ranges, run->key.begin, run->key.end, n))
				return -1;
			if ((here || to) && pgo_arc_add(&c->branches, here ? run->key.end : 0,
						    to ? run->key.to : 0, n))
				return -1;
		}
	}
	return 0;
}

static int edges_taken(struct pgo_counts *c, const struct prof_data *d, uint32_t image)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->edges.count; k++) {
			const struct experiment_edge *edge = table_at(&x->edges, k);
			bool here = image_in(d, i, edge->key.from_image) == image;
			bool to = image_in(d, i, edge->key.to_image) == image;

			if ((here || to) && pgo_arc_add(edge->key.taken ? &c->branches : &c->falls,
						    here ? edge->key.from : 0,
						    to ? edge->key.to : 0, edge->count))
				return -1;
		}
	}
	return 0;
}

/* The metric that counts executions, or else time; SIZE_MAX: none does. */
static size_t counting_metric(const struct prof_data *d, enum pgo_kind *kind)
{
	size_t clock = SIZE_MAX;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];

		if ((m->metric->flags & METRIC_EXACT) && profile_counts_instructions(m)) {
			*kind = PGO_EXACT;
			return i;
		}
		if (clock == SIZE_MAX && (m->metric->flags & METRIC_CLOCK))
			clock = i;
	}
	*kind = clock == SIZE_MAX ? PGO_NOTHING : PGO_CLOCK;
	return clock;
}

static double clock_samples(const struct prof_data *d, uint32_t image, size_t metric)
{
	double sum = 0;

	for (size_t i = 0; i < d->places.count; i++)
		if (profile_place_at(d, i)->key.image == image)
			sum += (double)d->counts.data[i * d->metrics.count + metric];
	return sum;
}

static double runs_of(const struct prof_data *d, uint32_t image)
{
	double sum = 0;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < experiment_runs(x); k++)
			if (image_in(d, i, experiment_run_at(x, k)->key.image) == image)
				sum += (double)experiment_run_at(x, k)->count;
	}
	return sum;
}

enum pgo_kind pgo_counts_kind(const struct prof_data *d, uint32_t image, double *executions)
{
	enum pgo_kind kind;
	size_t metric = counting_metric(d, &kind);
	double runs = kind == PGO_EXACT ? 0 : runs_of(d, image);

	if (runs > 0) {
		*executions = runs;
		return PGO_BRANCHES;
	}
	*executions = metric == SIZE_MAX ? 0 : clock_samples(d, image, metric);
	return *executions > 0 ? kind : PGO_NOTHING;
}

static int take_places(struct pgo_counts *c, const struct prof_data *d, uint32_t image)
{
	enum pgo_kind kind;
	size_t metric = counting_metric(d, &kind);

	for (size_t i = 0; metric != SIZE_MAX && i < d->places.count; i++) {
		const struct profile_place *place = profile_place_at(d, i);

		if (place->key.image == image &&
			pgo_arc_add(&c->ranges, place->key.address, place->key.address,
				d->counts.data[i * d->metrics.count + metric]))
			return -1;
	}
	return 0;
}

static int arcs_by_address(const void *a, const void *b)
{
	const struct pgo_arc *x = a, *y = b;

	return sort_rising(x->key.from, y->key.from) ?: sort_rising(x->key.to, y->key.to);
}

void pgo_arcs_sort(struct table *t)
{
	table_sort(t, arcs_by_address);
}

int pgo_counts_init(
	struct pgo_counts *c, const struct prof_data *d, uint32_t image, struct error *e)
{
	double executions;
	int rc;

	*c = (struct pgo_counts){.kind = pgo_counts_kind(d, image, &executions),
		.ranges = TABLE_OF(struct pgo_arc),
		.branches = TABLE_OF(struct pgo_arc),
		.falls = TABLE_OF(struct pgo_arc)};
	if (c->kind == PGO_BRANCHES)
		rc = take_runs(c, d, image);
	else
		rc = take_places(c, d, image) || (c->kind == PGO_EXACT && edges_taken(c, d, image));
	if (rc)
		return error_nomem(e);
	pgo_arcs_sort(&c->ranges);
	pgo_arcs_sort(&c->branches);
	pgo_arcs_sort(&c->falls);
	return 0;
}

void pgo_counts_fini(struct pgo_counts *c)
{
	table_fini(&c->ranges);
	table_fini(&c->branches);
	table_fini(&c->falls);
}
