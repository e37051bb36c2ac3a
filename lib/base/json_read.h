/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON texts as trees, for the results of our own programs. json-c does it; it is visible in
 * json_read.c only. Of duplicate names, the last counts.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct json_object; /* json-c's, of any type; NULL is JSON's null, or nothing */

/* One value with nothing but white space around it, nested up to 64 deep. Errors begin with name:
 * "NAME:LINE: message". NULL with *e set, also for the text null. */
struct json_object *json_parse(const char *text, size_t length, const char *name, struct error *e);
void json_free(struct json_object *v);

/* "json-c 0.16": the library in use. Static. */
const char *json_library(void);

/* The functions below accept any v. Their results live as long as the tree. */

/* Of an object; NULL: no member of that name, or v is not an object. */
const struct json_object *json_member(const struct json_object *v, const char *name);
/* The name of the first member of an object that taken refuses; NULL: there is none. Lives as long
 * as the tree. */
const char *json_unknown(const struct json_object *v, bool (*taken)(const char *name));
bool json_is_array(const struct json_object *v);
/* Of an array; 0: it is empty, or v is not an array. */
size_t json_length(const struct json_object *v);
const struct json_object *json_element(const struct json_object *v, size_t i);
/* The value if v is of that type, else other. */
double json_to_number(const struct json_object *v, double other);
const char *json_to_string(const struct json_object *v, const char *other);

#endif
