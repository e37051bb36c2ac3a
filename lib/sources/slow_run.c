/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/slow_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_expected(const struct slow_run *r)
{
	return r->expected > r->instructions && r->instructions > 0;
}

bool slow_run_is_long(const struct slow_run *r)
{
	if (!is_expected(r))
		return r->elapsed >= SLOW_RUN_UNKNOWN;
	return r->elapsed >= SLOW_RUN_KNOWN &&
	       r->elapsed * r->expected > SLOW_RUN_LONG * r->instructions;
}

__attribute__((format(printf, 3, 4))) static void slow_run_add(
	char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

void slow_run_text(const struct slow_run *r, char *text, size_t size)
{
	text[0] = '\0';
	slow_run_add(text, size, "a long run: %.2f G instructions in %.0f s",
		r->instructions * 1e-9, r->elapsed);
	if (r->modelled > 0)
		slow_run_add(text, size,
			", %.3g s on the modelled processor, which is %.0f times faster",
			r->modelled, r->elapsed / r->modelled);
	if (is_expected(r))
		slow_run_add(text, size, "; about %.0f s to go",
			r->elapsed * (r->expected / r->instructions - 1));
	if (r->faster)
		slow_run_add(text, size, "; %s", r->faster);
}

void slow_run_line(double instructions, double expected, double speed, char *text, size_t size)
{
	double left = expected > instructions && speed > 0 ? (expected - instructions) / speed : 0;
	char rest[32] = "";

	if (left >= 100)
		snprintf(rest, sizeof(rest), ", %.0f min to go", left / 60);
	else if (left > 0)
		snprintf(rest, sizeof(rest), ", %.0f s to go", left);
	snprintf(text, size, "%.2f G instructions, %.1f M/s%s", instructions * 1e-9, speed * 1e-6,
		rest);
}
