/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files, the one with most samples first, their lines in order with the text and some lines
 * around; what has no line stands at the end, by function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "explain/unskid.h"
#include "report/prof_columns.h"
#include "report/prof_source.h"
#include "report/prof_views.h"

enum { AROUND = 2 }; /* lines shown before and behind one that has samples */

struct line {
	uint64_t group, file_value, value; /* of the sorting metric */
	uint32_t entity;
	const struct prof_entity *of;
	const struct prof_data *d;
};

struct listing {
	struct prof_columns columns;
	struct prof_sums sums;
	uint64_t *times;
	struct line *lines;
	size_t count;
};

/* Threads, files by samples (what has no line last), lines by number. */
static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const struct prof_entity *p = x->of, *q = y->of;
	int order;

	if (x->group != y->group)
		return x->group > y->group ? -1 : 1;
	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	if (!p->key.file != !q->key.file)
		return p->key.file ? -1 : 1;
	if (x->file_value != y->file_value)
		return x->file_value > y->file_value ? -1 : 1;
	order = strcmp(prof_string_at(x->d, p->key.file), prof_string_at(x->d, q->key.file));
	if (order)
		return order;
	if (p->key.file)
		return p->key.line < q->key.line ? -1 : p->key.line > q->key.line;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	order = strcmp(
		prof_string_at(x->d, p->key.procedure), prof_string_at(x->d, q->key.procedure));
	if (order)
		return order;
	order = strcmp(x->d->images.data[p->key.image].image->path,
		x->d->images.data[q->key.image].image->path);
	if (order)
		return order;
	return p->key.begin < q->key.begin ? -1 : p->key.begin > q->key.begin;
}

struct file_sum { /* table entry */
	struct {
		uint32_t group, file;
	} key;
	uint64_t value;
};

static uint64_t *file_value(struct table *files, uint32_t group, uint32_t file)
{
	struct file_sum key = {.key = {group, file}}, *own = table_add(files, &key.key);

	return own ? &own->value : NULL;
}

static int collect_lines(struct listing *l, const struct prof_data *d)
{
	struct table files = {.entry_size = sizeof(struct file_sum),
		.key_size = sizeof(((struct file_sum *)0)->key)};
	uint64_t *groups = calloc(d->groups.count + 1, sizeof(*groups));
	const struct prof_sums *s = &l->sums;
	int rc = groups ? 0 : -1;

	l->lines = calloc(s->entities.count + 1, sizeof(*l->lines));
	for (size_t i = 0; l->lines && i < s->entities.count && rc == 0; i++) {
		const struct prof_entity *n = prof_entity_at(s, i);
		uint64_t all = 0, *sum = file_value(&files, n->key.group, n->key.file);

		for (size_t k = 0; k < s->metrics; k++)
			all += s->own[i * s->metrics + k];
		if (!sum)
			rc = -1;
		if (!sum || !all || !n->selected)
			continue;
		*sum += s->own[i * s->metrics];
		groups[n->key.group] += s->own[i * s->metrics];
		l->lines[l->count++] = (struct line){
			.entity = (uint32_t)i, .value = s->own[i * s->metrics], .of = n, .d = d};
	}
	for (size_t i = 0; i < l->count && rc == 0; i++) {
		struct line *line = &l->lines[i];

		const uint64_t *sum = file_value(&files, line->of->key.group, line->of->key.file);

		line->group = groups[line->of->key.group];
		line->file_value = sum ? *sum : 0;
	}
	if (l->lines && rc == 0)
		qsort(l->lines, l->count, sizeof(*l->lines), by_place);
	free(groups);
	table_fini(&files);
	return l->lines ? rc : -1;
}

/* What is to be said of a file behind its name: a newer source, or none. */
static const char *file_note(struct prof_table *t, const struct prof_data *d,
	const struct line *line, const struct prof_source *source)
{
	const struct prof_place *p = prof_place_at(d, line->of->place);
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
		return prof_text(t, "newer than %s, lines may have moved", image->name);
	return NULL;
}

static int head_row(struct listing *l, const struct line *line, const struct prof_source *source)
{
	struct prof_table *t = l->columns.table;
	struct prof_row row = {.role = PROF_HEAD, .parent = -1, .procedure = "(no line known)"};

	if (line->of->key.file) {
		row.procedure = NULL;
		row.file = prof_string_at(line->d, line->of->key.file);
	}
	row.note = file_note(t, line->d, line, source);
	if (line->d->request->threads) {
		struct prof_row of;

		if (prof_entity_row(t, line->d, line->of, PROF_BY_SOURCE, &of))
			return -1;
		row.thread = of.thread;
	}
	return prof_row_add(t, &row) < 0 ? -1 : 0;
}

