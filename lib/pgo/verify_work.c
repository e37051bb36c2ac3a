/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all steps of a verification need: reasons, and runs of either image under one path. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pgo/verify_private.h"

enum { WORDS_MOST = 4096 };

static int add_text(verify_texts *texts, const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		return -1;
	if (vec_add(texts, text) == 0)
		return 0;
	free(text);
	return -1;
}

int verify_reason(struct verification *v, const char *format, ...)
{
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = add_text(&v->result->reasons, format, arguments);
	va_end(arguments);
	return rc;
}

int verify_note(struct verification *v, const char *format, ...)
{
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = add_text(&v->result->notes, format, arguments);
	va_end(arguments);
	return rc;
}

char *verify_path(const struct verification *v, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", v->directory, name) < 0 ? NULL : path;
}

/* ---- runs ---- */

static int point_at(const struct verification *v, const char *image, struct error *e)
{
	char *target = realpath(image, NULL);
	int rc = -1;

	if (!target)
		return error_sys(e, errno, "cannot find %s", image);
	unlink(v->link);
	if (symlink(target, v->link))
		error_sys(e, errno, "cannot make %s", v->link);
	else
		rc = 0;
	free(target);
	return rc;
}

/* {} becomes the image, in quotes for the shell; its path has none. */
static char *shell_command(const struct verification *v, const char *text)
{
	struct strbuf s = {0};

	while (*text) {
		if (text[0] == '{' && text[1] == '}') {
			strbuf_printf(&s, "'%s'", v->link);
			text += 2;
		} else {
			strbuf_putc(&s, *text++);
		}
	}
	return strbuf_take(&s);
}

static int run_words(struct verification *v, char *const *prefix, const struct verify_command *c,
	struct trial *t, struct trial_result *r, struct error *e)
{
	char *words[WORDS_MOST + 4], *shell = NULL;
	size_t n = 0;
	int rc;

	for (size_t i = 0; prefix && prefix[i] && n < WORDS_MOST; i++)
		words[n++] = prefix[i];
	if (c->shell) {
		shell = shell_command(v, c->shell);
		if (!shell)
			return error_nomem(e);
		words[n++] = (char *)(uintptr_t) "/bin/sh";
		words[n++] = (char *)(uintptr_t) "-c";
		words[n++] = shell;
	} else {
		words[n++] = v->link;
		for (size_t i = 0; c->arguments && c->arguments[i] && n < WORDS_MOST; i++)
			words[n++] = c->arguments[i];
	}
	words[n] = NULL;
	t->argv = words;
	rc = trial_run(t, r, e);
	free(shell);
	return rc;
}

int verify_run_once(struct verification *v, const struct verify_command *c, const char *image,
	const char *output, const char *errors, struct trial_result *r, struct error *e)
{
	struct trial t = {.output = output, .errors = errors, .limit = v->limit};

	return point_at(v, image, e) || run_words(v, NULL, c, &t, r, e) ? -1 : 0;
}

int verify_run_under(struct verification *v, char *const *prefix, const struct verify_command *c,
	const char *image, struct trial_result *r, struct error *e)
{
	struct trial t = {.limit = 0};

	return point_at(v, image, e) || run_words(v, prefix, c, &t, r, e) ? -1 : 0;
}
