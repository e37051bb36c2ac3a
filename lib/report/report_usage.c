/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resources that the run used, and the contents of its experiment: no places. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/sort.h"
#include "base/vec.h"
#include "report/report_columns.h"
#include "report/report_views.h"

/* The points by number and name, as -calipers takes them; of many the first. */
static void describe_points(struct report_table *t, const struct experiment *x)
{
	enum { SHOWN = 20 };

	report_summary(t, "Caliper points", "%zu", x->phases.count - 1);
	for (size_t i = 1; i < x->phases.count && i <= SHOWN; i++)
		report_summary(
			t, report_text(t, "Caliper point %zu", i), "%s", x->phases.data[i].name);
}

int report_summary_view(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "summary";
	t->layout = REPORT_FACTS;
	report_describe(t, d);
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		report_summary(
			t, "Elapsed time (secs.)", "%.3f (measured)", (double)x->elapsed * 1e-9);
		report_summary(
			t, "Processes", "%" PRIu64, x->processes.count - 1 + x->folded.processes);
		report_summary(t, "Threads", "%" PRIu64, experiment_thread_count(x));
		describe_points(t, x);
		if (x->slices.count)
			report_summary(t, "Times of samples", "in slices of %.4g s",
				ldexp(1e-9, (int)x->slicing.shift));
		report_summary(t, "Images", "%zu", x->images.count - 1);
		report_summary(t, "Distinct addresses", "%zu", d->places.count);
	}
	report_coverage(t, d);
	return report_finish(t, 0, e);
}

static const char *status_text(struct report_table *t, int status)
{
	if (status < 0)
		return "";
	if (WIFSIGNALED(status))
		return report_text(t, "signal %d", WTERMSIG(status));
	return report_text(t, "exit %d", WEXITSTATUS(status));
}

/* Samples of each process of an input, [process * metrics + metric of the input]. */
static uint64_t *process_samples(struct report_table *t, const struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	uint64_t *sums = report_scratch(t, x->processes.count * x->metrics.count, sizeof(*sums));

	for (size_t i = 0; sums && i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		uint32_t process = s->key.thread < x->threads.count
					   ? x->threads.data[s->key.thread].process
					   : 0;

		uint64_t count = profile_selected(d, input, i);

		if (count && process < x->processes.count)
			sums[process * x->metrics.count + s->key.metric] += count;
	}
	return sums;
}

enum { USAGE_ELAPSED, USAGE_THREADS, USAGE_STATUS, USAGE_COLUMNS };

static const struct report_column usage_columns[USAGE_COLUMNS] = {
	[USAGE_ELAPSED] = {.kind = REPORT_COUNT,
		.flags = REPORT_SECONDS | REPORT_EXACT,
		.name = "elapsed",
		.unit = "seconds",
		.label = LABEL_MEASURED},
	[USAGE_THREADS] = {.kind = REPORT_COUNT,
		.flags = REPORT_EXACT,
		.name = "threads",
		.unit = "threads",
		.label = LABEL_MEASURED},
	[USAGE_STATUS] = {.kind = REPORT_TEXT, .name = "status"},
};

struct usage {
	struct report_columns columns;
	size_t first;          /* of usage_columns */
	size_t known, unknown; /* statuses */
};

/* A process of an input, with its samples. */
struct used {
	const uint64_t *samples; /* [metric of the input] */
	uint64_t key, threads, elapsed;
	uint32_t input, process;
};

struct used_vec {
	struct used *data;
	size_t count, capacity;
};

static void process_row(struct usage *u, const struct used *own)
{
	const struct prof_data *d = u->columns.data;
	const struct experiment *x = d->request->inputs[own->input].experiment;
	const struct experiment_process *p = &x->processes.data[own->process];
	struct report_table *t = u->columns.table;
	const struct report_row row = {.parent = -1,
		.image = own->process ? report_text(t, "%d %s%s%s", (int)p->pid, p->command,
						*p->arguments ? " " : "", p->arguments)
				      : "not of one process"};
	uint64_t *values = report_scratch(t, d->metrics.count, sizeof(*values));
	size_t index = report_row_add(t, &row);
	struct report_cell *cells = report_cells(t, index) + u->first;

	if (!values)
		return;
	memcpy(values + profile_metric_index(d, own->input, 0), own->samples,
		x->metrics.count * sizeof(*values));
	report_columns_fill(&u->columns, index, values, NULL, 0);
	if (p->end > p->begin)
		cells[USAGE_ELAPSED].quantity =
			quantity_exact((double)(p->end - p->begin) * 1e-9, LABEL_MEASURED);
	cells[USAGE_THREADS].quantity = quantity_exact((double)own->threads, LABEL_MEASURED);
	cells[USAGE_STATUS].text = status_text(t, p->status);
	if (own->process)
		(*(p->status < 0 ? &u->unknown : &u->known))++;
}

