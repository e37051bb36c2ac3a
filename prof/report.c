/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Experiments become reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "base/terminal.h"
#include "events/numbers.h"
#include "machine/machine.h"
#include "prof.h"
#include "render/prof.h"
#include "report.h"
#include "views.h"

static int draw(
	const struct options *o, const struct prof_table *t, struct strbuf *out, struct error *e)
{
	bool terminal = !o->output && isatty(STDOUT_FILENO);
	const char *no_color = getenv("NO_COLOR");
	struct prof_style style = {.intervals = o->intervals,
		.utf8 = terminal && terminal_utf8(),
		.dim = terminal && (!no_color || !*no_color)};

	if (o->json)
		return render_prof_json(t, out, e);
	if (o->csv)
		render_prof_csv(t, out);
	else if (o->dot)
		render_prof_dot(t, out);
	else
		render_prof_text(t, &style, out);
	return out->failed ? error_nomem(e) : 0;
}

int reporting_damage(const struct loaded *l, struct prof_table *t, struct error *e)
{
	if (!l->damaged)
		return 0;
	t->incomplete = true;
	if (l->damaged > 1)
		prof_note(t, "%zu files are damaged, the first: %s", l->damaged, l->damage);
	else
		prof_note(t, "damaged: %s", l->damage);
	return prof_finish(t, 0, e);
}

prof_view *reporting_view(const struct options *o, const struct view *view)
{
	return o->diff ? view_of_changes(view->make) : view->make;
}

/* One view, from samples to text. */
static int make_view(const struct options *o, const struct loaded *l, const struct view *view,
	const struct prof_request *request, const struct prof_images_search *search,
	struct strbuf *out, bool *incomplete, struct error *e)
{
	struct prof_images *images = NULL;
	struct prof_table table = {0};
	prof_view *make = reporting_view(o, view);
	struct prof_data data;
	int rc = -1;

	if (prof_data_init(&data, request, e))
		return -1;
	images = prof_images_new(&data, search, e);
	if (images) {
		data.names = (struct prof_names){&prof_images_ops, images};
		rc = make(&data, &table, e);
	}
	if (rc == 0)
		rc = reporting_damage(l, &table, e);
	if (rc == 0)
		rc = draw(o, &table, out, e);
	*incomplete = *incomplete || table.incomplete;
	prof_table_fini(&table);
	prof_images_free(images);
	prof_data_fini(&data);
	return rc;
}

int write_out(const struct options *o, const struct strbuf *text, struct error *e)
{
	struct file_out f;

	if (o->output && strcmp(o->output, "-") != 0) {
		if (file_create(&f, o->output, e))
			return -1;
		fwrite(strbuf_text(text), 1, text->length, f.stream);
		return file_commit(&f, e);
	}
	errno = 0;
	if (fwrite(strbuf_text(text), 1, text->length, stdout) != text->length || fflush(stdout))
		return error_sys(e, errno, "cannot write the report");
	return 0;
}

static int all_views(const struct options *o, const struct loaded *l,
	const struct prof_request *request, const struct prof_images_search *search,
	bool *incomplete, struct error *e)
{
	struct strbuf text = {0};
	bool any = false;
	int rc = 0;

	for (size_t i = 0; views[i].name && rc == 0; i++) {
		if (!o->view[i])
			continue;
		any = true;
		rc = make_view(o, l, &views[i], request, search, &text, incomplete, e);
	}
	if (!any)
		rc = make_view(o, l, &views[0], request, search, &text, incomplete, e);
	progress_end(request->progress);
	if (rc == 0)
		rc = write_out(o, &text, e);
	strbuf_fini(&text);
	return rc;
}

/* Cycles from time need a clock.  Runs of time alone do not record it: where they were on this host
 * and instructions were counted as well, it is found out now. */
