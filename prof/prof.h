/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The things that prof can be asked to do, and what they share. */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

#include "base/strbuf.h"
#include "experiment/merge.h"
#include "options.h"
#include "profile/image_files.h"

struct counts_file; /* report/counts_read.h */

/* Each returns the exit status. */
int do_report(const struct options *o);
int do_tui(const struct options *o);
int do_merge(const struct options *o);
int do_dump(const struct options *o);
/* prof block ...: argv[0] is "block". */
int do_block(int argc, char **argv);
int do_calibrate(int argc, char **argv);
extern const struct option_row block_options[], calibrate_options[];

/* The files that the arguments name: directories stand for the experiment files in them, in order
 * of name. */
typedef VEC(char *) path_list;
struct arguments {
	path_list paths;
	path_list counts; /* what perfex -json wrote, where any file will do */
	bool any;
	const char *executable; /* the first argument, where that is none; else NULL */
	/* -diff: what stands for its two sides, and how many of the paths are of each */
	struct side {
		const char *word;
		size_t files;
	} sides[2];
};
int arguments_find(struct arguments *a, char *const *words, struct error *e);
/* Likewise, and results of perfex as well. */
int arguments_find_any(struct arguments *a, char *const *words, struct error *e);
/* Likewise, of -diff. */
int arguments_find_sides(struct arguments *a, char *const *words, struct error *e);
void arguments_fini(struct arguments *a);

/* To -o FILE or standard output. */
int write_out(const struct options *o, const struct strbuf *text, struct error *e);

/* -export. */
int do_export(const struct options *o, const struct prof_request *request,
	const struct prof_images_search *search, bool *incomplete, struct error *e);

/* What files are and hold (read.c).  The beginning of one: how much of it there is, -1 with errno.
 */
ssize_t read_beginning(const char *path, char *bytes, size_t size);
/* Can a file that begins so be read? */
bool read_knows(const char *bytes, ssize_t length);
bool read_is_perfdata(const char *path);
/* A file of ours or of perf record; x as experiment_read takes it. */
int read_one(struct experiment *x, const struct options *o, const char *path,
	struct experiment_damage *damage, struct error *e);
/* A pipe can be read once: "-" or a name; into memory that has a path, yours to free. */
bool read_is_pipe(const char *word);
char *read_spool(const char *word, struct error *e);
/* What a path is called in reports.  Borrowed from path. */
const char *read_name(const char *path);
/* Where images are looked for. */
struct image_search search_of(const struct options *o);

/* Experiments, read: one, the sum of all, or (-compare) each by itself. */
struct loaded {
	VEC(struct experiment) experiments;
	VEC(char *) names;              /* of each, for reports */
	VEC(struct counts_file) counts; /* -plot: results of perfex, and their names */
	VEC(char *) count_names;
	size_t damaged;   /* files that could not be read to their end */
	char damage[600]; /* the first of them, and what is wrong with it */
	struct side sides[2];
};
/* -plot. */
int do_plot(const struct options *o, const struct loaded *l, const struct prof_request *request,
	const struct prof_images_search *search, bool *incomplete, struct error *e);
int load(struct loaded *l, const struct options *o, const struct arguments *a, struct error *e);
void loaded_fini(struct loaded *l);
/* Files of the ranks of one launch become one. */
int join_ranks(struct loaded *l, struct error *e);

#endif
