/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -waits: the time that threads were not on a processor, by reason, by object, by place in the
 * program, and by what let them go on. Pauses are measured, not sampled (experiment/pauses.h).
 */
#include "report/report_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "profile/entities.h"
#include "report/report_columns.h"
#include "report/report_views.h"
#include "report/report_waiters.h"

#define WORTH_A_ROW 0.5 /* percent */

enum level { LEVEL_ALL, LEVEL_GROUP, LEVEL_REASON, LEVEL_OBJECT, LEVEL_PLACE, LEVEL_WAKER };
enum { CALLERS_SHOWN = 2 };

struct wait { /* table entry; 0 is all */
	struct {
		uint32_t parent, level;
		uint32_t what; /* group, reason, or string */
		uint32_t reserved;
	} key;
	uint64_t time, count, longest;
	uint32_t input, node; /* of a place */
};

enum {
	WAITS_TIME,
	WAITS_COUNT,
	WAITS_LONGEST,
	WAITS_KIND,
	WAITS_WHAT,
	WAITS_PATH,
	WAITS_THREADS,
	WAITS_COLUMNS
};

static const struct report_column waits_columns[WAITS_COLUMNS] = {
	[WAITS_TIME] = {.kind = REPORT_COUNT,
		.flags = REPORT_SECONDS | REPORT_FINE | REPORT_EXACT | REPORT_PERCENT,
		.name = "time",
		.unit = "seconds",
		.label = LABEL_MEASURED},
	[WAITS_COUNT] = {.kind = REPORT_COUNT,
		.flags = REPORT_EXACT,
		.name = "waits",
		.unit = "waits",
		.label = LABEL_MEASURED},
	[WAITS_LONGEST] = {.kind = REPORT_COUNT,
		.flags = REPORT_SECONDS | REPORT_FINE | REPORT_EXACT,
		.name = "longest",
		.unit = "seconds",
		.label = LABEL_MEASURED},
	[WAITS_KIND] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "kind"},
	[WAITS_WHAT] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "what"},
	[WAITS_PATH] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "path"},
	[WAITS_THREADS] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "threads"},
};

struct waits {
	struct prof_data *d;
	struct report_table *t;
	struct table all;
	struct report_waiters waiters;
	uint32_t *order, *first; /* children of a wait together; [wait]: where they begin */
	size_t columns;
	uint64_t least; /* ns: shorter ones are left out */
	size_t left;
	uint64_t seen, unseen; /* ns, of pauses that something must end: whether it is known what */
};

static struct wait *wait_at(const struct waits *w, size_t i)
{
	return table_at(&w->all, i);
}

/* ---- adding up ---- */

static long waits_text(struct waits *w, struct strbuf *text)
{
	long string = text->failed ? -1 : profile_string(w->d, strbuf_text(text));

	strbuf_fini(text);
	return string;
}

/* The row below parent; -1 when memory is out. */
static long waits_add(
	struct waits *w, long parent, enum level level, long what, const struct experiment_pause *p)
{
	struct wait key = {.key = {(uint32_t)parent, level, (uint32_t)what, 0}}, *own;

	if (parent < 0 || what < 0)
		return -1;
	own = table_add(&w->all, &key.key);
	if (!own)
		return -1;
	own->time += p->time;
	own->count += p->count;
	own->longest = own->longest > p->longest ? own->longest : p->longest;
	return (long)table_number(&w->all, own);
}

static bool waits_in_phase(const struct waits *w, size_t input, uint32_t phase)
{
	const struct prof_span *span = &w->d->spans.data[input];
	const struct experiment *x = w->d->request->inputs[input].experiment;

	return phase >= span->from && phase < span->to &&
	       (!span->name || (phase && strcmp(x->phases.data[phase].name, span->name) == 0));
}

