/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A build by the recipe, in a copy of its directory. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "optimize/private.h"

/* Paths in the directory become those in its copy. */
static char *path_moved(const char *text, const char *from, const char *to)
{
	const char *const pairs[] = {from, to, NULL};

	return workshop_fill(text, pairs);
}

static void flags_split(recipe_texts *words, char *flags)
{
	for (char *rest = flags, *at; (at = strsep(&rest, " "));)
		if (*at)
			(void)vec_add(words, at);
}

/* A linker that strips keeps neither symbols nor relocations, which all profiles need. */
static bool word_strips(const char *word)
{
	static const char *const words[] = {
		"-s", "-Wl,-s", "-Wl,-S", "-Wl,--strip-all", "-Wl,--strip-debug"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* One recorded command, and flags after its words. */
static int replay_step(const struct workshop *w, const struct recipe_step *s, const char *from,
	const char *to, const char *cflags, const char *ldflags, struct error *e)
{
	recipe_texts words = {0};
	const char *command = s->words.data[1];
	bool compiles = strcmp(command, "ar") != 0 && strcmp(command, "ranlib") != 0;
	char *c = strdup(cflags), *l = strdup(ldflags),
	     *directory = path_moved(s->words.data[0], from, to);
	int rc = c && l && directory ? 0 : error_nomem(e);
	/* the build may have made the directory, and removed it */
	static const char *const head[] = {
		"/bin/sh", "-c", "mkdir -p -- \"$0\" && cd \"$0\" && exec \"$@\""};
	size_t owned;

	for (int i = 0; i < 3 && rc == 0; i++)
		rc = vec_add(&words, (char *)(uintptr_t)head[i]);
	if (rc == 0)
		rc = vec_add(&words, directory);
	for (size_t i = 1; rc == 0 && i < s->words.count && s->words.data[i]; i++)
		if (!compiles || !word_strips(s->words.data[i]))
			rc = vec_add(&words, path_moved(s->words.data[i], from, to));
	owned = words.count;
	if (rc == 0 && compiles)
		flags_split(&words, c);
	if (rc == 0 && compiles && recipe_links(s))
		flags_split(&words, l);
	if (rc == 0)
		rc = vec_add(&words, (char *)NULL);
	if (rc == 0)
		rc = workshop_tool(w, (const char *const *)words.data, NULL, e);
	for (size_t i = 4; i < owned; i++)
		free(words.data[i]);
	vec_fini(&words);
	free(c);
	free(l);
	free(directory);
	return rc;
}

static int build_in(const struct workshop *w, const char *tree, const char *cflags,
	const char *ldflags, struct error *e)
{
	const struct recipe *r = w->request->recipe;
	char *from = realpath(r->directory ? r->directory : ".", NULL), *text = NULL, *inner = NULL;
	int rc =
		from ? 0 : error_sys(e, errno, "cannot find %s", r->directory ? r->directory : ".");

	if (rc == 0 && r->build) {
		const char *const pairs[] = {"{cc}", r->cc ? r->cc : "cc", "{cflags}", cflags,
			"{ldflags}", ldflags, from, tree, NULL};
		const char *words[] = {"/bin/sh", "-c", NULL, NULL};

		inner = workshop_fill(r->build, pairs);
		if (!inner || asprintf(&text, "cd '%s' && { %s\n}", tree, inner) < 0) {
			text = NULL;
			rc = error_nomem(e);
		} else {
			words[2] = text;
			rc = workshop_tool(w, words, NULL, e);
		}
	}
	for (size_t i = 0; rc == 0 && !r->build && i < r->steps.count; i++) {
		char *place = recipe_step_strays(&r->steps.data[i], from);

		rc = place ? error_set(e, ERR_CANNOT_RUN,
				     "the recipe writes to %s, outside of its directory %s", place,
				     from)
			   : replay_step(w, &r->steps.data[i], from, tree, cflags, ldflags, e);
		free(place);
	}
	free(text);
	free(inner);
	free(from);
	return rc;
}

static int take_program(const struct workshop *w, const char *tree, const char *to, struct error *e)
{
	const char *output = w->request->recipe->output;
	char *path;
	int rc = 0;

	if (asprintf(&path, "%s/%s", tree, output) < 0)
		return error_nomem(e);
	if (access(path, F_OK)) {
		error_set(e, ERR_NOT_FOUND, "the build made no %s", output);
		rc = error_hint(e, "\"output\" of the recipe is relative to \"directory\"");
	} else {
		const char *const words[] = {"cp", "--", path, to, NULL};

		rc = workshop_tool(w, words, NULL, e);
	}
	free(path);
	return rc;
}

int optimize_program(const struct workshop *w, const char *cflags, const char *ldflags,
	const char *to, struct error *e)
{
	const char *from = w->request->recipe->directory;
	char *tree = workshop_path(w, "tree", e);
	const char *const copy[] = {"cp", "-a", "--", from ? from : ".", tree, NULL};
	const char *const clean[] = {"rm", "-rf", "--", tree, NULL};
	int rc = tree ? workshop_tool(w, copy, NULL, e) : -1;

	if (rc == 0 && (build_in(w, tree, cflags, ldflags, e) || take_program(w, tree, to, e)))
		rc = -1;
	if (tree)
		(void)workshop_tool(w, clean, NULL, NULL);
	free(tree);
	return rc;
}
