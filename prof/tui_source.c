/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui_source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "report.h"
#include "tui_glance.h"

struct job {
	struct tui_ask ask;
	uint64_t ticket;
};

/* A report: its table, and what its texts may live in. */
struct made {
	struct prof_table table;
	struct prof_data data;
	struct experiment *functions; /* of a preliminary one; else NULL */
};

struct tui_maker {
	const struct options *o;
	const struct arguments *arguments;
	struct tui_report reports[VIEWS_MAX + 1];
	const struct view *views[VIEWS_MAX];
	char title[200];
	int wake;
	pthread_t thread;

	/* between both threads, under the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	VEC(struct job) jobs;        /* the last one asked for comes first */
	VEC(struct made *) released; /* to be freed */
	VEC(struct tui_answer) answers;
	uint64_t working; /* ticket; 0: none */
	bool dropped;     /* nobody waits for that */
	bool busy, stop;
	char what[160];
	double since;
	struct error unread;
	bool incomplete;

	/* the thread's own */
	struct loaded loaded;
	struct reporting reporting;
	struct tui_glance glance; /* its images serve all reports, where there is one */
	struct prof_data base;    /* samples added up by place */
	struct prof_images *images;
	struct prof_names names;
	struct tui_bare_names bare; /* the same without lines */
	bool ready, clock;
};

#define SWITCH(name, help, key, field)                                                             \
	{                                                                                          \
		name, help, key, offsetof(struct prof_request, field),                             \
			offsetof(struct options, field)                                            \
	}

static const struct {
	const char *name, *help;
	char key;
	size_t request, option;
} switch_fields[] = {
	SWITCH("inclusive", "functions with all that they called", 'i', inclusive),
	SWITCH("inlines", "give inlined functions rows of their own", 'u', inlines),
	SWITCH("threads", "rows for each thread, process or rank", 0, threads),
	SWITCH("raw", "samples where they were found", 0, raw),
	SWITCH("intel", "disassembly in Intel's syntax", 0, intel),
	SWITCH("whole", "disassembly of large functions without gaps", 0, whole),
	SWITCH("classic", "calc: estimate as for cores that issue in order", 0, classic),
};

enum { SWITCHES = sizeof(switch_fields) / sizeof(*switch_fields) };

static struct tui_switch switches[SWITCHES + 1];

/* ---- the thread ---- */

static void say_what(struct tui_maker *m, const char *what, const char *of)
{
	pthread_mutex_lock(&m->mutex);
	snprintf(m->what, sizeof(m->what), "%.40s%s%.110s", what, of && *of ? " " : "",
		of ? of : "");
	m->since = clock_seconds();
	pthread_mutex_unlock(&m->mutex);
}

static void wake(struct tui_maker *m)
{
	const uint64_t one = 1;

	if (write(m->wake, &one, sizeof(one)) < 0)
		return; /* it is full: who is to wake is awake */
}

static void made_free(struct made *made)
{
	if (!made)
		return;
	prof_table_fini(&made->table);
	prof_data_fini(&made->data);
	if (made->functions)
		experiment_fini(made->functions);
	free(made->functions);
	free(made);
}

/* The ticket of a question that a list of functions answers for the time being; 0: there is none.
 */
static uint64_t waiting_for_functions(struct tui_maker *m)
{
	uint64_t ticket = 0;

	pthread_mutex_lock(&m->mutex);
	for (size_t i = 0; i < m->jobs.count; i++) {
		const struct job *job = &m->jobs.data[i];

		if (m->views[job->ask.report]->make == prof_procedures && !job->ask.procedure &&
			!job->ask.switches)
			ticket = job->ticket;
	}
	pthread_mutex_unlock(&m->mutex);
	return ticket;
}

static void answer_for_now(struct tui_maker *m, uint64_t ticket, struct made *made)
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

