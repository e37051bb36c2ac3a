/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks as text, in files, in images. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "blockbench/block_items.h"
#include "blockbench/block_list.h"
#include "image/image.h"
#include "isa/isa.h"

#define BLOCK_ROOM 16384

struct block_item *block_item_new(block_items *items, const void *bytes, size_t length)
{
	struct block_item *item = vec_push(items);

	if (!item)
		return NULL;
	item->share = -1;
	item->length = length;
	if (!length)
		return item;
	item->bytes = malloc(length);
	if (!item->bytes)
		return NULL;
	memcpy(item->bytes, bytes, length);
	return item;
}

void block_items_fini(block_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		free(items->data[i].bytes);
		free(items->data[i].hex);
		free(items->data[i].where);
		free(items->data[i].function);
	}
	vec_fini(items);
}

static int add_hex(
	block_items *items, const char *text, size_t length, char *where, struct error *e)
{
	uint8_t bytes[BLOCK_ROOM];
	size_t n;
	enum block_class class = block_parse_hex(text, length, bytes, sizeof(bytes), &n);
	struct block_item *item = block_item_new(items, bytes, class ? 0 : n);

	if (!item) {
		free(where);
		return error_nomem(e);
	}
	item->where = where;
	item->class = class;
	item->hex = strndup(text, length);
	return item->hex ? 0 : error_nomem(e);
}

int blocks_from_hex(block_items *items, const char *text, struct error *e)
{
	return add_hex(items, text, strlen(text), NULL, e);
}

int blocks_from_file(block_items *items, const char *path, struct error *e)
{
	struct block_list list = {0};
	size_t length;
	char *text = file_read(path, 1u << 30, &length, e);
	int rc = text ? block_list_parse(&list, text, length, e) : -1;

	for (size_t i = 0; rc == 0 && i < list.entries.count; i++) {
		const struct block_entry *entry = &list.entries.data[i];
		char *where;

		if (asprintf(&where, "%s:%lu", path, entry->line) < 0)
			rc = error_nomem(e);
		else
			rc = add_hex(items, text + entry->text, entry->text_length, where, e);
	}
	block_list_fini(&list);
	free(text);
	return rc;
}

static int parse_range(const char *text, uint64_t *begin, uint64_t *end, struct error *e)
{
	char *at;

	errno = 0;
	*begin = strtoull(text, &at, 16);
	*end = 0;
	if (at != text && strncmp(at, "..", 2) == 0) {
		const char *second = at + 2;

		*end = strtoull(second, &at, 16);
		if (at == second || *end <= *begin)
			at = (char *)text;
	}
	if (at == text || *at || errno) {
		error_set(e, ERR_PARSE, "invalid -address '%s'", text);
		return error_hint(
			e, "use -address 401000 or -address 401000..401020, in hexadecimal");
	}
	return 0;
}

/* Bytes up to the end of the first branch. */
static size_t until_branch(const uint8_t *bytes, size_t size)
{
	struct insn insn;
	size_t at = 0;

	while (at < size) {
		isa_decode(ISA_X86_64, bytes + at, size - at, at, &insn);
		at += insn.length;
		if (insn.classes & (INSN_BRANCH | INSN_STOPS | INSN_BAD))
			break;
	}
	return at;
}

int blocks_from_image(block_items *items, const char *path, const char *range, struct error *e)
{
	const struct image_identity id = {.path = path};
	const struct image_search where = {0};
	uint8_t bytes[BLOCK_ROOM + 1];
	uint64_t begin, end;
	struct image *image;
	struct block_item *item;
	size_t n, wanted;
	int rc = -1;

	if (parse_range(range, &begin, &end, e))
		return -1;
	image = image_open(&id, &where, e);
	if (!image)
		return -1;
	wanted = end && end - begin < sizeof(bytes) ? (size_t)(end - begin) : sizeof(bytes);
	n = image_code(image, begin, bytes, wanted);
	if (!end)
		n = until_branch(bytes, n);
	if (image_machine(image) != IMAGE_X86_64)
		error_set(e, ERR_UNSUPPORTED, "%s is not for x86-64", path);
	else if (!n || (end && n < wanted))
		error_set(e, ERR_RANGE, "%s has no code at %s", path, range);
	else
		rc = (item = block_item_new(items, bytes, n)) ? 0 : error_nomem(e);
	if (rc == 0) {
		const struct image_symbol *symbol = image_symbol_at(image, begin);

		item->address = begin;
		item->function = symbol ? strdup(symbol->demangled) : NULL;
		if (asprintf(&item->where, "%s 0x%llx", path, (unsigned long long)begin) < 0)
			item->where = NULL;
	}
	image_close(image);
	return rc;
}
