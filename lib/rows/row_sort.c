/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of many rows. The first bits of their keys are packed into words, as many bits of each
 * field as its greatest value has, and sorted by bytes; rows are compared only where these words
 * are equal.
 */
#include <stdlib.h>

#include "rows/fields.h"
#include "rows/private.h"

#define FEW    32 /* rows: these are compared at once */
#define WORD   64
#define DIGIT  8
#define DIGITS (1u << DIGIT)

struct packed {
	uint64_t word;
	uint64_t row;
};

struct packing {
	unsigned fields;
	unsigned cut; /* bits of the last one that have no place */
	uint8_t bits[UINT8_MAX];
};

struct comparing {
	const struct table *t;
	const struct row_kind *k;
};

int row_order(const struct row_kind *k, const void *a, const void *b)
{
	if (k->order)
		return k->order(a, b);
	for (const struct row_field *f = k->fields; f < k->fields + k->keys; f++) {
		uint64_t x = field_get(a, f), y = field_get(b, f);

		if (x == y)
			continue;
		if (f->coding == ROW_SINT)
			return (int64_t)x < (int64_t)y ? -1 : 1;
		return x < y ? -1 : 1;
	}
	return 0;
}

static unsigned bits_of_field(const struct table *t, const struct row_field *f, size_t first)
{
	uint64_t all = 0;

	for (size_t i = first; i < t->count; i++)
		all |= field_get(t->entries + i * t->entry_size, f);
	return all ? WORD - (unsigned)__builtin_clzll(all) : 0;
}

/* Signed numbers do not sort so. */
static void make_packing(
	struct packing *p, const struct table *t, const struct row_kind *k, size_t first)
{
	unsigned used = 0;

	*p = (struct packing){0};
	while (p->fields < k->keys && used < WORD && k->fields[p->fields].coding != ROW_SINT) {
		unsigned bits = bits_of_field(t, &k->fields[p->fields], first);

		p->bits[p->fields++] = (uint8_t)bits;
		p->cut = used + bits > WORD ? used + bits - WORD : 0;
		used += bits - p->cut;
	}
}

static uint64_t packed_key(const struct packing *p, const struct row_kind *k, const void *row)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < p->fields; i++) {
		unsigned cut = i + 1 == p->fields ? p->cut : 0, bits = p->bits[i] - cut;

		/* Of all 64, there is nothing before them. */
		word = (bits < WORD ? word << bits : 0) | field_get(row, &k->fields[i]) >> cut;
	}
	return word;
}

/* By one byte of words. False: all have the same one, and nothing is done. */
static bool sort_by_digit(
	const struct packed *from, struct packed *to, size_t count, unsigned shift)
{
	size_t at[DIGITS] = {0}, all = 0;

	for (size_t i = 0; i < count; i++)
		at[from[i].word >> shift & (DIGITS - 1)]++;
	if (at[from[0].word >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t before = all;

		all += at[i];
		at[i] = before;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i].word >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

static int compare_packed(const void *pa, const void *pb, void *context)
{
	const struct packed *a = pa, *b = pb;
	const struct comparing *c = context;
	int order = row_order(c->k, table_at(c->t, a->row), table_at(c->t, b->row));

	return order ?: (a->row > b->row) - (a->row < b->row);
}

static void sort_equal(struct packed *p, size_t count, struct comparing *c)
{
	size_t begin = 0;

	for (size_t i = 1; i <= count; i++) {
		if (i < count && p[i].word == p[begin].word)
			continue;
		if (i - begin > 1)
			qsort_r(p + begin, i - begin, sizeof(*p), compare_packed, c);
		begin = i;
	}
}

/* With room for as many more. */
static struct packed *pack_rows(const struct table *t, const struct row_kind *k, size_t first)
{
	size_t count = t->count - first;
	struct packed *p = calloc(2 * (count + 1), sizeof(*p));
	struct packing packing = {0};

	if (p && count > FEW)
		make_packing(&packing, t, k, first);
	for (size_t i = 0; p && i < count; i++)
		p[i] = (struct packed){packed_key(&packing, k, table_at(t, first + i)), first + i};
	return p;
}

uint32_t *row_sort(const struct table *t, const struct row_kind *k, size_t first)
{
	size_t count = t->count - first;
	struct packed *all = pack_rows(t, k, first), *from = all, *to;
	uint32_t *order = malloc((count + 1) * sizeof(*order));

	if (!all || !order) {
		free(all);
		free(order);
		return NULL;
	}
	to = all + count;
	for (unsigned shift = 0; count > FEW && shift < WORD; shift += DIGIT)
		if (sort_by_digit(from, to, count, shift)) {
			struct packed *sorted = to;

			to = from;
			from = sorted;
		}
	sort_equal(from, count, &(struct comparing){t, k});
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)from[i].row;
	free(all);
	return order;
}
