/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINGER_STEPS 8

static const struct row_field *fields_end(const struct row_kind *k)
{
	return k->fields + k->field_count;
}

static uint64_t get_field(const void *row, const struct row_field *f)
{
	const char *at = (const char *)row + f->offset;
	uint32_t word;
	uint64_t value;

	if (f->size == sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		return word;
	}
	memcpy(&value, at, sizeof(value));
	return value;
}

static void set_field(void *row, const struct row_field *f, uint64_t value)
{
	char *at = (char *)row + f->offset;
	uint32_t word = (uint32_t)value;

	if (f->size == sizeof(word))
		memcpy(at, &word, sizeof(word));
	else
		memcpy(at, &value, sizeof(value));
}

static char *get_text(const void *row, const struct row_field *f)
{
	char *text;

	memcpy(&text, (const char *)row + f->offset, sizeof(text));
	return text;
}

static void set_text(void *row, const struct row_field *f, char *text)
{
	memcpy((char *)row + f->offset, &text, sizeof(text));
}

static uint64_t *words_of(void *row, const struct row_field *f)
{
	return (uint64_t *)(void *)((char *)row + f->offset);
}

static size_t word_count(const struct row_field *f)
{
	return f->size / sizeof(uint64_t);
}

static bool has_texts(const struct row_kind *k)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT)
			return true;
	return false;
}

static void free_texts(void *row, const struct row_kind *k)
{
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT)
			free(get_text(row, f));
}

/* Own copies in place of borrowed texts; false: memory is out, and there are none. */
static bool copy_texts(void *row, const struct row_kind *k)
{
	bool good = true;

	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->coding == ROW_TEXT) {
			const char *text = get_text(row, f);
			char *copy = good ? strdup(text ? text : "") : NULL;

			good = copy != NULL;
			set_text(row, f, copy);
		}
	if (!good)
		free_texts(row, k);
	return good;
}

/* ---- order ---- */

int row_order(const struct row_kind *k, const void *a, const void *b)
{
	if (k->order)
		return k->order(a, b);
	for (const struct row_field *f = k->fields; f < k->fields + k->keys; f++) {
		uint64_t x = get_field(a, f), y = get_field(b, f);

		if (x == y)
			continue;
		if (f->coding == ROW_SINT)
			return (int64_t)x < (int64_t)y ? -1 : 1;
		return x < y ? -1 : 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *kind)
{
	return row_order(kind, a, b);
}

struct numbered {
	const char *row;
	uint32_t old;
};

static int compare_numbered(const void *pa, const void *pb, void *kind)
{
	const struct numbered *a = pa, *b = pb;

	return row_order(kind, a->row, b->row);
}

/* ---- what there is to do for each row, worked out once for all ---- */

struct plan {
	const struct row_kind *kind;
	size_t references, sums;
	bool simple; /* all that adds up are the sums, and there are no texts */
	struct {
		size_t offset;
		const uint32_t *to;
	} reference[UINT8_MAX];
	size_t sum[UINT8_MAX]; /* offsets of counts */
};

static void make_plan(struct plan *p, const struct row_kind *k, const struct row_numbers *n)
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

static inline void renumber(char *row, const struct plan *p, size_t references)
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

	make_plan(&p, k, n);
	for (size_t i = k->fixed; p.references && i < t->count; i++)
		renumber(table_at(t, i), &p, p.references);
	table_changed(t);
}

void row_mark(const struct table *t, const struct row_kind *k, unsigned reference, bool *used)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++)
		for (size_t i = k->fixed; f->reference == reference && i < t->count; i++)
			used[get_field(table_at(t, i), f)] = true;
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
	for (size_t i = k->fixed; has_texts(k) && i < t->count; i++)
		free_texts(table_at(t, i), k);
	table_fini(t);
}

