/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rows/fields.h"
#include "rows/private.h"

#define FINGER_STEPS 8
#define FEW_IN_ORDER 16 /* if fewer than one row in 16 is in order, all are sorted */

static bool row_has_texts(const struct row_kind *k)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT)
			return true;
	return false;
}

void row_free_texts(void *row, const struct row_kind *k)
{
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT)
			free(field_text(row, f));
}

bool row_copy_texts(void *row, const struct row_kind *k)
{
	bool good = true;

	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT) {
			const char *text = field_text(row, f);
			char *copy = good ? strdup(text ? text : "") : NULL;

			good = copy != NULL;
			field_set_text(row, f, copy);
		}
	if (!good)
		row_free_texts(row, k);
	return good;
}

/* ---- what there is to do for each row, worked out once for all ---- */

struct plan {
	const struct row_kind *kind;
	size_t references, sums;
	bool simple; /* only the sums add up, and there are no texts */
	struct {
		size_t offset;
		const uint32_t *to;
	} reference[UINT8_MAX];
	size_t sum[UINT8_MAX]; /* offsets of counts */
};

static void row_plan(struct plan *p, const struct row_kind *k, const struct row_numbers *n)
{
	p->kind = k;
	p->references = p->sums = 0;
	p->simple = !k->add;
	for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
		if (f->reference && n->to[f->reference]) {
			assert(f->size == sizeof(uint32_t));
			p->reference[p->references].offset = f->offset;
			p->reference[p->references++].to = n->to[f->reference];
		}
		if (f < k->fields + k->keys)
			continue;
		if (f->coding == ROW_UINT && f->size == sizeof(uint64_t))
			p->sum[p->sums++] = f->offset;
		else
			p->simple = false;
	}
}

static inline void renumber_row(char *row, const struct plan *p, size_t references)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < references; i++) {
		uint32_t *number = (uint32_t *)(void *)(row + p->reference[i].offset);

		*number = p->reference[i].to[*number];
	}
}

void row_renumber(struct table *t, const struct row_kind *k, const struct row_numbers *n)
{
	struct plan p;

	row_plan(&p, k, n);
	for (size_t i = k->fixed; p.references && i < t->count; i++)
		renumber_row(table_at(t, i), &p, p.references);
	table_changed(t);
}

void row_mark(const struct table *t, const struct row_kind *k, unsigned reference, bool *used)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++)
		for (size_t i = k->fixed; f->reference == reference && i < t->count; i++)
			used[field_get(table_at(t, i), f)] = true;
}

/* ---- adding ---- */

int row_init(struct table *t, const struct row_kind *k)
{
	*t = (struct table){.entry_size = k->size, .key_size = k->key_size};
	for (int i = 0; i < k->fixed; i++)
		if (!table_append(t))
			return -1;
	return 0;
}

void row_fini(struct table *t, const struct row_kind *k)
{
	for (size_t i = k->fixed; row_has_texts(k) && i < t->count; i++)
		row_free_texts(table_at(t, i), k);
	table_fini(t);
}

int row_copy(struct table *to, const struct table *from, const struct row_kind *k)
{
	*to = (struct table){.entry_size = k->size, .key_size = k->key_size};
	if (table_reserve(to, from->count))
		return -1;
	for (size_t i = 0; i < from->count; i++) {
		void *row = memcpy(table_at(to, i), table_at(from, i), k->size);

		if (i >= k->fixed && !row_copy_texts(row, k))
			return -1;
		to->count++;
	}
	return 0;
}

static void field_add(void *to, void *row, const struct row_field *f)
{
	if (f->coding == ROW_REAL) {
		double a, b;

		memcpy(&a, (char *)to + f->offset, sizeof(a));
		memcpy(&b, (char *)row + f->offset, sizeof(b));
		a += b;
		memcpy((char *)to + f->offset, &a, sizeof(a));
	} else if (f->coding == ROW_WORDS) {
		for (size_t i = 0; i < field_word_count(f); i++)
			field_words(to, f)[i] |= field_words(row, f)[i];
	} else {
		field_set(to, f, row_sum(field_get(to, f), field_get(row, f)));
	}
}

/* Adds up two rows of one key: texts of the other that are not needed stay in it. */
static void row_add_up(void *to, void *row, const struct row_kind *k)
{
	if (k->add)
		k->add(to, row);
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (!f->own)
			field_add(to, row, f);
}

