/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of blocks: every entry points into the text and has the bytes that its text says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blockbench/block_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	return 0;
}
