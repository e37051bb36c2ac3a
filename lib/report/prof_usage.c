/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the run used, and what is in its experiment: no places. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "report/prof_columns.h"
#include "report/prof_views.h"

/* The points by number and name, as -calipers takes them; of many the first. */
static int describe_points(struct prof_table *t, const struct experiment *x)
{
	enum { SHOWN = 20 };

	if (prof_summary(t, "Caliper points", "%zu", x->phases.count - 1))
		return -1;
	for (size_t i = 1; i < x->phases.count && i <= SHOWN; i++) {
		const char *label = prof_text(t, "Caliper point %zu", i);

		if (!label || prof_summary(t, label, "%s", x->phases.data[i].name))
			return -1;
	}
	return 0;
}

int prof_summary_view(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "summary";
	t->layout = PROF_FACTS;
	if (prof_describe(t, d, e))
		return -1;
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		if (prof_summary(t, "Elapsed time (secs.)", "%.3f (measured)",
			    (double)x->elapsed * 1e-9) ||
			prof_summary(t, "Processes", "%" PRIu64,
				x->processes.count - 1 + x->folded.processes) ||
			prof_summary(t, "Threads", "%" PRIu64,
				x->threads.count - 1 + x->folded.threads) ||
			describe_points(t, x) ||
			prof_summary(t, "Images", "%zu", x->images.count - 1) ||
			prof_summary(t, "Distinct addresses", "%zu", d->places.count))
			return error_nomem(e);
	}
	return prof_coverage(t, d, e);
}

static const char *status_text(struct prof_table *t, int status)
{
	if (status < 0)
		return "";
	if (WIFSIGNALED(status))
		return prof_text(t, "signal %d", WTERMSIG(status));
	return prof_text(t, "exit %d", WEXITSTATUS(status));
}

/* Samples of each process of an input, [process * metrics + metric of the input]. */
static uint64_t *process_samples(const struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	uint64_t *sums = calloc(x->processes.count * x->metrics.count + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		uint32_t process = s->key.thread < x->threads.count
					   ? x->threads.data[s->key.thread].process
					   : 0;

		if (prof_selects(d, input, s) && process < x->processes.count)
			sums[process * x->metrics.count + s->key.metric] += s->count;
	}
	return sums;
}

struct usage {
	struct prof_columns columns;
	long elapsed, status, threads;
};

static int process_row(
	struct usage *u, size_t input, uint32_t process, const uint64_t *samples, uint64_t threads)
{
	const struct prof_data *d = u->columns.data;
	const struct experiment *x = d->request->inputs[input].experiment;
	const struct experiment_process *p = &x->processes.data[process];
	struct prof_table *t = u->columns.table;
	struct prof_row row = {.parent = -1};
	uint64_t *own = calloc(d->metrics.count + 1, sizeof(*own));
	struct prof_cell *cells;
	long index = -1;

	if (own) {
		memcpy(own + prof_metric_index(d, input, 0), samples,
			x->metrics.count * sizeof(*own));
		row.image = process ? prof_text(t, "%d %s", (int)p->pid, p->command)
				    : "not of one process";
		index = prof_row_add(t, &row);
	}
	if (index >= 0) {
		prof_columns_fill(&u->columns, (size_t)index, own, NULL, 0);
		cells = prof_cells(t, (size_t)index);
		if (p->end > p->begin)
			cells[u->elapsed].quantity =
				quantity_exact((double)(p->end - p->begin) * 1e-9, LABEL_MEASURED);
		cells[u->threads].quantity = quantity_exact((double)threads, LABEL_MEASURED);
		cells[u->status].text = status_text(t, p->status);
	}
	free(own);
	return index < 0 ? -1 : 0;
}

static int input_rows(struct usage *u, size_t input)
{
	const struct experiment *x = u->columns.data->request->inputs[input].experiment;
	uint64_t *samples = process_samples(u->columns.data, input);
	uint64_t *threads = calloc(x->processes.count + 1, sizeof(*threads));
	int rc = samples && threads ? 0 : -1;

	for (size_t i = 1; i < x->threads.count && rc == 0; i++)
		if (x->threads.data[i].process < x->processes.count)
			threads[x->threads.data[i].process]++;
	for (uint32_t i = 0; i < x->processes.count && rc == 0; i++) {
		const uint64_t *own = samples + i * x->metrics.count;
		bool any = i > 0;

		for (size_t k = 0; k < x->metrics.count; k++)
			any = any || own[k];
		if (any)
			rc = process_row(u, input, i, own, threads[i]);
	}
	free(samples);
	free(threads);
	return rc;
}

int prof_usage(struct prof_data *d, struct prof_table *t, struct error *e)
{
	const struct prof_column elapsed = {.kind = PROF_COUNT,
		.flags = PROF_SECONDS | PROF_EXACT,
		.name = "elapsed",
		.unit = "seconds",
		.experiment = -1,
		.label = LABEL_MEASURED};
	const struct prof_column threads = {.kind = PROF_COUNT,
		.flags = PROF_EXACT,
		.name = "threads",
		.unit = "threads",
		.experiment = -1,
		.label = LABEL_MEASURED};
	const struct prof_column status = {.kind = PROF_TEXT, .name = "status", .unit = ""};
	struct usage u;
	int rc = 0;

	t->report = "usage";
	t->layout = PROF_LIST;
	t->places = "process";
	t->title = "Processes, in the order in which they began";
	if (prof_columns_init(&u.columns, t, d, 0, NULL, e))
		return -1;
	for (size_t i = 0; i < t->columns.count; i++)
		t->columns.data[i].flags &= ~(unsigned)PROF_CUMULATIVE;
	u.elapsed = prof_column_add(t, &elapsed);
	u.threads = prof_column_add(t, &threads);
	u.status = prof_column_add(t, &status);
	if (u.elapsed < 0 || u.threads < 0 || u.status < 0)
		rc = -1;
	for (size_t i = 0; i < d->request->count && rc == 0; i++)
		rc = input_rows(&u, i);
	if (rc || prof_columns_total(&u.columns))
		rc = error_nomem(e);
	else
		rc = prof_coverage(t, d, e);
	prof_columns_fini(&u.columns);
	return rc;
}
