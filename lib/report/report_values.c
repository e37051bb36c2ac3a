/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What instructions worked on: values by site (ssrun -values). */
#include "report/report_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "explain/unskid.h"
#include "isa/isa.h"
#include "report/report_culprits.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 40 };

/* ---- what all reports of values share ---- */

bool report_values_named(const struct report_values *w)
{
	return w->d->request->only && w->d->request->only[0];
}

const char *report_values_function(
	const struct report_values *w, const struct prof_value_site *s, bool *wanted)
{
	const struct prof_name *name = &w->d->name[s->place];

	*wanted = profile_wanted(w->d, s->key.image, name->procedure);
	return profile_string_at(w->d, name->procedure);
}

const struct explain_procedure *report_values_procedure(
	const struct report_values *w, const struct prof_value_site *s)
{
	const struct prof_name *name = &w->d->name[s->place];

	for (size_t i = 0; i < w->procedures.list.count; i++) {
		const struct explain_procedure *p = &w->procedures.list.data[i];

		if (p->image == s->key.image && p->begin == name->begin && name->begin)
			return p;
	}
	return NULL;
}

double report_values_time(const struct report_values *w, const struct prof_value_site *s)
{
	const struct explain_procedure *p = report_values_procedure(w, s);

	return p && w->all > 0 ? (double)p->value / w->all : 0;
}

double report_values_own_time(const struct report_values *w, const struct prof_value_site *s)
{
	size_t at = s->place * w->d->metrics.count;

	return w->all > 0 && at < w->d->counts.count ? (double)w->d->counts.data[at] / w->all : 0;
}

struct quantity report_values_stake(double time, struct value_share share)
{
	struct quantity q = report_values_percent(share);

	q.value *= time;
	q.low *= time;
	q.high *= time;
	return q;
}

struct report_row report_values_row(struct report_values *w, const struct prof_value_site *s)
{
	bool wanted;
	struct report_row row = report_code_row(
		w->d, report_values_function(w, s, &wanted), s->key.image, s->key.address);

	row.first_value = w->t->values.count;
	for (size_t i = 0; i < s->list.count && i < REPORT_VALUES_LISTED; i++) {
		const struct experiment_value *v = &s->list.data[i];
		struct value_share share = report_value_share(s, v);
		const struct report_value one = {.text = report_value_text(w->t, w->d, s, v),
			.value = v->key.value,
			.rank = profile_value_is_rank(s) && !v->key.image,
			.share = {share.share, share.low, share.high, LABEL_ESTIMATED}};

		if (vec_add(&w->t->values, one))
			w->t->failed = true;
		else
			row.values++;
	}
	return row;
}

const char *report_values_instruction(
	struct report_table *t, const struct prof_data *d, uint32_t image, uint64_t address)
{
	enum isa_machine machine = explain_isa(d, image);
	uint8_t bytes[INSN_LENGTH_MAX];
	char text[INSN_TEXT_MAX];
	size_t size;

	if (machine == ISA_NONE)
		return "";
	size = d->names.ops->code(d->names.context, image, address, bytes, sizeof(bytes) - 1);
	if (!size)
		return "";
	isa_text(machine, bytes, size, address, ISA_ATT, text);
	return report_text(t, "%s", text);
}

/* Whether files have values that bursts have logged; *windows: and whether some have those of
 * windows. */
static bool values_logged(const struct prof_data *d, bool *windows)
{
	bool logged = false;

	*windows = false;
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		if (experiment_fact_find(x, EXPERIMENT_VALUE_SOURCE))
			logged = true;
		else
			*windows |= experiment_has_values(x);
	}
	return logged;
}

void report_values_none(struct report_values *w, const char *none, unsigned least)
{
	uint64_t moments = w->v.tallies[VALUE_TALLY_MOMENTS];
	bool windows, logged = values_logged(w->d, &windows);

	if (report_values_named(w))
		report_note(w->t, "%s", none);
	else
		report_note(w->t,
			"%s, in %d values and %u %s or more; there %s %" PRIu64
			" in all: a longer run, more runs (ssrun -runs) or a higher %s has more",
			none, REPORT_VALUES_LEAST, least, logged ? "bursts" : "windows",
			moments == 1 ? "was" : "were", moments, logged ? "-bursts" : "-budget");
}

void report_values_weak(struct report_values *w)
{
	bool windows, logged = values_logged(w->d, &windows);

	report_note(w->t,
		"Weak figures are of fewer than %d %s: a longer run, more runs (ssrun -runs) or a "
		"higher %s has more",
		VALUES_MOMENTS_FEW, logged ? "bursts" : "windows", logged ? "-bursts" : "-budget");
}

/* Where values come from, if that is not the usual way. */
static void note_source(struct report_values *w)
{
	bool windows, logged = values_logged(w->d, &windows);

	if (logged)
		report_note(
			w->t, windows ? "Some values were logged in bursts (ssrun -branches "
					"-values), the others are those of windows"
				      : "Values were logged in bursts (ssrun -branches -values)");
}

