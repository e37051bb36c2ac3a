/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -plot: pictures of lines, costs and sweeps. */
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/shown.h"
#include "base/terminal.h"
#include "picture/picture_costs.h"
#include "picture/picture_lines.h"
#include "picture/picture_sweep.h"
#include "picture/picture_timeline.h"
#include "picture/plot.h"
#include "prof.h"
#include "report/counts_experiment.h"
#include "report/report_names.h"
#include "report/report_views.h"

/* The data for a picture, which must outlive it. */
struct drawing {
	const struct options *o;
	const struct loaded *l;
	const struct prof_request *request;
	struct prof_request timeline; /* the same for that picture */
	const struct prof_images_search *search;
	struct picture picture;
	struct prof_data data;
	struct report_table table;
	struct counts_costs costs; /* of experiments */
};

static int need_experiments(const struct drawing *g, struct error *e)
{
	if (g->l->experiments.count && !g->l->counts.count)
		return 0;
	error_set(e, ERR_CONFLICT, "%s holds counts of a whole run, not samples",
		g->l->counts.count ? g->l->count_names.data[0] : "no file");
	return error_hint(e, "record samples with ssrun, or draw counts with -plot costs");
}

static int open_data(struct drawing *g, struct error *e)
{
	return profile_named_init(&g->data, g->request, g->search, e);
}

static int draw_lines(struct drawing *g, struct error *e)
{
	if (need_experiments(g, e) || open_data(g, e) || report_lines(&g->data, &g->table, e))
		return -1;
	return picture_lines(&g->picture, &g->data, &g->table, e);
}

/* Names without directories, if those are all different. */
static void shorten(const char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(basename(names[i]), basename(names[k])) == 0)
				return;
	for (size_t i = 0; i < count; i++)
		names[i] = basename(names[i]);
}

/* Results of perfex as reports, and all experiments together as one; *count of them. */
static int gather(struct drawing *g, const struct counts_report **reports, const char **names,
	size_t *count, struct error *e)
{
	const struct loaded *l = g->l;

	for (*count = 0; *count < l->counts.count; ++*count) {
		reports[*count] = l->counts.data[*count].report;
		names[*count] = l->count_names.data[*count];
	}
	if (!l->experiments.count)
		return 0;
	if (counts_of_experiment(&g->costs, &l->experiments.data[0], e))
		return -1;
	for (size_t i = 1; i < l->experiments.count; i++)
		if (counts_add_experiment(&g->costs, &l->experiments.data[i], e))
			return -1;
	reports[*count] = &g->costs.report;
	names[(*count)++] = l->names.data[0];
	return 0;
}

static int draw_costs(struct drawing *g, struct error *e)
{
	size_t n = g->l->counts.count + 1;
	const struct counts_report **reports = calloc(n, sizeof(*reports));
	const char **names = calloc(n, sizeof(*names));
	int rc = -1;

	if (!reports || !names)
		error_nomem(e);
	else if (gather(g, reports, names, &n, e) == 0) {
		shorten(names, n);
		rc = picture_costs(&g->picture, reports, n > 1 ? names : NULL, n, e);
	}
	free(reports);
	free(names);
	return rc;
}

static int draw_sweep(struct drawing *g, struct error *e)
{
	const struct picture_sweep_request r = {.x = g->o->x,
		.y = g->o->y,
		.rows = g->o->request.quit.rows,
		.filtered = g->o->only.count > 1 || g->o->exclude.count > 1};

	if (g->l->experiments.count && g->l->counts.count)
		return error_set(e, ERR_CONFLICT,
			"a sweep needs experiments of ssrun or results of perfex, not both");
	if (g->l->counts.count)
		return picture_sweep_counts(&g->picture, &r, g->l->counts.data,
			(const char *const *)g->l->count_names.data, g->l->counts.count, e);
	return open_data(g, e) || picture_sweep(&g->picture, &r, &g->data, e) ? -1 : 0;
}

/* As many areas as colours that differ. */
static int draw_timeline(struct drawing *g, struct error *e)
{
	enum { AREAS = 7, NAMES = 40 };

	g->timeline = *g->request;
	g->timeline.bins = PICTURE_TIMELINE_MOST;
	if (!g->timeline.quit.rows || g->timeline.quit.rows > AREAS)
		g->timeline.quit.rows = AREAS;
	g->request = &g->timeline;
	if (need_experiments(g, e) || open_data(g, e) || report_timeline(&g->data, &g->table, e) ||
		report_names_shorten(&g->table, NAMES, e))
		return -1;
	return picture_timeline(&g->picture, &g->data, &g->table, e);
}

static const struct {
	const char *name;
	int (*draw)(struct drawing *g, struct error *e);
} plots[] = {
	{"lines", draw_lines},
	{"-", draw_lines},
	{"costs", draw_costs},
	{"sweep", draw_sweep},
	{"timeline", draw_timeline},
};

static int make(struct drawing *g, struct error *e)
{
	for (size_t i = 0; i < sizeof(plots) / sizeof(plots[0]); i++)
		if (strcmp(g->o->plot, plots[i].name) == 0)
			return plots[i].draw(g, e);
	return error_set(e, ERR_PARSE, "-plot: unknown kind '%s'", g->o->plot);
}

static void fini(struct drawing *g)
{
	picture_fini(&g->picture);
	report_table_fini(&g->table);
	profile_named_fini(&g->data);
	free(g->costs.report.events);
}

int do_plot(struct reporting *r, struct error *e)
{
	const struct options *o = r->o;
	struct drawing g = {.o = o, .l = r->l, .request = r->request, .search = r->search};
	const struct plot_output to = {
		o->output ? o->output : "-", terminal_columns(), terminal_utf8()};
	struct strbuf script = {0}, text = {0};
	int rc = plot_check(to.path, e);

	if (rc == 0)
		rc = make(&g, e);
	if (rc == 0)
		rc = plot_script(&g.picture, &to, &script, e);
	if (rc == 0)
		rc = plot_draw(&to, &script, &text, e);
	if (rc == 0 && strcmp(to.path, "-") == 0)
		rc = shown_output(o->output, stdout, &text, e);
	for (size_t i = 0; i < g.table.notes.count && g.table.incomplete; i++)
		say("%s", g.table.notes.data[i].value);
	r->incomplete = r->incomplete || g.table.incomplete;
	strbuf_fini(&script);
	strbuf_fini(&text);
	fini(&g);
	return rc;
}
