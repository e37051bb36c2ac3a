/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows in files, and in words. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "rows/coding.h"
#include "rows/fields.h"

/* The value to which a field is a distance. */
static uint64_t field_base(
	const struct row_kind *k, const struct row_field *f, const void *row, const void *before)
{
	if (f->coding == ROW_DISTANCE)
		return field_get(row, &k->fields[f->from]);
	return (f->coding == ROW_STEP || f->coding == ROW_RISE) && before ? field_get(before, f)
									  : 0;
}

static void field_put_real(struct strbuf *to, uint64_t bits)
{
	uint8_t bytes[sizeof(bits)];

	put_fixed(bytes, bits, sizeof(bits));
	strbuf_add(to, (const char *)bytes, sizeof(bits));
}

/* Its bits. */
static uint64_t field_get_real(struct cursor *c)
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

static void field_put_number(const struct row_field *f, uint64_t value, struct strbuf *to)
{
	if (f->coding == ROW_UINT || f->coding == ROW_RISE)
		put_uint(to, value);
	else if (f->size == sizeof(int32_t) && f->coding == ROW_SINT)
		put_sint(to, (int32_t)value);
	else
		put_sint(to, (int64_t)value);
}

static void row_put_fields(void *row, void *before, const struct row_kind *k, struct strbuf *to)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
		switch ((enum row_coding)f->coding) {
		case ROW_TEXT:
			if (!f->later || *field_text(row, f))
				put_text(to, field_text(row, f));
			break;
		case ROW_LIST:
			put_uint(to, field_word_count(f));
			/* fall through */
		case ROW_WORDS:
			for (size_t j = 0; j < field_word_count(f); j++)
				put_uint(to, field_words(row, f)[j]);
			break;
		case ROW_BYTES:
			put_bytes(to, (char *)row + f->offset, *field_length(row, f));
			break;
		case ROW_FLAG:
			put_uint(to, *field_flag(row, f));
			break;
		case ROW_REAL:
			field_put_real(to, field_get(row, f));
			break;
		default:
			if (f->later && field_get(row, f) == 0)
				break;
			field_put_number(f, field_get(row, f) - field_base(k, f, row, before), to);
		}
	}
}

void row_put(const struct table *t, const struct row_kind *k, size_t i, struct strbuf *to)
{
	row_put_fields(table_at(t, i), i ? table_at(t, i - 1) : NULL, k, to);
}

void row_put_record(
	const void *row, const struct row_kind *k, struct strbuf *scratch, struct strbuf *to)
{
	row_put_fields((void *)(uintptr_t)row, NULL, k, scratch);
	put_bytes(to, strbuf_text(scratch), scratch->length);
	to->failed |= scratch->failed;
	scratch->length = 0;
}

/* A number that must be below limit. */
static uint64_t field_get_number(
	struct cursor *c, const struct row_field *f, uint64_t base, const struct row_numbers *n)
{
	uint64_t limit = f->reference ? n->limit[f->reference] : f->limit;

	if (f->coding == ROW_SINT && f->size == sizeof(int32_t))
		return (uint32_t)get_s32(c);
	if (f->coding != ROW_UINT && f->coding != ROW_RISE)
		return base + (uint64_t)unzigzag(get_uint(c));
	if (f->reference || f->limit)
		return base + get_below(c, limit - base);
	return base + (f->size == sizeof(uint32_t) ? get_u32(c) : get_uint(c));
}

static void field_get_words(void *row, const struct row_field *f, uint64_t n, struct cursor *c)
{
	for (uint64_t i = 0; i < n && i < field_word_count(f); i++)
		field_words(row, f)[i] = get_uint(c);
}

static void field_get_bytes(void *row, const struct row_field *f, struct cursor *c)
{
	size_t length;
	const uint8_t *bytes = get_bytes(c, &length);

	c->bad |= length > f->size;
	if (c->bad)
		return;
	memcpy((char *)row + f->offset, bytes, length);
	*field_length(row, f) = (uint32_t)length;
}

