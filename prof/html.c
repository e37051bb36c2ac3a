/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -html: one page for a browser, with the reports that are of most use. */
#include <stdio.h>

#include "base/file.h"
#include "base/say.h"
#include "page/page.h"
#include "prof.h"
#include "report.h"
#include "report/report_names.h"
#include "report/views.h"

enum { BINS = 100 /* columns of the timeline */ };

struct making {
	const struct options *o;
	struct reporting *r;
	struct prof_request request; /* of the part that is being made */
	struct prof_data data;
	struct page page;
};

/* A part of the page: a report, and its rows unless -q gives others. */
struct part {
	const char *name;
	report_view *make;
	struct prof_quit quit;
	bool (*there)(const struct making *m); /* NULL: always */
	bool inclusive;                        /* where there are call paths */
	bool diff;                             /* of what changed */
};

static bool has_paths(const struct making *m)
{
	for (size_t i = 0; i < m->data.metrics.count; i++)
		if (m->data.metrics.data[i].metric->flags & METRIC_STACKS)
			return true;
	return false;
}

static bool has_times(const struct making *m)
{
	for (size_t i = 0; i < m->data.metrics.count; i++)
		if (profile_timed(&m->data, i))
			return true;
	return false;
}

/* They have no times within the run. */
static bool has_pauses(const struct making *m)
{
	const struct prof_request *r = &m->request;

	for (size_t i = 0; i < r->count && !r->from && !r->to; i++)
		if (r->inputs[i].experiment->pauses.count)
			return true;
	return false;
}

static bool has_changes(const struct making *m)
{
	return m->o->diff;
}

static const struct part parts[] = {
	{.name = "functions", .make = report_procedures, .quit = {.rows = 2000}, .inclusive = true},
	{.name = "timeline", .make = report_timeline, .quit = {.rows = 20}, .there = has_times},
	{.name = "changes", .make = report_diff, .there = has_changes, .diff = true},
	{.name = "waits", .make = report_waits, .there = has_pauses},
	{.name = "source", .make = report_lines, .quit = {.rows = 40}},
	{.name = "instructions", .make = report_dis, .quit = {.rows = 40, .cumulative = 90}},
};

static struct prof_quit html_quit(const struct making *m, const struct part *part)
{
	const struct prof_quit asked = m->o->request.quit;
	bool chosen = asked.rows || asked.percent > 0 || asked.cumulative > 0;

	return chosen ? asked : part->quit;
}

/* The report that a part is. */
static const struct view *html_view(const struct part *part)
{
	for (size_t i = 0; report_views[i].name; i++)
		if (report_view_make(&report_views[i], part->diff) == part->make)
			return &report_views[i];
	return NULL;
}

/* Words of -only that match nothing are said, as by other reports. */
static int html_check_selection(struct making *m, struct error *e)
{
	if (profile_named_init(&m->data, &m->request, m->r->search, e))
		return -1;
	if (!reporting_selects(m->o, &m->data, e))
		m->r->incomplete = true;
	profile_named_fini(&m->data);
	return 0;
}

/* The data are open; they are closed here. */
static int add_table(struct making *m, const struct part *part, struct error *e)
{
	struct report_table table = {0};
	int rc = part->make(&m->data, &table, e);
	const struct view *view = html_view(part);

	if (rc == 0 && view) {
		bool incomplete = table.incomplete;

		report_note_bare(&table, &m->request, view);
		/* Of a selection, some parts may well be empty. */
		if (part->make != report_procedures)
			table.incomplete = incomplete;
		else if (table.incomplete && !incomplete && !m->r->incomplete)
			say("%s", table.notes.data[table.notes.count - 1].value);
	}
	if (rc == 0)
		rc = loaded_note_damage(m->r->l, &table, e);
	if (rc == 0)
		rc = report_names_shorten(&table, m->request.name_limit, e);
	if (rc == 0)
		rc = page_add_table(&m->page, part->name, &table, e);
	m->r->incomplete = m->r->incomplete || table.incomplete;
	report_table_fini(&table);
	profile_named_fini(&m->data);
	return rc;
}

