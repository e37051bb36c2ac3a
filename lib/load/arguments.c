/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a command line become lists of files. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load/load.h"

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
	if (load_knows(bytes, length))
		return &a->paths;
	return a->any && is_counts(bytes, length) ? &a->counts : NULL;
}

static char *join_path(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* The list that a file of a directory belongs in. To open what is no regular file can take forever,
 * as a FIFO, or do something, as a device. */
static path_list *list_for_entry(struct arguments *a, const char *path)
{
	struct stat st;
	char bytes[64];

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	return list_for(a, bytes, load_beginning(path, bytes, sizeof(bytes)));
}

static int add_directory(struct arguments *a, const char *directory, struct error *e)
{
	struct dirent **entries;
	size_t before = a->paths.count + a->counts.count;
	int n = scandir(directory, &entries, NULL, alphasort), rc = 0;

	if (n < 0)
		return error_sys(e, errno, "%s", directory);
	for (int i = 0; i < n; i++) {
		char *path = rc == 0 && entries[i]->d_name[0] != '.'
				     ? join_path(directory, entries[i]->d_name)
				     : NULL;
		path_list *list = path ? list_for_entry(a, path) : NULL;

		if (list)
			rc = add_path(list, path, e);
		else
			free(path);
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && a->paths.count + a->counts.count == before) {
		error_set(e, ERR_NOT_FOUND, "no experiment file in %s", directory);
		error_hint(e, "record one with ssrun -fpcsamp COMMAND");
		rc = -1;
	}
	return rc;
}

/* What is known of files that prof does not read. */
static const struct {
	const char *begins, *of, *instead;
} others[] = {
	{"\177ELF", "a program",
		"prof [executable] FILE ... takes it before experiment files; prof block -image "
		"ELF "
		"-address A..B measures its code"},
	{"gmon", "a file of gprof",
		"record with ssrun -fpcsamp COMMAND, or with exact calls with ssrun -ideal "
		"COMMAND, "
		"then prof -butterfly FILE; no -pg is needed"},
	{"# callgrind format", "a file of callgrind",
		"record with ssrun -ideal COMMAND, then prof -butterfly FILE"},
	{"version: 1\ncreator: callgrind", "a file of callgrind",
		"record with ssrun -ideal COMMAND, then prof -butterfly FILE"},
	{"desc: I1 cache", "a file of cachegrind",
		"record with ssrun -dsc_hwc COMMAND, then prof -heavy FILE"},
	{"\037\213", "a compressed file", "decompress it first, as in zcat FILE | prof -"},
	{"(\265/\375", "a compressed file", "decompress it first, as in zstd -dc FILE | prof -"},
};

static int not_an_experiment(const char *word, const char *bytes, ssize_t length, struct error *e)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t size = strlen(others[i].begins);

		if (length < (ssize_t)size || memcmp(bytes, others[i].begins, size) != 0)
			continue;
		error_set(e, ERR_PARSE, "%s is %s, not an experiment file", word, others[i].of);
		return error_hint(e, "%s", others[i].instead);
	}
	error_set(e, ERR_PARSE, "%s is not an experiment file", word);
	if (is_counts(bytes, length))
		return error_hint(e, "counts of perfex -json are for prof -plot");
	return error_hint(e, "record one with ssrun -fpcsamp COMMAND");
}

static int add_pipe(struct arguments *a, const char *word, struct error *e)
{
	char *path = load_spool(word, e), bytes[64];
	path_list *list;
	ssize_t length;
	int rc;

	if (!path)
		return -1;
	length = load_beginning(path, bytes, sizeof(bytes));
	list = list_for(a, bytes, length);
	if (list)
		return add_path(list, path, e);
	rc = not_an_experiment(load_name(path), bytes, length, e);
	free(path);
	return rc;
}

/* An argument: a file, or the files of a directory. Where an executable may appear, it is taken
 * for that. */
static int add_word(struct arguments *a, const char *word, bool may_be_executable, struct error *e)
{
	struct stat st;
	char bytes[64];
	ssize_t length;
	path_list *list;

	if (load_is_pipe(word))
		return add_pipe(a, word, e);
	if (stat(word, &st))
		return error_sys(e, errno, "%s", word);
	if (S_ISDIR(st.st_mode))
		return add_directory(a, word, e);
	length = load_beginning(word, bytes, sizeof(bytes));
	if (length < 0)
		return error_sys(e, errno, "%s", word);
	if (may_be_executable && length >= 4 && memcmp(bytes, "\177ELF", 4) == 0) {
		a->executable = word;
		return 0;
	}
	list = list_for(a, bytes, length);
	return list ? add_path(list, strdup(word), e) : not_an_experiment(word, bytes, length, e);
}

/* Is the second file of ssrun -versus beside it? */
static bool has_versus(const char *name, char *other, size_t size)
{
	int n = snprintf(other, size, "%s.versus", name);

	return n > 0 && (size_t)n < size && access(other, R_OK) == 0;
}

int arguments_find_sides(struct arguments *a, char *const *words, struct error *e)
{
	char other[PATH_MAX];
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
	if (sides == 1 && has_versus(a->sides[0].word, other, sizeof(other))) {
		error_set(e, ERR_CONFLICT, "-diff compares two files or directories, not 1");
		return error_hint(e, "ssrun -versus wrote the other: prof -diff %s %s",
			a->sides[0].word, other);
	}
	error_set(e, ERR_CONFLICT, "-diff compares two files or directories, not %zu", sides);
	return error_hint(
		e, "use prof -diff BEFORE AFTER; put several runs of one side in a directory");
}

static int find(struct arguments *a, char *const *words, struct error *e)
{
	for (size_t i = 0; words[i]; i++)
		if (add_word(a, words[i], i == 0 && words[1], e))
			return -1;
	if (a->paths.count || a->counts.count)
		return 0;
	error_set(e, ERR_NOT_FOUND, "no experiment file was given");
	return error_hint(e, "usage: prof [options] [executable] file ...; record a file with "
			     "ssrun -fpcsamp COMMAND");
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