/* A line without samples. */
static int bare_row(struct prof_table *t, const char *thread, const char *file,
	const struct prof_source *source, unsigned line)
{
	struct prof_row row = {.parent = -1, .file = file, .line = line, .thread = thread};
	const char *text = prof_source_line(source, line);

	if (!text)
		return 0;
	row.text = prof_text(t, "%s", text);
	return row.text && prof_row_add(t, &row) >= 0 ? 0 : -1;
}

static int line_row(struct listing *l, const struct line *line, const struct prof_source *source)
{
	struct prof_table *t = l->columns.table;
	const char *text = prof_source_line(source, line->of->key.line);
	size_t at = line->entity * l->sums.metrics;
	struct prof_row row;
	long index;

	if (prof_entity_row(t, line->d, line->of, PROF_BY_SOURCE, &row))
		return -1;
	if (text)
		row.text = prof_text(t, "%s", text);
	index = prof_row_add(t, &row);
	if (index < 0)
		return -1;
	prof_columns_fill(
		&l->columns, (size_t)index, l->sums.own + at, NULL, l->times[line->entity]);
	return 0;
}

/* All lines of one file; count of them. */
static int file_rows(struct listing *l, const struct line *lines, size_t count)
{
	const struct prof_data *d = lines->d;
	const char *file = prof_string_at(d, lines->of->key.file), *thread;
	struct prof_source source = {0};
	struct prof_table *t = l->columns.table;
	unsigned shown = 0; /* the last line that stands there */
	int rc;

	if (lines->of->key.file)
		prof_source_open(&source, file, d->request->source_paths);
	rc = head_row(l, lines, &source);
	thread = rc ? NULL : t->rows.data[t->rows.count - 1].thread;
	for (size_t i = 0; i < count && rc == 0; i++) {
		unsigned line = lines[i].of->key.line, from = line > AROUND ? line - AROUND : 1;
		unsigned next = i + 1 < count ? lines[i + 1].of->key.line : UINT32_MAX;
		struct prof_row gap = {.role = PROF_GAP, .parent = -1, .thread = thread};

		if (source.text && shown && from > shown + 1 && prof_row_add(t, &gap) < 0)
			rc = -1;
		for (unsigned k = from > shown ? from : shown + 1; k < line && rc == 0; k++)
			rc = bare_row(t, thread, file, &source, k);
		if (rc == 0)
			rc = line_row(l, &lines[i], &source);
		shown = line;
		for (unsigned k = line + 1; line && k <= line + AROUND && k < next && rc == 0;
			k++) {
			rc = bare_row(t, thread, file, &source, k);
			shown = k;
		}
	}
	prof_source_close(&source);
	return rc;
}

static int all_rows(struct listing *l, const struct prof_data *d)
{
	double cumulative = 0, all = (double)d->metrics.data[0].samples;
	size_t files = 0;

	for (size_t i = 0, k; i < l->count; i = k, files++) {
		double percent = all > 0 ? 100 * (double)l->lines[i].file_value / all : 0;

		for (k = i + 1;
			k < l->count && l->lines[k].of->key.file == l->lines[i].of->key.file &&
			l->lines[k].of->key.group == l->lines[i].of->key.group;
			k++)
			;
		if (prof_quits(&d->request->quit, files, percent, cumulative))
			return prof_note(l->columns.table, "more files are left out (-q)");
		cumulative += percent;
		if (file_rows(l, l->lines + i, k - i))
			return -1;
	}
	return 0;
}

int prof_lines(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct listing l = {0};
	bool moved;
	int rc = -1;

	t->report = "lines";
	t->layout = PROF_SOURCE;
	if (!d->metrics.count)
		return error_set(e, ERR_NOT_FOUND, "the experiment holds no metric");
	if (prof_unskid(d, &moved, e) || prof_data_name(d, true, e) ||
		prof_columns_init(
			&l.columns, t, d, 0, d->request->compare ? NULL : "executions", e))
		return -1;
	t->title = "Line list, in source order";
	if (prof_sums_init(&l.sums, d, PROF_BY_SOURCE) == 0)
		l.times = prof_executions(&l.columns, &l.sums);
	if (l.times && collect_lines(&l, d) == 0 && all_rows(&l, d) == 0 &&
		prof_columns_total(&l.columns) == 0)
		rc = prof_coverage(t, d, e) || prof_both(t, d, &l.sums, PROF_BY_SOURCE, e) ? -1 : 0;
	else
		error_nomem(e);
	if (rc == 0 && moved && prof_note(t, PROF_MOVED))
		rc = error_nomem(e);
	free(l.times);
	free(l.lines);
	prof_sums_fini(&l.sums);
	prof_columns_fini(&l.columns);
	return rc;
}