static int add_part(struct making *m, const struct part *part, struct error *e)
{
	m->request.quit = html_quit(m, part);
	m->request.bins = BINS;
	m->request.compare = m->o->compare || (m->o->diff && !part->diff);
	m->request.inclusive = false;
	m->request.threads = false;
	if (profile_named_init(&m->data, &m->request, m->r->search, e))
		return -1;
	m->request.inclusive = part->inclusive && has_paths(m);
	if (!part->there || part->there(m))
		return add_table(m, part, e);
	profile_named_fini(&m->data);
	return 0;
}

/* Functions by what -by asks for; otherwise by process, or by thread if there is one process. */
static int add_groups(struct making *m, struct error *e)
{
	static const char *const names[] = {[PROF_GROUP_THREAD] = "threads",
		[PROF_GROUP_PROCESS] = "processes",
		[PROF_GROUP_COMMAND] = "commands",
		[PROF_GROUP_CPU] = "cpus"};
	static const enum prof_grouping usual[] = {PROF_GROUP_PROCESS, PROF_GROUP_THREAD};
	bool asked = m->o->request.threads;
	struct part part = {.make = report_procedures, .quit = {.rows = 2000}};

	m->request.quit = html_quit(m, &part);
	m->request.inclusive = false;
	m->request.compare = m->o->compare || m->o->diff;
	for (size_t i = 0; i < (asked ? 1 : sizeof(usual) / sizeof(usual[0])); i++) {
		m->request.threads = true;
		m->request.by = asked ? m->o->request.by : usual[i];
		part.name = names[m->request.by];
		if (profile_named_init(&m->data, &m->request, m->r->search, e))
			return -1;
		if (asked || m->data.groups.count > 1)
			return add_table(m, &part, e);
		profile_named_fini(&m->data);
	}
	return 0;
}

static bool is_part(report_view *make)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].make == make)
			return true;
	return false;
}

/* Reports that the user asked for, and that the page does not have anyway. */
static int add_views(struct making *m, struct error *e)
{
	int rc = 0;

	for (size_t i = 0; report_views[i].name && rc == 0; i++) {
		struct part part = {.name = report_views[i].name,
			.make = report_view_make(&report_views[i], m->o->diff),
			.diff = m->o->diff};

		if (m->o->view[i] && !is_part(part.make))
			rc = add_part(m, &part, e);
	}
	return rc;
}

static int add_paths(struct making *m, struct error *e)
{
	const struct export_request wanted = {
		.creator = "prof " PERFEX_VERSION, .progress = m->request.progress};
	struct export_profile *x = NULL;
	int rc;

	m->request.compare = m->o->compare || m->o->diff;
	m->request.threads = false;
	rc = profile_named_init(&m->data, &m->request, m->r->search, e);
	if (rc == 0) {
		x = export_new(&m->data, &wanted, &export_format_paths, e);
		rc = x ? page_add_paths(&m->page, x, e) : -1;
	}
	export_free(x);
	profile_named_fini(&m->data);
	return rc;
}

static int html_write(void *page, FILE *out, struct error *e)
{
	return page_write(page, out, e);
}

int do_html(struct reporting *r, struct error *e)
{
	struct making m = {.o = r->o, .r = r, .request = *r->request};
	int rc = page_begin(&m.page, "prof " PERFEX_VERSION, e);

	if (rc == 0)
		rc = html_check_selection(&m, e);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++)
		rc = add_part(&m, &parts[i], e);
	if (rc == 0)
		rc = add_groups(&m, e);
	if (rc == 0)
		rc = add_views(&m, e);
	if (rc == 0)
		rc = add_paths(&m, e);
	progress_end(r->request->progress);
	if (rc == 0)
		rc = file_output(r->o->html, stdout, html_write, &m.page, e);
	page_fini(&m.page);
	return rc;
}
