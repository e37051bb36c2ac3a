/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/base/table: entries are found whatever their keys, and none has to be searched for long. */
#include "../tap.h"

#include "base/table.h"
#include "colliding.h"

#define KEYS    50000
#define LONGEST 1000 /* slots in use without a gap; of random hashes, some 60 */
#define GOLDEN  0x9e3779b97f4a7c15u
#define BEGIN   0xcbf29ce484222325u

struct one {
	struct {
		uint64_t word;
	} key;
	size_t number;
};

struct two {
	struct {
		uint64_t words[2];
	} key;
	size_t number;
};

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

static uint64_t golden(uint64_t h)
{
	return h * GOLDEN ^ h * GOLDEN >> 32;
}

/* ---- keys ---- */

static uint64_t in_sequence(uint64_t i)
{
	return 0x400000 + i;
}

static uint64_t high_bits(uint64_t i)
{
	return i << 44;
}

/* The product with the fixed factor has the same upper half. */
static uint64_t same_half(uint64_t i)
{
	return ((0x12345678ull << 32 | i) * inverse(GOLDEN)) ^ BEGIN;
}

static const struct {
	const char *name;
	uint64_t (*key)(uint64_t i);
} keys[] = {{"in sequence", in_sequence}, {"different in their highest bits only", high_bits},
	{"with products of one upper half", same_half}};

/* ---- what the table makes of them ---- */

static size_t longest(const struct table *t)
{
	size_t most = 0, run = 0;

	for (size_t i = 0; i <= t->mask; i++) {
		run = t->slots[i] ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

static void test_words(const char *name, uint64_t (*key)(uint64_t i))
{
	struct table t = TABLE_OF(struct one);
	size_t found = 0;

	for (uint64_t i = 0; i < KEYS; i++) {
		struct one row = {.key = {key(i)}}, *own = table_add(&t, &row.key);

		if (own)
			own->number = i;
	}
	for (uint64_t i = 0; i < KEYS; i++) {
		struct one row = {.key = {key(i)}}, *own = table_find(&t, &row.key);

		found += own && own->number == i && table_number(&t, own) == i;
	}
	is_int(found, KEYS, "keys %s: each is found, in the order of insertion", name);
	ok(longest(&t) < LONGEST, "keys %s: %zu slots are without a gap", name, longest(&t));
	table_fini(&t);
}

/* The second word undoes what the first one makes of the hash, as far as it can be known. */
static void test_pairs(void)
{
	struct table t = TABLE_OF(struct two);
	size_t found = 0;

	for (uint64_t i = 0; i < KEYS; i++) {
		struct two row = {.key = {{i, golden(BEGIN ^ i)}}};
		struct two *own = table_add(&t, &row.key);

		if (own)
			own->number = i;
	}
	for (uint64_t i = 0; i < KEYS; i++) {
		struct two row = {.key = {{i, golden(BEGIN ^ i)}}};
		struct two *own = table_find(&t, &row.key);

		found += own && own->number == i;
	}
	is_int(found, KEYS, "keys of two words: each is found");
	ok(longest(&t) < LONGEST, "keys of two words: %zu slots are without a gap", longest(&t));
	table_fini(&t);
}

/* Texts are found by numbers of theirs, which must not be one. */
static void test_texts(void)
{
	struct table t = TABLE_OF(struct one);
	size_t same = 0;

	for (size_t i = 0; i < COLLIDING_TEXTS; i++) {
		const struct colliding_text text = colliding_text(i);
		struct one row = {.key = {table_hash(text.text, strlen(text.text))}};

		same += table_hash_fixed(text.text, strlen(text.text)) == BEGIN;
		table_add(&t, &row.key);
	}
	is_int(same, COLLIDING_TEXTS, "texts of one hash, if it has no secret");
	is_int(t.count, COLLIDING_TEXTS, "each text has a number of its own");
	ok(longest(&t) < LONGEST, "texts: %zu slots are without a gap", longest(&t));
	table_fini(&t);
}

/* As another program has it, written from the paper. */
static void test_siphash(void)
{
	static const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
	unsigned char bytes[15];
	uint64_t secret[2], none[2] = {0};

	for (unsigned char i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	ok(table_hash_keyed(key, bytes, 0) == 0xabac0158050fc4dcu, "SipHash-1-3 of nothing");
	ok(table_hash_keyed(key, bytes, 15) == 0xd320d86d2a519956u, "SipHash-1-3 of 15 bytes");
	table_secret(secret);
	ok(memcmp(secret, none, sizeof(secret)) != 0, "this process has a secret");
	ok(table_hash(bytes, 15) == table_hash_keyed(secret, bytes, 15), "which is the key");
	ok(table_hash_fixed("a", 1) == 0xaf63dc4c8601ec8cu, "FNV-1a");
}

static int by_word(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return (x->key.word > y->key.word) - (x->key.word < y->key.word);
}

/* After entries were appended, and after they were sorted. */
static void test_index(void)
{
	struct table t = TABLE_OF(struct one);
	struct one key = {.key = {7}};

	for (uint64_t i = 0; i < 100; i++)
		((struct one *)table_append(&t))->key.word = 99 - i;
	ok(!table_find(&t, &key.key), "appended entries are not found before they are indexed");
	is_int(table_index(&t), 0, "indexed");
	ok(table_find(&t, &key.key) == table_at(&t, 92), "then they are");
	table_sort(&t, by_word);
	is_int(table_index(&t), 0, "sorted, and indexed");
	ok(table_find(&t, &key.key) == table_at(&t, 7), "they are found at their new places");
	table_fini(&t);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		test_words(keys[i].name, keys[i].key);
	test_pairs();
	test_texts();
	test_siphash();
	test_index();
	return done();
}
