/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of rows, for the files of this directory. */
#ifndef ROWS_FIELDS_H
#define ROWS_FIELDS_H

#include <string.h>

#include "rows/rows.h"

static inline const struct row_field *fields_end(const struct row_kind *k)
{
	return k->fields + k->field_count;
}

static inline uint64_t field_get(const void *row, const struct row_field *f)
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

static inline void field_set(void *row, const struct row_field *f, uint64_t value)
{
	char *at = (char *)row + f->offset;
	uint32_t word = (uint32_t)value;

	if (f->size == sizeof(word))
		memcpy(at, &word, sizeof(word));
	else
		memcpy(at, &value, sizeof(value));
}

static inline char *field_text(const void *row, const struct row_field *f)
{
	char *text;

	memcpy(&text, (const char *)row + f->offset, sizeof(text));
	return text;
}

static inline void field_set_text(void *row, const struct row_field *f, char *text)
{
	memcpy((char *)row + f->offset, &text, sizeof(text));
}

static inline uint64_t *field_words(void *row, const struct row_field *f)
{
	return (uint64_t *)(void *)((char *)row + f->offset);
}

static inline size_t field_word_count(const struct row_field *f)
{
	return f->size / sizeof(uint64_t);
}

/* Of ROW_BYTES. */
static inline uint32_t *field_length(void *row, const struct row_field *f)
{
	return (uint32_t *)(void *)((char *)row + f->from);
}

static inline bool *field_flag(void *row, const struct row_field *f)
{
	return (bool *)((char *)row + f->offset);
}

#endif
