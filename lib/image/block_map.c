/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .llvm_bb_addr_map, versions 1 and 2 (LLVM's documentation, Extensions): the basic blocks as the
 * compiler numbered them. Of each function: version, features; ranges, if it is in several; each
 * range's address and blocks; counts of a profile, if there are any.
 */
#include "image/private.h"
#include "image/section_reader.h"

enum { VERSION_LEAST = 1, VERSION_MOST = 2 };
enum feature {
	FEATURE_ENTRY_COUNT = 1 << 0,
	FEATURE_FREQUENCIES = 1 << 1,
	FEATURE_PROBABILITIES = 1 << 2,
	FEATURE_RANGES = 1 << 3,
	FEATURES = (1 << 4) - 1
};

/* The profile that may follow: it is of the build before, and not wanted. */
static void skip_profile(struct section_reader *r, unsigned features, uint64_t blocks)
{
	if (features & FEATURE_ENTRY_COUNT)
		(void)section_reader_uleb(r);
	for (uint64_t i = 0; i < blocks && !r->bad; i++) {
		if (features & FEATURE_FREQUENCIES)
			(void)section_reader_uleb(r);
		if (features & FEATURE_PROBABILITIES)
			for (uint64_t n = section_reader_uleb(r); n > 0 && !r->bad; n--) {
				(void)section_reader_uleb(r);
				(void)section_reader_uleb(r);
			}
	}
}

/* One range of a function; the first one's address is the function's. */
static int map_range(struct section_reader *r, unsigned version, uint64_t *function,
	uint64_t *blocks, int (*call)(void *context, const struct image_block *block),
	void *context)
{
	uint64_t at = section_reader_bytes(r, 8), count = section_reader_uleb(r);
	int stop = 0;

	if (*blocks == 0)
		*function = at;
	*blocks += count;
	for (uint64_t i = 0; i < count && !r->bad && !stop; i++) {
		struct image_block block = {.function = *function, .id = (uint32_t)i};

		if (version > 1)
			block.id = (uint32_t)section_reader_uleb(r);
		block.address = at + section_reader_uleb(r);
		block.size = section_reader_uleb(r);
		(void)section_reader_uleb(r); /* its kind */
		at = block.address + block.size;
		if (!r->bad)
			stop = call(context, &block);
	}
	return stop;
}

int image_blocks(struct image *image, int (*call)(void *context, const struct image_block *block),
	void *context, struct error *e)
{
	struct section_reader r = {.left = elf_file_find(image->elf, ".llvm_bb_addr_map")};
	int stop = 0;

	while (r.left.size && !stop) {
		unsigned version = (unsigned)section_reader_bytes(&r, 1),
			 features = (unsigned)section_reader_bytes(&r, 1);
		uint64_t ranges = 1, blocks = 0, function = 0;

		if (version < VERSION_LEAST || version > VERSION_MOST || features & ~FEATURES) {
			error_set(e, ERR_UNSUPPORTED, "%s: its map of blocks has version %u",
				image->path, version);
			return error_hint(e, "versions 1 and 2 are read: those of LLVM 15 to 20");
		}
		if (features & FEATURE_RANGES)
			ranges = section_reader_uleb(&r);
		for (uint64_t i = 0; i < ranges && !r.bad && !stop; i++)
			stop = map_range(&r, version, &function, &blocks, call, context);
		if (!stop)
			skip_profile(&r, features, blocks);
		if (r.bad)
			return error_set(
				e, ERR_PARSE, "%s: its map of blocks is damaged", image->path);
	}
	return stop;
}
