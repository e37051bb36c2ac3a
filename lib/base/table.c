/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open addressing with linear probing, at most half full. */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64
#define TABLE_MAX   (UINT32_MAX / 4) /* entries */

void *table_at(const struct table *t, size_t i)
{
	return t->entries + i * t->entry_size;
}

/* FNV-1a over words, then mixed: keys are mostly addresses. */
static size_t hash(const struct table *t, const void *key)
{
	uint64_t h = 0xcbf29ce484222325u, word;
	size_t i;

	for (i = 0; i < t->key_size; i += sizeof(word)) {
		size_t n = t->key_size - i < sizeof(word) ? t->key_size - i : sizeof(word);

		word = 0;
		memcpy(&word, (const char *)key + i, n);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return (size_t)h;
}

/* The slot where the key is or would be. */
static size_t probe(const struct table *t, const void *key)
{
	size_t at = hash(t, key) & t->mask;

	while (t->slots[at] && memcmp(table_at(t, t->slots[at] - 1), key, t->key_size) != 0)
		at = (at + 1) & t->mask;
	return at;
}

static int resize(struct table *t, size_t capacity)
{
	char *entries = realloc(t->entries, capacity * t->entry_size);

	if (!entries)
		return -1;
	t->entries = entries;
	t->capacity = capacity;
	return 0;
}

int table_index(struct table *t)
{
	size_t slots = FIRST_SLOTS;
	uint32_t *fresh;

	if (t->slots)
		return 0;
	while (slots / 2 <= t->count)
		slots *= 2;
	if (t->capacity != slots / 2 && resize(t, slots / 2))
		return -1;
	fresh = calloc(slots, sizeof(*fresh));
	if (!fresh)
		return -1;
	t->slots = fresh;
	t->mask = slots - 1;
	for (size_t i = 0; i < t->count; i++)
		t->slots[probe(t, table_at(t, i))] = (uint32_t)(i + 1);
	return 0;
}

void table_changed(struct table *t)
{
	free(t->slots);
	t->slots = NULL;
}

void *table_add(struct table *t, const void *key)
{
	size_t at;
	char *entry;

	if (t->count == t->capacity) {
		if (t->count >= TABLE_MAX)
			return NULL;
		table_changed(t);
	}
	if (!t->slots && table_index(t))
		return NULL;
	at = probe(t, key);
	if (t->slots[at])
		return table_at(t, t->slots[at] - 1);
	entry = table_at(t, t->count);
	memset(entry, 0, t->entry_size);
	memcpy(entry, key, t->key_size);
	t->slots[at] = (uint32_t)++t->count;
	return entry;
}

int table_reserve(struct table *t, size_t more)
{
	size_t want = t->count + more;

	if (want <= t->capacity)
		return 0;
	if (more > TABLE_MAX || want > TABLE_MAX)
		return -1;
	table_changed(t);
	return resize(t, want > 2 * t->count ? want : 2 * t->count);
}

void *table_append(struct table *t)
{
	if (t->count == t->capacity && table_reserve(t, FIRST_SLOTS / 2))
		return NULL;
	table_changed(t);
	return memset(table_at(t, t->count++), 0, t->entry_size);
}

void *table_find(const struct table *t, const void *key)
{
	size_t at;

	if (!t->slots)
		return NULL;
	at = probe(t, key);
	return t->slots[at] ? table_at(t, t->slots[at] - 1) : NULL;
}

void table_sort(struct table *t, int (*compare)(const void *a, const void *b))
{
	table_changed(t);
	if (t->count)
		qsort(t->entries, t->count, t->entry_size, compare);
}

void table_fini(struct table *t)
{
	free(t->entries);
	free(t->slots);
	t->entries = NULL;
	t->slots = NULL;
	t->count = t->capacity = t->mask = 0;
}
