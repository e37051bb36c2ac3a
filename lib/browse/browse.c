/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "browse/browse.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mapping.h"
#include "browse/choices.h"
#include "browse/first_table.h"
#include "browse/switches.h"
#include "profile/entities.h"
#include "report/report_names.h"
#include "report/views.h"

struct job {
	struct tui_ask ask;
	uint64_t ticket;
};

/* A report: its table, and the data that its texts are in. */
struct made {
	struct report_table table;
	struct prof_data data;
	struct experiment *functions; /* of a preliminary one; else NULL */
};

struct browse {
	const struct browse_request *r;
	struct tui_report *reports; /* and their views */
	const struct view **views;
	char title[200];
	int wake;
	pthread_t thread;

	/* between both threads, under the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	VEC(struct job) jobs;        /* the last request comes first */
	VEC(struct made *) released; /* to be freed */
	VEC(struct tui_answer) answers;
	uint64_t working; /* ticket; 0: none */
	bool dropped;     /* no request waits for it */
	bool busy, stop;
	char what[240];
	double since;
	struct error unread;
	bool incomplete;

	/* the thread's own */
	struct loaded loaded;
	struct prof_request request;
	struct first_table glance; /* its images serve all reports, if there is one */
	struct prof_data base;     /* samples added up by place */
	struct prof_images *images;
	browse_choices choices; /* does not change once `chosen` is set, under the mutex */
	bool chosen;
	struct prof_names names;
	struct browse_bare_names bare; /* the same without lines */
	bool ready, clock;
};

/* ---- the thread ---- */

static void say_what(struct browse *m, const char *what, const char *of)
{
	pthread_mutex_lock(&m->mutex);
	snprintf(m->what, sizeof(m->what), "%.40s%s%.110s", what, of && *of ? " " : "",
		of ? of : "");
	m->since = clock_seconds();
	pthread_mutex_unlock(&m->mutex);
}

