/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -list: the experiments, with their periods and what samples them on this machine.  -completion:
 * what arguments may be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "experiment/experiment.h"
#include "machine/machine.h"
#include "ssrun.h"

/* An experiment as it would be here. */
struct here {
	const char *source; /* NULL: nothing samples it here */
	uint64_t period;
	bool exact;
};

static struct here find_here(
	const struct options *o, const struct machine *machine, const struct collect_experiment *x)
{
	struct collect_metrics m = {0};
	struct error reason = {0}, e = {0};
	struct here here = {.exact = x->flags & METRIC_EXACT};

	if (collect_metrics_add(&m, x, false, &e) == 0 &&
		collect_choose(&m, o->source, machine, o->pid || o->all, &reason, &e) == 0) {
		here.source = source_names[m.list.data[0].source];
		here.period = m.list.data[0].period;
	}
	collect_metrics_fini(&m);
	return here;
}

static const char *unit_of(const struct collect_experiment *x)
{
	return x->flags & METRIC_CLOCK ? "ns" : x->event->unit;
}

static void list_one(
	const struct options *o, const struct machine *machine, const struct collect_experiment *x)
{
	struct here here = find_here(o, machine, x);
	char period[32] = "-";

	if (here.source && here.exact)
		snprintf(period, sizeof(period), "exact");
	else if (here.source)
		snprintf(period, sizeof(period), "%llu", (unsigned long long)here.period);
	shown_print("%-18s %14s %-12s %-6s %s", x->name, period, unit_of(x),
		here.source ? here.source : "-", x->help);
}

static void row(struct sheet *s, const struct options *o, const struct machine *machine,
	const struct collect_experiment *x)
{
	struct here here = find_here(o, machine, x);

	sheet_text(s, x->name);
	if (here.source)
		sheet_number(s, (double)here.period);
	else
		sheet_none(s);
	sheet_text(s, unit_of(x));
	sheet_text(s, here.source);
	sheet_bool(s, here.exact);
	sheet_bool(s, x->flags & METRIC_STACKS);
	sheet_text(s, x->event ? x->event->short_name : NULL);
	sheet_text(s, x->help);
}

static int put(const struct strbuf *text, struct error *e)
{
	if (text->failed)
		return error_nomem(e);
	if (shown_write(stdout, text) || fflush(stdout))
		return error_sys(e, errno, "cannot write the list");
	return 0;
}

static int for_scripts(const struct options *o, const struct machine *machine, struct error *e)
{
	static const char *const columns[] = {
		"name", "period", "unit", "source", "exact", "stacks", "event", "help", NULL};
	struct sheet rows = {.columns = columns};
	struct strbuf text = {0};
	struct collect_experiment x;
	int rc = 0;

	for (size_t i = 0; collect_experiment_at(i, &x) == 0; i++)
		row(&rows, o, machine, &x);
	if (rows.failed)
		rc = error_nomem(e);
	else if (o->json)
		rc = sheet_document("ssrun.list/1", NULL, "experiments", &rows, &text, e);
	else
		sheet_csv(&rows, &text);
	if (rc == 0)
		rc = put(&text, e);
	strbuf_fini(&text);
	sheet_fini(&rows);
	return rc;
}

int do_list(const struct options *o)
{
	struct collect_experiment x;
	struct machine machine;
	struct error e = {0};

	if (machine_find_clock(o->machine,
		    o->clock ? o->clock : machine_clocks[MODEL_CLOCK_FIRST_ORDER], &machine, &e))
		return say_failure(&e);
	if (o->json || o->csv)
		return for_scripts(o, &machine, &e) ? say_failure(&e) : 0;
	shown_print("%-18s %14s %-12s %-6s %s", "experiment", "period", "of", "source", "samples");
	for (size_t i = 0; collect_experiment_at(i, &x) == 0; i++)
		list_one(o, &machine, &x);
	shown_print("%-18s %14s %-12s %-6s %s", "prof_hwc", "any", "events", "",
		"-e EVENT:PERIOD, or event and period of the environment");
	return 0;
}

static void print_machine(const char *name, void *out)
{
	option_print_word(out, "MACHINE", name, "");
}

int do_completion(void)
{
	struct whole_table *table = whole_table();
	struct strbuf text = {0};
	struct error e = {0};
	size_t count;
	const struct event *events = event_table(&count);
	int rc;

	if (table)
		option_print(table->rows, &text);
	for (size_t i = 0; i < count; i++)
		option_print_word(&text, "EVENT", events[i].short_name, events[i].name);
	option_print_words(&text, "SOURCE", source_names);
	option_print_words(&text, "CLOCK", machine_clocks);
	option_print_words(&text, "HOW", stack_names);
	print_machine("host", &text);
	rc = table ? machine_walk(print_machine, &text, &e) : error_nomem(&e);
	strbuf_puts(&text, "command\tmonitor\n");
	option_print(monitor_options, &text);
	rc = rc || put(&text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	free(table);
	return rc ? EXIT_OURS : 0;
}
