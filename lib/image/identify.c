/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"
#include "image/fingerprint.h"
#include "image/image.h"

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

enum { GROUP = 4 * sizeof(uint64_t), CHUNK = 64 << 10, PIECE = 512 << 10 };

/* Four independent sums, so that the multiplications overlap. */
struct sums {
	uint64_t sum[4];
	uint64_t size;
};

static const struct sums NO_SUMS = {.sum = {1, 2, 3, 4}};

static void sums_group(struct sums *s, const uint8_t *bytes)
{
	uint64_t word[4];

	memcpy(word, bytes, GROUP);
	for (int i = 0; i < 4; i++)
		s->sum[i] = mix(s->sum[i], word[i]);
}

/* All but the last call have whole groups. */
static void sums_add(struct sums *s, const uint8_t *bytes, size_t size)
{
	uint8_t rest[GROUP] = {0};

	s->size += size;
	for (; size >= GROUP; size -= GROUP, bytes += GROUP)
		sums_group(s, bytes);
	if (!size)
		return;
	memcpy(rest, bytes, size);
	sums_group(s, rest);
}

/* As if what is left of the last group always were one of its own, of zeroes if there is none. */
static uint64_t sums_end(struct sums *s)
{
	static const uint8_t zeroes[GROUP];
	uint64_t h = s->size;

	if (s->size % GROUP == 0)
		sums_group(s, zeroes);
	for (int i = 0; i < 4; i++)
		h = mix(h, s->sum[i]);
	return h ? h : 1;
}

uint64_t identify_fingerprint(const void *bytes, size_t size)
{
	struct sums s = NO_SUMS;

	sums_add(&s, bytes, size);
	return sums_end(&s);
}

uint64_t identify_file(struct elf_file *f)
{
	struct sums s = NO_SUMS;

	for (size_t at = 0, n; at < f->raw.size; at += n) {
		n = f->raw.size - at < PIECE ? f->raw.size - at : PIECE;
		sums_add(&s, f->raw.data + at, n);
		elf_file_unload(f);
	}
	return sums_end(&s);
}

/* A mapped file would be in memory as a whole. Its size is that of what was read. */
static int fingerprint_file(const char *path, uint64_t *size, uint64_t *h, struct error *e)
{
	struct sums s = NO_SUMS;
	uint8_t *bytes = malloc(CHUNK);
	FILE *f = bytes ? fopen(path, "rbe") : NULL;
	size_t n;
	int rc = 0;

	if (!f) {
		rc = bytes ? error_sys(e, errno, "cannot open %s", path) : error_nomem(e);
		free(bytes);
		return rc;
	}
	setvbuf(f, NULL, _IONBF, 0);
	while ((n = fread(bytes, 1, CHUNK, f)) > 0)
		sums_add(&s, bytes, n);
	if (ferror(f))
		rc = error_sys(e, errno, "cannot read %s", path);
	fclose(f);
	free(bytes);
	*size = s.size;
	*h = sums_end(&s);
	return rc;
}

int image_identify(const char *path, uint8_t *build_id, size_t *build_id_length, uint64_t *size,
	uint64_t *fingerprint_of, struct error *e)
{
	struct elf_file *f = elf_file_map(path, e);
	int rc = 0;

	*build_id_length = 0;
	*fingerprint_of = 0;
	if (!f)
		return -1;
	*size = f->raw.size;
	if (elf_file_read(f, NULL) == 0 && f->build_id_length) {
		*build_id_length = f->build_id_length;
		memcpy(build_id, f->build_id, f->build_id_length);
	} else {
		rc = fingerprint_file(path, size, fingerprint_of, e);
	}
	elf_file_close(f);
	return rc;
}
