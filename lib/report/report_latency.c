/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long loads take, and from where they get their data (ssrun -values=latency). */
#include <stdlib.h>

#include "base/sort.h"
#include "report/report_values.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 40 };

enum {
	LATENCY_LOADS,
	LATENCY_BURSTS,
	LATENCY_SHARE,
	LATENCY_HALF,
	LATENCY_MOST,
	LATENCY_MEMORY,
	LATENCY_FROM,
	LATENCY_ADDRESS,
	LATENCY_INSTRUCTION,
	LATENCY_COLUMNS
};

struct latency_row {
	const struct prof_value_site *times, *levels;
	double ns; /* of all its loads */
};

static void latency_columns(struct report_table *t)
{
	const struct report_column columns[LATENCY_COLUMNS] = {
		[LATENCY_LOADS] = report_count_column(REPORT_KEY, "loads", NULL, "loads"),
		[LATENCY_BURSTS] =
			report_count_column(REPORT_KEY | REPORT_SCRIPTS, "bursts", NULL, "bursts"),
		[LATENCY_SHARE] =
			report_ratio_column(REPORT_KEY, "share", "of all %", "%", LABEL_ESTIMATED),
		[LATENCY_HALF] = report_count_column(REPORT_KEY, "half", "half, ns", "ns"),
		[LATENCY_MOST] = report_count_column(REPORT_KEY, "most", "95%, ns", "ns"),
		[LATENCY_MEMORY] =
			report_ratio_column(REPORT_KEY, "memory", "memory %", "%", LABEL_ESTIMATED),
		[LATENCY_FROM] = {.kind = REPORT_TEXT, .name = "from", .heading = "data from"},
		[LATENCY_ADDRESS] = {.kind = REPORT_TEXT, .name = "at", .heading = "address"},
		[LATENCY_INSTRUCTION] = {.kind = REPORT_TEXT, .name = "instruction"},
	};

	report_columns_add(t, columns, LATENCY_COLUMNS);
}

/* ---- times ---- */

struct latency_time {
	uint64_t ns, count;
};

static int by_ns(const void *pa, const void *pb)
{
	const struct latency_time *a = pa, *b = pb;

	return sort_rising(a->ns, b->ns);
}

/* The least time that this share of the loads does not exceed. */
static double latency_quantile(const struct latency_time *times, size_t count, double share)
{
	uint64_t all = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		all += times[i].count;
	for (size_t i = 0; i < count; i++) {
		sum += times[i].count;
		if ((double)sum >= share * (double)all)
			return (double)times[i].ns;
	}
	return 0;
}

static void fill_times(
	struct report_values *w, const struct prof_value_site *s, struct report_cell *cells)
{
	size_t count = s->list.count;
	struct latency_time *times = report_scratch(w->t, count + 1, sizeof(*times));

	if (!times)
		return;
	for (size_t i = 0; i < count; i++)
		times[i] = (struct latency_time){s->list.data[i].key.value, s->list.data[i].sure};
	qsort(times, count, sizeof(*times), by_ns);
	cells[LATENCY_HALF].quantity =
		quantity_exact(latency_quantile(times, count, 0.5), LABEL_MEASURED);
	cells[LATENCY_MOST].quantity =
		quantity_exact(latency_quantile(times, count, 0.95), LABEL_MEASURED);
}

static double latency_total(const struct prof_value_site *s)
{
	double ns = 0;

	for (size_t i = 0; i < s->list.count; i++)
		ns += (double)s->list.data[i].key.value * (double)s->list.data[i].sure;
	return ns;
}

/* ---- levels ---- */

static void fill_levels(
	struct report_values *w, const struct prof_value_site *s, struct report_cell *cells)
{
	cells[LATENCY_MEMORY].quantity =
		report_values_percent(value_share_counted(&s->sums, 0, s->sums.count));
	for (size_t i = 0; i < s->list.count; i++)
		if (s->list.data[i].key.value ==
			VALUE_LEVELS(VALUE_LEVEL_MEMORY, VALUE_LEVEL_MEMORY))
			cells[LATENCY_MEMORY].quantity =
				report_values_percent(report_value_share(s, &s->list.data[i]));
	cells[LATENCY_MEMORY].weak = s->sums.moments < VALUES_MOMENTS_FEW;
	cells[LATENCY_FROM].text = report_levels_text(w->t, w->d, s);
}

static void add_latency_row(struct report_values *w, const struct latency_row *l, double all)
{
	const struct report_row row = report_values_row(w, l->levels);
	size_t at = report_row_add(w->t, &row);
	struct report_cell *cells;

	if (w->t->failed)
		return;
	cells = report_cells(w->t, at);
	report_no_shares(w->t, at);
	cells[LATENCY_LOADS].quantity =
		quantity_exact((double)l->times->sums.count, LABEL_MEASURED);
	cells[LATENCY_BURSTS].quantity =
		quantity_exact((double)l->times->sums.moments, LABEL_MEASURED);
	cells[LATENCY_SHARE].quantity =
		quantity_exact(all > 0 ? 100 * l->ns / all : 0, LABEL_ESTIMATED);
	fill_times(w, l->times, cells);
	fill_levels(w, l->levels, cells);
	cells[LATENCY_ADDRESS].text =
		report_text(w->t, "%llx", (unsigned long long)l->times->key.address);
	cells[LATENCY_INSTRUCTION].text =
		report_values_instruction(w->t, w->d, l->times->key.image, l->times->key.address);
}

static int latency_by_ns(const void *pa, const void *pb)
{
	const struct latency_row *a = pa, *b = pb;

	return sort_falling_number(a->ns, b->ns)
		       ?: sort_rising(a->times->key.image, b->times->key.image)
		       ?: sort_rising(a->times->key.address, b->times->key.address);
}

static void latency_make(struct report_values *w)
{
	struct latency_row *list = report_scratch(w->t, w->v.sites.count + 1, sizeof(*list));
	struct prof_quit quit = {.rows = report_values_named(w) ? 0 : USUAL_ROWS};
	struct report_cut cut = report_cut_of(w->d, quit);
	size_t count = 0, i;
	double all = 0;

	for (i = 0; list && i < w->v.sites.count; i++) {
		const struct prof_value_site *s = profile_value_site(&w->v, i), *levels;
		bool wanted;

		if (s->key.kind != VALUE_LATENCY)
			continue;
		levels = profile_value_find(
			&w->v, s->key.image, s->key.address, VALUE_LEVEL, s->key.operand);
		all += latency_total(s);
		report_values_function(w, s, &wanted);
		if (levels && wanted &&
			(report_values_named(w) || s->sums.count >= REPORT_VALUES_LEAST))
			list[count++] = (struct latency_row){s, levels, latency_total(s)};
	}
	if (list && !report_values_named(w))
		qsort(list, count, sizeof(*list), latency_by_ns);
	latency_columns(w->t);
	for (i = 0; i < count && !w->t->failed && !report_cuts(&cut, 100); i++)
		add_latency_row(w, &list[i], all);
	report_left_out(w->t, count - i, "load", report_cut_why(&cut));
	if (!count)
		report_note(w->t, "No load was timed %d times: ssrun -values=latency times them",
			REPORT_VALUES_LEAST);
}

int report_latency(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "latency";
	t->title = "Loads, by the time that they take";
	t->layout = REPORT_LIST;
	return report_values_report(d, t, latency_make, NULL, e);
}
