/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The experiment file, ssexp(5): typed, length-prefixed, checksummed sections.  What is written
 * depends on the experiment's content alone, not on the order in which it was added; so equal
 * experiments are equal files.
 */
#ifndef EXPERIMENT_FILE_H
#define EXPERIMENT_FILE_H

#include "base/file.h"
#include "base/strbuf.h"
#include "experiment/experiment.h"

/* Sorts and renumbers everything into the one order that files have; rows that are equal become
 * one. More can be added afterwards.  On failure (memory) x is fit for experiment_fini alone. */
int experiment_settle(struct experiment *x, struct error *e);

/* Appends the bytes of the file to out.  x is settled by it. */
int experiment_encode(struct experiment *x, struct strbuf *out, struct error *e);
/* Writes to a temporary file and renames it (base/file.h).  x is settled by it. */
int experiment_write(struct experiment *x, const char *path, struct error *e);

struct experiment_damage {
	bool damaged;      /* truncated or corrupted: what came before is there */
	char message[256]; /* "truncated after byte 1234": what, and where */
};

/* Reads size bytes of a file into x, which experiment_init has not touched.  A damaged file gives
 * what can be known of it, all sections before the damage, and says so in *damage (may be NULL:
 * then it is an error); -1 where nothing can be, or where sections that are whole make no sense,
 * with x as after experiment_fini.  Memory is bounded by a multiple of size.  The tables of x are
 * not indexed: table_find needs table_index first, and what adds to them does that itself. */
int experiment_parse(struct experiment *x, const void *data, size_t size,
	struct experiment_damage *damage, struct error *e);
int experiment_read(
	struct experiment *x, const char *path, struct experiment_damage *damage, struct error *e);

/* Is this the beginning of an experiment file? */
bool experiment_is_file(const void *data, size_t size);

#endif
