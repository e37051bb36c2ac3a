/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_columns.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "machine/machine.h"
#include "profile/modelled.h"

static bool taken(const struct report_table *t, const char *name)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (strcmp(t->columns.data[i].name, name) == 0)
			return true;
	return false;
}

int report_column_number(const char *column, const char *name, const char *suffix)
{
	size_t length = strlen(name);
	char *end;
	long n;

	if (strncmp(column, name, length) != 0 || column[length] != '.')
		return 1;
	n = strtol(column + length + 1, &end, 10);
	return n > 1 && n < INT_MAX && strcmp(end, suffix) == 0 ? (int)n : 1;
}

/* The largest of all columns. */
static int last_of(const struct report_table *t, const char *name, const char *suffix)
{
	int last = 1;

	for (size_t i = 0; i < t->columns.count; i++) {
		int n = report_column_number(t->columns.data[i].name, name, suffix);

		last = n > last ? n : last;
	}
	return last;
}

/* "time"; where another column has that name, "usertime.time", else "time.2". */
static const char *fresh_name(
	struct report_table *t, const char *name, const char *type, const char *suffix)
{
	const char *text = report_text(t, "%s%s", name, suffix);

	if (taken(t, text) && type && type[0] && !strchr(type, ',')) {
		text = report_text(t, "%s.%s%s", type, name, suffix);
		if (!taken(t, text))
			return text;
	}
	return t->failed || !taken(t, text)
		       ? text
		       : report_text(t, "%s.%d%s", name, last_of(t, name, suffix) + 1, suffix);
}

static bool columns_same_metric(const struct prof_metric *a, const struct prof_metric *b)
{
	return a->input != b->input && a->metric->event == b->metric->event &&
	       strcmp(a->metric->name, b->metric->name) == 0 &&
	       strcmp(a->metric->source, b->metric->source) == 0;
}

/* As -diff calls its columns. Only a metric that two runs have, so that either name says enough. */
const char *report_column_side(const struct prof_data *d, size_t i)
{
	const struct prof_metric *m = d->metrics.data;
	size_t others = 0, earlier = 0;

	for (size_t k = 0; d->request->compare && k < d->metrics.count; k++)
		if (columns_same_metric(&m[k], &m[i])) {
			others++;
			earlier += k < i;
		}
	return others != 1 ? "" : earlier ? ".after" : ".before";
}

static size_t metric_column(struct report_columns *c, size_t i, const char *suffix, unsigned flags)
{
	const struct prof_metric *m = &c->data->metrics.data[i];
	const struct experiment_metric *of = m->metric;
	const struct prof_request *r = c->data->request;
	const char *type = r->compare ? NULL : r->inputs[m->input].experiment->type;
	struct report_table *t = c->table;
	bool clock = of->flags & METRIC_CLOCK, beside = profile_second_run(c->data, i);
	struct report_column column = {
		.kind = REPORT_COUNT,
		.flags = (beside ? 0 : REPORT_PERCENT) | (clock ? REPORT_SECONDS : 0) |
			 (of->flags & METRIC_EXACT ? REPORT_EXACT : REPORT_SAMPLES) |
			 (c->shown[i] ? 0 : REPORT_SCRIPTS) | flags,
		.unit = clock ? "seconds" : of->unit,
		.experiment = (long)i,
		.label = of->label,
	};

	column.name = fresh_name(t,
		report_text(t, "%s%s", of->short_name[0] ? of->short_name : "count",
			report_column_side(c->data, i)),
		type, suffix);
	return report_column_add(t, &column);
}

static void metric_columns(struct report_columns *c, unsigned flags)
{
	const struct prof_data *d = c->data;
	bool tree = flags & REPORT_COLUMNS_TREE;

	for (size_t i = 0; i < d->metrics.count; i++) {
		bool inclusive = flags && (d->metrics.data[i].metric->flags & METRIC_STACKS);

		c->inclusive[i] =
			tree && inclusive ? (long)metric_column(c, i, ".inclusive", 0) : -1;
		c->own[i] = metric_column(
			c, i, "", i == 0 && !tree ? REPORT_CUMULATIVE | REPORT_BAR : 0);
		if (!tree && inclusive)
			c->inclusive[i] = (long)metric_column(c, i, ".inclusive", 0);
	}
}

static void add_ratio(struct report_columns *c, size_t over, size_t under, double scale,
	const char *name, const char *unit)
{
	const struct prof_metric *m = c->data->metrics.data;
	struct report_column column = {.kind = REPORT_RATIO,
		.name = name,
		.unit = unit,
		.experiment = -1,
		.flags = profile_second_run(c->data, over) ? REPORT_SCRIPTS : 0,
		.label = scale == 1 ? label_join(m[over].metric->label, m[under].metric->label)
				    : LABEL_ESTIMATED};

	c->ratios[c->ratio_count++] =
		(struct report_ratio){report_column_add(c->table, &column), over, under, scale};
}