/* -only, -exclude: by the program's function. */
static bool waits_wanted(struct waits *w, const struct report_waits_place *place)
{
	const struct prof_request *r = w->d->request;
	long name;

	if (!((r->only && r->only[0]) || (r->exclude && r->exclude[0])))
		return true;
	name = profile_string(w->d, place->code.function ? place->code.function : "");
	return name >= 0 && profile_wanted(w->d, place->code.image, (uint32_t)name);
}

/* The scheduler, a timer or a disk ends the others; a thread or child that ends is the object. */
static bool waits_need_waker(const struct experiment_obstacle *o)
{
	switch (o->key.reason) {
	case PAUSE_UNKNOWN:
	case PAUSE_PROCESSOR:
	case PAUSE_SLEEP:
	case PAUSE_FAULT:
		return false;
	case PAUSE_CHILD:
		return !o->key.address;
	case PAUSE_FUTEX: /* with a name, the end of a thread */
		return !o->name || !o->name[0] || !o->key.address;
	default:
		return true;
	}
}

static int waits_take(struct waits *w, size_t input, const struct experiment_pause *p)
{
	const struct experiment *x = w->d->request->inputs[input].experiment;
	const struct experiment_obstacle *o = experiment_obstacle_at(x, p->key.obstacle);
	uint32_t reason = o->key.reason;
	struct strbuf object = {0}, path = {0}, waker = {0};
	struct report_waits_place place;
	long at, text;

	if ((w->d->unwanted && w->d->unwanted[input][p->key.thread]) ||
		!waits_in_phase(w, input, p->key.phase))
		return 0;
	place = report_waits_place(w->d, input, p->key.node, &path);
	if (!waits_wanted(w, &place)) {
		strbuf_fini(&path);
		return 0;
	}
	at = waits_add(w, 0, LEVEL_ALL, 0, p);
	if (report_waiters_add(&w->waiters, at, PAUSE_REASONS, input, p))
		at = -1;
	if (w->d->request->threads)
		at = waits_add(w, at, LEVEL_GROUP, profile_group_of(w->d, input, p->key.thread), p);
	at = waits_add(w, at, LEVEL_REASON, reason, p);
	if (report_waiters_add(&w->waiters, at, reason, input, p))
		at = -1;
	report_waits_object(w->d, input, p->key.obstacle, &object);
	if (object.length || object.failed)
		at = waits_add(w, at, LEVEL_OBJECT, waits_text(w, &object), p);
	if (place.through && path.length)
		strbuf_printf(&path, "\n%s", place.through);
	text = waits_text(w, &path);
	if (place.any) {
		at = waits_add(w, at, LEVEL_PLACE, text, p);
		if (at > 0) {
			wait_at(w, (size_t)at)->input = (uint32_t)input;
			wait_at(w, (size_t)at)->node = p->key.node;
		}
		if (report_waiters_add(&w->waiters, at, PAUSE_REASONS, input, p))
			at = -1;
	}
	report_waits_waker(w->d, input, p, &waker);
	if (waker.length || waits_need_waker(o))
		*(waker.length ? &w->seen : &w->unseen) += p->time;
	if (waker.length || waker.failed)
		at = waits_add(w, at, LEVEL_WAKER, waits_text(w, &waker), p);
	return at < 0 || text < 0 ? -1 : 0;
}

static int waits_by_time(const void *pa, const void *pb, void *context)
{
	const struct waits *w = context;
	uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct wait *a = wait_at(w, i), *b = wait_at(w, k);

	if (a->key.parent != b->key.parent)
		return sort_rising(a->key.parent, b->key.parent);
	if (a->time != b->time)
		return sort_falling(a->time, b->time);
	if (a->key.level >= LEVEL_OBJECT && b->key.level == a->key.level)
		return strcmp(
			profile_string_at(w->d, a->key.what), profile_string_at(w->d, b->key.what));
	return sort_rising(i, k);
}

