/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files the commands of a recipe write. Paths are compared as they are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "optimize/recipe.h"

/* name as seen from a directory, without "." and ".."; NULL when memory is out. */
static char *path_from(const char *directory, const char *name)
{
	char *text, *to, *part, *rest;

	/* A '/' is before each part, also in a relative directory: the parts move to the left. */
	if (asprintf(&text, "/%s/%s", *name == '/' ? "" : directory, name) < 0)
		return NULL;
	to = rest = text;
	while ((part = strsep(&rest, "/"))) {
		size_t n = strlen(part);

		if (strcmp(part, "..") == 0) {
			while (to > text && *--to != '/')
				;
		} else if (n && strcmp(part, ".") != 0) {
			memmove(to + 1, part, n);
			*to = '/';
			to += n + 1;
		}
	}
	if (to == text)
		*to++ = '/';
	*to = '\0';
	return text;
}

static const char *path_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

const char *recipe_step_output(const struct recipe_step *s)
{
	const char *output = NULL;

	if (strcmp(file_base_name(s->words.data[1]), "ar") == 0)
		return s->words.count > 4 ? s->words.data[3] : NULL;
	for (size_t i = 2; i < s->words.count && s->words.data[i]; i++) {
		const char *w = s->words.data[i];

		if (strcmp(w, "-o") == 0 && s->words.data[i + 1])
			output = s->words.data[i + 1]; /* the last one holds */
		else if (strncmp(w, "-o", 2) == 0 && w[2])
			output = w + 2;
	}
	return output;
}

char *recipe_step_strays(const struct recipe_step *s, const char *directory)
{
	const char *output = recipe_step_output(s);
	char *path = path_from("", s->words.data[0]), *inner;

	if (!path || (!path_below(path, directory) && strcmp(path, directory) != 0))
		return path;
	inner = output ? path_from(path, output) : NULL;
	free(path);
	if (!inner || path_below(inner, directory) || strncmp(inner, "/dev/", 5) == 0) {
		free(inner);
		return NULL;
	}
	return inner;
}

char *recipe_step_program(const struct recipe_step *s, const char *directory)
{
	const char *output = recipe_step_output(s), *inner;
	char *path = path_from(s->words.data[0], output ? output : "a.out"), *name = NULL;

	if (path) {
		inner = path_below(path, directory);
		name = strdup(inner ? inner : path);
	}
	free(path);
	return name;
}

static bool step_has(const struct recipe_step *s, const char *word)
{
	for (size_t i = 2; i < s->words.count && s->words.data[i]; i++)
		if (strcmp(s->words.data[i], word) == 0)
			return true;
	return false;
}

/* Whether the step's output is this file, as an absolute path. */
static bool step_outputs(const struct recipe_step *s, const char *wanted)
{
	const char *made = recipe_step_output(s);
	char *path = path_from(s->words.data[0], made ? made : "a.out");
	bool is = path && strcmp(path, wanted) == 0;

	free(path);
	return is;
}

const struct recipe_step *recipe_link(const struct recipe *r, const char *output)
{
	const struct recipe_step *program = NULL, *library = NULL;
	char *wanted = output ? path_from(r->directory, output) : NULL;

	for (size_t i = r->steps.count; i-- > 0;) {
		const struct recipe_step *s = &r->steps.data[i];
		const struct recipe_step **last = step_has(s, "-shared") ? &library : &program;

		if (!recipe_links(s))
			continue;
		if (wanted && step_outputs(s, wanted)) {
			program = s;
			break;
		}
		*last = *last ? *last : s;
	}
	free(wanted);
	return program ? program : library;
}

/* A compiler's name for the object of a source file, if it is given none. */
static bool makes_unnamed(const struct recipe_step *s, const char *object)
{
	size_t stem = strlen(object) - strlen(".o");

	for (size_t i = 2; i < s->words.count && s->words.data[i]; i++) {
		const char *source = file_base_name(s->words.data[i]);

		if (strncmp(source, object, stem) == 0 && source[stem] == '.')
			return true;
	}
	return false;
}

static bool made_by(const struct recipe_step *s, const char *path)
{
	const char *output = recipe_step_output(s);
	char *made = path_from(s->words.data[0], output ? output : file_base_name(path));
	bool is = made && strcmp(made, path) == 0 &&
		  (output || makes_unnamed(s, file_base_name(path)));

	free(made);
	return is;
}

size_t recipe_older(const struct recipe *r, const char **which)
{
	const struct recipe_step *program = recipe_link(r, r->output);
	size_t older = 0;

	for (size_t i = 2; program && i < program->words.count && program->words.data[i]; i++) {
		const char *word = program->words.data[i];
		char *path = ends_in(word, ".o") || ends_in(word, ".a")
				     ? path_from(program->words.data[0], word)
				     : NULL;
		bool made = !path || !path_below(path, r->directory);

		for (size_t k = 0; !made && k < r->steps.count; k++)
			made = made_by(&r->steps.data[k], path);
		if (!made && older++ == 0)
			*which = word;
		free(path);
	}
	return older;
}
