/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many files added up: each worker reads one after the other and adds it to its own sum; finally
 * the sums are added. A sum that has grown is settled, so that it is in the order of files again
 * and the search in merge.c stays local. That happens after growth by a share, so its cost is
 * small.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "experiment/merge.h"
#include "experiment/private.h"

#define MOST_WORKERS 64

struct job {
	const char *const *paths;
	size_t count;
	unsigned flags;
	struct progress *progress;
	struct experiment_merge_report *report; /* NULL: damage is an error */
	atomic_size_t next, done;
	atomic_bool stop;
	pthread_mutex_t lock;             /* of what follows, and of *report */
	size_t first_damage, first_error; /* numbers of paths */
	struct error error;
};

struct worker {
	struct job *job;
	pthread_t thread;
	struct experiment sum;
	bool started, first;
	size_t settled; /* entries when the sum was last settled */
	size_t files;   /* added */
	struct experiment_bytes bytes;
};

static void merge_files_note_damage(
	struct job *job, size_t i, const struct experiment_damage *damage)
{
	struct experiment_merge_report *r = job->report;

	pthread_mutex_lock(&job->lock);
	r->damaged++;
	if (i < job->first_damage) {
		job->first_damage = i;
		snprintf(r->first_damage, sizeof(r->first_damage), "%s: %s", job->paths[i],
			damage->message);
	}
	pthread_mutex_unlock(&job->lock);
}

static void note_error(struct job *job, size_t i, const struct error *e)
{
	pthread_mutex_lock(&job->lock);
	if (i < job->first_error) {
		job->first_error = i;
		job->error = *e;
	}
	pthread_mutex_unlock(&job->lock);
	job->stop = true;
}

static int keep_settled(struct worker *w, struct error *e)
{
	size_t entries = w->sum.nodes.count + w->sum.samples.count;

	bool grown = entries >= w->settled + w->settled / 8 + 1000;

	w->files++;
	if (!grown && (w->files & (w->files - 1) || entries == w->settled))
		return 0;
	w->settled = entries;
	return experiment_settle(&w->sum, e);
}

static int merge_files_add_file(struct worker *w, size_t i, struct error *e)
{
	struct job *job = w->job;
	struct experiment_damage damage = {0};
	struct experiment x;
	int status;

	if (experiment_load(job->paths[i], &w->bytes, e))
		return -1;
	if (experiment_parse(&x, w->bytes.data, w->bytes.count, job->report ? &damage : NULL, e)) {
		experiment_name_error(e, job->paths[i]);
		return -1;
	}
	if (damage.damaged)
		merge_files_note_damage(job, i, &damage);
	status = experiment_merge(&w->sum, &x, job->flags, e);
	experiment_fini(&x);
	return status ? -1 : keep_settled(w, e);
}

static void *merge_files_work(void *data)
{
	struct worker *w = data;
	struct job *job = w->job;
	size_t i;

	while (!job->stop && (i = job->next++) < job->count) {
		struct error e = {0};

		if (merge_files_add_file(w, i, &e))
			note_error(job, i, &e);
		job->done++;
		/* The first worker is the caller's thread: only it draws. */
		if (w->first)
			progress_step(job->progress, (double)job->done / (double)job->count,
				"adding up experiments");
	}
	free(w->bytes.data);
	return NULL;
}

static size_t count_workers(size_t files)
{
	size_t n = parallel_processors(MOST_WORKERS);

	return n < files ? n : files ? files : 1;
}

/* Starts the others and works along; all have ended when it returns. */
static void run_workers(struct worker *workers, size_t count)
{
	for (size_t i = 1; i < count; i++)
		workers[i].started = pthread_create(&workers[i].thread, NULL, merge_files_work,
					     &workers[i]) == 0;
	merge_files_work(&workers[0]);
	for (size_t i = 1; i < count; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
}

/* Adds the other sums to the first and frees them. */
static int join_sums(struct worker *workers, size_t count, unsigned flags, struct error *e)
{
	struct experiment *sum = &workers[0].sum;
	int status = 0;

	for (size_t i = 1; i < count; i++) {
		if (status == 0 && workers[i].sum.runs)
			status = experiment_settle(&workers[i].sum, e) ||
				 experiment_merge(sum, &workers[i].sum, flags, e);
		experiment_fini(&workers[i].sum);
	}
	return status || experiment_settle(sum, e) ? -1 : 0;
}

int experiment_merge_files(struct experiment *x, const char *const *paths, size_t count,
	unsigned flags, struct progress *progress, struct experiment_merge_report *report,
	struct error *e)
{
	struct job job = {.paths = paths,
		.count = count,
		.flags = flags,
		.progress = progress,
		.report = report,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.first_damage = SIZE_MAX,
		.first_error = SIZE_MAX};
	size_t n = count_workers(count);
	struct worker *workers = calloc(n, sizeof(*workers));
	int status = 0;

	if (!workers)
		return error_nomem(e);
	if (report)
		*report = (struct experiment_merge_report){0};
	for (size_t i = 0; i < n && status == 0; i++) {
		workers[i].job = &job;
		workers[i].first = i == 0;
		status = experiment_merge_begin(&workers[i].sum, e);
	}
	if (status == 0) {
		run_workers(workers, n);
		status = job.stop ? -1 : join_sums(workers, n, flags, e);
		if (job.stop && e)
			*e = job.error;
	}
	if (status == 0)
		*x = workers[0].sum;
	else /* sums that were freed or never used are all zero */
		for (size_t i = 0; i < n; i++)
			experiment_fini(&workers[i].sum);
	free(workers);
	return status;
}
