/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "optimize/recipe.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"

#define RECIPE_SCHEMA "prof.recipe/1"

enum { RECIPE_LARGEST = 64 << 20, LIMIT_MOST = 1000000 };

static const struct {
	const char *name;
	size_t offset;
} recipe_members[] = {
	{"directory", offsetof(struct recipe, directory)},
	{"build", offsetof(struct recipe, build)},
	{"output", offsetof(struct recipe, output)},
	{"cc", offsetof(struct recipe, cc)},
	{"train", offsetof(struct recipe, train)},
	{"time", offsetof(struct recipe, timed)},
	{"model", offsetof(struct recipe, modelled)},
};
enum { MEMBERS = sizeof(recipe_members) / sizeof(recipe_members[0]) };

static char **recipe_member(const struct recipe *r, size_t i)
{
	return (char **)(void *)((char *)(uintptr_t)r + recipe_members[i].offset);
}

static int texts_read(recipe_texts *to, const struct json_object *array, const char *name,
	const char *member, struct error *e)
{
	if (array && !json_is_array(array))
		return error_set(e, ERR_PARSE, "%s: \"%s\" is not an array of texts", name, member);
	for (size_t i = 0; i < json_length(array); i++) {
		const char *text = json_to_string(json_element(array, i), NULL);
		char **slot;

		if (!text)
			return error_set(
				e, ERR_PARSE, "%s: \"%s\" is not an array of texts", name, member);
		slot = vec_push(to);
		if (!slot)
			return error_nomem(e);
		*slot = strdup(text);
		if (!*slot)
			return error_nomem(e);
	}
	return vec_add(to, (char *)NULL) ? error_nomem(e) : 0;
}

static int steps_read(
	struct recipe *r, const struct json_object *all, const char *name, struct error *e)
{
	if (all && !json_is_array(all))
		return error_set(e, ERR_PARSE, "%s: \"commands\" is not an array", name);
	for (size_t i = 0; i < json_length(all); i++) {
		struct recipe_step *s = vec_push(&r->steps);

		if (!s)
			return error_nomem(e);
		if (texts_read(&s->words, json_element(all, i), name, "commands", e))
			return -1;
		if (s->words.count < 3)
			return error_set(e, ERR_PARSE,
				"%s: a command has a directory and at least one word", name);
	}
	return 0;
}

/* Out of the directory that it is relative to. */
static bool output_leaves(const char *path)
{
	size_t n = strlen(path);

	return *path == '/' || strncmp(path, "../", 3) == 0 || strstr(path, "/../") ||
	       strcmp(path, "..") == 0 || (n > 3 && strcmp(path + n - 3, "/..") == 0);
}

static int recipe_check(const struct recipe *r, const char *name, struct error *e)
{
	if (!r->output || !*r->output)
		return error_set(
			e, ERR_PARSE, "%s: \"output\" is missing: the program that it makes", name);
	if (output_leaves(r->output))
		return error_set(e, ERR_RANGE,
			"%s: \"output\" is not in \"directory\": give it relative to that", name);
	if (!(r->limit >= 0 && r->limit <= LIMIT_MOST))
		return error_set(e, ERR_RANGE, "%s: \"limit\" is a number of seconds", name);
	if (!r->build && !r->steps.count) {
		error_set(
			e, ERR_PARSE, "%s: \"build\" is missing: the command that makes it", name);
		return error_hint(e, "prof optimize -record make ... writes a recipe");
	}
	if (r->build && !strstr(r->build, "{cflags}")) {
		error_set(
			e, ERR_PARSE, "%s: \"build\" has no {cflags}: flags cannot be given", name);
		return error_hint(e, "for example make CC={cc} CFLAGS='-O2 {cflags}' "
				     "LDFLAGS='{ldflags}'");
	}
	return 0;
}

static bool is_recipe_member(const char *name)
{
	static const char *const others[] = {"schema", "tests", "files", "commands", "limit"};

	for (size_t i = 0; i < MEMBERS; i++)
		if (strcmp(name, recipe_members[i].name) == 0)
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	return false;
}

