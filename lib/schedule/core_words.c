/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of core descriptions, and errors that name the line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numeral.h"
#include "schedule/core_private.h"

int core_fail(struct core_reader *r, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(r->e, ERR_PARSE, "%s:%u: %s", r->name, r->line, text);
}

/* Splits at blanks, in place. */
size_t core_split(char *text, char **words, size_t room)
{
	size_t n = 0;

	for (char *save, *w = strtok_r(text, " \t", &save); w && n < room;
		w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	return n;
}

int core_read_number(struct core_reader *r, const char *word, unsigned limit, unsigned *to)
{
	uint64_t value;

	if (!numeral_whole(word, 0, limit, &value))
		return core_fail(r, "'%s' is not a whole number from 0 to %u", word, limit);
	*to = (unsigned)value;
	return 0;
}

const struct core_group *core_find_group(const struct core *c, const char *name)
{
	for (unsigned i = 0; i < c->group_count; i++)
		if (strcmp(c->groups[i].name, name) == 0)
			return &c->groups[i];
	return NULL;
}

int core_unknown_group(struct core_reader *r, const char *name)
{
	struct nearest n;

	nearest_init(&n, name);
	for (unsigned i = 0; i < r->core->group_count; i++)
		nearest_offer(&n, r->core->groups[i].name);
	core_fail(r, "unknown port '%s': section [ports] must name it", name);
	return nearest_hint(&n, r->e, "%s", "");
}
