/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of one or several experiments, added up for a report: by place (an address of an
 * image), each named once; and, if call paths are needed, by node of one tree.
 *
 * Cost: a few table look-ups for each distinct sample and node of the experiments, one query to an
 * image for each distinct address; nothing grows faster than those. An entity is what a row shows
 * (a function, a line, an image, in a thread).
 */
#ifndef PROFILE_PLACES_H
#define PROFILE_PLACES_H

#include "base/progress.h"
#include "base/table.h"
#include "events/label.h"
#include "experiment/experiment.h"
#include "profile/image_names.h"

struct prof_input {
	const struct experiment *experiment;
	const char *file; /* as reports call it */
	unsigned side;    /* -diff: 0 before, 1 after */
};

/* -q: the rows that a list leaves out. */
struct prof_quit {
	unsigned long rows; /* at most; 0: any number */
	double percent;     /* rows below are left out */
	double cumulative;  /* rows after the one that reaches it are left out; 0: none */
};

/* Whose rows are apart, if request.threads is set. */
enum prof_grouping { PROF_GROUP_THREAD, PROF_GROUP_PROCESS, PROF_GROUP_COMMAND, PROF_GROUP_CPU };

struct prof_request {
	struct progress *progress; /* of what takes long; may be NULL */
	const char *host;          /* the name of this host, whose clock is host_hz; NULL: not
				      needed */
	double host_hz;
	const struct prof_input *inputs;
	size_t count;
	const char *command; /* as the user gave it, for the head; may be NULL */
	const char *calipers;
	const char *from, *to; /* times: "1.5", "200ms", "25%"; NULL: the beginning, the end */
	const char *const *only, *const *exclude; /* globs, NULL-terminated; may be NULL */
	/* Whose samples: "process:GLOB or PID", "command:GLOB", "thread:GLOB or TID", "cpu:NUMBER";
	 * likewise. */
	const char *const *only_whom, *const *exclude_whom;
	const char *const *source_paths; /* likewise */
	struct prof_quit quit;
	size_t bins;       /* -timeline: columns at most; 0: the usual number */
	size_t name_limit; /* characters of a function's name that text shows; 0: any number */
	bool threads;      /* rows of threads, or what `by` says, are apart */
	enum prof_grouping by;
	bool inclusive, inlines;
	bool raw;          /* samples stay where an interrupt found them */
	bool intel, whole; /* -dis; whole: nothing is left out, by default */
	bool folds;        /* lists for people leave out what has one sample */
	bool classic;      /* -calc */
	const char *core;  /* -calc: description of the core; NULL: this host's */
	bool compare; /* inputs are runs of perhaps different builds: names count, not addresses */
	bool shares;  /* -diff: of the whole, not absolute numbers */
	const char *sides[2]; /* -diff: the user's names for them */
};

/* One column of samples. */
struct prof_metric {
	const struct experiment_metric *metric;
	size_t input;
	uint32_t index;   /* in its experiment */
	uint64_t samples; /* that the request selects */
	uint64_t untimed; /* others, of which it is not known */
	double unit;      /* of a sample, in units shown (seconds for clocks) */
};

/* table entries */
struct profile_place {
	struct {
		uint64_t address;
		uint32_t image, group;
	} key;
};

struct prof_node {
	struct {
		uint32_t parent, place; /* node 0 is the root */
	} key;
};

struct prof_group { /* rank, process, thread; without -threads all samples are of one. By command,
		     * numbers below 0 stand for its name; by CPU, tid is the CPU + 1. */
	struct {
		int32_t rank;
		int32_t pid, tid;
	} key;
	const char *command;
};

struct prof_image {
	const struct experiment_image *image;
	size_t input;     /* the first one that has it */
	uint32_t index;   /* there */
	const char *name; /* base name */
};

/* The names of a place; texts are indices of strings, 0 of "". */
struct prof_name {
	uint32_t procedure, file;
	uint32_t line;
	uint64_t begin; /* of the function; 0 if it has none */
	bool inlined;   /* the procedure is one that was inlined there */
	uint32_t real;  /* then, the function that it was inlined in */
};

/* Places of an image with neighbouring addresses, of group 0: found without a search. */
struct prof_near {
	uint64_t first;  /* address */
	size_t span;     /* addresses; 0: there are none here */
	uint32_t *place; /* [address - first]: index + 1; 0: none yet */
};

struct prof_span {                        /* of phases, one an input */
	uint32_t from, to;                /* [from, to) */
	const char *name;                 /* only those of this name; NULL: all */
	uint32_t first_slice, last_slice; /* if `within` is set: [first, last); there may be no
					     samples at the end */
	uint64_t *within; /* samples of each row at these times; NULL: no times were asked for */
};

