/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costs/costs.h"
#include "events/numbers.h"
#include "machine/machine.h"
#include "report/report_columns.h"

enum { CAUSES_SHOWN = 2 };
#define LITTLE     0.001 /* of modelled waits */
#define SHOWN_FROM 0.01  /* cycles that it may have cost, for each instruction */

/* Of the machine that was modelled, by its name; else of a usual one; else nothing is known. */
static int beside_costs(const struct experiment_metric *m, struct cost_table *t, struct error *e)
{
	struct machine machine;

	memset(t, 0, sizeof(*t));
	if (m->note && m->note[0] && machine_find(m->note, &machine, e) == 0 &&
		costs_ours(machine.costs, t, e) == 0)
		return 0;
	if (e->code == ERR_NOMEM)
		return -1;
	memset(t, 0, sizeof(*t));
	return costs_ours("generic", t, e) && e->code == ERR_NOMEM ? -1 : 0;
}

static bool may_matter(const struct prof_metric *m, const struct cost_table *t, double instructions)
{
	const struct cost *c;
	double most;

	if (m->metric->event < 0 || m->metric->event >= EVENT_LIMIT)
		return true;
	c = &t->cost[m->metric->event];
	most = c->unit == COST_NS && t->clock_hz > 0 ? c->maximum * 1e-9 * t->clock_hz : c->maximum;
	return c->known && (double)m->samples * most >= SHOWN_FROM * instructions;
}

int report_beside_choose(const struct prof_data *d, bool *shown, struct error *e)
{
	struct cost_table costs;
	bool known = false;
	double instructions = 0;
	struct error why = {0};

	for (size_t i = 0; i < d->metrics.count; i++)
		if (profile_second_run(d, i) && profile_counts_instructions(&d->metrics.data[i]))
			instructions = (double)d->metrics.data[i].samples;
	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];

		shown[i] = true;
		if (!profile_second_run(d, i))
			continue;
		if (!known && beside_costs(m->metric, &costs, &why)) {
			*e = why;
			return -1;
		}
		known = true;
		shown[i] = !profile_counts_instructions(m) && may_matter(m, &costs, instructions);
	}
	return 0;
}

/* ---- waits ---- */

enum { BESIDE_CYCLES, BESIDE_WAITS, BESIDE_COLUMNS };

void report_beside_find(struct report_beside *b, struct report_table *t, const struct prof_data *d)
{
	memset(b, 0, sizeof(*b));
	b->any = !d->request->compare && profile_has_waits(d);
	if (b->any)
		t->failed |= profile_modelled_init(&b->modelled, d) != 0;
}

void report_beside_columns(struct report_beside *b, struct report_table *t)
{
	static const struct report_column columns[BESIDE_COLUMNS] = {
		[BESIDE_CYCLES] = {.kind = REPORT_COUNT,
			.flags = REPORT_EXACT | REPORT_PERCENT,
			.name = "modelled",
			.heading = "modelled wait",
			.unit = "cycles",
			.experiment = -1,
			.label = LABEL_MODEL},
		[BESIDE_WAITS] = {.kind = REPORT_TEXT,
			.name = "waits",
			.heading = "modelled causes"},
	};

	if (b->any)
		b->column = report_columns_add(t, columns, BESIDE_COLUMNS);
}

void report_beside_init(struct report_beside *b, struct report_table *t, const struct prof_data *d)
{
	report_beside_find(b, t, d);
	report_beside_columns(b, t);
}

const char *report_beside_text(struct report_table *t, const struct prof_waited *w)
{
	char text[128];

	if (!w)
		return NULL;
	profile_waited_text(w, CAUSES_SHOWN, text, sizeof(text));
	return report_text(t, "%s", text);
}

void report_beside_fill(const struct report_beside *b, struct report_table *t, size_t row,
	const struct prof_waited *w)
{
	struct report_cell *cells;

	if (!b->any || !w || !(w->all > 0) || t->failed)
		return;
	cells = report_cells(t, row) + b->column;
	cells[BESIDE_CYCLES] = (struct report_cell){.quantity = quantity_exact(w->all, LABEL_MODEL),
		.percent = report_percent(w->all, b->modelled.all),
		.cumulative = NAN};
	if (w->all > 0)
		cells[BESIDE_WAITS].text = report_beside_text(t, w);
}

static bool has_little(const struct report_beside *b, const struct prof_data *d,
	const struct prof_sums *s, uint32_t entity)
{
	for (size_t i = 0; i < s->metrics; i++)
		if (s->own[entity * s->metrics + i] && !profile_second_run(d, i))
			return false;
	return !b->of || b->of[entity].all < LITTLE * b->modelled.all;
}

size_t report_beside_drop(struct report_table *t, const struct report_beside *b,
	const struct prof_data *d, const struct prof_sums *s, struct report_rank *ranks,
	size_t count)
{
	size_t kept = 0;
	bool beside = false;

	for (size_t i = 0; i < d->metrics.count; i++)
		beside = beside || profile_second_run(d, i);
	if (!beside || s->inclusive || d->request->compare)
		return count;
	for (size_t i = 0; i < count; i++)
		if (!has_little(b, d, s, ranks[i].entity))
			ranks[kept++] = ranks[i];
	report_left_out(t, count - kept, "row",
		"without samples, and with less than a thousandth of modelled waits");
	return kept;
}

void report_beside_fini(struct report_beside *b)
{
	if (b->any)
		profile_modelled_fini(&b->modelled);
	free(b->of);
	memset(b, 0, sizeof(*b));
}
