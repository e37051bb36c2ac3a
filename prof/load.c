/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments become experiments. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "prof.h"
#include "views.h"

static int add_path(struct arguments *a, const char *directory, const char *name, struct error *e)
{
	char **slot = vec_push(&a->paths);

	if (!slot)
		return error_nomem(e);
	if (!directory)
		*slot = strdup(name);
	else if (asprintf(slot, "%s/%s", directory, name) < 0)
		*slot = NULL;
	return *slot ? 0 : error_nomem(e);
}

static int add_directory(struct arguments *a, const char *directory, struct error *e)
{
	struct dirent **entries;
	size_t before = a->paths.count;
	int n = scandir(directory, &entries, NULL, alphasort), rc = 0;
	char bytes[64];

	if (n < 0)
		return error_sys(e, errno, "%s", directory);
	for (int i = 0; i < n; i++) {
		if (rc == 0 && entries[i]->d_name[0] != '.') {
			rc = add_path(a, directory, entries[i]->d_name, e);
			if (rc == 0) {
				char *path = a->paths.data[a->paths.count - 1];
				ssize_t length = read_beginning(path, bytes, sizeof(bytes));

				if (!read_knows(bytes, length)) {
					free(path);
					a->paths.count--;
				}
			}
		}
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && a->paths.count == before) {
		error_set(e, ERR_NOT_FOUND, "there is no experiment file in %s", directory);
		error_hint(e, "ssrun -pcsamp COMMAND makes one");
		rc = -1;
	}
	return rc;
}

static int not_an_experiment(const char *word, const char *bytes, ssize_t length, struct error *e)
{
	error_set(e, ERR_PARSE, "%s is not an experiment file", word);
	if (length >= 4 && memcmp(bytes, "\177ELF", 4) == 0)
		return error_hint(e, "an executable stands before the experiment files: prof "
				     "[executable] file ...");
	return error_hint(e, "ssrun -pcsamp COMMAND makes one");
}

static int add_pipe(struct arguments *a, const char *word, struct error *e)
{
	char *path = read_spool(word, e), bytes[64];
	ssize_t length;
	int rc;

	if (!path)
		return -1;
	length = read_beginning(path, bytes, sizeof(bytes));
	rc = read_knows(bytes, length) ? add_path(a, NULL, path, e)
				       : not_an_experiment(read_name(path), bytes, length, e);
	free(path);
	return rc;
}

/* An argument: a file, or the files of a directory.  Where an executable may stand, it is taken for
 * that. */
static int add_word(struct arguments *a, const char *word, bool may_be_executable, struct error *e)
{
	struct stat st;
	char bytes[64];
	ssize_t length;

	if (read_is_pipe(word))
		return add_pipe(a, word, e);
	if (stat(word, &st))
		return error_sys(e, errno, "%s", word);
	if (S_ISDIR(st.st_mode))
		return add_directory(a, word, e);
	length = read_beginning(word, bytes, sizeof(bytes));
	if (length < 0)
		return error_sys(e, errno, "%s", word);
	if (may_be_executable && length >= 4 && memcmp(bytes, "\177ELF", 4) == 0) {
		a->executable = word;
		return 0;
	}
	if (!read_knows(bytes, length))
		return not_an_experiment(word, bytes, length, e);
	return add_path(a, NULL, word, e);
}

int arguments_find_sides(struct arguments *a, char *const *words, struct error *e)
{
	size_t sides = 0;

	memset(a, 0, sizeof(*a));
	for (size_t i = 0; words[i]; i++) {
		size_t before = a->paths.count;

		if (add_word(a, words[i], i == 0 && words[1] && words[2], e))
			return -1;
		if (a->paths.count == before)
			continue;
		if (sides < 2)
			a->sides[sides] = (struct side){words[i], a->paths.count - before};
		sides++;
	}
	if (sides == 2)
		return 0;
	error_set(e, ERR_CONFLICT, "-diff compares two files or directories, not %zu", sides);
	return error_hint(e,
		"prof -diff BEFORE AFTER; several runs of one side stand in a directory "
		"of their own");
}

