/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the command line. */
#ifndef PROF_OPTIONS_H
#define PROF_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/option.h"
#include "base/vec.h"
#include "profile/places.h"

enum { VIEWS_MAX = 32 };

struct options {
	bool view[VIEWS_MAX];        /* by row of views[] */
	struct prof_request request; /* as far as options set it: reporting_request has all */
	bool intervals, compare, diff;
	bool tui, mouse, ascii;
	bool csv, json, head, dot, merge, dump, dump_quiet, debuginfod, completion, overview, help,
		version;
	const char *names, *output, *root, *debug_directory;
	/* NULL-terminated once parsed */
	word_list only, exclude, only_whom, exclude_whom, sources, archives;
	word_list about;    /* those of only that are the functions of a report */
	const char *export; /* format */
	const char *html;   /* the file to write */
	const char *image;
	const char *plot, *x, *y;
	word_list metrics;
	unsigned long width; /* of rows; 0: the terminal's */
	char **files; /* words of argv that are not options, NULL-terminated; owned, the words not
		       */
	char *line;   /* the command line, as one text */
	struct option_row *table;
};

/* Parses and checks combinations; -1 with *e set. */
int options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_fini(struct options *o);

#endif
