/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that perf record -z compressed: one stream by zstd, cut into pieces.  libzstd is visible
 * in this module only. */
#ifndef PERFDATA_INFLATE_H
#define PERFDATA_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

struct inflate;

/* NULL: memory is out. */
struct inflate *inflate_new(void);
void inflate_free(struct inflate *z);
/* The next piece of the stream; the one before must have been read to its end. */
void inflate_feed(struct inflate *z, const void *data, size_t size);
/* Up to size bytes of its contents; returns their number, 0 at its end, -1 if it is damaged. */
long inflate_read(struct inflate *z, void *data, size_t size);

/* "zstd 1.5.4": the library in use. Static. */
const char *inflate_library(void);

#endif
