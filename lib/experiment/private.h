/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of this directory.
 */
#ifndef EXPERIMENT_PRIVATE_H
#define EXPERIMENT_PRIVATE_H

#include "experiment/file.h"
#include "experiment/tables.h"
#include "rows/coding.h"

#define CODING_MAGIC   "\x89SSEXP\r\n"
#define CODING_MAJOR   1
#define CODING_DATA    1     /* minor version of files with data space */
#define CODING_BRANCH  3     /* of files with branch records */
#define CODING_WAITS   4     /* of files with modelled waits */
#define CODING_VALUES  5     /* of files with values */
#define CODING_TIMES   6     /* of files with times of samples */
#define CODING_MINOR   7     /* of files with pauses; with none of these, 0 */
#define CODING_PREFIX  12    /* bytes: magic, major, minor */
#define CODING_SECTION 12    /* bytes: type, length of the rest, checksum */
#define CODING_CHUNK   65536 /* bytes; a longer table continues in another section */

/* ---- lists (lists.c) ---- */

/* A VEC of any type. */
struct experiment_vec {
	char *data;
	size_t count, capacity;
};

struct experiment_list {
	struct row_kind kind; /* of records */
	size_t offset;        /* in struct experiment */
	size_t fixed;         /* first rows, which stay in place and are not written */
	bool ties;            /* equal rows are kept, in their order */
	/* By numbers of rows; NULL: kind.order has it. */
	int (*order)(const struct experiment *x, size_t a, size_t b);
	void (*add)(void *row, void *other); /* adds the counts of an equal row */
};

/* By enum experiment_rows, below EXPERIMENT_LISTS. */
extern const struct experiment_list experiment_lists[];
struct experiment_vec *experiment_list_vec(const struct experiment *x, int which);
/* As strcmp, of rows a and b. */
int experiment_list_order(const struct experiment *x, int which, size_t a, size_t b);
/* Copies the row and its texts to the end; its number, -1 with *e set when memory is out. */
long experiment_list_add(struct experiment *x, int which, const void *row, struct error *e);
/* Whatever to had is forgotten, not freed.  -1 when memory is out; experiment_list_fini is due
 * then, too. */
int experiment_list_copy(struct experiment *to, const struct experiment *from, int which);
void experiment_list_fini(struct experiment *x, int which);

/* ---- images by what identifies them (images_known.c) ---- */

/* The number of the image; -1: there is none, and the caller adds it next, or memory is out. */
long images_known_find(struct experiment *x, const struct experiment_image *image, bool *nomem);
/* Due when images get other numbers. */
void images_known_forget(struct experiment *x);

/* ---- times of samples (time_slices.c) ---- */

/* Gives a slices as wide as b, which has some, needs, and the lesser room of both. b's slices in
 * that width: its own, or in *own, which is empty before and to be freed by the caller. NULL when
 * memory is out. */
const struct table *time_slices_align(
	struct experiment *a, const struct experiment *b, struct table *own);
/* Widens slices until they fit. bytes: what the other sections take that a sum keeps; from this
 * follows the room, if it is not known yet. x is settled. -1 when memory is out. */
int time_slices_fit(struct experiment *x, size_t bytes);
/* The contents of their section. */
void time_slices_put(const struct experiment *x, struct strbuf *to);
void time_slices_get(struct experiment *x, struct cursor *c);

/* Adds the counts of b to those of a, which is the same metric, and takes the lesser note; b is
 * unchanged, but its note may be exchanged for a's. counted: has it samples? (A total of 0 with
 * samples is unknown, and then the sum is unknown, too.) */
void experiment_metric_sum(
	struct experiment_metric *a, bool a_counted, struct experiment_metric *b, bool b_counted);

/* Likewise the part before nodes, samples and edges, and where they begin. Damage is an error. */
int experiment_parse_head(
	struct experiment *x, const void *data, size_t size, size_t *at, struct error *e);

/* A buffer for one file after the other. */
struct experiment_bytes {
	char *data; /* to be freed by the caller */
	size_t count, capacity;
};
int experiment_load(const char *path, struct experiment_bytes *bytes, struct error *e);
/* Prepends the name of the file to the message. */
void experiment_name_error(struct error *e, const char *path);

#endif
