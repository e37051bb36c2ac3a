/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void prof_table_fini(struct prof_table *t)
{
	for (size_t i = 0; i < t->arena.count; i++)
		free(t->arena.data[i]);
	vec_fini(&t->arena);
	vec_fini(&t->columns);
	vec_fini(&t->rows);
	vec_fini(&t->cells);
	vec_fini(&t->culprits);
	vec_fini(&t->arcs);
	vec_fini(&t->experiments);
	vec_fini(&t->agreements);
	vec_fini(&t->head);
	vec_fini(&t->summary);
	vec_fini(&t->notes);
}

static const char *text_of(struct prof_table *t, const char *format, va_list ap)
{
	char **slot = vec_push(&t->arena);

	if (!slot)
		return NULL;
	if (vasprintf(slot, format, ap) < 0)
		*slot = NULL;
	return *slot;
}

const char *prof_text(struct prof_table *t, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = text_of(t, format, ap);
	va_end(ap);
	return text;
}

long prof_column_add(struct prof_table *t, const struct prof_column *column)
{
	struct prof_column *own = vec_push(&t->columns);

	if (!own)
		return -1;
	*own = *column;
	return (long)t->columns.count - 1;
}

long prof_row_add(struct prof_table *t, const struct prof_row *row)
{
	struct prof_row *own = vec_push(&t->rows);

	if (!own)
		return -1;
	*own = *row;
	own->first_cell = t->cells.count;
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct prof_cell *cell = vec_push(&t->cells);

		if (!cell)
			return -1;
	}
	return (long)t->rows.count - 1;
}

#define ADD_LINE(lines, name)                                                                      \
	do {                                                                                       \
		struct prof_line *line = vec_push(lines);                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (!line)                                                                         \
			return -1;                                                                 \
		va_start(ap, format);                                                              \
		*line = (struct prof_line){name, text_of(t, format, ap)};                          \
		va_end(ap);                                                                        \
		return line->value ? 0 : -1;                                                       \
	} while (0)

int prof_head(struct prof_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->head, label);
}

int prof_summary(struct prof_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->summary, label);
}

int prof_note(struct prof_table *t, const char *format, ...)
{
	ADD_LINE(&t->notes, NULL);
}
