/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void free_scratch(struct prof_table *t)
{
	while (t->scratch.count)
		free(t->scratch.data[--t->scratch.count]);
}

void prof_table_fini(struct prof_table *t)
{
	for (size_t i = 0; i < t->arena.count; i++)
		free(t->arena.data[i]);
	free_scratch(t);
	vec_fini(&t->scratch);
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

int prof_finish(struct prof_table *t, int rc, struct error *e)
{
	free_scratch(t);
	return rc == 0 && t->failed ? error_nomem(e) : rc;
}

void *prof_scratch(struct prof_table *t, size_t count, size_t size)
{
	void *room = calloc(count + 1, size);

	if (room && vec_add(&t->scratch, room) == 0)
		return room;
	free(room);
	t->failed = true;
	return NULL;
}

static const char *text_of(struct prof_table *t, const char *format, va_list ap)
{
	char **slot = vec_push(&t->arena);

	if (slot && vasprintf(slot, format, ap) >= 0)
		return *slot;
	if (slot)
		*slot = NULL;
	t->failed = true;
	return "";
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

/* Has room for a row ready as well, so that the first one cannot fail. */
size_t prof_column_add(struct prof_table *t, const struct prof_column *column)
{
	struct prof_column *own = vec_push(&t->columns);

	if (!own || !vec_push(&t->rows) || !vec_extend(&t->cells, t->columns.count)) {
		t->failed = true;
		return 0;
	}
	t->rows.count = t->cells.count = 0;
	*own = *column;
	own->unit = column->unit ? column->unit : "";
	return t->columns.count - 1;
}

size_t prof_columns_add(struct prof_table *t, const struct prof_column *columns, size_t count)
{
	size_t first = t->columns.count;

	for (size_t i = 0; i < count; i++) {
		struct prof_column column = columns[i];

		column.experiment = -1;
		prof_column_add(t, &column);
	}
	return first;
}

size_t prof_row_add(struct prof_table *t, const struct prof_row *row)
{
	size_t cells = t->cells.count;

	if (t->columns.count && !vec_extend(&t->cells, t->columns.count)) {
		t->failed = true;
	} else if (vec_add(&t->rows, *row)) {
		t->cells.count = cells;
		t->failed = true;
	} else {
		t->rows.data[t->rows.count - 1].first_cell = cells;
	}
	return t->rows.count - 1; /* without room the last row is used again */
}

void prof_no_shares(const struct prof_table *t, size_t row)
{
	for (size_t i = 0; i < t->columns.count; i++)
		prof_cells(t, row)[i].percent = prof_cells(t, row)[i].cumulative = NAN;
}

#define ADD_LINE(lines, name)                                                                      \
	do {                                                                                       \
		struct prof_line line = {.label = name};                                           \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, format);                                                              \
		line.value = text_of(t, format, ap);                                               \
		va_end(ap);                                                                        \
		t->failed |= vec_add(lines, line) != 0;                                            \
	} while (0)

void prof_head(struct prof_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->head, label);
}

void prof_summary(struct prof_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->summary, label);
}

void prof_note(struct prof_table *t, const char *format, ...)
{
	ADD_LINE(&t->notes, NULL);
}
