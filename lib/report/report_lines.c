/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files, the one with most samples first, their lines in order with the text and some lines
 * around. Files whose text is not found follow, and samples without a line at the end, by function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sort.h"
#include "explain/unskid.h"
#include "report/report_columns.h"
#include "report/report_source.h"
#include "report/report_views.h"

enum { AROUND = 2 }; /* lines shown before and after one that has samples */

struct line {
	uint64_t group, file_value, value; /* of the sorting metric */
	bool found;                        /* the file */
	uint32_t entity;
	const struct prof_entity *of;
	const struct prof_data *d;
};

struct listing {
	struct report_columns *columns;
	struct prof_sums *sums;
	const uint64_t *times;
};

/* Threads, files by samples (then those not found, last what has no line), lines by number. */
static int lines_in_order(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const struct prof_entity *p = x->of, *q = y->of;

	return sort_falling(x->group, y->group)
		       ?: sort_rising(p->key.group, q->key.group)
		       ?: sort_rising(!p->key.file, !q->key.file)
		       ?: sort_rising(!x->found, !y->found)
		       ?: sort_falling(x->file_value, y->file_value)
		       ?: strcmp(profile_string_at(x->d, p->key.file),
				  profile_string_at(x->d, q->key.file))
		       ?: sort_rising(p->key.line, q->key.line)
		       ?: sort_falling(x->value, y->value)
		       ?: profile_entity_order(x->d, p, q);
}

struct file_sum { /* table entry */
	struct {
		uint32_t group, file;
	} key;
	uint64_t value;
	bool found;
};

static bool source_there(const struct prof_data *d, uint32_t file)
{
	struct report_source source;

	if (!file ||
		report_source_open(&source, profile_string_at(d, file), d->request->source_paths))
		return false;
	report_source_close(&source);
	return true;
}

/* Samples of each file in each thread; -1 when memory is out. */
static int add_files(struct table *files, const struct prof_data *d, const struct prof_sums *s)
{
	for (size_t i = 0; i < s->entities.count; i++) {
		const struct prof_entity *n = profile_entity_at(s, i);
		struct file_sum key = {.key = {n->key.group, n->key.file}}, *own;

		own = table_add(files, &key.key);
		if (!own)
			return -1;
		if (!own->value)
			own->found = source_there(d, key.key.file);
		own->value += s->own[i * s->metrics];
	}
	return 0;
}

/* The entities that have samples, as they are shown; *count of them; NULL when memory is out. */
static struct line *collect_lines(const struct listing *l, size_t *count)
{
	const struct prof_data *d = l->columns->data;
	const struct prof_sums *s = l->sums;
	struct table files = TABLE_OF(struct file_sum);
	struct report_table *t = l->columns->table;
	struct report_rank *ranks = report_ranks(t, d, s, 0, true, count);
	struct line *lines = report_scratch(t, s->entities.count, sizeof(*lines));

	if (ranks)
		*count = report_beside_drop(t, &l->columns->beside, d, s, ranks, *count);
	if (!ranks || !lines || add_files(&files, d, s)) {
		t->failed = true;
		*count = 0;
	}
	for (size_t i = 0; i < *count; i++) {
		const struct report_rank *r = &ranks[i];
		const struct file_sum key = {.key = {r->of->key.group, r->of->key.file}};
		const struct file_sum *file = table_find(&files, &key.key);

		lines[i] = (struct line){
			r->group, file->value, r->value, file->found, r->entity, r->of, d};
	}
	table_fini(&files);
	if (*count)
		qsort(lines, *count, sizeof(*lines), lines_in_order);
	return lines;
}

/* The note after a file's name: a newer source, or none. */
static const char *file_note(struct report_table *t, const struct prof_data *d,
	const struct line *line, const struct report_source *source)
{
	const struct profile_place *p = profile_place_at(d, line->of->place);
	const struct prof_image *image = &d->images.data[p->key.image];
	struct stat st;

	if (!line->of->key.file)
		return NULL;
	if (!source->text)
		return "source not found (-source-path DIR)";
	if (stat(image->image->path, &st) == 0 &&
		(st.st_mtim.tv_sec < source->changed.tv_sec ||
			(st.st_mtim.tv_sec == source->changed.tv_sec &&
				st.st_mtim.tv_nsec < source->changed.tv_nsec)))
		return report_text(t, "newer than %s, lines may have moved", image->name);
	return NULL;
}

