/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_scratch(struct report_table *t)
{
	while (t->scratch.count)
		free(t->scratch.data[--t->scratch.count]);
}

void report_table_fini(struct report_table *t)
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
	vec_fini(&t->values);
	vec_fini(&t->arcs);
	vec_fini(&t->experiments);
	vec_fini(&t->agreements);
	vec_fini(&t->brief);
	vec_fini(&t->head);
	vec_fini(&t->summary);
	vec_fini(&t->notes);
}

int report_finish(struct report_table *t, int rc, struct error *e)
{
	free_scratch(t);
	return rc == 0 && t->failed ? error_nomem(e) : rc;
}

void *report_scratch(struct report_table *t, size_t count, size_t size)
{
	void *room = calloc(count + 1, size);

	if (room && vec_add(&t->scratch, room) == 0)
		return room;
	free(room);
	t->failed = true;
	return NULL;
}

static const char *text_of(struct report_table *t, const char *format, va_list ap)
{
	char **slot = vec_push(&t->arena);

	if (slot && vasprintf(slot, format, ap) >= 0)
		return *slot;
	if (slot)
		*slot = NULL;
	t->failed = true;
	return "";
}

const char *report_text(struct report_table *t, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = text_of(t, format, ap);
	va_end(ap);
	return text;
}

/* Has room for a row ready as well, so that the first one cannot fail. */
size_t report_column_add(struct report_table *t, const struct report_column *column)
{
	if (vec_add(&t->columns, *column)) {
		t->failed = true;
		return 0;
	}
	if (!column->unit)
		t->columns.data[t->columns.count - 1].unit = "";
	t->failed |= !vec_push(&t->rows) || !vec_extend(&t->cells, t->columns.count);
	t->rows.count = t->cells.count = 0;
	return t->columns.count - 1;
}

size_t report_columns_add(struct report_table *t, const struct report_column *columns, size_t count)
{
	size_t first = t->columns.count;

	for (size_t i = 0; i < count; i++) {
		struct report_column column = columns[i];

		column.experiment = -1;
		report_column_add(t, &column);
	}
	return first;
}

struct report_column report_count_column(
	unsigned flags, const char *name, const char *heading, const char *unit)
{
	return (struct report_column){.kind = REPORT_COUNT,
		.flags = flags | REPORT_EXACT,
		.name = name,
		.heading = heading,
		.unit = unit,
		.experiment = -1,
		.label = LABEL_MEASURED};
}

struct report_column report_ratio_column(
	unsigned flags, const char *name, const char *heading, const char *unit, enum label label)
{
	return (struct report_column){.kind = REPORT_RATIO,
		.flags = flags,
		.name = name,
		.heading = heading,
		.unit = unit,
		.experiment = -1,
		.label = label};
}

size_t report_row_add(struct report_table *t, const struct report_row *row)
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

void report_no_shares(const struct report_table *t, size_t row)
{
	for (size_t i = 0; i < t->columns.count; i++)
		report_cells(t, row)[i].percent = report_cells(t, row)[i].cumulative = NAN;
}

#define ADD_LINE(lines, name)                                                                      \
	do {                                                                                       \
		struct report_line line = {.label = name};                                         \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, format);                                                              \
		line.value = text_of(t, format, ap);                                               \
		va_end(ap);                                                                        \
		t->failed |= vec_add(lines, line) != 0;                                            \
	} while (0)

void report_head(struct report_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->head, label);
}

void report_summary(struct report_table *t, const char *label, const char *format, ...)
{
	ADD_LINE(&t->summary, label);
}

void report_note(struct report_table *t, const char *format, ...)
{
	ADD_LINE(&t->notes, NULL);
}

void report_brief(struct report_table *t, const char *label, const char *format, ...)
{
	for (size_t i = 0; t->brief.count >= REPORT_BRIEF_LINES && i < t->brief.count; i++)
		if (strcmp(t->brief.data[i].label, REPORT_RUN_ON) == 0) {
			t->brief.count--;
			memmove(&t->brief.data[i], &t->brief.data[i + 1],
				(t->brief.count - i) * sizeof(t->brief.data[0]));
		}
	ADD_LINE(&t->brief, label);
}
