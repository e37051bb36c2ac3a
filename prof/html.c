/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -html: one page for a browser, with the reports that are of most use. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/say.h"
#include "page/page.h"
#include "prof.h"
#include "report/report_views.h"

/* A part of the page: a report, and its rows unless -q gives others. */
static const struct part {
	const char *name;
	report_view *make;
	struct prof_quit quit;
	bool inclusive; /* where there are call paths */
	bool diff;      /* only then */
	bool times;     /* where samples have them */
} parts[] = {
	{.name = "functions", .make = report_procedures, .quit = {.rows = 2000}, .inclusive = true},
	{.name = "timeline", .make = report_timeline, .quit = {.rows = 20}, .times = true},
	{.name = "changes", .make = report_diff, .diff = true},
	{.name = "source", .make = report_lines, .quit = {.rows = 40}},
	{.name = "instructions", .make = report_dis, .quit = {.rows = 40, .cumulative = 90}},
};

enum { BINS = 100 /* columns of the timeline */ };

struct making {
	const struct options *o;
	const struct prof_images_search *search;
	struct prof_request request;
	struct prof_data data;
	struct prof_images *images;
	struct page page;
};

static int html_open_data(struct making *m, struct error *e)
{
	if (profile_data_init(&m->data, &m->request, e))
		return -1;
	m->images = profile_images_new(&m->data, m->search, e);
	if (!m->images)
		return -1;
	m->data.names = (struct prof_names){&profile_images_ops, m->images};
	return 0;
}

static void html_close_data(struct making *m)
{
	profile_images_free(m->images);
	profile_data_fini(&m->data);
	m->images = NULL;
}

static bool has_paths(const struct prof_data *d)
{
	for (size_t i = 0; i < d->metrics.count; i++)
		if (d->metrics.data[i].metric->flags & METRIC_STACKS)
			return true;
	return false;
}

static bool has_times(const struct prof_data *d)
{
	for (size_t i = 0; i < d->metrics.count; i++)
		if (profile_timed(d, i))
			return true;
	return false;
}

static int add_part(struct making *m, const struct part *part, const struct loaded *l,
	bool *incomplete, struct error *e)
{
	const struct prof_quit asked = m->o->request.quit;
	bool chosen = asked.rows || asked.percent > 0 || asked.cumulative > 0;
	struct report_table table = {0};
	int rc;

	m->request.quit = chosen ? asked : part->quit;
	m->request.bins = BINS;
	m->request.compare = m->o->compare || (m->o->diff && !part->diff);
	m->request.inclusive = false;
	rc = html_open_data(m, e);
	m->request.inclusive = rc == 0 && part->inclusive && has_paths(&m->data);
	if (rc == 0 && part->times && !has_times(&m->data)) {
		html_close_data(m);
		return 0;
	}
	if (rc == 0)
		rc = part->make(&m->data, &table, e);
	if (rc == 0)
		rc = loaded_note_damage(l, &table, e);
	if (rc == 0)
		rc = page_add_table(&m->page, part->name, &table, e);
	*incomplete = *incomplete || table.incomplete;
	report_table_fini(&table);
	html_close_data(m);
	return rc;
}

static int add_paths(struct making *m, struct error *e)
{
	const struct export_request wanted = {
		.creator = "prof " PERFEX_VERSION, .progress = m->request.progress};
	struct export_profile *x = NULL;
	int rc;

	m->request.compare = m->o->compare || m->o->diff;
	rc = html_open_data(m, e);
	if (rc == 0) {
		x = export_new(&m->data, &wanted, &export_format_paths, e);
		rc = x ? page_add_paths(&m->page, x, e) : -1;
	}
	export_free(x);
	html_close_data(m);
	return rc;
}

static int html_write(struct making *m, struct error *e)
{
	struct file_out f;

	if (strcmp(m->o->html, "-") == 0)
		return page_write(&m->page, stdout, e);
	if (file_create(&f, m->o->html, e))
		return -1;
	if (page_write(&m->page, f.stream, e)) {
		file_abandon(&f);
		return -1;
	}
	return file_commit(&f, e);
}

int do_html(const struct options *o, const struct loaded *l, const struct prof_request *request,
	const struct prof_images_search *search, bool *incomplete, struct error *e)
{
	struct making m = {.o = o, .search = search, .request = *request};
	int rc = page_begin(&m.page, "prof " PERFEX_VERSION, e);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++)
		if (o->diff || !parts[i].diff)
			rc = add_part(&m, &parts[i], l, incomplete, e);
	if (rc == 0)
		rc = add_paths(&m, e);
	progress_end(request->progress);
	if (rc == 0)
		rc = html_write(&m, e);
	page_fini(&m.page);
	return rc;
}
