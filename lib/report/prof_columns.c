/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "machine/machine.h"

static bool taken(const struct prof_table *t, const char *name)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (strcmp(t->columns.data[i].name, name) == 0)
			return true;
	return false;
}

/* "time"; where another column has that name, "usertime.time", else "time.2". */
static const char *fresh_name(
	struct prof_table *t, const char *name, const char *type, const char *suffix)
{
	const char *text = prof_text(t, "%s%s", name, suffix);

	if (text && taken(t, text) && type && type[0] && !strchr(type, ',')) {
		text = prof_text(t, "%s.%s%s", type, name, suffix);
		if (text && !taken(t, text))
			return text;
	}
	for (int n = 2; text && taken(t, text); n++)
		text = prof_text(t, "%s.%d%s", name, n, suffix);
	return text;
}

static long metric_column(struct prof_columns *c, size_t i, bool inclusive, bool first)
{
	const struct prof_metric *m = &c->data->metrics.data[i];
	const struct experiment_metric *of = m->metric;
	const struct prof_request *r = c->data->request;
	const char *type = r->compare ? NULL : r->inputs[m->input].experiment->type;
	struct prof_table *t = c->table;
	bool clock = of->flags & METRIC_CLOCK;
	struct prof_column column = {
		.kind = PROF_COUNT,
		.flags = PROF_PERCENT | (clock ? PROF_SECONDS : 0) |
			 (of->flags & METRIC_EXACT ? PROF_EXACT : PROF_SAMPLES) |
			 (first ? PROF_CUMULATIVE | PROF_BAR : 0),
		.unit = clock ? "seconds" : of->unit,
		.experiment = (long)i,
		.label = of->label,
	};

	column.name = fresh_name(t, of->short_name[0] ? of->short_name : "count", type,
		inclusive ? ".inclusive" : "");
	return column.name ? prof_column_add(t, &column) : -1;
}

static int metric_columns(struct prof_columns *c, unsigned flags)
{
	const struct prof_data *d = c->data;

	for (size_t i = 0; i < d->metrics.count; i++) {
		bool tree = flags & PROF_COLUMNS_TREE;
		bool inclusive = (flags & (PROF_COLUMNS_INCLUSIVE | PROF_COLUMNS_TREE)) &&
				 (d->metrics.data[i].metric->flags & METRIC_STACKS);
		long *own = vec_push(&c->own), *all = vec_push(&c->inclusive);

		if (!own || !all)
			return -1;
		*all = -1;
		if (tree && inclusive) {
			*all = metric_column(c, i, true, false);
			if (*all < 0)
				return -1;
		}
		*own = metric_column(c, i, false, i == 0 && !tree);
		if (*own < 0)
			return -1;
		if (!tree && inclusive) {
			*all = metric_column(c, i, true, false);
			if (*all < 0)
				return -1;
		}
	}
	return 0;
}

static int add_ratio(struct prof_columns *c, size_t over, size_t under, double scale,
	const char *name, const char *unit)
{
	struct prof_ratio *r = vec_push(&c->ratios);
	struct prof_column column = {.kind = PROF_RATIO, .unit = unit, .experiment = -1};

	column.name = name;
	column.label = scale == 1 ? label_join(c->data->metrics.data[over].metric->label,
					    c->data->metrics.data[under].metric->label)
				  : LABEL_ESTIMATED;
	if (!r || !name)
		return -1;
	*r = (struct prof_ratio){prof_column_add(c->table, &column), over, under, scale};
	return r->column < 0 ? -1 : 0;
}

/* Everything by instructions: cycles as CPI, time by way of the clock. */
static int instruction_ratios(struct prof_columns *c, size_t under)
{
	const struct prof_data *d = c->data;
	const char *gi = c->table->columns.data[c->own.data[under]].name;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct experiment_metric *m = d->metrics.data[i].metric;
		bool cycles = m->event == EV_CYCLES || m->event == EV_CYCLES_16;
		double scale = m->flags & METRIC_CLOCK ? prof_clock_hz(d, i) : 1;
		const char *name;

		if (prof_counts_instructions(&d->metrics.data[i]) || scale <= 0 ||
			(m->flags & METRIC_WALL))
			continue;
		if (cycles || (m->flags & METRIC_CLOCK))
			name = fresh_name(c->table, "cpi", NULL, "");
		else
			name = prof_text(
				c->table, "%s/%s", c->table->columns.data[c->own.data[i]].name, gi);
		if (add_ratio(c, i, under, scale, name,
			    cycles || (m->flags & METRIC_CLOCK) ? "cycles an instruction"
								: "for each instruction"))
			return -1;
	}
	return 0;
}

