/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are mapped to be read, although others may cut them meanwhile, or their disk may fail.
 * The kernel answers an access to what is not there with SIGBUS. A handler puts zeros there, from
 * that page to the end of the mapping, and what parses the file goes on: parsers bear any bytes.
 * A reader calls mapping_check when it has parsed the file; say_end (say.h) calls
 * mapping_check_all.
 */
#ifndef BASE_MAPPING_H
#define BASE_MAPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct mapping {
	const void *data; /* NULL without bytes */
	size_t size;
	char *path;
	struct mapping *next; /* of those that the handler knows */
	bool ours;            /* to be unmapped */
	volatile bool cut;    /* a part of it could not be read, and is zeros */
};

/* A regular file as a whole; what is not regular has no bytes. NULL with *e set. */
struct mapping *mapping_open(const char *path, struct error *e);
/* For what another library maps and unmaps: mapping_guard before it maps, mapping_watch after it.
 * An access between them is made good page by page. NULL with *e set. */
void mapping_guard(void);
struct mapping *mapping_watch(const void *data, size_t size, const char *path, struct error *e);
/* Of both; NULL is accepted. */
void mapping_close(struct mapping *m);

/* All signals but that of the handler: what a thread blocks that is not to be interrupted, and may
 * read mappings. A thread that blocks SIGBUS dies of it with its process. */
void mapping_mask(sigset_t *set);

/* -1 with *e set if it is cut. */
int mapping_check(const struct mapping *m, struct error *e);
/* The same of all mappings that this process had. */
int mapping_check_all(struct error *e);

#endif
