/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes reports of experiments. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/habits.h"
#include "base/say.h"
#include "base/shown.h"
#include "base/terminal.h"
#include "image/image.h"
#include "prof.h"
#include "profile/entities.h"
#include "render/prof.h"
#include "report.h"
#include "report/report_names.h"

/* Columns that rows have to fit; 0: any number. */
static size_t room_for_rows(const struct options *o)
{
	if (o->width)
		return o->width;
	return o->output || !isatty(STDOUT_FILENO) ? 0 : terminal_columns();
}

static struct prof_style style_of(const struct options *o)
{
	bool terminal = !o->output && isatty(STDOUT_FILENO);
	const char *no_color = getenv("NO_COLOR");

	return (struct prof_style){.intervals = o->intervals,
		.utf8 = terminal && terminal_utf8(),
		.head = o->head,
		.width = o->names && strcmp(o->names, "full") == 0 ? 0 : room_for_rows(o),
		.dim = terminal && (!no_color || !*no_color)};
}

/* Names that do not fit are shortened, so that rows need not be cut within them. */
static int shorten(const struct reporting *r, struct report_table *t, struct error *e)
{
	struct prof_style style = style_of(r->o);
	size_t limit = r->request->name_limit, room = render_prof_name_room(t, &style);

	return report_names_shorten(t, limit && room < limit ? room : limit, e);
}