static void wake(struct browse *m)
{
	const uint64_t one = 1;

	if (write(m->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full: the reader is already signalled */
}

static void made_free(struct made *made)
{
	if (!made)
		return;
	report_table_fini(&made->table);
	profile_data_fini(&made->data);
	if (made->functions)
		experiment_fini(made->functions);
	free(made->functions);
	free(made);
}

/* The ticket of a request that a list of functions answers preliminarily; 0: there is none. */
static uint64_t waiting_for_functions(struct browse *m)
{
	uint64_t ticket = 0;

	pthread_mutex_lock(&m->mutex);
	for (size_t i = 0; i < m->jobs.count; i++) {
		const struct job *job = &m->jobs.data[i];

		if (m->views[job->ask.report]->make == report_procedures && !job->ask.procedure &&
			!job->ask.switches)
			ticket = job->ticket;
	}
	pthread_mutex_unlock(&m->mutex);
	return ticket;
}

static void answer_for_now(struct browse *m, uint64_t ticket, struct made *made)
{
	struct tui_answer *a;

	pthread_mutex_lock(&m->mutex);
	a = vec_push(&m->answers);
	if (a)
		*a = (struct tui_answer){
			.ticket = ticket, .table = &made->table, .preliminary = true};
	pthread_mutex_unlock(&m->mutex);
	if (!a)
		made_free(made);
	wake(m);
}

/* A look at part of the file after some moments, and one at all of it, before it is read
 * completely. */
static void glance(struct browse *m)
{
	enum { FIRST = 25000000 /* ns of each kind */ };
	uint64_t budget = FIRST, ticket;
	int more = 1;

	if (first_table_open(&m->glance, m->r))
		return;
	for (; more > 0; budget = UINT64_MAX) {
		struct made *made = calloc(1, sizeof(*made));

		if (made)
			made->functions = calloc(1, sizeof(*made->functions));
		if (!made || !made->functions) {
			free(made);
			return;
		}
		more = first_table_fill(
			&m->glance, budget, made->functions, &made->data, &made->table);
		ticket = waiting_for_functions(m);
		if (more >= 0 && ticket)
			answer_for_now(m, ticket, made);
		else
			made_free(made);
		if (!ticket)
			return;
	}
}

static int read_files(struct browse *m, struct error *e)
{
	say_what(m, "reading", m->title);
	if (first_table_wanted(m->r))
		glance(m);
	m->request = *m->r->request;
	m->request.command = NULL;
	if (loaded_read(&m->loaded, m->r->files, m->r->arguments, e) ||
		loaded_ask(&m->loaded, &m->request, e))
		return -1;
	say_what(m, "adding up samples", NULL);
	if (profile_data_init(&m->base, &m->request, e))
		return -1;
	/* Images are those of the file, for all reports. */
	if (m->glance.images) {
		m->images = m->glance.images;
		return 0;
	}
	m->images = profile_images_new(&m->base, m->r->search, e);
	return m->images ? 0 : -1;
}

static int make_table(struct browse *m, const struct tui_ask *ask, const char *glob,
	struct made *made, struct error *e)
{
	struct prof_request request = m->request;
	const struct tui_part *part = &ask->part;
	const char *only[] = {glob ? glob : part->image, NULL}, *whom[] = {part->whom, NULL};
	const struct view *view = m->views[ask->report];
	char *line = m->r->command(m->r->context, &m->reports[ask->report], ask, browse_switches());
	int rc;

	request.only = *only[0] ? only : request.only;
	request.only_whom = part->whom[0] ? whom : request.only_whom;
	request.calipers = part->phase[0] ? part->phase : request.calipers;
	request.from = part->from[0] ? part->from : request.from;
	request.to = part->to[0] ? part->to : request.to;
	browse_switches_set(&request, ask->switches);
	request.command = line;
	rc = profile_data_init(&made->data, &request, e);
	if (rc == 0) {
		made->data.names = m->names;
		rc = report_view_make(view, m->r->changes)(&made->data, &made->table, e);
	}
	if (rc == 0)
		report_note_bare(&made->table, &request, view);
	if (rc == 0)
		rc = loaded_note_damage(&m->loaded, &made->table, e);
	if (rc == 0)
		rc = report_names_shorten(&made->table, request.name_limit, e);
	made->data.request = NULL; /* valid until this call returns */
	free(line);
	return rc;
}

/* Names of functions are cheap, their lines may take long: so a list of functions comes first
 * without lines. */
static void make_without_lines(struct browse *m, const struct job *job)
{
	enum { MANY = 500 /* places */ };
	const struct prof_names names = m->names;
	struct made *made;

	if (report_view_make(m->views[job->ask.report], m->r->changes) != report_procedures ||
		job->ask.procedure || m->base.places.count < MANY)
		return;
	made = calloc(1, sizeof(*made));
	m->names = (struct prof_names){&browse_bare_ops, &m->bare};
	if (made && make_table(m, &job->ask, NULL, made, NULL) == 0)
		answer_for_now(m, job->ticket, made);
	else
		made_free(made);
	m->names = names;
}

static struct made *make(struct browse *m, const struct tui_ask *ask, struct error *e)
{
	struct made *made = calloc(1, sizeof(*made));
	char *glob = ask->procedure ? profile_only_name(ask->procedure) : NULL;

	if (!made || (ask->procedure && !glob)) {
		error_nomem(e);
	} else {
		if ((m->views[ask->report]->flags & VIEW_CYCLES) && !m->clock) {
			say_what(m, "measuring the clock", NULL);
			loaded_clock(&m->loaded, &m->request, true);
			m->clock = true;
		}
		say_what(m, m->reports[ask->report].name, ask->procedure);
		if (make_table(m, ask, glob, made, e) == 0) {
			free(glob);
			return made;
		}
	}
	free(glob);
	made_free(made);
	return NULL;
}

static void answer(struct browse *m, uint64_t ticket, struct made *made, const struct error *e)
{
	struct tui_answer *a = NULL;

	pthread_mutex_lock(&m->mutex);
	if (!m->dropped)
		a = vec_push(&m->answers);
	if (a) {
		*a = (struct tui_answer){.ticket = ticket, .table = made ? &made->table : NULL};
		if (!made)
			a->error = *e;
		m->incomplete = m->incomplete || (made && made->table.incomplete);
		made = NULL;
	}
	m->working = 0;
	pthread_mutex_unlock(&m->mutex);
	made_free(made);
	wake(m);
}

/* The next job; false: stop. The mutex is held. */
static bool next_job(struct browse *m, struct job *job, struct made **released)
{
	*released = NULL;
	while (!m->stop && !m->jobs.count && !m->released.count) {
		m->busy = false;
		pthread_cond_wait(&m->changed, &m->mutex);
	}
	m->busy = true;
	if (m->stop)
		return false;
	if (m->released.count) {
		*released = m->released.data[--m->released.count];
		return true;
	}
	*job = m->jobs.data[--m->jobs.count];
	m->working = job->ticket;
	m->dropped = false;
	return true;
}

static void *work(void *context)
{
	struct browse *m = context;
	struct error unread = {0};
	struct made *released;
	struct job job = {0};

	if (read_files(m, &unread) == 0) {
		m->names = (struct prof_names){&profile_images_ops, m->images};
		m->bare.under = m->names;
		m->ready = true;
	}
	if (m->ready)
		browse_choices_list(&m->choices, &m->request);
	pthread_mutex_lock(&m->mutex);
	m->chosen = m->ready;
	m->unread = unread;
	while (next_job(m, &job, &released)) {
		struct error e = unread;

		pthread_mutex_unlock(&m->mutex);
		if (released) {
			made_free(released);
		} else {
			struct made *made;

			if (m->ready)
				make_without_lines(m, &job);
			made = m->ready ? make(m, &job.ask, &e) : NULL;

			answer(m, job.ticket, made, &e);
			free(job.ask.procedure);
		}
		pthread_mutex_lock(&m->mutex);
	}
	m->busy = false;
	pthread_mutex_unlock(&m->mutex);
	return NULL;
}

/* ---- called by the interface ---- */

static int source_ask(void *context, const struct tui_ask *ask, uint64_t ticket, struct error *e)
{
	struct browse *m = context;
	struct job *job;
	int rc = 0;

	if (m->reports[ask->report].procedure && !ask->procedure) {
		error_set(e, ERR_NOT_FOUND, "-%s needs a function", m->reports[ask->report].name);
		return error_hint(e, "select a line of a function first");
	}
	pthread_mutex_lock(&m->mutex);
	job = vec_push(&m->jobs);
	if (job) {
		*job = (struct job){*ask, ticket};
		job->ask.procedure = ask->procedure ? strdup(ask->procedure) : NULL;
	} else {
		rc = error_nomem(e);
	}
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->mutex);
	return rc;
}

static void source_drop(void *context, uint64_t ticket)
{
	struct browse *m = context;

	pthread_mutex_lock(&m->mutex);
	for (size_t i = 0; i < m->jobs.count; i++) {
		if (m->jobs.data[i].ticket != ticket)
			continue;
		free(m->jobs.data[i].ask.procedure);
		memmove(m->jobs.data + i, m->jobs.data + i + 1,
			(--m->jobs.count - i) * sizeof(*m->jobs.data));
		i--;
	}
	m->dropped = m->dropped || m->working == ticket;
	pthread_mutex_unlock(&m->mutex);
}

static bool source_answer(void *context, struct tui_answer *a)
{
	struct browse *m = context;
	bool any;
	uint64_t count;

	pthread_mutex_lock(&m->mutex);
	any = m->answers.count > 0;
	if (any) {
		*a = m->answers.data[0];
		memmove(m->answers.data, m->answers.data + 1,
			--m->answers.count * sizeof(*m->answers.data));
	} else if (read(m->wake, &count, sizeof(count)) < 0) {
		any = false;
	}
	pthread_mutex_unlock(&m->mutex);
	return any;
}

static void source_release(void *context, const struct report_table *table)
{
	struct browse *m = context;
	struct made *made =
		(struct made *)(void *)((char *)(uintptr_t)table - offsetof(struct made, table));
	struct made **slot;

	pthread_mutex_lock(&m->mutex);
	slot = vec_push(&m->released);
	if (slot)
		*slot = made;
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->mutex);
	if (!slot)
		made_free(made);
}

