/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "image/elf_file.h"
#include "image/fingerprint.h"
#include "image/image.h"

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Four independent sums, so that the multiplications overlap. */
uint64_t identify_fingerprint(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t sum[4] = {1, 2, 3, 4}, h = size, word[4];
	size_t left = size;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(word, at, sizeof(word));
		for (int i = 0; i < 4; i++)
			sum[i] = mix(sum[i], word[i]);
	}
	memset(word, 0, sizeof(word));
	if (left)
		memcpy(word, at, left);
	for (int i = 0; i < 4; i++)
		h = mix(h, mix(sum[i], word[i]));
	return h ? h : 1;
}

int image_identify(const char *path, uint8_t *build_id, size_t *build_id_length, uint64_t *size,
	uint64_t *fingerprint_of, struct error *e)
{
	struct elf_file *f = elf_file_map(path, e);

	*build_id_length = 0;
	*fingerprint_of = 0;
	if (!f)
		return -1;
	*size = f->raw.size;
	if (elf_file_read(f, NULL) == 0 && f->build_id_length) {
		*build_id_length = f->build_id_length;
		memcpy(build_id, f->build_id, f->build_id_length);
	} else {
		*fingerprint_of = identify_fingerprint(f->raw.data, f->raw.size);
	}
	elf_file_close(f);
	return 0;
}
