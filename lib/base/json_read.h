/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON text as a tree, for the results of our own programs (RFC 8259; of a name that is there
 * twice the first counts; numbers are doubles).
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_kind kind;
	double number;                   /* of a boolean 0 or 1 */
	char *string;                    /* NUL-terminated; NUL characters in it become '?' */
	char *name;                      /* as a member of an object */
	struct json_value *first, *next; /* members; the one behind this */
};

/* One value and nothing behind it but white space.  name is what errors call the text:
 * "NAME:LINE: message".  NULL with *e set. */
struct json_value *json_parse(const char *text, size_t length, const char *name, struct error *e);
void json_free(struct json_value *v);

/* Of an object; NULL: it has none of that name, or v is none, or NULL. */
const struct json_value *json_member(const struct json_value *v, const char *name);
/* What there is, else the other. */
double json_to_number(const struct json_value *v, double other);
const char *json_to_string(const struct json_value *v, const char *other);

#endif