static char *source_command(void *context, const struct tui_ask *ask)
{
	struct browse *m = context;

	return m->r->command(m->r->context, &m->reports[ask->report], ask, browse_switches());
}

static void source_progress(void *context, char *room, size_t size)
{
	struct browse *m = context;

	pthread_mutex_lock(&m->mutex);
	if (m->busy)
		snprintf(room, size, "%s (%ld s)", m->what, (long)(clock_seconds() - m->since));
	pthread_mutex_unlock(&m->mutex);
}

static size_t source_choices(void *context, const struct tui_choice **choices)
{
	struct browse *m = context;
	size_t count;

	pthread_mutex_lock(&m->mutex);
	count = m->chosen ? m->choices.count : 0;
	*choices = m->choices.data;
	pthread_mutex_unlock(&m->mutex);
	return count;
}

static int source_write(void *context, const char *path, const char *text, size_t length,
	bool replace, struct error *e)
{
	(void)context;
	if (!replace && access(path, F_OK) == 0)
		return error_set(e, ERR_CONFLICT, "%s exists already", path);
	return file_write(path, text, length, e);
}

static const struct tui_source_ops ops = {
	.ask = source_ask,
	.drop = source_drop,
	.answer = source_answer,
	.release = source_release,
	.command = source_command,
	.progress = source_progress,
	.choices = source_choices,
	.write = source_write,
};

