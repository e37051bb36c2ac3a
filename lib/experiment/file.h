/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The experiment file, ssexp(5): typed, length-prefixed, checksummed sections. The bytes depend on
 * the experiment's content only, not on the order of additions; so equal experiments are equal
 * files.
 */
#ifndef EXPERIMENT_FILE_H
#define EXPERIMENT_FILE_H

#include "base/file.h"
#include "base/strbuf.h"
#include "experiment/experiment.h"

/* Sorts and renumbers everything into the one order that files have; equal rows become one. More
 * can be added afterwards. On failure (memory) x can only be passed to experiment_fini. */
int experiment_settle(struct experiment *x, struct error *e);

/* As experiment_settle, and to[EXPERIMENT_TABLES]: the new number of each row, of lists and of
 * tables that others refer to; NULL before, to be freed by the caller. */
int experiment_settle_numbers(struct experiment *x, uint32_t **to, struct error *e);
/* Removes images, nodes and obstacles that no row refers to.  -1 when memory is out. */
int experiment_drop_unused(struct experiment *x, struct error *e);
int experiment_drop_obstacles(struct experiment *x);

/* Appends the bytes of the file to out.  x is settled by it. */
int experiment_encode(struct experiment *x, struct strbuf *out, struct error *e);
/* Writes to a temporary file and renames it (base/file.h).  x is settled by it. */
int experiment_write(struct experiment *x, const char *path, struct error *e);
/* Writes as many of the bytes as there is room for to a file of mkstemp. */
int experiment_write_beginning(struct experiment *x, int fd);

struct experiment_damage {
	bool damaged;      /* truncated or corrupted: x has the part before that */
	char message[256]; /* "truncated after byte 1234" */
};

/* Reads size bytes of a file into x, which experiment_init has not touched. From a damaged file,
 * all sections before the damage are read, with a description in *damage (may be NULL: then damage
 * is an error). -1 if nothing can be read, or if whole sections are invalid, with x as after
 * experiment_fini. Memory is bounded by a multiple of size. The tables of x are not indexed:
 * table_find needs table_index first; functions that add rows do that themselves. */
int experiment_parse(struct experiment *x, const void *data, size_t size,
	struct experiment_damage *damage, struct error *e);
int experiment_read(
	struct experiment *x, const char *path, struct experiment_damage *damage, struct error *e);

/* Is this the beginning of an experiment file? */
bool experiment_is_file(const void *data, size_t size);

#endif