/* "dsc/gi", "time.after/before" */
static const char *ratio_name(const struct report_columns *c, size_t over, size_t under)
{
	const struct report_column *columns = c->table->columns.data;
	const char *side = report_column_side(c->data, under);

	if (side[0] &&
		columns_same_metric(&c->data->metrics.data[over], &c->data->metrics.data[under]))
		return report_text(c->table, "%s/%s", columns[c->own[over]].name, side + 1);
	return report_text(
		c->table, "%s/%s", columns[c->own[over]].name, columns[c->own[under]].name);
}

/* Everything by instructions: cycles as CPI, time by way of the clock. */
static void instruction_ratios(struct report_columns *c, size_t under)
{
	const struct prof_data *d = c->data;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct experiment_metric *m = d->metrics.data[i].metric;
		bool cycles = m->event == EV_CYCLES || m->event == EV_CYCLES_16 ||
			      m->flags & METRIC_CLOCK;
		double scale = m->flags & METRIC_CLOCK ? profile_clock_hz(d, i) : 1;

		if (profile_counts_instructions(&d->metrics.data[i]) || scale <= 0 ||
			(m->flags & METRIC_WALL) ||
			(d->metrics.data[i].input != d->metrics.data[under].input &&
				profile_counts_foreign(d, d->metrics.data[under].input)))
			continue;
		add_ratio(c, i, under, scale,
			cycles ? fresh_name(c->table, "cpi", NULL, "") : ratio_name(c, i, under),
			cycles ? "cycles an instruction" : "for each instruction");
	}
}

/* -compare: each metric divided by the first equal one of another run. */
static void run_ratios(struct report_columns *c)
{
	const struct prof_metric *m = c->data->metrics.data;

	for (size_t i = 1; i < c->data->metrics.count; i++)
		for (size_t k = 0; k < i; k++)
			if (columns_same_metric(&m[k], &m[i])) {
				add_ratio(c, i, k, 1, ratio_name(c, i, k), "");
				break;
			}
}

/* The metric of executed instructions, an exact one if there is any. */
static size_t instructions(const struct prof_data *d)
{
	size_t base = d->metrics.count;

	for (size_t i = d->metrics.count; i-- > 0;)
		if (profile_counts_instructions(&d->metrics.data[i]) &&
			(base == d->metrics.count ||
				!(d->metrics.data[base].metric->flags & METRIC_EXACT) ||
				(d->metrics.data[i].metric->flags & METRIC_EXACT)))
			base = i;
	return base;
}

static void executions(struct report_columns *c, const char *name)
{
	const struct prof_data *d = c->data;
	size_t i = instructions(d);
	struct report_column column = {.kind = REPORT_COUNT,
		.flags = REPORT_EXACT,
		.name = name,
		.unit = name,
		.experiment = (long)i};

	c->executions = -1;
	if (!name || i >= d->metrics.count || !(d->metrics.data[i].metric->flags & METRIC_EXACT))
		return;
	column.label = d->metrics.data[i].metric->label;
	c->exact = i;
	c->executions = (long)report_column_add(c->table, &column);
}

int report_columns_init(struct report_columns *c, struct report_table *t, const struct prof_data *d,
	unsigned flags, const char *executions_name, struct error *e)
{
	size_t metrics = d->metrics.count;

	*c = (struct report_columns){.table = t,
		.data = d,
		.own = report_scratch(t, metrics, sizeof(*c->own)),
		.inclusive = report_scratch(t, metrics, sizeof(*c->inclusive)),
		.ratios = report_scratch(t, metrics, sizeof(*c->ratios)),
		.shown = report_scratch(t, metrics, sizeof(*c->shown))};
	c->second = -1;
	for (size_t i = 0; i < metrics; i++)
		if (profile_second_run(d, i) && profile_counts_instructions(&d->metrics.data[i]))
			c->second = (long)i;
	report_describe(t, d);
	if (t->failed)
		return error_nomem(e);
	if (report_beside_choose(d, c->shown, e))
		return -1;
	metric_columns(c, flags);
	if (t->failed) /* others are named after these */
		return error_nomem(e);
	executions(c, executions_name);
	if (d->request->compare)
		run_ratios(c);
	else if (instructions(d) < metrics)
		instruction_ratios(c, instructions(d));
	return t->failed ? error_nomem(e) : 0;
}

static void fill_cell(struct report_cell *cell, const struct prof_metric *m, uint64_t n)
{
	bool exact = m->metric->flags & METRIC_EXACT;

	cell->samples = n;
	cell->weak = !exact && n && n < PROF_WEAK;
	cell->quantity = exact ? quantity_exact((double)n * m->unit, m->metric->label)
			       : profile_sampled(n, m->unit, m->metric->label);
	cell->percent = report_percent((double)n, (double)m->samples);
}

/* Half of the interval, relative. */
static double columns_spread(const struct quantity *q)
{
	return q->value > 0 ? (q->high - q->low) / (2 * q->value) : 0;
}

