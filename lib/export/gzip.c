/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/gzip.h"

#include <string.h>

int gzip_begin(struct gzip *g, FILE *out)
{
	enum { WITH_GZIP_HEADER = 16 };

	memset(g, 0, sizeof(*g));
	g->out = out;
	return deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER,
		       MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -1;
}

static void gzip_run(struct gzip *g, int flush)
{
	unsigned char room[1 << 15];

	do {
		g->z.next_out = room;
		g->z.avail_out = sizeof(room);
		deflate(&g->z, flush);
		fwrite(room, 1, sizeof(room) - g->z.avail_out, g->out);
	} while (g->z.avail_out == 0);
}

void gzip_add(struct gzip *g, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size) {
		size_t now = size < 1 << 30 ? size : 1 << 30;

		g->z.next_in = (unsigned char *)at;
		g->z.avail_in = (unsigned)now;
		gzip_run(g, Z_NO_FLUSH);
		at += now;
		size -= now;
	}
}

void gzip_end(struct gzip *g)
{
	gzip_run(g, Z_FINISH);
	deflateEnd(&g->z);
}
