/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .gnu_debugdata, "MiniDebugInfo": an ELF file with symbols of functions only, compressed by xz,
 * in distributions' stripped files. */
#include <lzma.h>
#include <stdlib.h>

#include "image/private.h"

#define MEMORY_LIMIT (UINT64_C(256) << 20) /* bytes, of the decoder */
#define SIZE_LIMIT   (UINT64_C(512) << 20) /* bytes, of its result */

/* Grows *out as needed; false if the input is damaged. */
static bool mini_decode(lzma_stream *s, uint8_t **out, size_t *size)
{
	size_t room = 0;

	for (;;) {
		lzma_ret r;

		if (s->avail_out == 0) {
			size_t more = room ? 2 * room : 1 << 16;
			uint8_t *longer = more <= SIZE_LIMIT ? realloc(*out, more) : NULL;

			if (!longer)
				return false;
			*out = longer;
			s->next_out = longer + room;
			s->avail_out = more - room;
			room = more;
		}
		r = lzma_code(s, LZMA_FINISH);
		*size = room - s->avail_out;
		if (r == LZMA_STREAM_END)
			return true;
		if (r != LZMA_OK)
			return false;
	}
}

struct elf_file *image_mini(struct image *image)
{
	struct span packed = elf_file_find(image->elf, ".gnu_debugdata");
	lzma_stream s = LZMA_STREAM_INIT;
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (image->mini_sought || !packed.size)
		return image->mini;
	image->mini_sought = true;
	if (lzma_stream_decoder(&s, MEMORY_LIMIT, 0) != LZMA_OK)
		return NULL;
	s.next_in = packed.data;
	s.avail_in = packed.size;
	if (mini_decode(&s, &bytes, &size))
		image->mini = elf_file_memory(bytes, size, image->path, NULL);
	free(bytes);
	lzma_end(&s);
	return image->mini;
}