static void row_get_fields(void *row, const void *before, const struct row_kind *k,
	const struct row_numbers *n, struct cursor *c)
{
	for (const struct row_field *f = k->fields; f < fields_end(k); f++) {
		bool missing = f->later && c->at == c->end;
		uint64_t value;

		if (missing && f->coding != ROW_TEXT)
			continue;
		switch ((enum row_coding)f->coding) {
		case ROW_TEXT:
			field_set_text(row, f, get_string_or_none(c, missing));
			break;
		case ROW_LIST:
			field_get_words(row, f, get_uint(c), c);
			break;
		case ROW_WORDS:
			field_get_words(row, f, field_word_count(f), c);
			break;
		case ROW_BYTES:
			field_get_bytes(row, f, c);
			break;
		case ROW_FLAG:
			*field_flag(row, f) = get_uint(c) & 1;
			break;
		default:
			value = f->coding == ROW_REAL
					? field_get_real(c)
					: field_get_number(c, f, field_base(k, f, row, before), n);
			c->bad |= f->positive && value == 0;
			field_set(row, f, value);
		}
	}
}

static void row_get_one(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, struct cursor *c)
{
	void *row = table_append(t), *before;

	if (!row) {
		c->bad = c->nomem = true;
		return;
	}
	before = t->count > 1 ? table_at(t, t->count - 2) : NULL;
	row_get_fields(row, before, k, n, c);
	c->bad |= before && row_order(k, before, row) >= 0;
}

void row_get_record(
	void *row, const struct row_kind *k, const struct row_numbers *n, struct cursor *c)
{
	size_t length;
	const uint8_t *data = get_bytes(c, &length);
	struct cursor record = {.at = data, .end = data + length, .bad = c->bad};

	if (!record.bad)
		row_get_fields(row, NULL, k, n, &record);
	c->bad |= record.bad;
	c->nomem |= record.nomem;
}

void row_get(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, struct cursor *c)
{
	while (c->at < c->end && !c->bad)
		row_get_one(t, k, n, c);
}

/* ---- in words ---- */

void row_quote(const char *text, FILE *out)
{
	putc('"', out);
	for (const char *plain = text; *text; text++) {
		if (text >= plain)
			plain = text + shown_span(text);
		if (text >= plain || *text == '\t')
			fprintf(out, "\\x%02x", (unsigned char)*text);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	putc('"', out);
}

/* As fprintf would, only faster: dumps are mostly numbers.  Only one thread writes to out. */
static void number_dump(uint64_t value, unsigned base, FILE *out)
{
	char digits[20], *end = digits + sizeof(digits), *at = end;

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	fwrite_unlocked(at, 1, (size_t)(end - at), out);
}

static void field_dump(const struct row_field *f, uint64_t value, FILE *out)
{
	double real;

	putc_unlocked(' ', out);
	if (f->names && value < f->names_count && f->names[value]) {
		fputs_unlocked(f->names[value], out);
		return;
	}
	if (!f->names) {
		fputs_unlocked(f->name, out);
		putc_unlocked(' ', out);
	}
	memcpy(&real, &value, sizeof(real));
	if (f->coding == ROW_REAL)
		fprintf(out, "%.17g", real);
	else if (f->coding == ROW_SINT)
		fprintf(out, "%" PRId64, (int64_t)value);
	else
		number_dump(value, f->hex ? 16 : 10, out);
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
				row_quote(field_text(row, f), out);
			} else if (f->coding == ROW_WORDS) {
				fprintf(out, " %s ", f->name);
				for (size_t j = field_word_count(f); j-- > 0;)
					fprintf(out, "%016" PRIx64, field_words(row, f)[j]);
			} else {
				field_dump(f, field_get(row, f), out);
			}
		}
		putc('\n', out);
	}
}