static bool same_metric(const struct prof_metric *a, const struct prof_metric *b)
{
	return a->input != b->input && a->metric->event == b->metric->event &&
	       strcmp(a->metric->name, b->metric->name) == 0 &&
	       strcmp(a->metric->source, b->metric->source) == 0;
}

static int ratios(struct prof_columns *c)
{
	const struct prof_data *d = c->data;
	size_t base = d->metrics.count;

	for (size_t i = d->metrics.count; i-- > 0;)
		if (prof_counts_instructions(&d->metrics.data[i]) &&
			(base == d->metrics.count ||
				!(d->metrics.data[base].metric->flags & METRIC_EXACT) ||
				(d->metrics.data[i].metric->flags & METRIC_EXACT)))
			base = i;
	if (d->request->compare) {
		for (size_t i = 1; i < d->metrics.count; i++)
			for (size_t k = 0; k < i; k++) {
				const char *over = c->table->columns.data[c->own.data[i]].name;
				const char *under = c->table->columns.data[c->own.data[k]].name;

				if (!same_metric(&d->metrics.data[k], &d->metrics.data[i]))
					continue;
				if (add_ratio(c, i, k, 1, prof_text(c->table, "%s/%s", over, under),
					    ""))
					return -1;
				break;
			}
		return 0;
	}
	return base < d->metrics.count ? instruction_ratios(c, base) : 0;
}

static int executions(struct prof_columns *c, const char *name)
{
	const struct prof_data *d = c->data;

	c->executions = -1;
	for (size_t i = 0; name && i < d->metrics.count; i++) {
		const struct experiment_metric *m = d->metrics.data[i].metric;
		struct prof_column column = {.kind = PROF_COUNT,
			.flags = PROF_EXACT,
			.name = name,
			.unit = name,
			.experiment = (long)i,
			.label = m->label};

		if (!prof_counts_instructions(&d->metrics.data[i]) || !(m->flags & METRIC_EXACT))
			continue;
		c->exact = i;
		c->executions = prof_column_add(c->table, &column);
		return c->executions < 0 ? -1 : 0;
	}
	return 0;
}

int prof_columns_init(struct prof_columns *c, struct prof_table *t, const struct prof_data *d,
	unsigned flags, const char *executions_name, struct error *e)
{
	memset(c, 0, sizeof(*c));
	c->table = t;
	c->data = d;
	if (prof_describe(t, d, e))
		return -1;
	if (metric_columns(c, flags) || executions(c, executions_name) || ratios(c)) {
		prof_columns_fini(c);
		return error_nomem(e);
	}
	return 0;
}

void prof_columns_fini(struct prof_columns *c)
{
	vec_fini(&c->own);
	vec_fini(&c->inclusive);
	vec_fini(&c->ratios);
}

static void fill_cell(struct prof_cell *cell, const struct prof_metric *m, uint64_t n)
{
	bool exact = m->metric->flags & METRIC_EXACT;

	cell->samples = n;
	cell->weak = !exact && n && n < PROF_WEAK;
	cell->quantity = exact ? quantity_exact((double)n * m->unit, m->metric->label)
			       : prof_sampled(n, m->unit, m->metric->label);
	cell->percent = m->samples ? 100 * (double)n / (double)m->samples : 0;
}

/* Half of the interval, relative. */
static double spread(const struct quantity *q)
{
	return q->value > 0 ? (q->high - q->low) / (2 * q->value) : 0;
}