static void add_field(void *to, void *row, const struct row_field *f)
{
	if (f->coding == ROW_REAL) {
		double a, b;

		memcpy(&a, (char *)to + f->offset, sizeof(a));
		memcpy(&b, (char *)row + f->offset, sizeof(b));
		a += b;
		memcpy((char *)to + f->offset, &a, sizeof(a));
	} else if (f->coding == ROW_WORDS) {
		for (size_t i = 0; i < word_count(f); i++)
			words_of(to, f)[i] |= words_of(row, f)[i];
	} else {
		set_field(to, f, row_sum(get_field(to, f), get_field(row, f)));
	}
}

/* Two rows of one key: what is not needed of the other's texts stays in it. */
static void add_up(void *to, void *row, const struct row_kind *k)
{
	if (k->add)
		k->add(to, row);
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (!f->own)
			add_field(to, row, f);
}

/* With own copies of its texts, to where it belongs. */
static int add_copy(void *to, void *row, const struct row_kind *k)
{
	if (!copy_texts(row, k))
		return -1;
	add_up(to, row, k);
	free_texts(row, k);
	return 0;
}

long row_add(struct table *t, const struct row_kind *k, const void *row)
{
	char *to = table_add(t, row), copy[UINT8_MAX];

	if (!to)
		return -1;
	memcpy(copy, row, k->size);
	if (add_copy(to, copy, k))
		return -1;
	return (to - t->entries) / (long)t->entry_size;
}

/* ---- settling ---- */

/* How many rows are in order, from the beginning. */
static size_t in_order(const struct table *t, const struct row_kind *k)
{
	size_t i = k->fixed + 1u;

	while (i < t->count && row_order(k, table_at(t, i - 1), table_at(t, i)) <= 0)
		i++;
	return i;
}

/* Tables that have grown are mostly in order up to what is new: only that is sorted, and merged
 * from the end.  first: it comes behind those in order. */
