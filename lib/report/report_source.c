/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/vec.h"

static bool is_file(const char *path, struct timespec *changed)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	*changed = st.st_mtim;
	return true;
}

/* NULL: memory is out. */
static char *source_path(char *path)
{
	if (!path)
		error_nomem(NULL);
	return path;
}

static bool leads_up(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		while (*path == '/')
			path++;
		if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
			return true;
	}
	return false;
}

/* Below directory, with the whole recorded path, then with shorter and shorter ends of it. A
 * stranger's program may have recorded any path, but it does not lead out of the directory. */
static char *find_below(const char *directory, const char *file, struct timespec *changed)
{
	for (const char *rest = file; rest; rest = strchr(rest, '/')) {
		char *path = NULL;

		while (*rest == '/')
			rest++;
		if (leads_up(rest))
			continue;
		if (asprintf(&path, "%s/%s", directory, rest) < 0)
			return source_path(NULL);
		if (is_file(path, changed))
			return path;
		free(path);
	}
	return NULL;
}

static char *find_source(const char *file, const char *const *directories, struct timespec *changed)
{
	for (; directories && *directories; directories++) {
		char *path = find_below(*directories, file, changed);

		if (path)
			return path;
	}
	return is_file(file, changed) ? source_path(strdup(file)) : NULL;
}

static int split(struct report_source *s, size_t length)
{
	VEC(size_t) begin = {0};
	size_t at = 0;

	while (at < length) {
		size_t line = strcspn(s->text + at, "\n");

		if (vec_add(&begin, at)) {
			vec_fini(&begin);
			return -1;
		}
		s->text[at + line] = '\0';
		if (line && s->text[at + line - 1] == '\r')
			s->text[at + line - 1] = '\0';
		at += line + 1;
	}
	s->begin = begin.data;
	s->lines = begin.count;
	return 0;
}

int report_source_open(struct report_source *s, const char *file, const char *const *directories)
{
	size_t length = 0;

	memset(s, 0, sizeof(*s));
	s->path = file ? find_source(file, directories, &s->changed) : NULL;
	if (s->path)
		s->text = file_read(s->path, 0, &length, NULL);
	if (s->text && split(s, length) == 0)
		return 0;
	report_source_close(s);
	return -1;
}

void report_source_close(struct report_source *s)
{
	free(s->text);
	free(s->begin);
	free(s->path);
	memset(s, 0, sizeof(*s));
}

const char *report_source_line(const struct report_source *s, unsigned line)
{
	return line && line <= s->lines ? s->text + s->begin[line - 1] : NULL;
}