/* Children together, the longest first. */
static int waits_arrange(struct waits *w)
{
	size_t count = w->all.count, at = 0;

	w->order = report_scratch(w->t, count + 1, sizeof(*w->order));
	w->first = report_scratch(w->t, count + 1, sizeof(*w->first));
	if (!w->order || !w->first)
		return -1;
	for (size_t i = 1; i < count; i++)
		w->order[i - 1] = (uint32_t)i;
	report_waiters_sort(&w->waiters);
	qsort_r(w->order, count ? count - 1 : 0, sizeof(*w->order), waits_by_time, w);
	for (size_t i = 0; i <= count; i++) {
		while (at + 1 < count && wait_at(w, w->order[at])->key.parent < i)
			at++;
		w->first[i] = (uint32_t)at;
	}
	return 0;
}

/* ---- rows ---- */

static const char *const level_words[] = {[LEVEL_ALL] = "all",
	[LEVEL_GROUP] = "group",
	[LEVEL_REASON] = "reason",
	[LEVEL_OBJECT] = "object",
	[LEVEL_PLACE] = "place",
	[LEVEL_WAKER] = "waker"};

static void waits_row(struct waits *w, size_t index, const struct report_row *row)
{
	const struct wait *own = wait_at(w, index), *all = wait_at(w, 0);
	size_t at = report_row_add(w->t, row);
	struct report_cell *cells = report_cells(w->t, at);
	enum label label = w->t->columns.data[w->columns + WAITS_TIME].label;
	const char *path;

	report_no_shares(w->t, at);
	cells += w->columns;
	cells[WAITS_TIME].quantity = quantity_exact((double)own->time * 1e-9, label);
	cells[WAITS_TIME].percent = report_percent((double)own->time, (double)all->time);
	cells[WAITS_TIME].cumulative = NAN;
	cells[WAITS_COUNT].quantity = quantity_exact((double)own->count, label);
	cells[WAITS_LONGEST].quantity = quantity_exact((double)own->longest * 1e-9, LABEL_MEASURED);
	cells[WAITS_KIND].text = own->key.level == LEVEL_REASON && own->key.what < PAUSE_REASONS
					 ? experiment_pause_words[own->key.what]
					 : level_words[own->key.level];
	cells[WAITS_WHAT].text = row->procedure ? row->procedure : row->image;
	if (own->key.level != LEVEL_PLACE)
		return;
	path = profile_string_at(w->d, own->key.what);
	cells[WAITS_THREADS].text = report_waiters_text(&w->waiters, w->t, index);
	cells[WAITS_PATH].text = report_text(w->t, "%.*s", (int)strcspn(path, "\n"), path);
}

/* How much of "f < g < h" is shown beside a name. */
static int callers_length(const char *callers)
{
	const char *end = callers;

	for (int i = 0; end && i < CALLERS_SHOWN; i++)
		end = strstr(end + (i > 0), " < ");
	return end ? (int)(end - callers) : (int)strlen(callers);
}

static void waits_place_note(struct waits *w, struct report_row *row, const char *through,
	const char *callers, const char *threads)
{
	struct strbuf text = {0};

	if (threads)
		strbuf_puts(&text, threads);
	if (through && strcmp(through, row->procedure) != 0)
		strbuf_printf(&text, "%sin %.*s", text.length ? ", " : "",
			(int)strcspn(through, "@"), through);
	if (callers)
		strbuf_printf(&text, "%scalled by %.*s", text.length ? ", " : "",
			callers_length(callers + 3), callers + 3);
	if (text.length)
		row->note = report_text(w->t, "%s", strbuf_text(&text));
	w->t->failed |= text.failed;
	strbuf_fini(&text);
}

static void place_row(struct waits *w, size_t index, struct report_row *row)
{
	const struct wait *own = wait_at(w, index);
	struct strbuf path = {0};
	struct report_waits_place p = report_waits_place(w->d, own->input, own->node, &path);
	const char *callers = strstr(strbuf_text(&path), " < ");

	row->procedure = p.code.function ? p.code.function : w->d->images.data[p.code.image].name;
	row->image = w->d->images.data[p.code.image].name;
	row->file = p.code.file;
	row->line = p.code.line;
	waits_place_note(w, row, p.through, callers, report_waiters_text(&w->waiters, w->t, index));
	w->t->failed |= path.failed;
	strbuf_fini(&path);
}

