/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/inflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

struct inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	bool full; /* the last read filled its buffer: there may be more */
};

struct inflate *inflate_new(void)
{
	struct inflate *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->stream = ZSTD_createDStream();
	if (z->stream && !ZSTD_isError(ZSTD_initDStream(z->stream)))
		return z;
	inflate_free(z);
	return NULL;
}

void inflate_free(struct inflate *z)
{
	if (z)
		ZSTD_freeDStream(z->stream);
	free(z);
}

void inflate_feed(struct inflate *z, const void *data, size_t size)
{
	z->in = (ZSTD_inBuffer){data, size, 0};
	z->full = false;
}

long inflate_read(struct inflate *z, void *data, size_t size)
{
	ZSTD_outBuffer out = {data, size, 0};

	while (out.pos < out.size && (z->in.pos < z->in.size || z->full)) {
		size_t before = out.pos, taken = z->in.pos;

		z->full = false;
		if (ZSTD_isError(ZSTD_decompressStream(z->stream, &out, &z->in)))
			return -1;
		z->full = out.pos == out.size;
		if (out.pos == before && z->in.pos == taken)
			break;
	}
	return (long)out.pos;
}

const char *inflate_library(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "zstd %s", ZSTD_versionString());
	return text;
}
