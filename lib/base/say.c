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

void say(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
}