/* ---- both ---- */

static int list_reports(struct browse *m)
{
	size_t count = 0;

	while (report_views[count].name)
		count++;
	m->reports = calloc(count + 1, sizeof(*m->reports));
	m->views = calloc(count + 1, sizeof(*m->views));
	if (!m->reports || !m->views)
		return -1;
	count = 0;
	for (const struct view *v = report_views; v->name; v++) {
		if (!report_view_make(v, m->r->changes))
			continue;
		m->views[count] = v;
		m->reports[count++] = (struct tui_report){v->name, v->help, v->flags & VIEW_ALONE};
	}
	return 0;
}

static int start(struct browse *m)
{
	sigset_t all, before;
	int rc;

	/* The interface handles signals. */
	mapping_mask(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&m->thread, NULL, work, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void free_all(struct browse *m)
{
	for (size_t i = 0; i < m->jobs.count; i++)
		free(m->jobs.data[i].ask.procedure);
	for (size_t i = 0; i < m->released.count; i++)
		made_free(m->released.data[i]);
	for (size_t i = 0; i < m->answers.count; i++)
		if (m->answers.data[i].table)
			made_free((
				struct made *)(void *)((char *)(uintptr_t)m->answers.data[i].table -
						       offsetof(struct made, table)));
	vec_fini(&m->jobs);
	vec_fini(&m->released);
	vec_fini(&m->answers);
	vec_fini(&m->choices);
	if (m->glance.g)
		first_table_close(&m->glance);
	else
		profile_images_free(m->images);
	if (m->ready)
		profile_data_fini(&m->base);
	loaded_fini(&m->loaded);
	free(m->reports);
	free(m->views);
	if (m->wake >= 0)
		close(m->wake);
	free(m);
}

struct browse *browse_new(const struct browse_request *r, struct error *e)
{
	struct browse *m = calloc(1, sizeof(*m));
	int rc;

	if (!m) {
		error_nomem(e);
		return NULL;
	}
	m->r = r;
	m->busy = true;
	snprintf(m->title, sizeof(m->title), "%.150s%s",
		file_base_name(r->arguments->paths.data[0]),
		r->arguments->paths.count > 1 ? " ..." : "");
	pthread_mutex_init(&m->mutex, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->since = clock_seconds();
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = m->wake < 0 ? errno : list_reports(m) ? ENOMEM : start(m);
	if (rc == 0)
		return m;
	error_sys(e, rc, "cannot start the thread that makes reports");
	free_all(m);
	return NULL;
}

void browse_source(struct browse *m, struct tui_source *source, size_t *report, uint32_t *on)
{
	*source = (struct tui_source){.ops = &ops,
		.context = m,
		.reports = m->reports,
		.switches = browse_switches(),
		.title = m->title,
		.changes = m->r->changes,
		.wake = m->wake};
	*report = 0;
	for (size_t i = 0; m->r->first && m->reports[i].name; i++)
		if (strcmp(m->reports[i].name, m->r->first) == 0)
			*report = i;
	*on = browse_switches_of(m->r->request);
}

bool browse_free(struct browse *m, struct error *e, bool *incomplete)
{
	bool busy;

	pthread_mutex_lock(&m->mutex);
	m->stop = true;
	busy = m->busy;
	*incomplete = m->incomplete;
	*e = m->unread;
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->mutex);
	if (busy)
		return false;
	pthread_join(m->thread, NULL);
	free_all(m);
	return true;
}
