/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files for reports. */
#ifndef REPORT_REPORT_SOURCE_H
#define REPORT_REPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct report_source {
	char *text;    /* the whole file, its line ends made NUL; NULL: not found */
	size_t *begin; /* of line i + 1 in text */
	size_t lines;
	struct timespec changed;
	char *path; /* where it was found */
};

/*
 * Finds the file at its recorded path or, below one of the directories (NULL-terminated; may be
 * NULL), at as many of its last directories as exist: of /build/x/lib/a.c, DIR/build/x/lib/a.c to
 * DIR/a.c. -1: not found (or memory is out); s is empty then.
 */
int report_source_open(struct report_source *s, const char *file, const char *const *directories);
void report_source_close(struct report_source *s);
/* NULL: it has no such line. */
const char *report_source_line(const struct report_source *s, unsigned line);

#endif
