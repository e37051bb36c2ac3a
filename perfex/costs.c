/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -t: the current cost table. */
#include "costs/costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "perfex.h"

static const char *const head_columns[] = {
	"name", "processor", "clock_hz", "date", "method", "origin", NULL};
static const char *const columns[] = {"number", "short", "name", "typical", "minimum", "maximum",
	"unit", "label", "source", NULL};

void cost_cells(struct sheet *s, const struct cost *c, const char *label)
{
	sheet_number(s, c->typical);
	sheet_number(s, c->minimum);
	sheet_number(s, c->maximum);
	sheet_text(s, c->unit == COST_NS ? "ns" : "cycles");
	sheet_text(s, label);
}

static int for_scripts(
	const struct options *o, const struct cost_table *t, struct strbuf *text, struct error *e)
{
	struct sheet head = {.columns = head_columns}, rows = {.columns = columns};
	size_t count;
	const struct event *table = event_table(&count);
	int rc = 0;

	sheet_text(&head, t->name);
	sheet_text(&head, t->processor);
	sheet_number(&head, t->clock_hz);
	sheet_text(&head, t->date);
	sheet_text(&head, t->method);
	sheet_text(&head, t->origin);
	for (size_t i = 0; i < count; i++) {
		const struct cost *c = &t->cost[table[i].number];
		char from[COST_SOURCES_TEXT];

		if (!c->known)
			continue;
		sheet_number(&rows, table[i].number);
		sheet_text(&rows, table[i].short_name);
		sheet_text(&rows, table[i].name);
		cost_cells(&rows, c, "estimated");
		cost_sources_text(t, c, from);
		sheet_text(&rows, from);
	}
	if (o->json)
		rc = sheet_document("perfex.costs/1", &head, "costs", &rows, text, e);
	else
		sheet_csv(&rows, text);
	sheet_fini(&head);
	sheet_fini(&rows);
	return rc;
}

void offer_calibration(const struct options *o, const struct machine *m, const struct cost_table *t)
{
	struct error ignored;
	char *path;
	FILE *f;

	/* A table of the processor's family fits it; so does what the user gave. */
	if (o->quiet || o->cost_file || (o->machine && strcmp(o->machine, "host") != 0) ||
		strcmp(m->family, t->name) == 0 || costs_measured_here(t, m->description))
		return;
	path = home_path_make(HOME_CACHE, "calibration-offered", &ignored);
	f = path ? fopen(path, "wxe") : NULL; /* it exists: was offered */
	if (f) {
		fclose(f);
		say("no table of costs fits this processor (%s serves): perfex -calibrate "
		    "measures one in half a minute",
			t->name);
	}
	free(path);
}

int do_print_costs(const struct options *o)
{
	struct cost_table table;
	struct machine machine;
	struct strbuf text = {0};
	struct error e = {0};
	int rc = machine_find_clock(o->machine, o->clock, &machine, &e);

	if (rc == 0)
		rc = find_costs(o, &machine, o->machine != NULL, &table, &e);
	if (rc == 0 && (o->json || o->csv))
		rc = for_scripts(o, &table, &text, &e);
	else if (rc == 0)
		costs_print(&table, &text);
	if (rc == 0)
		rc = shown_output(o->output, stdout, &text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}