/* Where a thread was when others took its processor says little: the first places do. */
static bool waits_is_elsewhere(const struct waits *w, size_t parent, size_t rank)
{
	enum { SHOWN = 3 };
	const struct wait *of = wait_at(w, parent);

	return !w->d->request->whole && rank >= SHOWN && of->key.level == LEVEL_REASON &&
	       of->key.what == PAUSE_PROCESSOR;
}

static bool waits_alike(const struct wait *a, const struct wait *b)
{
	return a->time == b->time && a->count == b->count && a->longest == b->longest;
}

/* All below a wait, in the order of times. */
static void waits_rows(struct waits *w, size_t parent, unsigned depth, long above)
{
	for (uint32_t i = w->first[parent]; i < w->first[parent + 1] && !w->t->failed; i++) {
		size_t index = w->order[i];
		const struct wait *own = wait_at(w, index);
		struct report_row row = {.role = REPORT_ROW,
			.parent = above,
			.depth = depth,
			.joined = parent && waits_alike(wait_at(w, parent), own)};

		if (own->time < w->least || waits_is_elsewhere(w, parent, i - w->first[parent])) {
			w->left++;
			continue;
		}
		/* Only a place is a procedure, which other reports are about. */
		if (own->key.level == LEVEL_PLACE)
			place_row(w, index, &row);
		else if (own->key.level == LEVEL_GROUP)
			row.image = report_group_text(w->t, w->d, own->key.what);
		else if (own->key.level == LEVEL_REASON)
			row.image = report_waits_reason(own->key.what);
		else
			row.image = report_text(w->t, "%s%s",
				own->key.level == LEVEL_WAKER ? "woken by " : "",
				profile_string_at(w->d, own->key.what));
		waits_row(w, index, &row);
		waits_rows(w, index, depth + 1, (long)w->t->rows.count - 1);
	}
}

/* ---- the report ---- */

static int waits_none(const struct prof_request *r, struct error *e)
{
	bool any = false, sought = false;
	double longest = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct experiment *x = r->inputs[i].experiment;

		any |= x->pauses.count != 0;
		for (size_t k = 0; k < x->metrics.count; k++)
			sought |= (x->metrics.data[k].flags & METRIC_WALL) != 0;
		longest = fmax(longest, (double)x->elapsed * 1e-9);
	}
	if (any && (r->from || r->to)) {
		error_set(e, ERR_CONFLICT, "-waits: waits have no times within the run");
		return error_hint(e, "leave out -from and -to; -calipers divides them");
	}
	if (any)
		return 0;
	if (sought) {
		error_set(e, ERR_NOT_FOUND, "no thread waited in the %.3g s of %s", longest,
			r->inputs[0].file);
		return error_hint(e, "is that the run that was meant? prof -usage reports its "
				     "processes, and how they ended");
	}
	error_set(e, ERR_NOT_FOUND, "no waits were recorded in %s", r->inputs[0].file);
	return error_hint(e, "record them with ssrun -totaltime");
}

/* The part of the run in which waits or wakes were recorded, as that fact says; NULL: in all. */
static const char *waits_sampled(const struct waits *w, const char *fact)
{
	const size_t length = strlen(PAUSE_SAMPLED);

	for (size_t i = 0; i < w->d->request->count; i++) {
		const char *text = experiment_fact_find(w->d->request->inputs[i].experiment, fact);

		if (text && strncmp(text, PAUSE_SAMPLED, length) == 0)
			return text;
	}
	return NULL;
}