static int sort_rows(struct table *t, const struct row_kind *k, size_t first)
{
	size_t size = t->entry_size, left = t->count - first, at = t->count;
	char *rows = malloc(left * size);

	if (!rows)
		return -1;
	memcpy(rows, table_at(t, first), left * size);
	qsort_r(rows, left, size, compare_rows, (void *)(uintptr_t)k);
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

/* Sorts; where each row was; NULL when memory is out. */
static struct numbered *sort_numbered(struct table *t, const struct row_kind *k)
{
	struct table now = {.entry_size = t->entry_size, .key_size = t->key_size};
	struct numbered *sorted = malloc(t->count * sizeof(*sorted));

	if (!sorted || table_reserve(&now, t->count)) {
		free(sorted);
		return NULL;
	}
	for (size_t i = 0; i < t->count; i++)
		sorted[i] = (struct numbered){table_at(t, i), (uint32_t)i};
	qsort_r(sorted + k->fixed, t->count - k->fixed, sizeof(*sorted), compare_numbered,
		(void *)(uintptr_t)k);
	for (size_t i = 0; i < t->count; i++)
		memcpy(table_append(&now), sorted[i].row, t->entry_size);
	table_fini(t);
	*t = now;
	return sorted;
}

static bool is_counted(const void *row, const struct row_kind *k)
{
	for (const struct row_field *f = k->fields + k->keys; f < fields_end(k); f++)
		if (f->positive && get_field(row, f) == 0)
			return false;
	return true;
}

/* Of sorted rows: those of one key add up, and what was never counted goes.  sorted NULL: they are
 * where they have been. */
static void join_rows(
	struct table *t, const struct row_kind *k, const struct numbered *sorted, uint32_t *to)
{
	size_t kept = k->fixed;

	for (size_t i = 0; to && i < k->fixed; i++)
		to[i] = (uint32_t)i;
	for (size_t i = k->fixed; i < t->count; i++) {
		char *row = table_at(t, i), *last = kept ? table_at(t, kept - 1) : NULL;
		bool same = kept > k->fixed && row_order(k, last, row) == 0;

		if (same)
			add_up(last, row, k);
		if (same || !is_counted(row, k))
			free_texts(row, k);
		else if (kept++ != i)
			memcpy(table_at(t, kept - 1), row, t->entry_size);
		if (to)
			to[sorted ? sorted[i].old : i] = (uint32_t)(kept ? kept - 1 : 0);
	}
	t->count = kept;
}

int row_settle(struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to)
{
	struct numbered *sorted = NULL;
	size_t first;

	row_renumber(t, k, n);
	first = in_order(t, k);
	if (first < t->count && to && !(sorted = sort_numbered(t, k)))
		return -1;
	if (first < t->count && !to && sort_rows(t, k, first))
		return -1;
	join_rows(t, k, sorted, to);
	free(sorted);
	return 0;
}

/* ---- merging ---- */

/* Where the next row is looked for first.  What lies elsewhere, such as behind the part of the
 * table that is in order, does not move the finger, unless it happens twice in a row. */
struct finger {
	size_t next;
	bool missed;
};

/* What the loop over rows depends on. */
struct shape {
	size_t size, key_size, references, sums;
	size_t simple;
};

/* In pieces as small as the numbers that have just been written: larger ones would wait for all of
 * them to be in the cache. */
static inline bool same_key(const char *a, const char *b, size_t size)
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
static inline __attribute__((always_inline)) char *find_row(struct table *t,
	const struct row_kind *k, const char *wanted, struct finger *f, const struct shape *shape)
{
	size_t end = f->next + FINGER_STEPS < t->count ? f->next + FINGER_STEPS : t->count;
	char *found = t->entries + f->next * shape->size;

	for (size_t i = f->next; i < end; i++, found += shape->size) {
		if (same_key(found, wanted, shape->key_size)) {
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

static inline void add_sums(char *own, const char *row, const struct plan *p, size_t sums)
{
#pragma GCC unroll 4
	for (size_t i = 0; i < sums; i++) {
		uint64_t *to = (uint64_t *)(void *)(own + p->sum[i]);

		*to = row_sum(*to, *(const uint64_t *)(const void *)(row + p->sum[i]));
	}
}

static inline __attribute__((always_inline)) int merge_rows(struct table *a, const struct table *b,
	const struct plan *p, uint32_t *to, struct shape shape)
{
	const struct row_kind *k = p->kind;
	struct finger finger = {.next = k->fixed};
	uint64_t row[UINT8_MAX / sizeof(uint64_t) + 1];

	for (size_t i = k->fixed; i < b->count; i++) {
		char *own;

		memcpy(row, b->entries + i * shape.size, shape.size);
		renumber((char *)row, p, shape.references);
		own = find_row(a, k, (char *)row, &finger, &shape);
		if (!own || (!shape.simple && add_copy(own, row, k)))
			return -1;
		if (shape.simple)
			add_sums(own, (char *)row, p, shape.sums);
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

	make_plan(&p, k, n);
	shape = (struct shape){k->size, k->key_size, p.references, p.sums, p.simple};
	for (size_t i = 0; to && i < k->fixed; i++)
		to[i] = (uint32_t)i;
	if (memcmp(&shape, &node, sizeof(shape)) == 0)
		return merge_rows(a, b, &p, to, node);
	if (memcmp(&shape, &sample, sizeof(shape)) == 0)
		return merge_rows(a, b, &p, to, sample);
	return merge_rows(a, b, &p, to, shape);
}

/* ---- in files ---- */

/* What a field is told as a distance from. */
static uint64_t base_of(
	const struct row_kind *k, const struct row_field *f, const void *row, const void *before)
{
	if (f->coding == ROW_DISTANCE)
		return get_field(row, &k->fields[f->from]);
	return (f->coding == ROW_STEP || f->coding == ROW_RISE) && before ? get_field(before, f)
									  : 0;
}

static void put_real(struct strbuf *to, uint64_t bits)
{
	uint8_t bytes[sizeof(bits)];

	put_fixed(bytes, bits, sizeof(bits));
	strbuf_add(to, (const char *)bytes, sizeof(bits));
}

/* Its bits. */
static uint64_t get_real(struct cursor *c)
{
	uint64_t bits;
	double value;

	if (c->end - c->at < (ptrdiff_t)sizeof(bits)) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	bits = get_fixed(c->at, sizeof(bits));
	c->at += sizeof(bits);
	memcpy(&value, &bits, sizeof(value));
	if (!isfinite(value) || signbit(value))
		c->bad = true;
	return bits;
}

void row_put(const struct table *t, const struct row_kind *k, size_t i, struct strbuf *to)
{
	void *row = table_at(t, i), *before = i ? table_at(t, i - 1) : NULL;

	for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
		if (f->coding == ROW_TEXT) {
			put_text(to, get_text(row, f));
		} else if (f->coding == ROW_WORDS) {
			for (size_t j = 0; j < word_count(f); j++)
				put_uint(to, words_of(row, f)[j]);
		} else if (f->coding == ROW_REAL) {
			put_real(to, get_field(row, f));
		} else {
			uint64_t value = get_field(row, f) - base_of(k, f, row, before);

			if (f->coding == ROW_UINT || f->coding == ROW_RISE)
				put_uint(to, value);
			else
				put_sint(to, (int64_t)value);
		}
	}
}

/* A number that is to be below limit. */
static uint64_t get_number(
	struct cursor *c, const struct row_field *f, uint64_t base, const struct row_numbers *n)
{
	uint64_t limit = f->reference ? n->limit[f->reference] : f->limit;

	if (f->coding != ROW_UINT && f->coding != ROW_RISE)
		return base + (uint64_t)unzigzag(get_uint(c));
	if (f->reference || f->limit)
		return base + get_below(c, limit - base);
	return base + (f->size == sizeof(uint32_t) ? get_u32(c) : get_uint(c));
}

static void get_row(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, struct cursor *c)
{
	void *row = table_append(t), *before;

	if (!row) {
		c->bad = c->nomem = true;
		return;
	}
	before = t->count > 1 ? table_at(t, t->count - 2) : NULL;
	for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
		if (f->coding == ROW_TEXT) {
			set_text(row, f, get_string(c));
		} else if (f->coding == ROW_WORDS) {
			for (size_t i = 0; i < word_count(f); i++)
				words_of(row, f)[i] = get_uint(c);
		} else {
			uint64_t value = f->coding == ROW_REAL
						 ? get_real(c)
						 : get_number(c, f, base_of(k, f, row, before), n);

			c->bad |= f->positive && value == 0;
			set_field(row, f, value);
		}
	}
	c->bad |= before && row_order(k, before, row) >= 0;
}

void row_get(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, struct cursor *c)
{
	while (c->at < c->end && !c->bad)
		get_row(t, k, n, c);
}

/* ---- in words ---- */

void row_quote(const char *text, FILE *out)
{
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			fprintf(out, "\\x%02x", *c);
		else
			fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	putc('"', out);
}

static void dump_number(const struct row_field *f, uint64_t value, FILE *out)
{
	double real;

	if (f->names) {
		if (value < f->names_count)
			fprintf(out, " %s", f->names[value]);
		else
			fprintf(out, " %" PRIu64, value);
		return;
	}
	memcpy(&real, &value, sizeof(real));
	if (f->coding == ROW_REAL)
		fprintf(out, " %s %.17g", f->name, real);
	else if (f->coding == ROW_SINT)
		fprintf(out, " %s %" PRId64, f->name, (int64_t)value);
	else
		fprintf(out, f->hex ? " %s %" PRIx64 : " %s %" PRIu64, f->name, value);
}

void row_dump(const struct table *t, const struct row_kind *k, FILE *out)
{
	for (size_t i = k->fixed; i < t->count; i++) {
		void *row = table_at(t, i);

		fputs(k->word, out);
		if (k->numbered)
			fprintf(out, " %zu", i);
		for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
			if (f->coding == ROW_TEXT) {
				fprintf(out, " %s ", f->name);
				row_quote(get_text(row, f), out);
			} else if (f->coding == ROW_WORDS) {
				fprintf(out, " %s ", f->name);
				for (size_t j = word_count(f); j-- > 0;)
					fprintf(out, "%016" PRIx64, words_of(row, f)[j]);
			} else {
				dump_number(f, get_field(row, f), out);
			}
		}
		putc('\n', out);
	}
}
