/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments become experiments. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof.h"
#include "views.h"

/* The beginning of a file; how much of it there is, -1 with errno. */
static ssize_t peek(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, bytes, size);
	close(fd);
	return n;
}

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
				ssize_t length = peek(path, bytes, sizeof(bytes));

				if (length <= 0 || !experiment_is_file(bytes, (size_t)length)) {
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
	if (length >= 8 && memcmp(bytes, "PERFILE2", 8) == 0)
		return error_hint(e, "it is of perf record; ssrun -pcsamp COMMAND makes what prof "
				     "reads");
	return error_hint(e, "ssrun -pcsamp COMMAND makes one");
}

/* An argument: a file, or the files of a directory.  Where an executable may stand, it is taken for
 * that. */
static int add_word(struct arguments *a, const char *word, bool may_be_executable, struct error *e)
{
	struct stat st;
	char bytes[64];
	ssize_t length;

	if (stat(word, &st))
		return error_sys(e, errno, "%s", word);
	if (S_ISDIR(st.st_mode))
		return add_directory(a, word, e);
	length = peek(word, bytes, sizeof(bytes));
	if (length < 0)
		return error_sys(e, errno, "%s", word);
	if (may_be_executable && length >= 4 && memcmp(bytes, "\177ELF", 4) == 0) {
		a->executable = word;
		return 0;
	}
	if (!experiment_is_file(bytes, (size_t)length))
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

static int load_one(struct loaded *l, const char *path, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	char **name = vec_push(&l->names);
	struct experiment_damage damage = {0};

	if (!x || !name)
		return error_nomem(e);
	*name = strdup(path);
	if (!*name)
		return error_nomem(e);
	if (experiment_read(x, path, &damage, e)) {
		l->experiments.count--;
		return -1;
	}
	if (damage.damaged)
		note_damage(l, path, damage.message);
	return 0;
}

static int load_sum(struct loaded *l, const struct options *o, const struct arguments *a,
	unsigned flags, struct error *e)
{
	struct experiment *x = vec_push(&l->experiments);
	struct experiment_merge_report report = {0};
	char **name = vec_push(&l->names);
	struct progress progress;
	int rc;

	if (!x || !name)
		return error_nomem(e);
	if (asprintf(name, "%s and %zu more", a->paths.data[0], a->paths.count - 1) < 0) {
		*name = NULL;
		l->experiments.count--;
		return error_nomem(e);
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
static int load_types(struct loaded *l, const struct arguments *a, unsigned flags, struct error *e)
{
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, a->paths.data[i], e) || fold_last(l, flags, e))
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
		return load_types(l, a, flags, e);
	for (size_t i = 0; i < a->paths.count; i++)
		if (load_one(l, a->paths.data[i], e))
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
