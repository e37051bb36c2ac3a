/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -calibrate: measures this machine's costs into the user's cost table, or -o FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "base/say.h"
#include "base/shown.h"
#include "costs/costs_calibrate.h"
#include "perfex.h"

enum { SECONDS_AT_MOST = 25 };

/* $XDG_CONFIG_HOME/perfex/costs, its directory made if need be.  To be freed by the caller. */
static char *user_table(struct error *e)
{
	char *path = home_path_make(HOME_CONFIG, "costs", e);

	if (!path && e->code != ERR_NOMEM)
		error_hint(e, "name the file to write: perfex -calibrate -o FILE");
	return path;
}

#define SCATTERS   0.05 /* of a cost: beyond, two calibrations may differ */
#define NEGLIGIBLE 0.5  /* cycles: what varies by less, hardly counts */

static bool scatters(const struct cost *cost, double spread)
{
	return spread > SCATTERS && spread * cost->typical > NEGLIGIBLE;
}

static void say_scatter(const struct calibration *c)
{
	struct strbuf names = {0};

	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *cost = &c->table.cost[i];

		if (!cost->known || !c->row[i].how || !scatters(cost, c->row[i].spread))
			continue;
		strbuf_printf(&names, "%s%s by %.0f%%", names.length ? ", " : "",
			event_by_number(i)->short_name, 100 * c->row[i].spread);
	}
	if (names.length)
		shown_print("These rows scatter between rounds: %s.", strbuf_text(&names));
	strbuf_fini(&names);
}

static void summary(const struct calibration *c, const char *path)
{
	shown_print("%-46s %10s %10s %10s  %-6s %7s", "event", "typical", "minimum", "maximum",
		"unit", "spread");
	int measured = 0, known = 0;

	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *cost = &c->table.cost[i];
		const struct event *event = event_by_number(i);

		known += cost->known && event;
		if (!cost->known || !event || !c->row[i].how)
			continue;
		measured++;
		shown_print("%3d %-42.42s %10.2f %10.2f %10.2f  %-6s %6.1f%%", i, event->name,
			cost->typical, cost->minimum, cost->maximum,
			cost->unit == COST_NS ? "ns" : "cycles", 100 * c->row[i].spread);
	}
	shown_print("Measured on %s at %.2f GHz: %d rows of %d; the others, and what the file says "
		    "of bounds,",
		c->table.processor, c->table.clock_hz / 1e9, measured, known);
	shown_print("are the processor family's.  Written to %s.", path);
	say_scatter(c);
}

static int for_scripts(
	const struct options *o, const struct calibration *c, const char *path, struct error *e)
{
	static const char *const head_columns[] = {"processor", "clock_hz", "written", NULL};
	static const char *const columns[] = {"number", "short", "name", "typical", "minimum",
		"maximum", "unit", "label", "spread", "scatters", "how", NULL};
	struct sheet head = {.columns = head_columns}, rows = {.columns = columns};
	struct strbuf text = {0};
	int rc = 0;

	sheet_text(&head, c->table.processor);
	sheet_number(&head, c->table.clock_hz);
	sheet_text(&head, path);
	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct event *event = event_by_number(i);

		if (!c->table.cost[i].known || !event || !c->row[i].how)
			continue;
		sheet_number(&rows, i);
		sheet_text(&rows, event->short_name);
		sheet_text(&rows, event->name);
		cost_cells(&rows, &c->table.cost[i], "measured");
		sheet_number(&rows, c->row[i].spread);
		sheet_bool(&rows, scatters(&c->table.cost[i], c->row[i].spread));
		sheet_text(&rows, c->row[i].how);
	}
	if (o->json)
		rc = sheet_document("perfex.calibration/1", &head, "costs", &rows, &text, e);
	else
		sheet_csv(&rows, &text);
	if (rc == 0)
		rc = shown_output(NULL, stdout, &text, e);
	strbuf_fini(&text);
	sheet_fini(&head);
	sheet_fini(&rows);
	return rc;
}

int do_calibrate(const struct options *o)
{
	struct calibration c;
	struct machine host;
	struct progress progress;
	struct strbuf text = {0};
	struct error e = {0};
	const char *path = o->output;
	char *own = NULL;
	int status = EXIT_OURS;

	if (!path) {
		path = own = user_table(&e);
		if (!path)
			goto out;
	}
	if (machine_find("host", &host, &e))
		goto out;
	progress_begin(&progress, !o->quiet);
	if (calibrate(&host, SECONDS_AT_MOST, &c, &progress, &e)) {
		progress_end(&progress);
		goto out;
	}
	progress_end(&progress);
	calibrate_print(&c, &text);
	if (shown_output(path, stdout, &text, &e))
		goto out;
	if ((o->json || o->csv) && for_scripts(o, &c, path, &e))
		goto out;
	if (strcmp(path, "-") != 0 && !o->quiet && !o->json && !o->csv)
		summary(&c, path);
	status = 0;
out:
	if (e.code)
		say_error(&e);
	strbuf_fini(&text);
	free(own);
	return status;
}
