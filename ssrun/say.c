/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void say_error(const struct error *e)
{
	fprintf(stderr, "ssrun: %s\n", e->message);
	if (e->hint[0])
		fprintf(stderr, "ssrun:   %s\n", e->hint);
}

void say(const char *format, ...)
{
	va_list ap;

	fputs("ssrun: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
}