static void note_rivals(struct report_values *w)
{
	if (w->rivals)
		report_note(w->t,
			"Values joined by \"or\" may each be the most frequent: intervals "
			"of their shares overlap");
}

/* ssrun was to record values, and so it did if it had the time. */
static bool asked_for_values(const struct experiment *x)
{
	bool wanted = experiment_has_values(x);

	for (size_t i = 0; i < x->metrics.count; i++)
		wanted = wanted || x->metrics.data[i].flags & METRIC_VALUES;
	return wanted;
}

/* Nothing to report; -1. */
static int no_values(const struct prof_data *d, struct error *e)
{
	const struct prof_request *r = d->request;
	const char *file = r->count ? r->inputs[0].file : "the experiment";

	for (size_t i = 0; i < r->count; i++) {
		const struct experiment *x = r->inputs[i].experiment;

		if (!asked_for_values(x))
			continue;
		error_set(e, ERR_NOT_FOUND, "%s: %s too short for values", file,
			x->runs > 1 ? "the runs were" : "the run was");
		return error_hint(e, "give it more work, a rate (ssrun -values -rate 300), or "
				     "more runs (ssrun -runs)");
	}
	error_set(e, ERR_NOT_FOUND, "%s: it has no values", file);
	return error_hint(e, "ssrun -values command records them");
}

int report_values_report(struct prof_data *d, struct report_table *t,
	void (*make)(struct report_values *w), const void *view, struct error *e)
{
	struct report_values w = {.d = d, .t = t, .view = view};
	bool moved = false;
	int rc = explain_unskid(d, &moved, e);

	if (profile_values_init(&w.v, d, true) && rc == 0)
		rc = error_nomem(e);
	if (rc == 0)
		rc = profile_data_name(d, true, e);

	t->schema = "prof.values/1";
	report_describe(t, d);
	if (rc == 0 && !w.v.sites.count && !w.v.tallies[VALUE_TALLY_MOMENTS])
		rc = no_values(d, e);
	if (rc == 0 && explain_procedures_init(&w.procedures, d))
		rc = error_nomem(e);
	if (rc == 0) {
		w.all = d->metrics.count ? (double)d->metrics.data[0].samples : 0;
		make(&w);
		note_rivals(&w);
		note_source(&w);
	}
	explain_procedures_fini(&w.procedures);
	profile_values_fini(&w.v);
	return report_finish(t, rc, e);
}

/* ---- -values ---- */

enum {
	VALUES_COUNT,
	VALUES_MOMENTS,
	VALUES_SHARE,
	VALUES_LIST,
	VALUES_SAME,
	VALUES_WHAT,
	VALUES_ADDRESS,
	VALUES_INSTRUCTION,
	VALUES_ALL,
	VALUES_ZERO,
	VALUES_WIDTH,
	VALUES_ALIGNED,
	VALUES_RIVALS,
	VALUES_COLUMNS
};

struct ranked_site {
	const struct prof_value_site *site;
	double weight;
};

static void values_columns(struct report_table *t)
{
	const struct report_column columns[VALUES_COLUMNS] = {
		[VALUES_COUNT] = report_count_column(REPORT_KEY, "n", "values", "values"),
		[VALUES_MOMENTS] = report_count_column(
			REPORT_KEY | REPORT_SCRIPTS, "moments", NULL, "moments"),
		[VALUES_SHARE] =
			report_ratio_column(REPORT_KEY, "top", "top %", "%", LABEL_ESTIMATED),
		[VALUES_LIST] = {.kind = REPORT_TEXT, .name = "values", .heading = "most frequent"},
		[VALUES_SAME] =
			report_ratio_column(REPORT_KEY, "lvp", "same %", "%", LABEL_ESTIMATED),
		[VALUES_WHAT] = {.kind = REPORT_TEXT, .name = "operand", .heading = "of"},
		[VALUES_ADDRESS] = {.kind = REPORT_TEXT, .name = "at", .heading = "address"},
		[VALUES_INSTRUCTION] = {.kind = REPORT_TEXT, .name = "instruction"},
		[VALUES_ALL] =
			report_ratio_column(REPORT_SCRIPTS, "all", NULL, "%", LABEL_ESTIMATED),
		[VALUES_ZERO] =
			report_ratio_column(REPORT_SCRIPTS, "zero", NULL, "%", LABEL_ESTIMATED),
		[VALUES_WIDTH] = report_count_column(REPORT_SCRIPTS, "width", NULL, "bits"),
		[VALUES_ALIGNED] = report_count_column(REPORT_SCRIPTS, "aligned", NULL, "bytes"),
		[VALUES_RIVALS] =
			report_count_column(REPORT_KEY | REPORT_SCRIPTS, "rivals", NULL, "values"),
	};

	report_columns_add(t, columns, VALUES_COLUMNS);
}