/* With own copies of its texts, to where it belongs. */
static int row_add_copy(void *to, void *row, const struct row_kind *k)
{
	if (!row_copy_texts(row, k))
		return -1;
	row_add_up(to, row, k);
	row_free_texts(row, k);
	return 0;
}

long row_add(struct table *t, const struct row_kind *k, const void *row)
{
	char *to = table_add(t, row), copy[ROW_SIZE_MAX];

	if (!to)
		return -1;
	memcpy(copy, row, k->size);
	if (row_add_copy(to, copy, k))
		return -1;
	return (to - t->entries) / (long)t->entry_size;
}

/* ---- settling ---- */

/* How many rows are in order, from the beginning. */
static size_t rows_in_order(const struct table *t, const struct row_kind *k)
{
	size_t i = k->fixed + 1u;

	while (i < t->count && row_order(k, table_at(t, i - 1), table_at(t, i)) <= 0)
		i++;
	return i;
}

/* Moves the rows from `first` on to where they belong. NULL: memory is out; else where each was. */
static uint32_t *rows_move(struct table *t, const struct row_kind *k, size_t first)
{
	uint32_t *order = row_sort(t, k, first), *left = NULL;
	size_t count = t->count - first;
	char row[ROW_SIZE_MAX];

	if (order)
		left = malloc((count + 1) * sizeof(*left));
	if (!left) {
		free(order);
		return NULL;
	}
	memcpy(left, order, count * sizeof(*left));
	/* Each goes to the place of one before, which has gone; the last one of a ring is kept. */
	for (size_t i = 0; i < count; i++) {
		size_t at = first + i, from;

		memcpy(row, table_at(t, at), t->entry_size);
		while ((from = left[at - first]) != first + i) {
			memcpy(table_at(t, at), table_at(t, from), t->entry_size);
			left[at - first] = (uint32_t)at;
			at = from;
		}
		memcpy(table_at(t, at), row, t->entry_size);
		left[at - first] = (uint32_t)at;
	}
	free(left);
	table_changed(t);
	return order;
}

/* Tables that have grown are mostly sorted except for the new rows: only those are sorted, and
 * merged from the end. first: the first new row. */
static int rows_sort(struct table *t, const struct row_kind *k, size_t first)
{
	size_t size = t->entry_size, left = t->count - first, at = t->count;
	uint32_t *order = rows_move(t, k, first);
	char *rows;

	free(order);
	if (!order)
		return -1;
	if (first == k->fixed)
		return 0;
	rows = malloc(left * size);
	if (!rows)
		return -1;
	memcpy(rows, table_at(t, first), left * size);
	while (left > 0) {
		char *last = rows + (left - 1) * size;

		if (first > k->fixed && row_order(k, table_at(t, first - 1), last) > 0)
			last = table_at(t, --first);
		else
			left--;
		memcpy(table_at(t, --at), last, size);
	}
	free(rows);
	return 0;
}

static bool row_is_counted(const void *row, const struct row_kind *k)
{
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->positive && field_get(row, f) == 0)
			return false;
	return true;
}

/* Of sorted rows: adds up those with one key, and drops those that were never counted. sorted NULL:
 * they keep their positions. */
static void rows_join(
	struct table *t, const struct row_kind *k, const uint32_t *sorted, uint32_t *to)
{
	size_t kept = k->fixed;

	for (size_t i = 0; to && i < k->fixed; i++)
		to[i] = (uint32_t)i;
	for (size_t i = k->fixed; i < t->count; i++) {
		char *row = table_at(t, i), *last = kept ? table_at(t, kept - 1) : NULL;
		bool same = last && kept > k->fixed && memcmp(last, row, k->key_size) == 0;

		if (same)
			row_add_up(last, row, k);
		if (same || !row_is_counted(row, k))
			row_free_texts(row, k);
		else if (kept++ != i)
			memcpy(table_at(t, kept - 1), row, t->entry_size);
		if (to)
			to[sorted ? sorted[i - k->fixed] : i] = (uint32_t)(kept ? kept - 1 : 0);
	}
	t->count = kept;
}

