/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scratch directory, and tools that are run in it. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "optimize/private.h"
#include "process/trial.h"

enum { LOG_SHOWN = 300, LOG_MOST = 1 << 30, TOOL_LIMIT = 3600 };

void workshop_say(const struct workshop *w, const char *format, ...)
{
	va_list arguments;
	char *text;

	if (!w->request->tell)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		w->request->tell(w->request->context, text);
	free(text);
}

char *workshop_path(const struct workshop *w, const char *name, struct error *e)
{
	char *path;

	if (asprintf(&path, "%s/%s", w->directory, name) >= 0)
		return path;
	error_nomem(e);
	return NULL;
}

/* The last lines of a log in one. */
static void log_hint(const char *log, struct error *e)
{
	size_t length = strlen(log);
	char text[LOG_SHOWN + 1];

	while (length && log[length - 1] == '\n')
		length--;
	log += length > LOG_SHOWN ? length - LOG_SHOWN : 0;
	snprintf(text, sizeof(text), "%.*s", (int)(length > LOG_SHOWN ? LOG_SHOWN : length), log);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	if (*text)
		error_hint(e, "%s", text);
}

static int tool_result(
	const char *const *words, const struct trial_result *r, const char *log, struct error *e)
{
	char text[80];

	if (!r->late && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0)
		return 0;
	trial_status_text(r, text, sizeof(text));
	if (strcmp(words[0], "/bin/sh") == 0)
		error_set(e, ERR_CANNOT_RUN, "a command of the recipe failed: %s", text);
	else
		error_set(e, ERR_CANNOT_RUN, "%s failed: %s", words[0], text);
	log_hint(log, e);
	return -1;
}

int workshop_tool(const struct workshop *w, const char *const *words, char **log, struct error *e)
{
	char *path = workshop_path(w, "log", e), *text = NULL;
	const struct recipe *recipe = w->request->recipe;
	struct trial t = {.argv = (char *const *)(uintptr_t)words,
		.output = path,
		.errors = path,
		.limit = recipe && recipe->limit > 0 ? recipe->limit : TOOL_LIMIT};
	struct trial_result r;
	size_t length;
	int rc = path ? trial_run(&t, &r, e) : -1;

	if (rc == 0) {
		text = file_read(path, LOG_MOST, &length, e);
		rc = text ? tool_result(words, &r, text, e) : -1;
	}
	if (path)
		unlink(path);
	free(path);
	if (log)
		*log = text;
	else
		free(text);
	return rc;
}

char *workshop_fill(const char *text, const char *const *pairs)
{
	struct strbuf s = {0};

	while (*text) {
		const char *const *p = pairs;

		while (*p && strncmp(text, *p, strlen(*p)) != 0)
			p += 2;
		if (*p) {
			strbuf_puts(&s, p[1]);
			text += strlen(*p);
		} else {
			strbuf_putc(&s, *text++);
		}
	}
	return strbuf_take(&s);
}

int workshop_open(struct workshop *w, struct error *e)
{
	w->directory = file_temporary_directory("prof-optimize", "'\"\\$` \t\n*?[", e);
	return w->directory ? 0 : -1;
}

void workshop_close(struct workshop *w)
{
	const char *const words[] = {"rm", "-rf", "--", w->directory, NULL};
	struct trial t = {.argv = (char *const *)(uintptr_t)words, .cleans = true};
	struct trial_result r;

	if (w->directory)
		(void)trial_run(&t, &r, NULL);
	free(w->directory);
	free(w->plain);
	free(w->base);
}