static void head_row(
	const struct listing *l, const struct line *line, const struct report_source *source)
{
	struct report_table *t = l->columns->table;
	struct report_row row = {.role = REPORT_HEAD,
		.parent = -1,
		.note = file_note(t, line->d, line, source),
		.thread = report_entity_row(t, line->d, line->of, PROF_BY_SOURCE).thread};

	if (line->of->key.file)
		row.file = profile_string_at(line->d, line->of->key.file);
	else
		row.procedure = "(no line known)";
	report_row_add(t, &row);
}

static const char *source_text(
	struct report_table *t, const struct report_source *source, unsigned line)
{
	const char *text = report_source_line(source, line);

	return text ? report_text(t, "%s", text) : NULL;
}

/* Lines without samples, up to `end`; row is like theirs. */
static void lines_bare_rows(struct report_table *t, const struct report_source *source,
	struct report_row row, unsigned from, unsigned end)
{
	for (row.line = from; row.line < end; row.line++) {
		row.text = source_text(t, source, row.line);
		if (row.text)
			report_row_add(t, &row);
	}
}

static void line_row(
	const struct listing *l, const struct line *line, const struct report_source *source)
{
	struct report_table *t = l->columns->table;
	struct report_row row = report_entity_row(t, line->d, line->of, PROF_BY_SOURCE);

	size_t at;

	row.text = source_text(t, source, line->of->key.line);
	at = report_row_add(t, &row);
	report_columns_fill(l->columns, at, l->sums->own + line->entity * l->sums->metrics, NULL,
		l->times[line->entity]);
	if (l->columns->beside.of)
		report_beside_fill(
			&l->columns->beside, t, at, &l->columns->beside.of[line->entity]);
}

/* All lines of one file; count of them. */
static void file_rows(const struct listing *l, const struct line *lines, size_t count)
{
	struct report_table *t = l->columns->table;
	const char *file = profile_string_at(lines->d, lines->of->key.file);
	struct report_row bare = {.parent = -1, .file = file},
			  gap = {.role = REPORT_GAP, .parent = -1};
	struct report_source source = {0};
	unsigned shown = 0; /* the last line shown */

	if (lines->of->key.file)
		report_source_open(&source, file, lines->d->request->source_paths);
	head_row(l, lines, &source);
	bare.thread = gap.thread = t->rows.data[t->rows.count - 1].thread;
	for (size_t i = 0; i < count; i++) {
		unsigned line = lines[i].of->key.line, from = line > AROUND ? line - AROUND : 1;
		unsigned next = i + 1 < count ? lines[i + 1].of->key.line : UINT32_MAX;
		unsigned end = line + AROUND + 1 < next ? line + AROUND + 1 : next;

		if (source.text && shown && from > shown + 1)
			report_row_add(t, &gap);
		lines_bare_rows(t, &source, bare, from > shown ? from : shown + 1, line);
		line_row(l, &lines[i], &source);
		if (line)
			lines_bare_rows(t, &source, bare, line + 1, end);
		shown = line ? end - 1 : 0;
	}
	report_source_close(&source);
}

static void lines_rows(struct report_columns *c, struct prof_sums *s, enum prof_grain grain)
{
	const struct prof_data *d = c->data;
	struct listing l = {c, s, report_executions(c, s)};
	struct report_cut cut = {.quit = d->request->quit};
	size_t count;
	struct line *lines = collect_lines(&l, &count);

	(void)grain;
	c->table->title = "Line list, in source order";
	c->table->failed |= !l.times;
	for (size_t i = 0, k; i < count && !c->table->failed; i = k) {
		if (report_cuts(&cut, report_percent((double)lines[i].file_value,
					      (double)d->metrics.data[0].samples))) {
			report_note(c->table, "more files are left out (-q)");
			return;
		}
		for (k = i + 1; k < count && lines[k].of->key.file == lines[i].of->key.file &&
				lines[k].of->key.group == lines[i].of->key.group;
			k++)
			;
		file_rows(&l, lines + i, k - i);
	}
}

int report_lines(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "lines";
	t->layout = REPORT_SOURCE;
	return report_list(d, t, PROF_BY_SOURCE, "executions", lines_rows, e);
}
