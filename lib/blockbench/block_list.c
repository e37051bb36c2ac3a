/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blockbench/block_list.h"

#include <string.h>

#include "blockbench/channel.h"

static size_t until(const char *text, size_t length, char stop)
{
	const char *at = memchr(text, stop, length);

	return at ? (size_t)(at - text) : length;
}

static bool list_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int add_bytes(struct block_list *l, struct block_entry *entry, const uint8_t *bytes)
{
	uint8_t *place;

	entry->bytes = l->bytes.count;
	if (!entry->bytes_length)
		return 0;
	place = vec_extend(&l->bytes, entry->bytes_length);
	if (!place)
		return -1;
	memcpy(place, bytes, entry->bytes_length);
	return 0;
}

static int list_add_line(struct block_list *l, const char *text, size_t at, size_t length,
	unsigned long line, struct error *e)
{
	uint8_t bytes[BLOCK_BYTES_MAX];
	struct block_entry entry = {.line = line}, *slot;

	length = until(text + at, length, ',');
	while (length && list_blank(text[at])) {
		at++;
		length--;
	}
	while (length && list_blank(text[at + length - 1]))
		length--;
	if (line == 1 && length == 3 && memcmp(text + at, "hex", 3) == 0)
		return 0;
	entry.text = at;
	entry.text_length = length;
	entry.class = block_parse_hex(text + at, length, bytes, sizeof(bytes), &entry.bytes_length);
	if (entry.class)
		entry.bytes_length = 0;
	slot = vec_push(&l->entries);
	if (!slot || add_bytes(l, &entry, bytes))
		return error_nomem(e);
	*slot = entry;
	return 0;
}

int block_list_parse(struct block_list *l, const char *text, size_t length, struct error *e)
{
	unsigned long line = 0;

	for (size_t at = 0; at < length;) {
		size_t n = until(text + at, length - at, '\n'), skip = 0;

		line++;
		while (skip < n && list_blank(text[at + skip]))
			skip++;
		if (skip < n && text[at + skip] != '#' && list_add_line(l, text, at, n, line, e))
			return -1;
		at += n + 1;
	}
	return 0;
}

void block_list_fini(struct block_list *l)
{
	vec_fini(&l->entries);
	vec_fini(&l->bytes);
}