/* A member that is misspelt must not be a test that is not run. */
static int recipe_known(const struct json_object *all, const char *name, struct error *e)
{
	const char *schema = json_to_string(json_member(all, "schema"), RECIPE_SCHEMA);
	const char *unknown = json_unknown(all, is_recipe_member);

	if (strcmp(schema, RECIPE_SCHEMA) != 0)
		return error_set(e, ERR_PARSE, "%s: the schema is %.40s: this program reads %s",
			name, schema, RECIPE_SCHEMA);
	if (!unknown)
		return 0;
	error_set(e, ERR_PARSE, "%s: recipes have no \"%.40s\"", name, unknown);
	return error_hint(e, "they have directory, build, output, cc, train, time, model, tests, "
			     "files and limit");
}

int recipe_parse(
	struct recipe *r, const char *text, size_t length, const char *name, struct error *e)
{
	struct json_object *all;
	int rc;

	memset(r, 0, sizeof(*r));
	all = json_parse(text, length, name, e);
	if (!all)
		return -1;
	rc = recipe_known(all, name, e);
	for (size_t i = 0; i < MEMBERS && rc == 0; i++) {
		const struct json_object *member = json_member(all, recipe_members[i].name);
		const char *value = json_to_string(member, NULL);
		char **to = recipe_member(r, i);

		if (!member)
			continue;
		if (!value)
			rc = error_set(e, ERR_PARSE, "%s: \"%s\" is not a text", name,
				recipe_members[i].name);
		else if (!(*to = strdup(value)))
			rc = error_nomem(e);
	}
	if (rc == 0 && (texts_read(&r->tests, json_member(all, "tests"), name, "tests", e) ||
			       texts_read(&r->files, json_member(all, "files"), name, "files", e) ||
			       steps_read(r, json_member(all, "commands"), name, e)))
		rc = -1;
	r->limit = json_member(all, "limit") ? json_to_number(json_member(all, "limit"), -1) : 0;
	json_free(all);
	return rc ? rc : recipe_check(r, name, e);
}

int recipe_read(struct recipe *r, const char *path, struct error *e)
{
	size_t length;
	char *text = file_read(path, RECIPE_LARGEST, &length, e);
	int rc;

	memset(r, 0, sizeof(*r));
	if (!text)
		return -1;
	rc = recipe_parse(r, text, length, path, e);
	free(text);
	return rc;
}

static void texts_free(recipe_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->data[i]);
	vec_fini(t);
}

void recipe_fini(struct recipe *r)
{
	for (size_t i = 0; i < MEMBERS; i++)
		free(*recipe_member(r, i));
	texts_free(&r->tests);
	texts_free(&r->files);
	for (size_t i = 0; i < r->steps.count; i++)
		texts_free(&r->steps.data[i].words);
	vec_fini(&r->steps);
	memset(r, 0, sizeof(*r));
}

static void texts_write(struct json *j, const char *key, const recipe_texts *t)
{
	json_array(j, key);
	for (size_t i = 0; i < t->count && t->data[i]; i++)
		json_string(j, NULL, t->data[i]);
	json_end_array(j);
}

int recipe_write(const struct recipe *r, struct strbuf *out, struct error *e)
{
	struct json_document d;

	if (json_begin(&d, RECIPE_SCHEMA, e))
		return -1;
	for (size_t i = 0; i < MEMBERS; i++)
		json_optional(&d.json, recipe_members[i].name, *recipe_member(r, i));
	texts_write(&d.json, "tests", &r->tests);
	texts_write(&d.json, "files", &r->files);
	json_array(&d.json, "commands");
	for (size_t i = 0; i < r->steps.count; i++)
		texts_write(&d.json, NULL, &r->steps.data[i].words);
	json_end_array(&d.json);
	return json_end(&d, out, e);
}

int recipe_links(const struct recipe_step *s)
{
	const char *command = s->words.count > 1 ? file_base_name(s->words.data[1]) : "";

	if (strcmp(command, "ar") == 0 || strcmp(command, "ranlib") == 0)
		return 0;
	for (size_t i = 2; i < s->words.count && s->words.data[i]; i++) {
		const char *w = s->words.data[i];

		if (strcmp(w, "-c") == 0 || strcmp(w, "-S") == 0 || strcmp(w, "-E") == 0 ||
			strcmp(w, "-M") == 0 || strcmp(w, "-MM") == 0 || strcmp(w, "-r") == 0)
			return 0;
	}
	return 1;
}