static void waits_notes(struct waits *w)
{
	const char *why = NULL, *sampled = waits_sampled(w, PAUSE_WAKES_FACT),
		   *parts = waits_sampled(w, PAUSE_WAITS_FACT);
	bool joined = false;

	for (size_t i = 0; i < w->d->request->count && !why; i++)
		why = experiment_fact_find(w->d->request->inputs[i].experiment, PAUSE_WAKES_FACT);
	if (parts)
		report_note(w->t,
			"Waits were so frequent that each was %s only: by these, which have the "
			"longest, is estimated how the others divide; each thread's sums are as "
			"the kernel counts them",
			parts);
	if (sampled)
		report_note(w->t,
			"What let threads go on was %s: by the pauses that ended there is "
			"estimated what of the others was a wait for a processor, and which thread "
			"ended them",
			sampled);
	for (size_t i = 0; i < w->t->rows.count && !joined; i++)
		joined = w->t->rows.data[i].joined;
	if (joined)
		report_note(w->t, "Rows without figures have those of the row above");
	if (w->left)
		report_note(w->t, "%zu row%s left out (-whole)", w->left, plural(w->left));
	if (!w->seen && w->unseen && !sampled && (!why || strcmp(why, "seen") != 0))
		report_note(w->t, "What let threads go on was %s", why ? why : "not seen");
	else if (!w->seen && w->unseen)
		report_note(w->t, "No thread of the run let another go on: waits ended by timers, "
				  "devices or processes outside of the run, or at its end");
	else if (w->unseen)
		report_note(w->t,
			"What let threads go on is known of %.1f%% of the %.3g s that they waited "
			"for others; the rest ended by timers, devices or processes outside of "
			"the run, or at its end",
			report_percent((double)w->seen, (double)(w->seen + w->unseen)),
			(double)(w->seen + w->unseen) * 1e-9);
}

static int waits_make(struct waits *w, struct error *e)
{
	const struct prof_request *r = w->d->request;
	const struct report_row total = {.role = REPORT_TOTAL, .parent = -1};
	const struct wait all = {.key = {0}};
	bool estimated = waits_sampled(w, PAUSE_WAKES_FACT) || waits_sampled(w, PAUSE_WAITS_FACT);
	double percent = r->whole ? 0 : r->quit.percent > 0 ? r->quit.percent : WORTH_A_ROW;

	report_describe(w->t, w->d);
	w->columns = report_columns_add(w->t, waits_columns, WAITS_COLUMNS);
	for (size_t i = WAITS_TIME; i <= WAITS_COUNT && !w->t->failed && estimated; i++)
		w->t->columns.data[w->columns + i].label = LABEL_ESTIMATED;
	if (w->t->failed || !table_add(&w->all, &all.key))
		return error_nomem(e);
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->inputs[i].experiment->pauses.count; k++)
			if (waits_take(w, i, experiment_pause_at(r->inputs[i].experiment, k)))
				return error_nomem(e);
	w->least = (uint64_t)(percent / 100 * (double)wait_at(w, 0)->time);
	if (waits_arrange(w))
		return error_nomem(e);
	report_waiters_head(&w->waiters, w->t);
	waits_rows(w, 0, 0, -1);
	waits_row(w, 0, &total); /* the last, so that parents are numbers of rows without it */
	waits_notes(w);
	report_coverage(w->t, w->d);
	return 0;
}

int report_waits(struct prof_data *d, struct report_table *t, struct error *e)
{
	struct waits w = {.d = d, .t = t, .all = TABLE_OF(struct wait)};
	int rc = -1;

	report_waiters_init(&w.waiters, d);
	t->report = "waits";
	t->unsampled = true;
	t->layout = REPORT_TREE;
	t->places = "reason, object, function (dso: file, line)";
	t->title = "What threads waited for, the longest first";
	if (waits_none(d->request, e) == 0)
		rc = waits_make(&w, e);
	table_fini(&w.all);
	report_waiters_fini(&w.waiters);
	return report_finish(t, rc, e);
}