int arguments_find(struct arguments *a, char *const *words, struct error *e)
{
	memset(a, 0, sizeof(*a));
	for (size_t i = 0; words[i]; i++)
		if (add_word(a, words[i], i == 0 && words[1], e))
			return -1;
	if (a->paths.count)
		return 0;
	error_set(e, ERR_NOT_FOUND, "there is no experiment file to report on");
	return error_hint(e, "usage: prof [options] [executable] file ...; ssrun -pcsamp COMMAND "
			     "makes one");
}

void arguments_fini(struct arguments *a)
{
	for (size_t i = 0; i < a->paths.count; i++)
		free(a->paths.data[i]);
	vec_fini(&a->paths);
}

static void note_damage(struct loaded *l, const char *path, const char *message)
{
	if (!l->damaged++)
		snprintf(l->damage, sizeof(l->damage), "%s: %s", path, message);
}

static int load_one(struct loaded *l, const struct options *o, const char *path, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	char **name = vec_push(&l->names);
	struct experiment_damage damage = {0};

	if (!x || !name)
		return error_nomem(e);
	*name = strdup(read_name(path));
	if (!*name)
		return error_nomem(e);
	if (read_one(x, o, path, &damage, e)) {
		l->experiments.count--;
		return -1;
	}
	if (damage.damaged)
		note_damage(l, path, damage.message);
	return 0;
}

/* One after the other: recordings of perf are among them. */
static int sum_up(struct experiment *x, const struct options *o, const struct arguments *a,
	unsigned flags, struct loaded *l, struct error *e)
{
	int rc = experiment_merge_begin(x, e);

	for (size_t i = 0; i < a->paths.count && rc == 0; i++) {
		struct experiment_damage damage = {0};
		struct experiment one;

		rc = read_one(&one, o, a->paths.data[i], &damage, e);
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

static int load_sum(struct loaded *l, const struct options *o, const struct arguments *a,
	unsigned flags, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	struct experiment_merge_report report = {0};
	char **name = vec_push(&l->names);
	struct progress progress;
	bool perfdata = false;
	int rc;

	for (size_t i = 0; i < a->paths.count; i++)
		perfdata = perfdata || read_is_perfdata(a->paths.data[i]);
	if (!x || !name)
		return error_nomem(e);
	if (asprintf(name, "%s and %zu more", a->paths.data[0], a->paths.count - 1) < 0) {
		*name = NULL;
		l->experiments.count--;
		return error_nomem(e);
	}
	if (perfdata) {
		rc = sum_up(x, o, a, flags, l, e);
		l->experiments.count -= rc != 0;
		return rc;
	}
	progress_begin(&progress, !o->tui);
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

/* Few files: those of one type are added up, types stand side by side. */
static int load_types(struct loaded *l, const struct options *o, const struct arguments *a,
	unsigned flags, struct error *e)
{
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, o, a->paths.data[i], e) || fold_last(l, flags, e))
			return -1;
	for (size_t i = 0; i < l->experiments.count; i++)
		if (l->experiments.data[i].runs > 1 &&
			experiment_settle(&l->experiments.data[i], e))
			return -1;
	return 0;
}

int load(struct loaded *l, const struct options *o, const struct arguments *a, struct error *e)
{
	enum { FEW = 32 };
	unsigned flags = o->threads ? MERGE_THREADS : 0;

	for (size_t i = 0; views[i].name; i++)
		if (o->view[i] && views[i].threads)
			flags = MERGE_THREADS;
	memset(l, 0, sizeof(*l));
	memcpy(l->sides, a->sides, sizeof(l->sides));
	if (o->merge || (a->paths.count > FEW && !o->compare && !o->diff))
		return load_sum(l, o, a, flags, e);
	if (!o->compare && !o->diff)
		return load_types(l, o, a, flags, e);
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, o, a->paths.data[i], e))
			return -1;
	return 0;
}

void loaded_fini(struct loaded *l)
{
	for (size_t i = 0; i < l->experiments.count; i++)
		experiment_fini(&l->experiments.data[i]);
	for (size_t i = 0; i < l->names.count; i++)
		free(l->names.data[i]);
	vec_fini(&l->experiments);
	vec_fini(&l->names);
}
