/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mapping.h"
#include "base/shown.h"

static bool memory_said;

void say_error(const struct error *e)
{
	memory_said |= e->code == ERR_NOMEM;
	say("%s", e->message);
	if (e->hint[0])
		say("  %s", e->hint);
}

int say_failure(const struct error *e)
{
	say_error(e);
	return EXIT_OURS;
}

int say_version(const char *libraries, const char *features)
{
	return printf("%s %s\nlibraries: %s\nfeatures: %s\n", program_invocation_short_name,
		       PERFEX_VERSION, libraries, features) < 0;
}

int say_end(int status)
{
	struct error e;
	int failed;

	errno = 0;
	if (status == EXIT_OURS) {
		fflush(stdout);
		return status;
	}
	if (fflush(stdout) == 0 && !ferror(stdout)) {
		if (error_memory_was_out() && !memory_said) {
			error_nomem(&e);
			error_hint(&e, "what was written may be incomplete");
			return say_failure(&e);
		}
		return mapping_check_all(&e) ? say_failure(&e) : status;
	}
	failed = errno;
	error_sys(&e, failed, "cannot write to standard output");
	file_hint_write(&e, failed);
	return say_failure(&e);
}

void say(const char *format, ...)
{
	struct strbuf shown = {0};
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	shown_puts(&shown, program_invocation_short_name);
	strbuf_puts(&shown, ": ");
	shown_puts(&shown, n < 0 ? "out of memory" : text);
	strbuf_putc(&shown, '\n');
	fputs(shown.failed ? "out of memory\n" : strbuf_text(&shown), stderr);
	strbuf_fini(&shown);
	if (n >= 0)
		free(text);
}