int row_settle(struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to)
{
	uint32_t *sorted = NULL;
	size_t first;

	row_renumber(t, k, n);
	first = rows_in_order(t, k);
	if (first - k->fixed < (t->count - first) / FEW_IN_ORDER)
		first = k->fixed;
	if (first < t->count && to && !(sorted = rows_move(t, k, k->fixed)))
		return -1;
	if (first < t->count && !to && rows_sort(t, k, first))
		return -1;
	rows_join(t, k, sorted, to);
	free(sorted);
	return 0;
}

/* ---- merging ---- */

/* The position where the next row is searched first. A row found elsewhere, for example after the
 * sorted part of the table, does not move the finger, unless that happens twice in a row. */
struct finger {
	size_t next;
	bool missed;
};

/* Parameters of the loop over rows. */
struct shape {
	size_t size, key_size, references, sums;
	size_t simple;
};

/* In pieces as small as the numbers that have just been written: larger ones would wait for all of
 * them to be in the cache. */
static inline bool row_same_key(const char *a, const char *b, size_t size)
{
	const uint32_t *x = (const uint32_t *)(const void *)a,
		       *y = (const uint32_t *)(const void *)b;

#pragma GCC unroll 4
	for (size_t i = 0; i < size / sizeof(*x); i++)
		if (x[i] != y[i])
			return false;
	return true;
}

/* The row with this key: near the finger, or wherever it is, or new; NULL when memory is out. */
static inline __attribute__((always_inline)) char *row_find(struct table *t,
	const struct row_kind *k, const char *wanted, struct finger *f, const struct shape *shape)
{
	size_t end = f->next + FINGER_STEPS < t->count ? f->next + FINGER_STEPS : t->count;
	char *found = f->next ? t->entries + f->next * shape->size : t->entries;

	for (size_t i = f->next; i < end; i++, found += shape->size) {
		if (row_same_key(found, wanted, shape->key_size)) {
			*f = (struct finger){i + 1, false};
			return found;
		}
		if ((k->order ? k->order(found, wanted) : row_order(k, found, wanted)) > 0)
			break;
	}
	found = table_add(t, wanted);
	if (found && f->missed)
		f->next = (size_t)(found - t->entries) / shape->size + 1;
	f->missed = true;
	return found;
}

static inline void row_add_sums(char *own, const char *row, const struct plan *p, size_t sums)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < sums; i++) {
		uint64_t *to = (uint64_t *)(void *)(own + p->sum[i]);

		*to = row_sum(*to, *(const uint64_t *)(const void *)(row + p->sum[i]));
	}
}

static inline __attribute__((always_inline)) int rows_merge(struct table *a, const struct table *b,
	const struct plan *p, uint32_t *to, struct shape shape)
{
	const struct row_kind *k = p->kind;
	struct finger finger = {.next = k->fixed};
	uint64_t row[ROW_SIZE_MAX / sizeof(uint64_t)];

	for (size_t i = k->fixed; i < b->count; i++) {
		char *own;

		memcpy(row, b->entries + i * shape.size, shape.size);
		renumber_row((char *)row, p, shape.references);
		own = row_find(a, k, (char *)row, &finger, &shape);
		if (!own || (!shape.simple && row_add_copy(own, row, k)))
			return -1;
		if (shape.simple)
			row_add_sums(own, (char *)row, p, shape.sums);
		if (to)
			to[i] = (uint32_t)((size_t)(own - a->entries) / shape.size);
	}
	return 0;
}

int row_merge(struct table *a, const struct table *b, const struct row_kind *k,
	const struct row_numbers *n, uint32_t *to)
{
	/* Of those rows of which there are many, nodes and samples: the loop is compiled for each.
	 */
	static const struct shape node = {16, 16, 2, 0, true}, sample = {24, 16, 4, 1, true};
	struct shape shape;
	struct plan p;

	row_plan(&p, k, n);
	shape = (struct shape){k->size, k->key_size, p.references, p.sums, p.simple};
	for (size_t i = 0; to && i < k->fixed; i++)
		to[i] = (uint32_t)i;
	if (memcmp(&shape, &node, sizeof(shape)) == 0)
		return rows_merge(a, b, &p, to, node);
	if (memcmp(&shape, &sample, sizeof(shape)) == 0)
		return rows_merge(a, b, &p, to, sample);
	return rows_merge(a, b, &p, to, shape);
}
