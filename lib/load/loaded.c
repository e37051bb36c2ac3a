/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files become experiments: those of one type are added up, types are kept apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/progress.h"
#include "events/numbers.h"
#include "load/load.h"
#include "machine/machine.h"
#include "report/counts_read.h"

static void note_damage(struct loaded *l, const char *path, const char *message)
{
	if (!l->damaged++)
		snprintf(l->damage, sizeof(l->damage), "%s: %s", path, message);
}

static int load_one(
	struct loaded *l, const struct load_request *r, const char *path, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	char **name = vec_push(&l->names);
	struct experiment_damage damage = {0};

	if (!x || !name)
		return error_nomem(e);
	*name = strdup(load_name(path));
	if (!*name)
		return error_nomem(e);
	if (load_file(x, r, path, &damage, e)) {
		l->experiments.count--;
		return -1;
	}
	if (damage.damaged)
		note_damage(l, path, damage.message);
	return 0;
}

/* One after the other: recordings of perf are among them. */
static int sum_up(struct experiment *x, const struct load_request *r, const struct arguments *a,
	unsigned flags, struct loaded *l, struct error *e)
{
	int rc = experiment_merge_begin(x, e);

	for (size_t i = 0; i < a->paths.count && rc == 0; i++) {
		struct experiment_damage damage = {0};
		struct experiment one;

		rc = load_file(&one, r, a->paths.data[i], &damage, e);
		if (rc)
			break;
		if (damage.damaged)
			note_damage(l, a->paths.data[i], damage.message);
		rc = experiment_settle(&one, e) || experiment_merge(x, &one, flags, e) ||
				     experiment_settle(x, e)
			     ? -1
			     : 0;
		experiment_fini(&one);
	}
	if (rc)
		experiment_fini(x);
	return rc;
}

static int load_sum(struct loaded *l, const struct load_request *r, const struct arguments *a,
	unsigned flags, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	struct experiment_merge_report report = {0};
	char **name = vec_push(&l->names);
	struct progress progress;
	bool perfdata = false;
	int rc;

	for (size_t i = 0; i < a->paths.count; i++)
		perfdata = perfdata || load_is_perfdata(a->paths.data[i]);
	if (!x || !name)
		return error_nomem(e);
	if (asprintf(name, "%s and %zu more", a->paths.data[0], a->paths.count - 1) < 0) {
		*name = NULL;
		l->experiments.count--;
		return error_nomem(e);
	}
	if (perfdata) {
		rc = sum_up(x, r, a, flags, l, e);
		l->experiments.count -= rc != 0;
		return rc;
	}
	progress_begin(&progress, !r->quiet);
	rc = experiment_merge_files(x, (const char *const *)a->paths.data, a->paths.count, flags,
		&progress, &report, e);
	progress_end(&progress);
	if (rc) {
		l->experiments.count--;
		return -1;
	}
	l->damaged = report.damaged;
	snprintf(l->damage, sizeof(l->damage), "%s", report.first_damage);
	return 0;
}

/* The sum among those read so far that has this type; -1. */
static long find_type(const struct loaded *l, const char *type)
{
	for (size_t i = 0; i + 1 < l->experiments.count; i++)
		if (strcmp(l->experiments.data[i].type, type) == 0)
			return (long)i;
	return -1;
}

/* Adds the last experiment to the sum of its type, if there is one. */
static int fold_last(struct loaded *l, unsigned flags, struct error *e)
{
	struct experiment *last = &l->experiments.data[l->experiments.count - 1];
	long to = find_type(l, last->type);
	char *name;

	if (to < 0)
		return 0;
	/* What perf wrote is not in the order of our files. */
	if ((l->experiments.data[to].runs == 1 && experiment_settle(&l->experiments.data[to], e)) ||
		experiment_settle(last, e))
		return -1;
	if (experiment_merge(&l->experiments.data[to], last, flags, e))
		return -1;
	if (asprintf(&name, "%s, %s", l->names.data[to], l->names.data[l->names.count - 1]) < 0)
		return error_nomem(e);
	free(l->names.data[to]);
	l->names.data[to] = name;
	experiment_fini(last);
	l->experiments.count--;
	free(l->names.data[--l->names.count]);
	return 0;
}

