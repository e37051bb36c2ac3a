/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of blocks: every entry points into the text and has the bytes that its text says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blockbench/block_items.h"
#include "blockbench/block_list.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same as a file and as a word; and as a range of this program, whose code is there. */
static void take_items(const uint8_t *data, size_t size)
{
	block_items items = {0};
	char *text = malloc(size + 1);
	struct scratch file;
	struct error e = {0};

	if (text && size < 1000) {
		memcpy(text, data, size);
		text[size] = '\0';
		if (blocks_from_hex(&items, text, &e))
			abort();
		if (blocks_from_image(&items, "/proc/self/exe", text, &e) && !*e.message)
			abort();
	}
	free(text);
	if (scratch_open(&file, data, size) == 0) {
		(void)blocks_from_file(&items, file.path, &e);
		scratch_close(&file);
	}
	for (size_t i = 0; i < items.count; i++)
		if (items.data[i].length && !items.data[i].bytes)
			abort();
	block_items_fini(&items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct block_list list = {0};
	struct error e;

	if (block_list_parse(&list, (const char *)data, size, &e))
		abort();
	for (size_t i = 0; i < list.entries.count; i++) {
		const struct block_entry *entry = &list.entries.data[i];
		uint8_t bytes[20000];
		size_t n;

		if (entry->text + entry->text_length > size ||
			entry->bytes + entry->bytes_length > list.bytes.count)
			abort();
		if (block_parse_hex((const char *)data + entry->text, entry->text_length, bytes,
			    16384, &n) != entry->class)
			abort();
		if (entry->class == BLOCK_OK &&
			(n != entry->bytes_length ||
				memcmp(bytes, list.bytes.data + entry->bytes, n) != 0))
			abort();
	}
	block_list_fini(&list);
	take_items(data, size);
	return 0;
}
