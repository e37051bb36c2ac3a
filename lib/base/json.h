/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A streaming JSON writer: it does commas and escapes, the caller does nesting. Numbers are
 * written with '.' whatever the locale, integers without exponent up to 2^53, NaN and infinities
 * as null. Strings that are not UTF-8 have their bad bytes replaced by U+FFFD.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define JSON_DEPTH_MAX 32

struct json {
	FILE *out;
	int depth;
	bool filled[JSON_DEPTH_MAX]; /* whether a comma is due at this depth */
};

void json_init(struct json *j, FILE *out);
/* key is NULL within arrays and at the top. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_end_array(struct json *j);
void json_string(struct json *j, const char *key, const char *value);
/* Nothing where value is NULL. */
void json_optional(struct json *j, const char *key, const char *value);
/* As text, "0x401000". */
void json_address(struct json *j, const char *key, uint64_t value);
void json_number(struct json *j, const char *key, double value);
void json_integer(struct json *j, const char *key, long long value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* An array of an object per row; put writes the members. */
void json_rows(struct json *j, const char *key, const void *rows, size_t count, size_t size,
	void (*put)(struct json *j, const void *row));

/* A document in memory: an object that begins with its schema. */
struct json_document {
	struct json json; /* for the other members */
	char *text;
	size_t length;
};
int json_begin(struct json_document *d, const char *schema, struct error *e);
/* Appends the document and a newline to out; d is empty afterwards, also on failure. */
struct strbuf;
int json_end(struct json_document *d, struct strbuf *out, struct error *e);

#endif