struct prof_data {
	const struct prof_request *request;
	struct prof_names names; /* to be set before profile_data_name */
	VEC(struct prof_image) images;
	VEC(struct prof_metric) metrics;
	VEC(struct prof_span) spans;
	bool **unwanted;          /* [input][thread]: left out; NULL: none is */
	VEC(uint32_t *) image_of; /* [input][its image]: index in images */
	struct prof_near *near;   /* [image]; NULL: too few samples to be worth it */
	struct table groups, places, nodes, strings;
	VEC(uint64_t) counts;      /* [place * metrics + metric] */
	VEC(uint64_t) node_counts; /* [node * metrics + metric]; none without call paths */
	bool folded;            /* functions that lead to the first one of Python have no nodes */
	struct prof_name *name; /* of each place; NULL before profile_data_name */
};

/* Adds everything up.  The request must outlive d. */
int profile_data_init(struct prof_data *d, const struct prof_request *request, struct error *e);
void profile_data_fini(struct prof_data *d);

/* -1 if there is no metric to report. */
int profile_data_metrics(const struct prof_data *d, struct error *e);
/* Is this word of -only or -exclude about processes, commands or threads? */
bool profile_is_whom(const char *word);
/* Are some threads left out? */
bool profile_whom_asked(const struct prof_request *r);
/* Builds the tree; call it before names are requested. ERR_UNSUPPORTED if no metric has call paths.
 */
int profile_data_paths(struct prof_data *d, struct error *e);
/* The same, also if all paths are one address long. */
int profile_data_tree(struct prof_data *d, struct error *e);
/* Finds names and, where lines is set, files and lines of all places. */
int profile_data_name(struct prof_data *d, bool lines, struct error *e);

/* Samples of nodes and all below them, [node * metrics + metric]; to be freed by the caller. */
uint64_t *profile_subtrees(const struct prof_data *d);
/* Calls for each node that has no node of the same key (key[node] < keys; UINT32_MAX: none) above
 * it, so that what recurs is counted once.  -1 when memory is out. */
int profile_outermost(const struct prof_data *d, const uint32_t *key, size_t keys,
	void (*call)(void *context, size_t node), void *context);

/* Calls around a sample that reports and files show, whose size grows with the square of it. */
enum { PROF_DEEP = 200 };

/* A name for an address without symbol; text may be written to room. */
const char *profile_nameless(
	const struct prof_data *d, uint32_t image, uint64_t address, char *room, size_t size);

/* The line of the function that begins there; of one that begins with an inlined call, the call's.
 * 0, or -1 if none is known. */
int profile_function_line(
	const struct prof_data *d, uint32_t image, uint64_t begin, struct image_line *line);

/* How many of the samples of a row of this input the request selects. */
uint64_t profile_selected(const struct prof_data *d, size_t input, size_t sample);
/* times.c: does the request select a part of the run, by times or caliper points? */
bool profile_divides(const struct prof_request *r);
/* Is part of a file missing? */
bool profile_damaged(const struct prof_request *r);
/* Seconds that the run, or the longest of several, took. */
double profile_duration(const struct experiment *x);
/* Have samples of this column times? */
bool profile_timed(const struct prof_data *d, size_t metric);
/* The times that the request selects of an input, s: slices are not divided. false: all. */
bool profile_times(const struct prof_data *d, size_t input, double *from, double *to);
/* The place of an address of an input's image; -1 when memory is out. */
long profile_place(
	struct prof_data *d, size_t input, uint32_t group, uint32_t image, uint64_t address);
/* The same for an image of d. */
long profile_place_add(struct prof_data *d, uint32_t group, uint32_t image, uint64_t address);
long profile_group_of(struct prof_data *d, size_t input, uint32_t thread);
/* The same; -1 if there is none yet. */
long profile_group_find(const struct prof_data *d, size_t input, uint32_t thread);
/* The column of a metric of an input. */
size_t profile_metric_index(const struct prof_data *d, size_t input, uint32_t metric);

static inline const struct profile_place *profile_place_at(const struct prof_data *d, size_t i)
{
	return (const struct profile_place *)(const void *)d->places.entries + i;
}

static inline const struct prof_node *profile_tree_node_at(const struct prof_data *d, size_t i)
{
	return (const struct prof_node *)(const void *)d->nodes.entries + i;
}

/* Cycles per second of the clock that the metric's time passed by, where its run recorded it, or
 * was on this host; 0: not known. */
double profile_clock_hz(const struct prof_data *d, size_t metric);

/* Is it the event of executed instructions? */
bool profile_counts_instructions(const struct prof_metric *m);

/* Strings, each once. */
long profile_string(struct prof_data *d, const char *text);
const char *profile_string_at(const struct prof_data *d, uint32_t index);

/*
 * n samples of `unit` units each, as a quantity with the exact interval of Poisson's distribution.
 * Samples of every n-th event vary less than that, so the interval is on the safe side.
 */
struct quantity profile_sampled(uint64_t n, double unit, enum label label);

/* With fewer samples a number is marked weak: its interval is wider than half of it. */
enum { PROF_WEAK = 10 };

/* Step i of count of the work that `words` describe; fast enough for any loop. */
static inline void profile_progress(
	const struct prof_data *d, size_t i, size_t count, const char *words)
{
	if (d->request->progress && d->request->progress->enabled)
		progress_step(d->request->progress, (double)i / (double)(count ? count : 1), words);
}

#endif