static void fill_ratio(struct report_cell *cell, const struct report_cell *over,
	const struct report_cell *under, double scale, enum label label)
{
	const struct quantity *a = &over->quantity, *b = &under->quantity;
	double value, factor, r = columns_spread(a), s = columns_spread(b);

	if (a->label == LABEL_NONE || b->label == LABEL_NONE || b->value <= 0)
		return;
	value = scale * a->value / b->value;
	/* on a logarithmic scale, so that it stays positive */
	factor = exp(sqrt(r * r + s * s));
	/* a metric without samples is weak too: it only has an upper limit */
	cell->weak = over->weak || under->weak || (a->value == 0 && a->high > 0);
	cell->quantity = (struct quantity){value, value / factor, value * factor, label};
	if (a->value == 0)
		cell->quantity.high = scale * a->high / b->value;
}

void report_columns_fill(const struct report_columns *c, size_t row, const uint64_t *own,
	const uint64_t *inclusive, uint64_t times)
{
	struct report_cell *cells = report_cells(c->table, row);
	/* Of what the second run did not execute, misses are not known. */
	bool unexecuted = own && c->second >= 0 && !own[c->second];

	for (size_t i = 0; i < c->data->metrics.count; i++) {
		if (own && !(unexecuted && profile_second_run(c->data, i)))
			fill_cell(&cells[c->own[i]], &c->data->metrics.data[i], own[i]);
		if (c->inclusive[i] >= 0 && inclusive)
			fill_cell(&cells[c->inclusive[i]], &c->data->metrics.data[i], inclusive[i]);
	}
	if (!own)
		return;
	if (c->executions >= 0 && !unexecuted) {
		struct report_cell *cell = &cells[c->executions];

		cell->quantity = quantity_exact(
			(double)times, c->data->metrics.data[c->exact].metric->label);
		cell->percent = NAN;
	}
	for (size_t i = 0; i < c->ratio_count; i++) {
		const struct report_ratio *r = &c->ratios[i];

		cells[r->column].percent = NAN;
		fill_ratio(&cells[r->column], &cells[c->own[r->over]], &cells[c->own[r->under]],
			r->scale, c->table->columns.data[r->column].label);
	}
}

void report_columns_total(const struct report_columns *c)
{
	const struct report_row row = {.role = REPORT_TOTAL, .parent = -1};
	size_t metrics = c->data->metrics.count, at = report_row_add(c->table, &row);
	uint64_t *sums = report_scratch(c->table, metrics, sizeof(*sums));
	struct report_cell *cells = report_cells(c->table, at);

	for (size_t i = 0; sums && i < metrics; i++)
		sums[i] = c->data->metrics.data[i].samples;
	if (sums)
		report_columns_fill(c, at, sums, sums, 0);
	for (size_t i = 0; i < c->table->columns.count; i++)
		cells[i].cumulative = NAN;
	if (c->executions >= 0)
		cells[c->executions].quantity.label = LABEL_NONE;
}

struct spot { /* table entry */
	struct {
		uint64_t address;
		uint64_t image;
	} key;
	size_t entity;
};

/* A function that begins with its loop: its own jumps back to its entry are not calls. */
static int take_off_jumps(const struct prof_data *d, const struct prof_sums *s, uint64_t *times)
{
	struct table spots = TABLE_OF(struct spot);
	int rc = -1;

	for (size_t i = 0; i < d->places.count; i++) {
		const struct profile_place *p = profile_place_at(d, i);
		const struct spot key = {.key = {p->key.address, p->key.image}};
		struct spot *spot = table_add(&spots, &key.key);

		if (!spot)
			goto done;
		spot->entity = s->of[i];
	}
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->edges.count; k++) {
			const struct experiment_edge *edge = table_at(&x->edges, k);
			struct spot key = {.key = {edge->key.to, 0}}, *to, *from;

			if (edge->key.from_image != edge->key.to_image ||
				edge->key.to_image >= x->images.count ||
				edge->key.kind == MODEL_CALL ||
				edge->key.kind == MODEL_INDIRECT_CALL)
				continue;
			key.key.image = d->image_of.data[i][edge->key.to_image];
			to = table_find(&spots, &key.key);
			key.key.address = edge->key.from;
			from = to ? table_find(&spots, &key.key) : NULL;
			if (from && from->entity == to->entity &&
				profile_entity_at(s, to->entity)->key.begin == edge->key.to)
				times[to->entity] -= edge->count < times[to->entity]
							     ? edge->count
							     : times[to->entity];
		}
	}
	rc = 0;
done:
	table_fini(&spots);
	return rc;
}

uint64_t *report_executions(const struct report_columns *c, const struct prof_sums *s)
{
	uint64_t *times = report_scratch(c->table, s->entities.count, sizeof(*times));
	const struct prof_data *d = c->data;
	bool calls = false;

	for (size_t i = 0; times && c->executions >= 0 && i < d->places.count; i++) {
		const struct prof_entity *n = profile_entity_at(s, s->of[i]);
		uint64_t count = d->counts.data[i * d->metrics.count + c->exact];
		uint64_t begin = n->key.line ? 0 : d->name[i].begin;

		if (begin && profile_place_at(d, i)->key.address != begin)
			continue;
		calls |= n->key.begin && begin;
		if (begin)
			times[s->of[i]] += count;
		else if (times[s->of[i]] < count)
			times[s->of[i]] = count;
	}
	return times && calls && take_off_jumps(d, s, times) ? NULL : times;
}
