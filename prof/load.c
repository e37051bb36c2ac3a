/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments become experiments. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "prof.h"
#include "report/counts_read.h"
#include "views.h"

/* Takes the text over; NULL: there was no memory for it. */
static int add_path(path_list *list, char *path, struct error *e)
{
	char **slot;

	if (!path)
		return error_nomem(e);
	slot = vec_push(list);
	if (!slot) {
		free(path);
		return error_nomem(e);
	}
	*slot = path;
	return 0;
}

/* What perfex -json wrote. */
static bool is_counts(const char *bytes, ssize_t length)
{
	ssize_t i = 0;

	while (i < length && strchr(" \t\r\n", bytes[i]) && bytes[i])
		i++;
	return i < length && bytes[i] == '{';
}

/* The list that a file belongs in; NULL: it is nothing that we read. */
static path_list *list_for(struct arguments *a, const char *bytes, ssize_t length)
{
	if (read_knows(bytes, length))
		return &a->paths;
	return a->any && is_counts(bytes, length) ? &a->counts : NULL;
}

static char *join(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static int add_directory(struct arguments *a, const char *directory, struct error *e)
{
	struct dirent **entries;
	size_t before = a->paths.count + a->counts.count;
	int n = scandir(directory, &entries, NULL, alphasort), rc = 0;
	char bytes[64];

	if (n < 0)
		return error_sys(e, errno, "%s", directory);
	for (int i = 0; i < n; i++) {
		char *path = rc == 0 && entries[i]->d_name[0] != '.'
				     ? join(directory, entries[i]->d_name)
				     : NULL;
		path_list *list =
			path ? list_for(a, bytes, read_beginning(path, bytes, sizeof(bytes)))
			     : NULL;

		if (list)
			rc = add_path(list, path, e);
		else
			free(path);
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && a->paths.count + a->counts.count == before) {
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
	path_list *list;
	ssize_t length;
	int rc;

	if (!path)
		return -1;
	length = read_beginning(path, bytes, sizeof(bytes));
	list = list_for(a, bytes, length);
	if (list)
		return add_path(list, path, e);
	rc = not_an_experiment(read_name(path), bytes, length, e);
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
	path_list *list;

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
	list = list_for(a, bytes, length);
	return list ? add_path(list, strdup(word), e) : not_an_experiment(word, bytes, length, e);
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

static int find(struct arguments *a, char *const *words, struct error *e)
{
	for (size_t i = 0; words[i]; i++)
		if (add_word(a, words[i], i == 0 && words[1], e))
			return -1;
	if (a->paths.count || a->counts.count)
		return 0;
	error_set(e, ERR_NOT_FOUND, "there is no experiment file to report on");
	return error_hint(e, "usage: prof [options] [executable] file ...; ssrun -pcsamp COMMAND "
			     "makes one");
}

int arguments_find(struct arguments *a, char *const *words, struct error *e)
{
	memset(a, 0, sizeof(*a));
	return find(a, words, e);
}

int arguments_find_any(struct arguments *a, char *const *words, struct error *e)
{
	memset(a, 0, sizeof(*a));
	a->any = true;
	return find(a, words, e);
}

void arguments_fini(struct arguments *a)
{
	for (size_t i = 0; i < a->paths.count; i++)
		free(a->paths.data[i]);
	for (size_t i = 0; i < a->counts.count; i++)
		free(a->counts.data[i]);
	vec_fini(&a->paths);
	vec_fini(&a->counts);
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
	struct progress progress;
	int rc = 0;

	progress_begin(&progress, !o->tui);
	for (size_t i = 0; i < a->paths.count && rc == 0; i++) {
		progress_step(&progress, (double)i / (double)a->paths.count, a->paths.data[i]);
		if (load_one(l, o, a->paths.data[i], e) || fold_last(l, flags, e))
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

/* Files of one type are not added up. */
static bool apart(const struct options *o)
{
	return o->compare || o->diff || (o->plot && strcmp(o->plot, "sweep") == 0);
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
	if (o->plot && load_counts(l, a, e))
		return -1;
	if (o->merge || (a->paths.count > FEW && !apart(o)))
		return load_sum(l, o, a, flags, e);
	if (!apart(o))
		return load_types(l, o, a, flags, e);
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, o, a->paths.data[i], e))
			return -1;
	return o->compare ? 0 : join_ranks(l, e);
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
	vec_fini(&l->counts);
	vec_fini(&l->count_names);
	vec_fini(&l->experiments);
	vec_fini(&l->names);
}
