/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_read.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

enum { DEEPEST = 64 };

struct json_object *json_parse(const char *text, size_t length, const char *name, struct error *e)
{
	struct json_tokener *t = json_tokener_new_ex(DEEPEST);
	struct json_object *v = NULL;
	size_t line = 1, end;

	if (!t) {
		error_nomem(e);
		return NULL;
	}
	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	if (length < INT_MAX)
		v = json_tokener_parse_ex(t, text, (int)length);
	end = json_tokener_get_parse_end(t);
	if (json_tokener_get_error(t) == json_tokener_continue)
		v = json_tokener_parse_ex(t, "", -1); /* that was all of it */
	if (!v) {
		for (size_t i = 0; i < end && i < length; i++)
			line += text[i] == '\n';
		error_set(e, ERR_PARSE, "%s:%zu: %s", name, line,
			json_tokener_get_error(t) == json_tokener_success
				? "there is no value"
				: json_tokener_error_desc(json_tokener_get_error(t)));
	}
	json_tokener_free(t);
	return v;
}

void json_free(struct json_object *v)
{
	json_object_put(v);
}

const struct json_object *json_member(const struct json_object *v, const char *name)
{
	struct json_object *member;

	return json_object_object_get_ex(v, name, &member) ? member : NULL;
}

const char *json_unknown(const struct json_object *v, bool (*taken)(const char *name))
{
	struct json_object_iterator at, end;

	if (!json_object_is_type(v, json_type_object))
		return NULL;
	/* its functions want a mutable value, and change nothing */
	at = json_object_iter_begin((struct json_object *)(uintptr_t)v);
	end = json_object_iter_end(v);
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		if (!taken(json_object_iter_peek_name(&at)))
			return json_object_iter_peek_name(&at);
	return NULL;
}

bool json_is_array(const struct json_object *v)
{
	return json_object_is_type(v, json_type_array);
}

size_t json_length(const struct json_object *v)
{
	return json_object_is_type(v, json_type_array) ? json_object_array_length(v) : 0;
}

const struct json_object *json_element(const struct json_object *v, size_t i)
{
	return json_object_array_get_idx(v, i);
}

double json_to_number(const struct json_object *v, double other)
{
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double)
		       ? json_object_get_double(v)
		       : other;
}

const char *json_to_string(const struct json_object *v, const char *other)
{
	/* json_object_get_string wants a mutable value, as it may print other types into it. */
	return json_object_is_type(v, json_type_string)
		       ? json_object_get_string((struct json_object *)v)
		       : other;
}

const char *json_library(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "json-c %s", json_c_version());
	return text;
}