/* A look at the file after some moments, and one at all of it, before it is read with care. */
static void glance(struct tui_maker *m)
{
	enum { FIRST = 25000000 /* ns of each kind */ };
	uint64_t budget = FIRST, ticket;
	int more = 1;

	if (tui_glance_open(&m->glance, m->o, m->arguments))
		return;
	for (; more > 0; budget = UINT64_MAX) {
		struct made *made = calloc(1, sizeof(*made));

		if (made)
			made->functions = calloc(1, sizeof(*made->functions));
		if (!made || !made->functions) {
			free(made);
			return;
		}
		more = tui_glance_table(
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

static int read_files(struct tui_maker *m, struct error *e)
{
	say_what(m, "reading", m->title);
	if (tui_glance_wanted(m->o, m->arguments))
		glance(m);
	if (load(&m->loaded, m->o, m->arguments, e) ||
		reporting_init(&m->reporting, m->o, m->arguments, &m->loaded, e))
		return -1;
	m->reporting.request.command = NULL;
	say_what(m, "adding up samples", NULL);
	if (prof_data_init(&m->base, &m->reporting.request, e))
		return -1;
	/* Images are those of the file, whoever looks at it. */
	if (m->glance.images) {
		m->images = m->glance.images;
		return 0;
	}
	m->images = prof_images_new(&m->base, &m->reporting.search, e);
	return m->images ? 0 : -1;
}

/* A pattern that this name alone fits. */
static char *quote_glob(const char *name)
{
	char *out = malloc(2 * strlen(name) + 1), *to = out;

	for (; out && *name; name++) {
		if (strchr("*?[]\\", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	if (out)
		*to = '\0';
	return out;
}

static int make_table(struct tui_maker *m, const struct tui_ask *ask, const char *glob,
	struct made *made, struct error *e)
{
	struct prof_request request = m->reporting.request;
	const char *only[] = {glob, NULL};
	const struct view *view = m->views[ask->report];
	char *line = tui_command(
		m->o, &m->reports[ask->report], ask->procedure, switches, ask->switches);
	int rc;

	if (glob)
		request.only = only;
	for (size_t i = 0; i < SWITCHES; i++)
		*(bool *)((char *)&request + switch_fields[i].request) = ask->switches >> i & 1;
	request.command = line;
	rc = prof_data_init(&made->data, &request, e);
	if (rc == 0) {
		made->data.names = m->names;
		rc = reporting_view(m->o, view)(&made->data, &made->table, e);
	}
	if (rc == 0)
		rc = reporting_damage(&m->loaded, &made->table, e);
	made->data.request = NULL; /* ends with this call */
	free(line);
	return rc;
}

/* Names of functions cost little, their lines may take long: so a list of functions comes without
 * lines first. */
static void make_without_lines(struct tui_maker *m, const struct job *job)
{
	enum { MANY = 500 /* places */ };
	const struct prof_names names = m->names;
	struct made *made;

	if (reporting_view(m->o, m->views[job->ask.report]) != prof_procedures ||
		job->ask.procedure || m->base.places.count < MANY)
		return;
	made = calloc(1, sizeof(*made));
	m->names = (struct prof_names){&tui_bare_ops, &m->bare};
	if (made && make_table(m, &job->ask, NULL, made, NULL) == 0)
		answer_for_now(m, job->ticket, made);
	else
		made_free(made);
	m->names = names;
}

static struct made *make(struct tui_maker *m, const struct tui_ask *ask, struct error *e)
{
	struct made *made = calloc(1, sizeof(*made));
	char *glob = ask->procedure ? quote_glob(ask->procedure) : NULL;

	if (!made || (ask->procedure && !glob)) {
		error_nomem(e);
	} else {
		if (m->views[ask->report]->cycles && !m->clock) {
			say_what(m, "measuring the clock", NULL);
			reporting_clock(&m->reporting, &m->loaded, true);
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

static void answer(struct tui_maker *m, uint64_t ticket, struct made *made, const struct error *e)
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

/* The next thing to do; false: stop.  The mutex is held. */
static bool next_job(struct tui_maker *m, struct job *job, struct made **released)
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
	struct tui_maker *m = context;
	struct error unread = {0};
	struct made *released;
	struct job job = {0};

	if (read_files(m, &unread) == 0) {
		m->names = (struct prof_names){&prof_images_ops, m->images};
		m->bare.under = m->names;
		m->ready = true;
	}
	pthread_mutex_lock(&m->mutex);
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

/* ---- what the interface calls ---- */

static int source_ask(void *context, const struct tui_ask *ask, uint64_t ticket, struct error *e)
{
	struct tui_maker *m = context;
	struct job *job;
	int rc = 0;

	if (m->reports[ask->report].procedure && !ask->procedure) {
		error_set(e, ERR_NOT_FOUND, "-%s is about one procedure",
			m->reports[ask->report].name);
		return error_hint(e, "go to a line of one first");
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
	struct tui_maker *m = context;

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
	struct tui_maker *m = context;
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

static void source_release(void *context, const struct prof_table *table)
{
	struct tui_maker *m = context;
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
	struct tui_maker *m = context;

	return tui_command(m->o, &m->reports[ask->report], ask->procedure, switches, ask->switches);
}

static void source_progress(void *context, char *room, size_t size)
{
	struct tui_maker *m = context;

	pthread_mutex_lock(&m->mutex);
	if (m->busy)
		snprintf(room, size, "%s (%ld s)", m->what, (long)(clock_seconds() - m->since));
	pthread_mutex_unlock(&m->mutex);
}

static int source_write(void *context, const char *path, const char *text, size_t length,
	bool replace, struct error *e)
{
	struct file_out f;
	struct stat st;

	(void)context;
	if (!replace && stat(path, &st) == 0)
		return error_set(e, ERR_CONFLICT, "%s is there already", path);
	if (file_create(&f, path, e))
		return -1;
	fwrite(text, 1, length, f.stream);
	return file_commit(&f, e);
}

static const struct tui_source_ops ops = {
	.ask = source_ask,
	.drop = source_drop,
	.answer = source_answer,
	.release = source_release,
	.command = source_command,
	.progress = source_progress,
	.write = source_write,
};

/* ---- both ---- */

/* A report takes a procedure where its option does. */
static void list_reports(struct tui_maker *m)
{
	size_t count = 0;

	for (size_t i = 0; views[i].name; i++) {
		const char *argument = m->o->table[i].argument;

		if (!reporting_view(m->o, &views[i]))
			continue;
		m->views[count] = &views[i];
		m->reports[count++] = (struct tui_report){views[i].name, views[i].help,
			argument && strcmp(argument, "PROCEDURE") == 0};
	}
}

static int start(struct tui_maker *m)
{
	sigset_t all, before;
	int rc;

	/* Signals are the interface's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&m->thread, NULL, work, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct tui_maker *tui_maker_new(const struct options *o, const struct arguments *a, struct error *e)
{
	struct tui_maker *m = calloc(1, sizeof(*m));
	int rc;

	if (!m) {
		error_nomem(e);
		return NULL;
	}
	m->o = o;
	m->arguments = a;
	m->busy = true;
	snprintf(m->title, sizeof(m->title), "%.150s%s", file_base_name(a->paths.data[0]),
		a->paths.count > 1 ? " ..." : "");
	list_reports(m);
	for (size_t i = 0; i < SWITCHES; i++)
		switches[i] = (struct tui_switch){
			switch_fields[i].name, switch_fields[i].help, switch_fields[i].key};
	pthread_mutex_init(&m->mutex, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->since = clock_seconds();
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = m->wake < 0 ? errno : start(m);
	if (rc == 0)
		return m;
	error_sys(e, rc, "cannot start the thread that makes reports");
	free(m);
	return NULL;
}

void tui_maker_source(struct tui_maker *m, struct tui_source *source, size_t *report, uint32_t *on)
{
	*source = (struct tui_source){.ops = &ops,
		.context = m,
		.reports = m->reports,
		.switches = switches,
		.title = m->title,
		.changes = m->o->diff,
		.wake = m->wake};
	*report = 0;
	*on = 0;
	for (size_t i = 0; m->reports[i].name; i++)
		if (m->o->view[m->views[i] - views])
			*report = i;
	for (size_t i = 0; i < SWITCHES; i++)
		if (*(const bool *)((const char *)m->o + switch_fields[i].option))
			*on |= 1u << i;
}

static void free_all(struct tui_maker *m)
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
	if (m->glance.g)
		tui_glance_close(&m->glance);
	else
		prof_images_free(m->images);
	if (m->ready)
		prof_data_fini(&m->base);
	reporting_fini(&m->reporting);
	loaded_fini(&m->loaded);
	close(m->wake);
	free(m);
}

bool tui_maker_free(struct tui_maker *m, struct error *e, bool *incomplete)
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