/* The share of the whole list, of zeros; bits of the greatest value; what divides all of them. */
static void values_add_shape(const struct prof_value_site *s, struct report_cell *cells)
{
	uint64_t sure = 0, high = s->sums.high, bits = s->sums.bits[0];

	for (size_t i = 0; i < s->list.count && i < REPORT_VALUES_LISTED; i++)
		sure += s->list.data[i].sure;
	cells[VALUES_ALL].quantity =
		report_values_percent(value_share_counted(&s->sums, sure, s->sums.count));
	cells[VALUES_ZERO].quantity =
		report_values_percent(value_share_counted(&s->sums, s->sums.zeros, s->sums.count));
	cells[VALUES_WIDTH].quantity =
		quantity_exact(high ? (double)(64 - __builtin_clzll(high)) : 0, LABEL_MEASURED);
	if (bits)
		cells[VALUES_ALIGNED].quantity =
			quantity_exact((double)(bits & -bits), LABEL_MEASURED);
}

static void values_add_row(struct report_values *w, const struct prof_value_site *s)
{
	const struct report_row row = report_values_row(w, s);
	size_t at = report_row_add(w->t, &row);
	struct report_cell *cells;

	if (w->t->failed)
		return;
	cells = report_cells(w->t, at);
	report_no_shares(w->t, at);
	cells[VALUES_COUNT].quantity = quantity_exact((double)s->sums.count, LABEL_MEASURED);
	cells[VALUES_MOMENTS].quantity = quantity_exact((double)s->sums.moments, LABEL_MEASURED);
	if (report_values_frequent(s))
		cells[VALUES_SHARE].quantity =
			report_values_percent(value_share_of(&s->sums, &s->list.data[0]));
	cells[VALUES_SHARE].weak = s->sums.moments < VALUES_MOMENTS_FEW;
	if (s->sums.pairs)
		cells[VALUES_SAME].quantity = report_values_percent(
			value_share_counted(&s->sums, s->sums.repeats, s->sums.pairs));
	values_add_shape(s, cells);
	cells[VALUES_RIVALS].quantity = report_values_rival_count(s);
	cells[VALUES_LIST].text = report_values_text(w, s);
	cells[VALUES_WHAT].text = report_values_what(w->t, w->d, s);
	cells[VALUES_ADDRESS].text = report_text(w->t, "%llx", (unsigned long long)s->key.address);
	cells[VALUES_INSTRUCTION].text =
		s->key.kind == VALUE_ARGUMENT
			? ""
			: report_values_instruction(w->t, w->d, s->key.image, s->key.address);
}

static bool values_shows(const struct report_values *w, const struct prof_value_site *s)
{
	bool wanted;

	report_values_function(w, s, &wanted);
	if (!wanted)
		return false;
	switch (s->key.kind) {
	case VALUE_RESULT:
	case VALUE_LOAD:
	case VALUE_STORE:
	case VALUE_ARGUMENT:
	case VALUE_RETURN:
		break;
	case VALUE_OPERAND: /* -operations has those of windows */
		if (!profile_value_find(&w->v, s->key.image, s->key.address, VALUE_OPERATION, 0))
			break;
		return false;
	case VALUE_BRANCH:
		if (profile_value_class(s) == VALUE_PLACE)
			break;
		return report_values_named(w);
	default:
		if (s->key.kind < VALUE_USER)
			return false;
	}
	/* A list of the program has what is worth knowing; that of a function, everything. */
	return report_values_named(w) ||
	       (s->sums.count >= REPORT_VALUES_LEAST && report_values_frequent(s) &&
		       s->sums.moments >= VALUES_MOMENTS_FEW);
}

static int values_by_weight(const void *pa, const void *pb)
{
	const struct ranked_site *a = pa, *b = pb;

	return sort_falling_number(a->weight, b->weight)
		       ?: sort_rising(a->site->key.image, b->site->key.image)
		       ?: sort_rising(a->site->key.address, b->site->key.address)
		       ?: sort_rising(a->site->key.kind, b->site->key.kind)
		       ?: sort_rising(a->site->key.operand, b->site->key.operand);
}

static void values_make(struct report_values *w)
{
	struct ranked_site *list = report_scratch(w->t, w->v.sites.count + 1, sizeof(*list));
	struct prof_quit quit = {.rows = report_values_named(w) ? 0 : USUAL_ROWS};
	struct report_cut cut = report_cut_of(w->d, quit);
	size_t count = 0, i;

	for (i = 0; list && i < w->v.sites.count; i++) {
		const struct prof_value_site *s = profile_value_site(&w->v, i);

		if (values_shows(w, s))
			list[count++] = (struct ranked_site){s,
				report_values_named(w)
					? 0
					: (double)s->sums.count *
						  value_share_of(&s->sums, &s->list.data[0]).low};
	}
	if (list && !report_values_named(w))
		qsort(list, count, sizeof(*list), values_by_weight);
	values_columns(w->t);
	for (i = 0; i < count && !w->t->failed && !report_cuts(&cut, 100); i++)
		values_add_row(w, list[i].site);
	report_left_out(w->t, count - i, "place", report_cut_why(&cut));
	if (!count)
		report_values_none(w, "No place has frequent values", VALUES_MOMENTS_FEW);
}

int report_values_view(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "values";
	t->title = "Values, most frequent first";
	t->layout = REPORT_LIST;
	return report_values_report(d, t, values_make, NULL, e);
}
