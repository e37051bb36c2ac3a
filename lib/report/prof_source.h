/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files as reports show them. */
#ifndef REPORT_PROF_SOURCE_H
#define REPORT_PROF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct prof_source {
	char *text;    /* the whole file, its line ends made NUL; NULL: not found */
	size_t *begin; /* of line i + 1 in text */
	size_t lines;
	struct timespec changed;
	char *path; /* where it was found */
};

/*
 * Finds the file as recorded or, below one of the directories (NULL-terminated; may be NULL), with
 * as many of its last directories as are there: of /build/x/lib/a.c, DIR/build/x/lib/a.c to
 * DIR/a.c. -1: it is nowhere (or memory is out); s is empty then.
 */
int prof_source_open(struct prof_source *s, const char *file, const char *const *directories);
void prof_source_close(struct prof_source *s);
/* NULL: it has no such line. */
const char *prof_source_line(const struct prof_source *s, unsigned line);

#endif
