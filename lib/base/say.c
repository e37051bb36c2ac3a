/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void say_error(const struct error *e)
{
	say("%s", e->message);
	if (e->hint[0])
		say("  %s", e->hint);
}

int say_failure(const struct error *e)
{
	say_error(e);
	return EXIT_OURS;
}

int say_end(int status)
{
	struct error e;

	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (status == EXIT_OURS)
		return status;
	error_sys(&e, errno, "cannot write to standard output");
	return say_failure(&e);
}

void say(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
}