static int add_used(struct usage *u, struct used_vec *all, size_t input)
{
	const struct experiment *x = u->columns.data->request->inputs[input].experiment;
	struct report_table *t = u->columns.table;
	const uint64_t *samples = process_samples(t, u->columns.data, input);
	uint64_t *threads = report_scratch(t, x->processes.count, sizeof(*threads));

	if (!samples || !threads)
		return -1;
	for (size_t i = 1; i < x->threads.count; i++)
		if (x->threads.data[i].process < x->processes.count)
			threads[x->threads.data[i].process] += x->threads.data[i].cpu == 0;
	for (uint32_t i = 0; i < x->processes.count; i++) {
		struct used own = {.samples = samples + i * x->metrics.count,
			.key = samples[i * x->metrics.count],
			.threads = threads[i],
			.elapsed = x->processes.data[i].end > x->processes.data[i].begin
					   ? x->processes.data[i].end - x->processes.data[i].begin
					   : 0,
			.input = (uint32_t)input,
			.process = i};
		bool any = i > 0;

		for (size_t k = 0; k < x->metrics.count; k++)
			any = any || own.samples[k];
		if (any && vec_add(all, own))
			return -1;
	}
	return 0;
}

/* The most samples of the first metric first, then the longest; otherwise as they began. */
static int used_order(const void *pa, const void *pb)
{
	const struct used *a = pa, *b = pb;

	return sort_falling(a->key, b->key) ?: sort_falling(a->elapsed, b->elapsed)
		       ?: sort_rising(a->input, b->input)
		       ?: sort_rising(a->process, b->process);
}

static void usage_rows(struct usage *u)
{
	const struct prof_data *d = u->columns.data;
	struct report_cut cut = report_cut_of(d, (struct prof_quit){0});
	struct report_fold fold = report_fold_of(d);
	struct report_table *t = u->columns.table;
	struct used_vec all = {0};
	uint64_t sum = 0;
	size_t left = 0;

	for (size_t i = 0; i < d->request->count && !t->failed; i++)
		t->failed |= add_used(u, &all, i) != 0;
	if (all.count)
		qsort(all.data, all.count, sizeof(*all.data), used_order);
	for (size_t i = 0; i < all.count; i++)
		sum += all.data[i].key;
	for (size_t i = 0; i < all.count && !t->failed; i++) {
		if (report_folds(&fold, all.data[i].samples,
			    d->request->inputs[all.data[i].input].experiment->metrics.count))
			continue;
		if (report_cuts(&cut, report_percent((double)all.data[i].key, (double)sum)))
			left++;
		else
			process_row(u, &all.data[i]);
	}
	report_left_out(t, left, "process", report_cut_why(&cut));
	report_folded(t, &fold, "process", sum);
	if (u->known && u->unknown)
		report_note(t, "Only the command's own status is known: that of another process "
			       "goes to its parent");
	vec_fini(&all);
}

int report_usage(struct prof_data *d, struct report_table *t, struct error *e)
{
	struct usage u = {0};

	t->report = "usage";
	t->layout = REPORT_LIST;
	t->places = "process";
	t->title = "Processes, those with most samples first";
	if (report_columns_init(&u.columns, t, d, 0, NULL, e))
		return report_finish(t, -1, e);
	for (size_t i = 0; i < t->columns.count; i++)
		t->columns.data[i].flags &= ~(unsigned)REPORT_CUMULATIVE;
	u.first = report_columns_add(t, usage_columns, USAGE_COLUMNS);
	usage_rows(&u);
	if (!t->failed)
		report_columns_total(&u.columns);
	report_coverage(t, d);
	return report_finish(t, 0, e);
}