static int draw(
	const struct options *o, const struct report_table *t, struct strbuf *out, struct error *e)
{
	struct prof_style style = style_of(o);

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

/* The option that has this word of -only. */
static const char *asked_by(const struct options *o, const char *word)
{
	for (size_t i = 0; i < o->about.count; i++)
		for (size_t k = 0; o->about.data[i] == word && report_views[k].name; k++)
			if (o->view[k] && report_views[k].flags & (VIEW_ABOUT | VIEW_ALONE))
				return report_views[k].name;
	return "only";
}

/* The image that has a function of this name, though no sample is in it; NULL: none. */
static const char *image_with(const struct prof_data *d, const char *name)
{
	for (uint32_t i = 0; i < d->images.count; i++) {
		struct image *file = profile_names_file(&d->names, i);

		if (file && image_symbol_find(file, name))
			return d->images.data[i].name;
	}
	return NULL;
}

/* The function that one of this name was inlined in, where a sample was; NULL: none. */
static const char *inlined_in(const struct prof_data *d, const char *glob, const char **image)
{
	enum { DEPTH = 32 };
	struct image_frame frames[DEPTH];

	for (size_t i = 0; i < d->places.count; i++) {
		const struct profile_place *p = profile_place_at(d, i);
		size_t n = d->names.ops->inlines(
			d->names.context, p->key.image, p->key.address, frames, DEPTH);

		*image = d->images.data[p->key.image].name;
		for (size_t k = 0; k + 1 < n && k < DEPTH; k++)
			if (frames[k].name && fnmatch(glob, frames[k].name, 0) == 0)
				return profile_string_at(d, d->name[i].inlined
								    ? d->name[i].real
								    : d->name[i].procedure);
	}
	return NULL;
}

/* Has it samples, all of which -inlines gives to other functions? */
static bool is_all_inlines(const struct prof_data *d, const char *glob)
{
	for (size_t i = 0; d->request->inlines && i < d->places.count; i++)
		if (d->name[i].inlined &&
			fnmatch(glob, profile_string_at(d, d->name[i].real), 0) == 0)
			return true;
	return false;
}

static void say_no_sample(
	const struct prof_data *d, const char *by, const char *name, const char *hint)
{
	const char *image, *in = inlined_in(d, name, &image);

	if (in)
		say("-%s: '%s' is inlined in '%s' of %s: %s", by, name, in, image,
			d->request->inlines ? "its samples are of what is inlined in it in turn"
					    : "-inlines selects it there");
	else if (is_all_inlines(d, name))
		say("-%s: all samples of '%s' are of what is inlined in it: without -inlines they "
		    "are its own",
			by, name);
	else if ((image = image_with(d, name)))
		say("-%s: no sample was in '%s' of %s: ssrun -ideal counts its executions", by,
			name, image);
	else
		say("-%s: no function or image matches '%s'%s%s%s", by, name,
			strcmp(by, "only") != 0 && strcmp(by, "exclude") != 0
				? ", and no file has that name"
				: "",
			*hint ? ": " : "; prof without this word lists them", hint);
}

static size_t say_unmatched(const struct options *o, const struct prof_data *d, const char *option,
	const char *const *globs)
{
	size_t unmatched = 0;
	char hint[512];

	for (; globs && *globs; globs++) {
		if (!profile_unmatched(d, *globs, hint, sizeof(hint)))
			continue;
		say_no_sample(d, option ? option : asked_by(o, *globs), *globs, hint);
		unmatched++;
	}
	return unmatched;
}

bool reporting_selects(const struct options *o, struct prof_data *d, struct error *e)
{
	const char *const *only = d->request->only;
	size_t count = 0;

	if (!(only && *only) && !(d->request->exclude && *d->request->exclude))
		return true;
	if (!d->name && profile_data_name(d, false, e))
		return false;
	while (only && only[count])
		count++;
	say_unmatched(o, d, "exclude", d->request->exclude);
	return say_unmatched(o, d, NULL, only) < count || !count;
}

/* One report, from samples to text. 1: -only selects nothing, and there is no text. */
static int add_report(
	struct reporting *r, const struct view *view, struct strbuf *out, struct error *e)
{
	const struct options *o = r->o;
	bool text = !o->json && !o->csv && !o->dot, shown = true;
	struct report_table table = {0};
	report_view *make = report_view_make(view, o->diff);
	struct prof_data data;
	int rc;

	if (profile_named_init(&data, r->request, r->search, e))
		return -1;
	rc = make(&data, &table, e);
	if (rc == 0)
		rc = loaded_note_damage(r->l, &table, e);
	if (rc == 0 && !r->incomplete) /* of several reports, the first one says it */
		shown = reporting_selects(o, &data, e);
	table.incomplete = table.incomplete || !shown;
	if (rc == 0 && shown)
		report_note_bare(&table, r->request, view);
	if (rc == 0 && text && r->request->name_limit)
		rc = shorten(r, &table, e);
	if (rc == 0 && (shown || !text))
		rc = draw(o, &table, out, e);
	else if (rc == 0)
		rc = 1;
	r->incomplete = r->incomplete || table.incomplete;
	report_table_fini(&table);
	profile_named_fini(&data);
	return rc;
}

static int all_reports(struct reporting *r, struct error *e)
{
	struct strbuf text = {0};
	bool any = false;
	int rc = 0;

	if (!r->o->diff)
		say_without_effect(r->o);
	for (size_t i = 0; report_views[i].name && rc == 0; i++) {
		if (!r->o->view[i])
			continue;
		any = true;
		rc = add_report(r, &report_views[i], &text, e);
	}
	if (!any)
		rc = add_report(r, &report_views[0], &text, e);
	progress_end(r->request->progress);
	if (rc == 0)
		rc = shown_output(r->o->output, stdout, &text, e);
	strbuf_fini(&text);
	return rc < 0 ? rc : 0;
}

static bool wants_clock(const struct options *o)
{
	for (size_t i = 0; report_views[i].name; i++)
		if (o->view[i] && (report_views[i].flags & VIEW_CYCLES))
			return true;
	return false;
}

struct prof_images_search reporting_search(const struct options *o, const struct arguments *a)
{
	return (struct prof_images_search){
		.where = reporting_files(o).search, .executable = a->executable};
}

static bool is_sweep(const struct options *o)
{
	return o->plot && strcmp(o->plot, "sweep") == 0;
}

struct load_request reporting_files(const struct options *o)
{
	struct load_request r = {.search = {.archives = o->archives.data,
					 .root = o->root,
					 .debug_directory = o->debug_directory,
					 .debuginfod = o->debuginfod},
		.quiet = o->tui,
		/* The list ends with NULL. */
		.threads = o->request.threads || o->html || o->only_whom.count > 1 ||
			   o->exclude_whom.count > 1,
		.together = o->merge,
		.apart = o->compare || o->diff || is_sweep(o),
		.ranks = !o->compare};

	for (size_t i = 0; report_views[i].name; i++)
		r.threads = r.threads || (o->view[i] && (report_views[i].flags & VIEW_THREADS));
	return r;
}

/* Slices of -timeline: beside other columns and a name; scripts have more room. */
static size_t timeline_width(const struct options *o)
{
	enum { USUAL = 40, MOST = 60, BESIDE = 60, SCRIPTS = 64 };
	size_t columns = room_for_rows(o);

	if (o->json || o->csv)
		return SCRIPTS;
	if (columns < USUAL + BESIDE)
		return USUAL;
	return columns - BESIDE < MOST ? columns - BESIDE : MOST;
}

/* Beside a name there are figures, and the file and line: half of the terminal is left for it. */
static size_t name_limit(const struct options *o)
{
	enum { USUAL = 60, LEAST = 40, BESIDE = 60 };
	size_t columns = room_for_rows(o);

	if (o->names && strcmp(o->names, "full") == 0)
		return 0;
	if (o->html || !columns)
		return USUAL;
	return columns > LEAST + BESIDE ? columns - BESIDE : LEAST;
}

struct prof_request reporting_request(const struct options *o)
{
	struct prof_request r = o->request;

	r.command = o->line;
	r.folds = !o->json && !o->csv && !o->dot && !o->tui && !o->html && !o->plot && !o->export;
	r.name_limit = name_limit(o);
	r.bins = o->tui ? 0 : timeline_width(o);
	r.only = o->only.data;
	r.exclude = o->exclude.data;
	r.only_whom = o->only_whom.data;
	r.exclude_whom = o->exclude_whom.data;
	r.source_paths = o->sources.data;
	r.compare = o->compare || o->diff || is_sweep(o);
	return r;
}

int reporting_load(
	struct loaded *l, const struct options *o, const struct arguments *a, struct error *e)
{
	const struct load_request files = reporting_files(o);

	return loaded_read(l, &files, a, e);
}

/* For an error about these words: where one is a report without its dash, or a command of perf, the
 * hint says what to type here.  Returns -1. */
static int hint_words(char *const *words, struct error *e)
{
	for (; *words && e->code == ERR_NOT_FOUND && e->errnum && !e->hint[0]; words++) {
		const char *instead = habit_instead(NULL, *words);

		if (access(*words, F_OK) == 0)
			continue;
		if (instead)
			error_hint(e, "%s", instead);
		for (size_t i = 0; report_views[i].name; i++)
			if (strcmp(report_views[i].name, *words) == 0)
				error_hint(e, "did you mean '-%s'?", *words);
	}
	return -1;
}

int reporting_arguments(const struct options *o, struct arguments *a, struct error *e)
{
	int rc = o->diff   ? arguments_find_sides(a, o->files, e)
		 : o->plot ? arguments_find_any(a, o->files, e)
			   : arguments_find(a, o->files, e);

	return rc ? hint_words(o->files, e) : 0;
}

static int report(const struct options *o, const struct arguments *a, struct loaded *l,
	bool *incomplete, struct error *e)
{
	const struct prof_images_search search = reporting_search(o, a);
	struct prof_request request = reporting_request(o);
	struct reporting r = {.o = o, .l = l, .request = &request, .search = &search};
	struct progress progress;
	int rc = loaded_ask(l, &request, e);

	if (rc == 0 && o->compare && request.count < 2) {
		say("-compare: there is nothing to compare %s with: give two files or more",
			request.inputs[0].file);
		*incomplete = true;
		return 0;
	}
	progress_begin(&progress, true);
	request.progress = &progress;
	if (rc == 0) {
		loaded_clock(l, &request, wants_clock(o));
		rc = (o->export   ? do_export
			: o->html ? do_html
			: o->plot ? do_plot
				  : all_reports)(&r, e);
		*incomplete = r.incomplete;
	}
	progress_end(&progress);
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
		rc = reporting_load(&loaded, o, &arguments, &e);
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
