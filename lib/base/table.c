/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing with linear probing, at most half full. A slot also has half of the hash:
 * entries are compared only if that agrees, and are not read when the table grows.
 *
 * Keys come from files of strangers. These could choose keys that all want the same slot. So the
 * hash has a factor that is another one in each process. The order of entries does not depend on
 * it.
 */
#include "base/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

#define FIRST_SLOTS 64
#define TABLE_MAX   (UINT32_MAX / 4) /* entries */
#define PAGE        65536 /* larger than any ordinary page, up to the size of huge pages */
#define LARGE       ((size_t)8 << 20)

void *table_at(const struct table *t, size_t i)
{
	return t->entries + i * t->entry_size;
}

/* An odd number of this process. */
static uint64_t table_factor(void)
{
	uint64_t secret[2];

	table_secret(secret);
	return (secret[0] * 0x9e3779b97f4a7c15u ^ secret[1]) | 1;
}

/* Which words get the same highest bits depends on the secret factor. The fixed one spreads what
 * has regular distances, as addresses, whatever the other one is. */
static uint64_t hash_word(uint64_t h, uint64_t word, uint64_t factor)
{
	h = (h ^ word) * factor;
	return (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash(const struct table *t, const void *key)
{
	uint64_t h = 0xcbf29ce484222325u, word;
	size_t i;

	for (i = 0; i + sizeof(word) <= t->key_size; i += sizeof(word)) {
		memcpy(&word, (const char *)key + i, sizeof(word));
		h = hash_word(h, word, t->factor);
	}
	if (i < t->key_size) {
		word = 0;
		memcpy(&word, (const char *)key + i, t->key_size - i);
		h = hash_word(h, word, t->factor);
	}
	return h;
}

/* Keys are short: a call of memcmp takes longer than this. */
static bool table_same_key(const struct table *t, const char *a, const char *b)
{
	uint64_t x, y;
	size_t i;

	for (i = 0; i + sizeof(x) <= t->key_size; i += sizeof(x)) {
		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		if (x != y)
			return false;
	}
	return i == t->key_size || memcmp(a + i, b + i, t->key_size - i) == 0;
}

/* A slot: the upper half of the hash, and an entry's number plus 1; 0: free. */
static uint64_t table_slot_of(uint64_t h, size_t entry)
{
	return (h & 0xffffffff00000000u) | (uint32_t)(entry + 1);
}

static size_t entry_of(uint64_t slot)
{
	return (size_t)(uint32_t)slot - 1;
}

/* By the highest bits of a hash or slot. */
static size_t table_place_of(const struct table *t, uint64_t h)
{
	return (size_t)(h >> t->shift);
}

/* The slot where the key is or would be. */
static size_t probe(const struct table *t, const void *key, uint64_t h)
{
	size_t at = table_place_of(t, h);

	while (t->slots[at] &&
		(t->slots[at] >> 32 != h >> 32 ||
			!table_same_key(t, table_at(t, entry_of(t->slots[at])), key)))
		at = (at + 1) & t->mask;
	return at;
}

/* Lookups in large tables miss the TLB as often as the caches, so huge pages are requested. The
 * request may fail without harm. */
static void want_large_pages(const void *memory, size_t size)
{
	uintptr_t begin = ((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(PAGE - 1);

	if (size >= LARGE)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static int resize(struct table *t, size_t capacity)
{
	char *entries = realloc(t->entries, capacity * t->entry_size);

	if (!entries)
		return error_nomem(NULL);
	want_large_pages(entries, capacity * t->entry_size);
	t->entries = entries;
	t->capacity = capacity;
	return 0;
}

/* For a slot of a missing entry. */
static void table_put(struct table *t, uint64_t slot)
{
	size_t at = table_place_of(t, slot);

	while (t->slots[at])
		at = (at + 1) & t->mask;
	t->slots[at] = slot;
}

/* Makes room for more entries, and slots for them. */
static int table_grow(struct table *t)
{
	size_t slots = FIRST_SLOTS, before = t->slots ? t->mask + 1 : 0;
	uint64_t *fresh, *old = t->slots;

	while (slots / 2 <= t->count)
		slots *= 2;
	/* both or none: with room for entries alone, all slots would be used, and searches would
	 * not end */
	fresh = calloc(slots, sizeof(*fresh));
	if (!fresh)
		return error_nomem(NULL);
	if (t->capacity != slots / 2 && resize(t, slots / 2)) {
		free(fresh);
		return -1;
	}
	want_large_pages(fresh, slots * sizeof(*fresh));
	t->slots = fresh;
	t->mask = slots - 1;
	t->shift = (unsigned)__builtin_clzll(slots) + 1;
	t->factor = table_factor();
	for (size_t i = 0; i < before; i++)
		if (old[i])
			table_put(t, old[i]);
	for (size_t i = 0; !old && i < t->count; i++) {
		uint64_t h = hash(t, table_at(t, i));

		t->slots[probe(t, table_at(t, i), h)] = table_slot_of(h, i);
	}
	free(old);
	return 0;
}

int table_index(struct table *t)
{
	return t->slots ? 0 : table_grow(t);
}

void table_changed(struct table *t)
{
	free(t->slots);
	t->slots = NULL;
}

void *table_add(struct table *t, const void *key)
{
	uint64_t h;
	size_t at;
	char *entry;

	if (t->count == t->capacity && t->count >= TABLE_MAX)
		return NULL;
	if ((t->count == t->capacity || !t->slots) && table_grow(t))
		return NULL;
	h = hash(t, key);
	at = probe(t, key, h);
	if (t->slots[at])
		return table_at(t, entry_of(t->slots[at]));
	entry = table_at(t, t->count);
	memset(entry, 0, t->entry_size);
	memcpy(entry, key, t->key_size);
	t->slots[at] = table_slot_of(h, t->count++);
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
	at = probe(t, key, hash(t, key));
	return t->slots[at] ? table_at(t, entry_of(t->slots[at])) : NULL;
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
