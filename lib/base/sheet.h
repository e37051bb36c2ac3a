/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of records, for scripts: as JSON objects or as CSV. Cells are given row by row, in the
 * order of the columns. Zero-initialised but for the columns is empty and valid. `failed` is set
 * when memory was out; to be checked once, at the end.
 */
#ifndef BASE_SHEET_H
#define BASE_SHEET_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct sheet_cell {
	enum { SHEET_NONE, SHEET_TEXT, SHEET_NUMBER, SHEET_BOOL } kind;
	char *text;
	double number;
};

struct sheet {
	const char *const *columns; /* names, NULL-terminated; borrowed */
	VEC(struct sheet_cell) cells;
	bool failed;
};

void sheet_none(struct sheet *s);
void sheet_text(struct sheet *s, const char *text); /* copied; NULL: none */
void sheet_textf(struct sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_number(struct sheet *s, double value); /* not finite: none */
void sheet_bool(struct sheet *s, bool value);
void sheet_fini(struct sheet *s);

/* An array of objects; empty cells are null. */
void sheet_json(const struct sheet *s, struct json *j, const char *key);
/* The first row, as members of the current object. */
void sheet_members(const struct sheet *s, struct json *j);
/* A cell of CSV, in quotes where it needs them; NULL: empty. */
void sheet_csv_text(struct strbuf *out, const char *text);

/* A heading, and a line per row. */
void sheet_csv(const struct sheet *s, struct strbuf *out);
/* Likewise, without heading. */
void sheet_csv_rows(const struct sheet *s, struct strbuf *out);
/* Of the first row, a line "name,value" per cell; without heading. */
void sheet_csv_members(const struct sheet *s, struct strbuf *out);

/* One document: {"schema": ..., members of head (may be NULL), "KEY": rows}. */
int sheet_document(const char *schema, const struct sheet *head, const char *key,
	const struct sheet *rows, struct strbuf *out, struct error *e);

#endif
