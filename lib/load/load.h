/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From words of a command line to experiments: which files they name (arguments.c), what a file is
 * and holds (files.c), and which experiments are added up or kept apart (loaded.c, ranks.c).
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <sys/utsname.h>

#include "base/vec.h"
#include "experiment/merge.h"
#include "image/image.h"
#include "profile/places.h"
#include "report/report_rows.h"

struct counts_file; /* report/counts_read.h */

/* ---- arguments.c ---- */

/* The files that words name: directories stand for the experiment files in them, in order of name.
 */
typedef VEC(char *) path_list;
struct arguments {
	path_list paths;
	path_list counts; /* what perfex -json wrote, where any file will do */
	bool any;
	const char *executable; /* the first word, where that is none; else NULL */
	/* -diff: what stands for its two sides, and how many of the paths are of each */
	struct side {
		const char *word;
		size_t files;
	} sides[2];
};
/* Words are borrowed.  -1 with *e set; arguments_fini all the same. */
int arguments_find(struct arguments *a, char *const *words, struct error *e);
/* Likewise, and results of perfex as well. */
int arguments_find_any(struct arguments *a, char *const *words, struct error *e);
/* Likewise, of -diff. */
int arguments_find_sides(struct arguments *a, char *const *words, struct error *e);
void arguments_fini(struct arguments *a);

/* ---- files.c ---- */

struct load_request {
	struct image_search search; /* recordings of perf look for images */
	bool quiet;                 /* no progress is shown */
	bool threads;               /* stay apart in sums */
	bool together;              /* all files are one sum, whatever their types */
	bool apart;                 /* not even those of one type are added up ... */
	bool ranks;                 /* ... but those of one launch of MPI */
};

/* The beginning of a file: how much of it there is, -1 with errno. */
ssize_t load_beginning(const char *path, char *bytes, size_t size);
/* Can a file that begins so be read? */
bool load_knows(const char *bytes, ssize_t length);
bool load_is_perfdata(const char *path);
/* A file of ours or of perf record; x as experiment_read takes it. */
int load_file(struct experiment *x, const struct load_request *r, const char *path,
	struct experiment_damage *damage, struct error *e);
/* A pipe can be read once: "-" or a name; into memory that has a path, to be freed by the
 * caller. */
bool load_is_pipe(const char *word);
char *load_spool(const char *word, struct error *e);
/* What a path is called in reports.  Borrowed from path. */
const char *load_name(const char *path);

/* ---- loaded.c ---- */

/* Experiments, read: one, the sum of all, or each by itself. */
struct loaded {
	VEC(struct experiment) experiments;
	VEC(char *) names;              /* of each, for reports */
	VEC(struct counts_file) counts; /* results of perfex, and their names */
	VEC(char *) count_names;
	size_t damaged;   /* files that could not be read to their end */
	char damage[600]; /* the first of them, and what is wrong with it */
	struct side sides[2];
	struct prof_input *inputs;
	struct utsname host;
};
/* -1 with *e set; loaded_fini all the same. */
int loaded_read(
	struct loaded *l, const struct load_request *r, const struct arguments *a, struct error *e);
void loaded_fini(struct loaded *l);
/* Files of the ranks of one launch become one. */
int ranks_join(struct loaded *l, struct error *e);

/* Makes a request one of all that was read: its inputs, one an experiment, and sides.  They are
 * l's. */
int loaded_ask(struct loaded *l, struct prof_request *request, struct error *e);
/* This host and its clock, where what was read needs that: its runs were here, of time alone,
 * which does not record it, and instructions were counted as well, or wanted says so.  The clock
 * may have to be measured. */
void loaded_clock(struct loaded *l, struct prof_request *request, bool wanted);
/* Damaged files are mentioned below a table. */
int loaded_note_damage(const struct loaded *l, struct report_table *t, struct error *e);

#endif
