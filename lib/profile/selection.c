/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose samples a report has (words of -only and -exclude such as command:cc1), and whose rows are
 * apart (-by). A sample knows its thread, and with it process and command.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "profile/places_private.h"

static const char *const kinds[] = {"process:", "command:", "thread:", "cpu:"};

bool profile_is_whom(const char *word)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);

		/* "thread::f" is a function of C++. */
		if (strncmp(word, kinds[i], n) == 0 && word[n] != ':' && word[n])
			return true;
	}
	return false;
}

static const struct experiment_process *selection_process(
	const struct experiment *x, const struct experiment_thread *t)
{
	return t->process < x->processes.count ? &x->processes.data[t->process] : NULL;
}

static bool selection_is_number(const char *glob, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return strcmp(glob, text) == 0;
}

static bool selection_names(const char *glob, const char *name)
{
	return name && fnmatch(glob, name, 0) == 0;
}

static bool is_cpu(const char *word)
{
	return strncmp(word, "cpu:", 4) == 0;
}

static bool whom_matches(
	const char *word, const struct experiment *x, const struct experiment_thread *t)
{
	const struct experiment_process *p = selection_process(x, t);
	const char *glob = strchr(word, ':') + 1;

	if (is_cpu(word))
		return t->cpu && selection_is_number(glob, (int)t->cpu - 1);
	if (word[0] == 't')
		return selection_is_number(glob, (int)t->tid) || selection_names(glob, t->name) ||
		       ((!t->name || !t->name[0]) && p && selection_names(glob, p->command));
	if (!p)
		return false;
	return selection_names(glob, p->command) ||
	       (word[0] == 'p' && selection_is_number(glob, (int)p->pid));
}

static bool any_matches(const char *const *words, const struct experiment *x, uint32_t thread)
{
	for (; words && *words; words++)
		if (thread < x->threads.count && whom_matches(*words, x, &x->threads.data[thread]))
			return true;
	return false;
}

bool profile_whom_asked(const struct prof_request *r)
{
	return (r->only_whom && r->only_whom[0]) || (r->exclude_whom && r->exclude_whom[0]);
}

static bool any_cpus(const struct prof_request *r)
{
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->inputs[i].experiment->threads.count; k++)
			if (r->inputs[i].experiment->threads.data[k].cpu)
				return true;
	return false;
}

/* word NULL: of -by. */
static int cpus_missing(const struct prof_request *r, const char *word, struct error *e)
{
	if (word && any_cpus(r)) {
		error_set(
			e, ERR_NOT_FOUND, "no sample was taken on CPU '%s'", strchr(word, ':') + 1);
		return error_hint(e, "prof -dso -by cpu lists the CPUs");
	}
	error_set(
		e, ERR_UNSUPPORTED, "the samples of %s do not have their CPUs", r->inputs[0].file);
	return error_hint(e, "record them with ssrun -cpus, or perf record --sample-cpu");
}

/* A word that selects nothing is an error of spelling. */
static int whom_check(const struct prof_request *r, const char *word, struct error *e)
{
	struct nearest near;
	char hint[256];

	nearest_init(&near, strchr(word, ':') + 1);
	for (size_t i = 0; i < r->count; i++) {
		const struct experiment *x = r->inputs[i].experiment;

		for (size_t k = 0; k < x->threads.count; k++) {
			const struct experiment_thread *t = &x->threads.data[k];
			const struct experiment_process *p = selection_process(x, t);

			if (whom_matches(word, x, t))
				return 0;
			if (word[0] == 't' && t->name && t->name[0])
				nearest_offer(&near, t->name);
			else if (p && p->command)
				nearest_offer(&near, p->command);
		}
	}
	nearest_text(&near, hint, sizeof(hint));
	if (is_cpu(word))
		return cpus_missing(r, word, e);
	error_set(e, ERR_NOT_FOUND, "no %.*s matches '%s'", (int)(strchr(word, ':') - word), word,
		strchr(word, ':') + 1);
	return error_hint(e, "%s", *hint ? hint : "prof -usage lists processes");
}

int profile_whom_init(struct prof_data *d, struct error *e)
{
	const struct prof_request *r = d->request;

	if (r->threads && r->by == PROF_GROUP_CPU && !any_cpus(r))
		return cpus_missing(r, NULL, e);
	if (!profile_whom_asked(r))
		return 0;
	for (const char *const *w = r->only_whom; w && *w; w++)
		if (whom_check(r, *w, e))
			return -1;
	d->unwanted = calloc(r->count + 1, sizeof(*d->unwanted)); /* ends with NULL */
	for (size_t i = 0; d->unwanted && i < r->count; i++) {
		const struct experiment *x = r->inputs[i].experiment;
		size_t count = x->threads.count;

		d->unwanted[i] = calloc(count + 1, sizeof(**d->unwanted));
		if (!d->unwanted[i])
			return error_nomem(e);
		for (uint32_t k = 0; k <= count; k++)
			d->unwanted[i][k] = any_matches(r->exclude_whom, x, k) ||
					    (r->only_whom && r->only_whom[0] &&
						    !any_matches(r->only_whom, x, k));
	}
	return d->unwanted ? 0 : error_nomem(e);
}

void profile_whom_fini(struct prof_data *d)
{
	/* The request may be gone. */
	for (size_t i = 0; d->unwanted && d->unwanted[i]; i++)
		free(d->unwanted[i]);
	free(d->unwanted);
	d->unwanted = NULL;
}

bool profile_whom_wants(const struct prof_data *d, size_t input, uint32_t thread)
{
	size_t count = d->request->inputs[input].experiment->threads.count;

	return !d->unwanted || !d->unwanted[input][thread < count ? thread : count];
}

struct prof_group profile_whom_group(const struct prof_data *d, size_t input, uint32_t thread)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	struct prof_group key = {.key = {.rank = -1}};
	const struct experiment_process *p;
	const struct experiment_thread *t;
	uint64_t hash;

	if (!d->request->threads || thread >= x->threads.count)
		return key;
	t = &x->threads.data[thread];
	if (d->request->by == PROF_GROUP_CPU) {
		key.key.tid = (int32_t)t->cpu;
		return key;
	}
	p = selection_process(x, t);
	key.command = p ? p->command : NULL;
	if (d->request->by == PROF_GROUP_COMMAND) {
		/* No process has such a number: of a name. */
		hash = key.command ? table_hash_fixed(key.command, strlen(key.command)) : 0;
		key.key.pid = (int32_t)(hash >> 33) - INT32_MAX - 1;
		key.key.tid = (int32_t)(hash & INT32_MAX);
		return key;
	}
	if (p) {
		key.key.pid = (int32_t)p->pid;
		key.key.rank = p->rank;
	}
	if (d->request->by == PROF_GROUP_PROCESS)
		return key;
	key.key.tid = (int32_t)t->tid;
	if (t->name && t->name[0])
		key.command = t->name;
	return key;
}
