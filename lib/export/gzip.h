/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream compressed as gzip does, into a file; without name and time, so that equal input gives
 * equal files. */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *out;
};

/* -1 when memory is out; the file has errors of writing. */
int gzip_begin(struct gzip *g, FILE *out);
void gzip_add(struct gzip *g, const void *bytes, size_t size);
void gzip_end(struct gzip *g);

#endif