static double find_clock(const struct loaded *l, const char *host, bool wanted)
{
	bool time = false, instructions = wanted;
	struct machine machine;

	for (size_t i = 0; i < l->experiments.count; i++) {
		const struct experiment *x = &l->experiments.data[i];
		const char *where = experiment_fact_find(x, "host");

		for (size_t k = 0; k < x->metrics.count; k++) {
			const struct experiment_metric *m = &x->metrics.data[k];

			time = time || (m->flags & METRIC_CLOCK && m->label == LABEL_MEASURED &&
					       where && strcmp(where, host) == 0 &&
					       !experiment_fact_find(x, "clock_hz"));
			instructions = instructions || m->event == EV_INSTRUCTIONS;
		}
	}
	if (!time || !instructions || machine_find(NULL, &machine, NULL))
		return 0;
	return (double)machine.model.clock_hz;
}

static bool wants_clock(const struct options *o)
{
	for (size_t i = 0; views[i].name; i++)
		if (o->view[i] && views[i].cycles)
			return true;
	return false;
}

struct prof_images_search reporting_search(const struct options *o, const struct arguments *a)
{
	return (struct prof_images_search){.where = search_of(o), .executable = a->executable};
}

int reporting_init(struct reporting *r, const struct options *o, const struct arguments *a,
	const struct loaded *l, struct error *e)
{
	r->search = reporting_search(o, a);
	r->inputs = calloc(l->experiments.count + 1, sizeof(*r->inputs));
	r->request = (struct prof_request){.inputs = r->inputs,
		.count = l->experiments.count,
		.command = o->line,
		.calipers = o->calipers,
		.only = o->only.data,
		.exclude = o->exclude.data,
		.source_paths = o->sources.data,
		.quit = o->quit,
		.threads = o->threads,
		.inclusive = o->inclusive,
		.inlines = o->inlines,
		.raw = o->raw,
		.intel = o->intel,
		.whole = o->whole,
		.classic = o->classic,
		.core = o->core,
		.compare = o->compare || o->diff || (o->plot && strcmp(o->plot, "sweep") == 0),
		.shares = o->share,
		.sides = {l->sides[0].word, l->sides[1].word}};
	if (!r->inputs)
		return error_nomem(e);
	for (size_t i = 0; i < l->experiments.count; i++)
		r->inputs[i] = (struct prof_input){&l->experiments.data[i], l->names.data[i],
			o->diff && i >= l->sides[0].files};
	return 0;
}

void reporting_clock(struct reporting *r, const struct loaded *l, bool wanted)
{
	if (uname(&r->host))
		return;
	r->request.host = r->host.nodename;
	r->request.host_hz = find_clock(l, r->host.nodename, wanted);
}

void reporting_fini(struct reporting *r)
{
	free(r->inputs);
	r->inputs = NULL;
}

int reporting_arguments(const struct options *o, struct arguments *a, struct error *e)
{
	if (o->diff)
		return arguments_find_sides(a, o->files, e);
	return (o->plot ? arguments_find_any : arguments_find)(a, o->files, e);
}

static int report(const struct options *o, const struct arguments *a, const struct loaded *l,
	bool *incomplete, struct error *e)
{
	struct reporting r = {0};
	struct progress progress;
	int rc = reporting_init(&r, o, a, l, e);

	progress_begin(&progress, true);
	r.request.progress = &progress;
	if (rc == 0) {
		reporting_clock(&r, l, wants_clock(o));
		if (o->export)
			rc = do_export(o, &r.request, &r.search, incomplete, e);
		else if (o->plot)
			rc = do_plot(o, l, &r.request, &r.search, incomplete, e);
		else
			rc = all_views(o, l, &r.request, &r.search, incomplete, e);
	}
	progress_end(&progress);
	reporting_fini(&r);
	return rc;
}

int do_report(const struct options *o)
{
	struct arguments arguments = {0};
	struct loaded loaded = {0};
	struct error e = {0};
	bool incomplete = false;
	int rc;

	rc = reporting_arguments(o, &arguments, &e);
	if (rc == 0)
		rc = load(&loaded, o, &arguments, &e);
	if (rc == 0 && loaded.damaged)
		say("%s; what comes before is shown", loaded.damage);
	if (rc == 0)
		rc = report(o, &arguments, &loaded, &incomplete, &e);
	if (rc)
		say_error(&e);
	loaded_fini(&loaded);
	arguments_fini(&arguments);
	return rc ? EXIT_OURS : incomplete || loaded.damaged ? EXIT_INCOMPLETE : 0;
}
