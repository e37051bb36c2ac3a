/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this module share. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include "base/file.h"
#include "base/strbuf.h"
#include "store/store.h"

/* DIR/A/B; to be freed by the caller, NULL with *e set. b may be NULL. */
char *store_path(const struct store *s, const char *a, const char *b, struct error *e);

/* Files that are written, but not yet synced and named. */
#define STORE_BATCH         64
#define STORE_FILES_OF_PART 2 /* its path, and its rows */
struct store_batch {
	struct file_out files[STORE_BATCH];
	uint32_t image[STORE_BATCH]; /* of which each is */
	size_t count;
};
int store_batch_add(struct store_batch *b, const char *path, const struct strbuf *text,
	uint32_t image, struct error *e);
/* There is no room for another part. */
bool store_batch_full(const struct store_batch *b);
/* Syncs and names them all. failed, if not NULL, by image: set where a file could not be; then it
 * is -1. */
int store_batch_end(struct store_batch *b, bool *failed, struct error *e);
/* Writes text privately: another name, sync, rename. */
int store_write(const char *path, const struct strbuf *text, struct error *e);

/* The rows of each image, found by one pass. */
struct store_rows {
	uint32_t *first; /* by image: in rows; first[images] is the end */
	uint32_t *rows;
};
struct store_division {
	const struct experiment *from;
	struct store_rows samples, edges, runs, rates;
};
/* store_division_fini in every case. */
int store_divide(struct store_division *d, const struct experiment *x, struct error *e);
void store_division_fini(struct store_division *d);
/* The rows of one image; part is not initialised. 1: there are none, and part is not either. */
int store_part(
	struct experiment *part, const struct store_division *d, uint32_t image, struct error *e);

/* The name of a file of experiments; false: it is none. */
bool store_file_name(const char *name, unsigned *day, bool *week);
/* The directory of what was removed unread. */
#define STORE_REMOVED "removed"
/* The samples of all of these images; part is not initialised. 1: there are none, and part is not
 * either. */
int store_part_removed(struct experiment *part, const struct experiment *x, struct error *e);
/* The name of an image's directory; to be freed by the caller, NULL when memory is out. */
char *store_image_id(const struct experiment_image *image);

#endif
