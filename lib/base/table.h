/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table of entries that begin with their keys, all of one size, compared byte by byte (so
 * padding must be zero). Entries are in one array in the order of insertion until the owner sorts
 * them. After sorting, they are found again after the next addition or table_index. Entries move
 * when the table grows.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
	size_t entry_size, key_size; /* bytes; set by the owner, the rest zero */
	size_t count, capacity;
	char *entries;
	uint64_t *slots; /* index + 1 of an entry below half of its hash; 0: free */
	size_t mask;     /* one less than there are slots */
	uint64_t factor; /* of hashes, while there are slots */
	unsigned shift;  /* of a hash, to the number of its slot */
};

/* An empty table of entries of a type, which begin with their member `key`. */
#define TABLE_OF(type)                                                                             \
	(struct table)                                                                             \
	{                                                                                          \
		.entry_size = sizeof(type), .key_size = sizeof(((type *)0)->key)                   \
	}

/* The number of an entry that table_add or table_find returned. */
static inline size_t table_number(const struct table *t, const void *entry)
{
	return (size_t)((const char *)entry - t->entries) / t->entry_size;
}

/* The entry with this key, its rest zeroed if it is new; NULL when memory is out. */
void *table_add(struct table *t, const void *key);
/* NULL: there is none. */
void *table_find(const struct table *t, const void *key);
void *table_at(const struct table *t, size_t i);
/* Makes entries findable again after they were sorted, appended or changed; table_add does so by
 * itself. -1 when memory is out. */
int table_index(struct table *t);
/* Appends a zeroed entry, whose key the owner knows to be new: there is no search, and it is not
 * found before table_index. */
void *table_append(struct table *t);
/* Room for that many more, so that appending them does not fail. */
int table_reserve(struct table *t, size_t more);
/* To be called after changes of keys in place: drops the index. */
void table_changed(struct table *t);
/* Frees the entries. */
void table_sort(struct table *t, int (*compare)(const void *a, const void *b));
void table_fini(struct table *t);

/* A number for bytes, for keys of tables of texts. It is another one in each process, so that files
 * of strangers cannot hold texts of one number: it must not be written, printed or sorted by. */
uint64_t table_hash(const void *data, size_t size);
/* A number for bytes that is the same in every process (FNV-1a). Texts of one number can be chosen,
 * so it must not be what finds texts of files in a table. */
uint64_t table_hash_fixed(const void *data, size_t size);
/* That of table_hash with a key (SipHash-1-3). */
uint64_t table_hash_keyed(const uint64_t key[2], const void *data, size_t size);
/* What this process has as a key: random numbers from the kernel (AT_RANDOM). */
void table_secret(uint64_t key[2]);

#endif