/* Few files: those of one type are added up, types are kept apart. */
static int load_types(struct loaded *l, const struct load_request *r, const struct arguments *a,
	unsigned flags, struct error *e)
{
	struct progress progress;
	int rc = 0;

	progress_begin(&progress, !r->quiet);
	for (size_t i = 0; i < a->paths.count && rc == 0; i++) {
		progress_step(&progress, (double)i / (double)a->paths.count, a->paths.data[i]);
		if (load_one(l, r, a->paths.data[i], e) || fold_last(l, flags, e))
			rc = -1;
	}
	progress_end(&progress);
	if (rc)
		return -1;
	for (size_t i = 0; i < l->experiments.count; i++)
		if (l->experiments.data[i].runs > 1 &&
			experiment_settle(&l->experiments.data[i], e))
			return -1;
	return 0;
}

static int load_counts(struct loaded *l, const struct arguments *a, struct error *e)
{
	enum { LARGEST = 64 << 20 };

	for (size_t i = 0; i < a->counts.count; i++) {
		const char *path = a->counts.data[i];
		struct counts_file *f = vec_push(&l->counts);
		char **name = vec_push(&l->count_names), *text;
		size_t length;
		int rc;

		if (!f || !name)
			return error_nomem(e);
		*name = strdup(path);
		text = *name ? file_read(path, LARGEST, &length, e) : NULL;
		if (!text)
			return *name ? -1 : error_nomem(e);
		rc = counts_read(f, text, length, path, e);
		free(text);
		if (rc)
			return -1;
	}
	return 0;
}

int loaded_read(
	struct loaded *l, const struct load_request *r, const struct arguments *a, struct error *e)
{
	enum { FEW = 32 };
	unsigned flags = r->threads ? MERGE_THREADS : 0;

	memset(l, 0, sizeof(*l));
	memcpy(l->sides, a->sides, sizeof(l->sides));
	if (load_counts(l, a, e))
		return -1;
	if (r->together || (a->paths.count > FEW && !r->apart))
		return load_sum(l, r, a, flags, e);
	if (!r->apart)
		return load_types(l, r, a, flags, e);
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, r, a->paths.data[i], e))
			return -1;
	return r->ranks ? ranks_join(l, e) : 0;
}

void loaded_fini(struct loaded *l)
{
	for (size_t i = 0; i < l->experiments.count; i++)
		experiment_fini(&l->experiments.data[i]);
	for (size_t i = 0; i < l->names.count; i++)
		free(l->names.data[i]);
	for (size_t i = 0; i < l->counts.count; i++)
		counts_file_fini(&l->counts.data[i]);
	for (size_t i = 0; i < l->count_names.count; i++)
		free(l->count_names.data[i]);
	free(l->inputs);
	vec_fini(&l->counts);
	vec_fini(&l->count_names);
	vec_fini(&l->experiments);
	vec_fini(&l->names);
}

int loaded_ask(struct loaded *l, struct prof_request *request, struct error *e)
{
	size_t before = l->sides[0].files;

	l->inputs = calloc(l->experiments.count + 1, sizeof(*l->inputs));
	if (!l->inputs)
		return error_nomem(e);
	for (size_t i = 0; i < l->experiments.count; i++)
		l->inputs[i] = (struct prof_input){
			&l->experiments.data[i], l->names.data[i], before && i >= before};
	request->inputs = l->inputs;
	request->count = l->experiments.count;
	request->sides[0] = l->sides[0].word;
	request->sides[1] = l->sides[1].word;
	return 0;
}

static double find_clock(const struct loaded *l, const char *host, bool wanted)
{
	bool time = false, instructions = wanted;
	struct machine machine;

	for (size_t i = 0; i < l->experiments.count; i++) {
		const struct experiment *x = &l->experiments.data[i];
		const char *where = experiment_fact_find(x, "host");

		for (size_t k = 0; k < x->metrics.count; k++) {
			const struct experiment_metric *m = &x->metrics.data[k];

			time = time || (m->flags & METRIC_CLOCK && m->label == LABEL_MEASURED &&
					       where && strcmp(where, host) == 0 &&
					       !experiment_fact_find(x, "clock_hz"));
			instructions = instructions || m->event == EV_INSTRUCTIONS;
		}
	}
	if (!time || !instructions || machine_find(NULL, &machine, NULL))
		return 0;
	return (double)machine.model.clock_hz;
}

void loaded_clock(struct loaded *l, struct prof_request *request, bool wanted)
{
	if (uname(&l->host))
		return;
	request->host = l->host.nodename;
	request->host_hz = find_clock(l, l->host.nodename, wanted);
}

int loaded_note_damage(const struct loaded *l, struct report_table *t, struct error *e)
{
	if (!l->damaged)
		return 0;
	t->incomplete = true;
	if (l->damaged > 1)
		report_note(t, "%zu files are damaged, the first: %s", l->damaged, l->damage);
	else
		report_note(t, "damaged: %s", l->damage);
	return report_finish(t, 0, e);
}
