/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void row_init(struct table *t, const struct row_kind *k)
{
	*t = (struct table){.entry_size = k->size, .key_size = k->key_size};
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

int row_order(const struct row_kind *k, const void *a, const void *b)
{
	for (size_t i = 0; i < k->field_count && k->fields[i].key; i++) {
		uint64_t x = get_field(a, &k->fields[i]), y = get_field(b, &k->fields[i]);

		if (x == y)
			continue;
		if (k->fields[i].coding == ROW_SINT)
			return (int64_t)x < (int64_t)y ? -1 : 1;
		return x < y ? -1 : 1;
	}
	return 0;
}

static void renumber(void *row, const struct row_kind *k, const struct row_numbers *n)
{
	for (size_t i = 0; i < k->field_count; i++) {
		const uint32_t *to = n->to[k->fields[i].reference];

		if (to)
			set_field(row, &k->fields[i], to[get_field(row, &k->fields[i])]);
	}
}

/* ---- adding, settling, merging ---- */

long row_add(struct table *t, const struct row_kind *k, const void *row)
{
	char *to = table_add(t, row);

	if (!to)
		return -1;
	k->add(to, row);
	return (to - t->entries) / (long)t->entry_size;
}

struct numbered {
	uint32_t old;
	const char *row;
};

static int compare_rows(const void *pa, const void *pb, void *kind)
{
	const struct numbered *a = pa, *b = pb;

	return row_order(kind, a->row, b->row);
}

int row_settle(struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to)
{
	struct numbered *sorted = malloc((t->count + 1) * sizeof(*sorted));
	struct table now = {.entry_size = t->entry_size, .key_size = t->key_size};
	char *last = NULL;

	if (!sorted || table_reserve(&now, t->count)) {
		free(sorted);
		return -1;
	}
	for (size_t i = 0; i < t->count; i++) {
		renumber(table_at(t, i), k, n);
		sorted[i] = (struct numbered){(uint32_t)i, table_at(t, i)};
	}
	table_changed(t);
	if (t->count)
		qsort_r(sorted, t->count, sizeof(*sorted), compare_rows, (void *)(uintptr_t)k);
	for (size_t i = 0; i < t->count; i++) {
		if (last && row_order(k, last, sorted[i].row) == 0) {
			k->add(last, sorted[i].row);
		} else {
			last = table_append(&now);
			memcpy(last, sorted[i].row, t->entry_size);
		}
		if (to)
			to[sorted[i].old] = (uint32_t)now.count - 1;
	}
	free(sorted);
	table_fini(t);
	*t = now;
	return 0;
}

int row_merge(struct table *a, const struct table *b, const struct row_kind *k,
	const struct row_numbers *n, uint32_t *to)
{
	char *row = malloc(b->entry_size);
	int status = row ? 0 : -1;

	for (size_t i = 0; i < b->count && status == 0; i++) {
		long at;

		memcpy(row, b->entries + i * b->entry_size, b->entry_size);
		renumber(row, k, n);
		at = row_add(a, k, row);
		if (at < 0)
			status = -1;
		else if (to)
			to[i] = (uint32_t)at;
	}
	free(row);
	return status;
}

/* ---- in files ---- */

/* What a field is told as a distance from. */
static uint64_t base_of(
	const struct row_kind *k, const struct row_field *f, const void *row, const void *before)
{
	if (f->coding == ROW_DISTANCE)
		return get_field(row, &k->fields[f->from]);
	return f->coding == ROW_STEP && before ? get_field(before, f) : 0;
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

static double real_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void row_put(const struct table *t, const struct row_kind *k, size_t i, struct strbuf *to)
{
	const void *row = table_at(t, i), *before = i ? table_at(t, i - 1) : NULL;

	for (const struct row_field *f = k->fields; f < k->fields + k->field_count; f++) {
		uint64_t value = get_field(row, f);

		if (f->coding == ROW_UINT)
			put_uint(to, value);
		else if (f->coding == ROW_REAL)
			put_real(to, value);
		else
			put_sint(to, (int64_t)(value - base_of(k, f, row, before)));
	}
}

bool row_get(struct table *t, const struct row_kind *k, const struct row_numbers *n,
	struct cursor *c, bool *nomem)
{
	void *row = table_append(t), *before = NULL;

	*nomem = !row;
	if (!row)
		return false;
	if (t->count > 1)
		before = table_at(t, t->count - 2);
	for (const struct row_field *f = k->fields; f < k->fields + k->field_count; f++) {
		uint64_t value;

		if (f->coding == ROW_REAL)
			value = get_real(c);
		else if (f->reference)
			value = get_below(c, n->limit[f->reference]);
		else if (f->coding != ROW_UINT)
			value = (uint64_t)unzigzag(get_uint(c)) + base_of(k, f, row, before);
		else
			value = f->size == sizeof(uint32_t) ? get_u32(c) : get_uint(c);
		c->bad |= f->positive && value == 0;
		set_field(row, f, value);
	}
	return !c->bad && (!before || row_order(k, before, row) < 0);
}

void row_dump(const struct table *t, const struct row_kind *k, size_t i, FILE *out)
{
	const void *row = table_at(t, i);

	fputs(k->word, out);
	for (const struct row_field *f = k->fields; f < k->fields + k->field_count; f++) {
		uint64_t value = get_field(row, f);

		if (f->coding == ROW_REAL)
			fprintf(out, " %s %.17g", f->name, real_of(value));
		else if (f->coding == ROW_SINT)
			fprintf(out, " %s %" PRId64, f->name, (int64_t)value);
		else
			fprintf(out, f->hex ? " %s %" PRIx64 : " %s %" PRIu64, f->name, value);
	}
	putc('\n', out);
}