static void fill_ratio(struct prof_cell *cell, const struct prof_cell *over,
	const struct prof_cell *under, double scale, enum label label)
{
	const struct quantity *a = &over->quantity, *b = &under->quantity;
	double value, factor, r = spread(a), s = spread(b);

	if (a->label == LABEL_NONE || b->label == LABEL_NONE || b->value <= 0)
		return;
	value = scale * a->value / b->value;
	/* on a logarithmic scale, so that it stays positive */
	factor = exp(sqrt(r * r + s * s));
	/* no sample is a weak figure, too: it says at most how much */
	cell->weak = over->weak || under->weak || (a->value == 0 && a->high > 0);
	cell->quantity = (struct quantity){value, value / factor, value * factor, label};
	if (a->value == 0)
		cell->quantity.high = scale * a->high / b->value;
}

void prof_columns_fill(const struct prof_columns *c, size_t row, const uint64_t *own,
	const uint64_t *inclusive, uint64_t times)
{
	struct prof_cell *cells = prof_cells(c->table, row);

	for (size_t i = 0; i < c->own.count; i++) {
		fill_cell(&cells[c->own.data[i]], &c->data->metrics.data[i], own[i]);
		if (c->inclusive.data[i] >= 0 && inclusive)
			fill_cell(&cells[c->inclusive.data[i]], &c->data->metrics.data[i],
				inclusive[i]);
	}
	if (c->executions >= 0) {
		struct prof_cell *cell = &cells[c->executions];

		cell->quantity = quantity_exact(
			(double)times, c->data->metrics.data[c->exact].metric->label);
		cell->percent = NAN;
	}
	for (size_t i = 0; i < c->ratios.count; i++) {
		const struct prof_ratio *r = &c->ratios.data[i];

		cells[r->column].percent = NAN;
		fill_ratio(&cells[r->column], &cells[c->own.data[r->over]],
			&cells[c->own.data[r->under]], r->scale,
			c->table->columns.data[r->column].label);
	}
}

int prof_columns_total(const struct prof_columns *c)
{
	struct prof_row row = {.role = PROF_TOTAL, .parent = -1};
	size_t metrics = c->data->metrics.count;
	uint64_t *sums = calloc(metrics + 1, sizeof(*sums));
	long at = sums ? prof_row_add(c->table, &row) : -1;

	if (at >= 0) {
		for (size_t i = 0; i < metrics; i++)
			sums[i] = c->data->metrics.data[i].samples;
		prof_columns_fill(c, (size_t)at, sums, sums, 0);
		for (size_t i = 0; i < c->table->columns.count; i++)
			prof_cells(c->table, (size_t)at)[i].cumulative = NAN;
		if (c->executions >= 0)
			prof_cells(c->table, (size_t)at)[c->executions].quantity.label = LABEL_NONE;
	}
	free(sums);
	return at < 0 ? -1 : 0;
}

struct spot { /* table entry */
	struct {
		uint64_t address;
		uint64_t image;
	} key;
	size_t entity;
};

/* A function that begins with its loop: jumps of its own back to its entry are no calls. */
static int take_off_jumps(const struct prof_data *d, const struct prof_sums *s, uint64_t *times)
{
	struct table spots = {
		.entry_size = sizeof(struct spot), .key_size = sizeof(((struct spot *)0)->key)};
	int rc = -1;

	for (size_t i = 0; i < d->places.count; i++) {
		const struct prof_place *p = prof_place_at(d, i);
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
				prof_entity_at(s, to->entity)->key.begin == edge->key.to)
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

uint64_t *prof_executions(const struct prof_columns *c, const struct prof_sums *s)
{
	bool calls = false;

	uint64_t *times = calloc(s->entities.count + 1, sizeof(*times));
	const struct prof_data *d = c->data;

	for (size_t i = 0; times && c->executions >= 0 && i < d->places.count; i++) {
		const struct prof_entity *n = prof_entity_at(s, s->of[i]);
		uint64_t count = d->counts.data[i * d->metrics.count + c->exact];

		if (!n->key.line && n->key.begin &&
			prof_place_at(d, i)->key.address != n->key.begin)
			continue;
		calls |= !n->key.line && n->key.begin;
		if (times[s->of[i]] < count)
			times[s->of[i]] = count;
	}
	if (times && calls && take_off_jumps(d, s, times)) {
		free(times);
		return NULL;
	}
	return times;
}

bool prof_quits(const struct prof_quit *q, size_t index, double percent, double cumulative_before)
{
	return (q->rows && index >= q->rows) || percent < q->percent ||
	       (q->cumulative > 0 && cumulative_before >= q->cumulative);
}
