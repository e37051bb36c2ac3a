/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of what operations and accesses to memory were like: shares of executions with some bits
 * (experiment/values.h). Each report is a struct bits_view.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/report_values.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 40, SHARES = 8, TEXTS = 3 };

#define WORTH_SHOWING 0.01 /* of executions */
#define WORTH_FEW     0.05 /* if few windows saw them */
#define MOMENTS_LEAST 3    /* those of a single moment are alike, and two may be of one phase */
#define SAME_COUNT    0.5  /* of a count, to be shown for it */
#define SAME_DIVISOR  0.1  /* a comparison costs less than a division */

struct bits_share {
	const char *name, *heading;
	uint64_t bits, of; /* enum experiment_value_access or _operation; of: 0, all */
	bool always;       /* of no interest by itself */
};

struct bits_text {
	const char *name, *heading;
	/* NULL: there is none. */
	const char *(*text)(struct report_values *w, const struct prof_value_site *s);
};

struct bits_view {
	const char *report, *title;
	enum experiment_value_kind kind;
	uint64_t needed; /* bits that one execution of a site has at least */
	struct bits_share shares[SHARES];
	struct bits_text texts[TEXTS];
	bool stakes; /* with what avoiding these could gain at most */
	/* Further reasons to show a site; a weight in [0,1].  May be NULL. */
	double (*weight)(const struct report_values *w, const struct prof_value_site *s);
};

struct bits_site {
	const struct prof_value_site *site;
	double stake, weight;
};

/* ---- texts ---- */

static const struct prof_value_site *value_site_beside(const struct report_values *w,
	const struct prof_value_site *s, enum experiment_value_kind kind, uint32_t operand)
{
	return profile_value_find(&w->v, s->key.image, s->key.address, kind, operand);
}

/* "8 98.2%": the most frequent value of another site of the instruction. */
static const char *frequent_text(struct report_values *w, const struct prof_value_site *s)
{
	if (!s || !report_values_frequent(s))
		return NULL;
	return report_values_first(w->t, w->d, s, false);
}

static const char *stride_text(struct report_values *w, const struct prof_value_site *s)
{
	return frequent_text(w, value_site_beside(w, s, VALUE_STRIDE, 0));
}

static const char *alignment_text(struct report_values *w, const struct prof_value_site *s)
{
	const struct prof_value_site *a = value_site_beside(w, s, VALUE_ADDRESS, 0);
	unsigned bits = a && a->sums.bits[0] ? (unsigned)__builtin_ctzll(a->sums.bits[0]) : 0;

	return a ? report_text(w->t, "%u", 1u << (bits < 12 ? bits : 12)) : NULL;
}

static const char *divisor_text(struct report_values *w, const struct prof_value_site *s)
{
	return frequent_text(w, value_site_beside(w, s, VALUE_OPERAND, 1));
}

static const char *distance_text(struct report_values *w, const struct prof_value_site *s)
{
	return frequent_text(w, value_site_beside(w, s, VALUE_DISTANCE, 0));
}

/* The access that it has to do with most often. */
static const char *partner_of(struct report_values *w, const struct prof_value_site *s,
	enum experiment_value_kind kind, unsigned all, uint64_t bits)
{
	const struct prof_value_site *most = NULL;
	struct image_line line = {0};

	for (unsigned k = 0; k < all; k++) {
		const struct prof_value_site *p =
			bits >> k & 1 ? value_site_beside(w, s, kind, k) : NULL;

		if (p && p->list.count && (!most || p->sums.count > most->sums.count))
			most = p;
	}
	if (!most)
		return NULL;
	if (w->d->names.ops->line(w->d->names.context, most->list.data[0].key.image,
		    most->list.data[0].key.value, &line) == 0 &&
		line.line)
		return report_text(w->t, "%s, line %u",
			report_value_text(w->t, w->d, most, &most->list.data[0]), line.line);
	return report_value_text(w->t, w->d, most, &most->list.data[0]);
}

static const char *partner_text(
	struct report_values *w, const struct prof_value_site *s, uint64_t bits)
{
	return partner_of(w, s, VALUE_PARTNER, VALUE_ACCESSES, bits);
}

static const char *store_text(struct report_values *w, const struct prof_value_site *s)
{
	const char *text = partner_text(w, s, VALUE_BLOCKED | VALUE_ALIAS);

	return text ? text : partner_text(w, s, VALUE_FORWARDED);
}

static const char *killer_text(struct report_values *w, const struct prof_value_site *s)
{
	return partner_text(w, s, VALUE_DEAD);
}

/* CPU time until the bytes were accessed again: what half of those that were did not exceed. */
static const char *reuse_text(struct report_values *w, const struct prof_value_site *s)
{
	const struct prof_value_site *r = value_site_beside(w, s, VALUE_REUSE, 0);
	uint64_t all = 0, sum = 0, ns = 0;

	for (size_t i = 0; r && i < r->list.count; i++)
		all += r->list.data[i].sure;
	/* Values are few, and in order of frequency. */
	for (unsigned k = 0; all && k < 64 && 2 * sum < all; k++)
		for (size_t i = 0; i < r->list.count; i++)
			if (r->list.data[i].key.value == 1ull << k) {
				sum += r->list.data[i].sure;
				ns = 2ull << k;
			}
	if (!all)
		return NULL;
	return ns < 10000      ? report_text(w->t, "%" PRIu64 " ns", ns)
	       : ns < 10000000 ? report_text(w->t, "%.0f us", (double)ns * 1e-3)
			       : report_text(w->t, "%.0f ms", (double)ns * 1e-6);
}

/* The access that comes next most often. */
static const char *next_text(struct report_values *w, const struct prof_value_site *s)
{
	return partner_of(w, s, VALUE_NEXT, VALUE_WATCHES, UINT64_MAX);
}

/* ---- weights ---- */

static bool bits_few(const struct prof_value_site *s)
{
	return s->sums.moments < VALUES_MOMENTS_FEW;
}

/* A count that is nearly always the same, or a divisor that often is. */
static double same_operand(const struct report_values *w, const struct prof_value_site *s)
{
	const struct prof_value_site *o = value_site_beside(w, s, VALUE_OPERAND, 1);
	double least = value_site_beside(w, s, VALUE_OPERAND, 0) ? SAME_DIVISOR : SAME_COUNT;
	struct value_share share;

	if (!o || !report_values_frequent(o))
		return 0;
	share = value_share_of(&o->sums, &o->list.data[0]);
	/* Few windows have no interval. */
	return (share.few ? share.share / 2 : share.low) > least ? share.share : 0;
}

static double access_weight(const struct report_values *w, const struct prof_value_site *s)
{
	return value_site_beside(w, s, VALUE_ADDRESS, 0) ? 1 : 0;
}

/* ---- views ---- */

static const struct bits_view operations_view = {.report = "operations",
	.title = "Operands of multiplications, divisions, shifts, additions and floating point",
	.kind = VALUE_OPERATION,
	.stakes = true,
	.shares = {{"zero", "zero %", VALUE_OPERAND_ZERO, 0, false},
		{"one", "one %", VALUE_OPERAND_ONE, 0, false},
		{"power", "2^n %", VALUE_OPERAND_POWER, 0, false},
		{"narrow", "32-bit %", VALUE_OPERAND_NARROW, 0, false},
		{"denormal", "denormal %", VALUE_OPERAND_DENORMAL, 0, false},
		{"nan", "NaN %", VALUE_OPERAND_NAN, 0, false},
		{"infinite", "inf. %", VALUE_OPERAND_INFINITE, 0, false},
		{"fp_zero", "0.0 %", VALUE_OPERAND_FP_ZERO, 0, false}},
	.texts = {{"second", "second operand", divisor_text}},
	.weight = same_operand};

static const struct bits_view access_view = {.report = "access",
	.title = "Accesses to memory: strides, alignment, chains of loads",
	.kind = VALUE_ACCESS,
	.shares = {{"line", "2 lines %", VALUE_SPLITS_LINE, 0, false},
		{"page", "2 pages %", VALUE_SPLITS_PAGE, 0, false},
		{"chase", "chase %", VALUE_CHASES, VALUE_READS, false}},
	.texts = {{"stride", "stride", stride_text}, {"alignment", "aligned", alignment_text}},
	.weight = access_weight};

static const struct bits_view conflicts_view = {.report = "conflicts",
	.title = "Loads that have to do with stores shortly before",
	.kind = VALUE_ACCESS,
	.stakes = true,
	.needed = VALUE_READS,
	.shares = {{"forwarded", "forwarded %", VALUE_FORWARDED, VALUE_READS, true},
		{"blocked", "blocked %", VALUE_BLOCKED, VALUE_READS, false},
		{"alias", "4K alias %", VALUE_ALIAS, VALUE_READS, false}},
	.texts = {{"distance", "stores between", distance_text}, {"store", "store", store_text}}};

static const struct bits_view redundant_view = {.report = "redundant",
	.title = "Loads of what was loaded before, stores of what is there or is never read",
	.kind = VALUE_ACCESS,
	.stakes = true,
	.shares = {{"redundant", "same load %", VALUE_REDUNDANT, VALUE_READS, false},
		{"silent", "silent %", VALUE_SILENT, VALUE_WRITES, false},
		{"dead", "dead %", VALUE_DEAD, VALUE_WRITES, false}},
	.texts = {{"killer", "overwritten by", killer_text}}};

static const struct bits_view watch_view = {.report = "watch",
	.title = "What became of accesses to memory that were watched",
	.kind = VALUE_WATCH,
	.shares = {{"dead", "dead %", VALUE_WATCH_DEAD, VALUE_WATCH_STORE, false},
		{"silent", "silent %", VALUE_WATCH_SILENT, VALUE_WATCH_STORE, false},
		{"used", "used %", VALUE_WATCH_USED, VALUE_WATCH_STORE, true},
		{"reloaded", "reloaded %", VALUE_WATCH_RELOADED, VALUE_WATCH_LOAD, false},
		{"replaced", "replaced %", VALUE_WATCH_REPLACED, VALUE_WATCH_LOAD, true},
		{"open", "open %", VALUE_WATCH_OPEN, 0, true}},
	.texts = {{"reuse", "again within", reuse_text}, {"next", "next access", next_text}}};

/* ---- rows ---- */

/* Columns: values; shares; time; texts; the instruction. */
static size_t bits_share_count(const struct bits_view *v)
{
	size_t n = 0;

	while (n < SHARES && v->shares[n].name)
		n++;
	return n;
}

static void bits_columns(struct report_table *t, const struct bits_view *v)
{
	struct report_column column = report_count_column(REPORT_KEY, "n", "seen", "executions");

	report_column_add(t, &column);
	column = report_ratio_column(REPORT_KEY, "time", "time %", "%", LABEL_MEASURED);
	report_column_add(t, &column);
	for (size_t i = 0; i < bits_share_count(v); i++) {
		column = report_ratio_column(
			REPORT_KEY, v->shares[i].name, v->shares[i].heading, "%", LABEL_ESTIMATED);
		report_column_add(t, &column);
	}
	if (v->stakes) {
		column =
			report_ratio_column(REPORT_KEY, "gain", "at stake %", "%", LABEL_ESTIMATED);
		report_column_add(t, &column);
	}
	for (size_t i = 0; i < TEXTS && v->texts[i].name; i++)
		report_column_add(t, &(struct report_column){.kind = REPORT_TEXT,
					     .name = v->texts[i].name,
					     .heading = v->texts[i].heading,
					     .experiment = -1});
	report_column_add(t, &(struct report_column){
				     .kind = REPORT_TEXT, .name = "instruction", .experiment = -1});
}

/* The greatest of the shares that are of interest, or that of the usual operand. */
static struct value_share bits_most(
	const struct report_values *w, const struct bits_view *v, const struct prof_value_site *s)
{
	const struct prof_value_site *o = value_site_beside(w, s, VALUE_OPERAND, 1);
	struct value_share most = {0};

	if (v->kind == VALUE_OPERATION && o && report_values_frequent(o))
		most = value_share_of(&o->sums, &o->list.data[0]);
	for (size_t i = 0; i < bits_share_count(v); i++) {
		uint64_t count;
		struct value_share share =
			report_values_bits(s, v->shares[i].bits, v->shares[i].of, &count);

		if (!v->shares[i].always && count && share.share > most.share)
			most = share;
	}
	return most;
}

static void bits_row(
	struct report_values *w, const struct bits_view *v, const struct prof_value_site *s)
{
	const struct report_row row = report_values_row(w, s);
	size_t at = report_row_add(w->t, &row), c = 0;
	struct report_cell *cells;

	if (w->t->failed)
		return;
	cells = report_cells(w->t, at);
	report_no_shares(w->t, at);
	cells[c++].quantity = quantity_exact((double)s->sums.count, LABEL_MEASURED);
	cells[c++].quantity = quantity_exact(100 * report_values_time(w, s), LABEL_MEASURED);
	for (size_t i = 0; i < bits_share_count(v); i++, c++) {
		uint64_t count, all;
		struct value_share share;

		report_values_bits(s, v->shares[i].of, 0, &all);
		share = report_values_bits(s, v->shares[i].bits, v->shares[i].of, &count);
		if (all && (count || v->shares[i].of))
			cells[c].quantity = report_values_percent(share);
		cells[c].weak = share.few;
	}
	if (v->stakes) {
		cells[c].quantity =
			report_values_stake(report_values_own_time(w, s), bits_most(w, v, s));
		cells[c++].weak = bits_few(s);
	}
	for (size_t i = 0; i < TEXTS && v->texts[i].name; i++, c++)
		cells[c].text = v->texts[i].text(w, s);
	cells[c].text = report_values_instruction(w->t, w->d, s->key.image, s->key.address);
}

/* 0: it is not shown. */
static double bits_weight(
	const struct report_values *w, const struct bits_view *v, const struct prof_value_site *s)
{
	double most = v->weight ? v->weight(w, s) : 0,
	       least = bits_few(s) ? WORTH_FEW : WORTH_SHOWING;
	bool wanted;
	uint64_t count;

	report_values_function(w, s, &wanted);
	if (s->key.kind != v->kind || !wanted)
		return 0;
	if (v->needed) {
		report_values_bits(s, v->needed, 0, &count);
		if (!count)
			return 0;
	}
	if (report_values_named(w))
		return 1;
	if (s->sums.count < REPORT_VALUES_LEAST || s->sums.moments < MOMENTS_LEAST)
		return 0;
	for (size_t i = 0; i < bits_share_count(v); i++) {
		struct value_share share =
			report_values_bits(s, v->shares[i].bits, v->shares[i].of, &count);

		if (!v->shares[i].always && share.share >= least && share.share > most)
			most = share.share;
	}
	return most * (double)s->sums.count;
}

/* At stake, of the time of the run. */
static double bits_stake(
	const struct report_values *w, const struct bits_view *v, const struct prof_value_site *s)
{
	return v->stakes ? report_values_own_time(w, s) * bits_most(w, v, s).share : 0;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct bits_site *a = pa, *b = pb;

	return sort_falling_number(a->stake, b->stake)
		       ?: sort_falling_number(a->weight, b->weight)
		       ?: sort_rising(a->site->key.image, b->site->key.image)
		       ?: sort_rising(a->site->key.address, b->site->key.address);
}

static void bits_make(struct report_values *w)
{
	const struct bits_view *v = w->view;
	struct bits_site *list = report_scratch(w->t, w->v.sites.count + 1, sizeof(*list));
	struct prof_quit quit = {.rows = report_values_named(w) ? 0 : USUAL_ROWS};
	struct report_cut cut = report_cut_of(w->d, quit);
	size_t count = 0, i;
	bool few = false;

	for (i = 0; list && i < w->v.sites.count; i++) {
		const struct prof_value_site *s = profile_value_site(&w->v, i);
		double weight = bits_weight(w, v, s);

		if (weight > 0)
			list[count++] = (struct bits_site){s, bits_stake(w, v, s), weight};
	}
	if (list && !report_values_named(w))
		qsort(list, count, sizeof(*list), by_weight);
	bits_columns(w->t, v);
	for (i = 0; i < count && !w->t->failed && !report_cuts(&cut, 100); i++) {
		bits_row(w, v, list[i].site);
		few |= bits_few(list[i].site);
	}
	report_left_out(w->t, count - i, "place", report_cut_why(&cut));
	if (!count)
		report_values_none(w,
			"Nothing of that kind was seen in 1% of the executions of any instruction",
			MOMENTS_LEAST);
	if (few)
		report_values_weak(w);
}

/* Whether the kernel's accesses were not seen in some run. */
static bool watch_lacks_kernel(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const char *fact = experiment_fact_find(
			d->request->inputs[i].experiment, EXPERIMENT_VALUE_WATCH);

		if (fact && strcmp(fact, EXPERIMENT_VALUE_WATCH_USER) == 0)
			return true;
	}
	return false;
}

static void watch_make(struct report_values *w)
{
	const uint64_t *tallies = w->v.tallies;

	bits_make(w);
	if (!tallies[VALUE_TALLY_WATCHED])
		report_note(w->t, "No address was watched: ssrun -values=watch watches them");
	else
		report_note(w->t,
			"%" PRIu64 " accesses were watched; %" PRIu64
			" of them did not come first, and what followed %" PRIu64 " is unknown",
			tallies[VALUE_TALLY_WATCHED], tallies[VALUE_TALLY_WATCH_MISSED],
			tallies[VALUE_TALLY_WATCH_UNKNOWN]);
	if (watch_lacks_kernel(w->d))
		report_note(w->t, "Accesses by the kernel were not seen, so a store that only a "
				  "system call reads may count as dead");
}

static int bits_report(struct prof_data *d, struct report_table *t,
	void (*make)(struct report_values *w), const struct bits_view *v, struct error *e)
{
	t->report = v->report;
	t->title = v->title;
	return report_values_report(d, t, make, v, e);
}

int report_watch(struct prof_data *d, struct report_table *t, struct error *e)
{
	return bits_report(d, t, watch_make, &watch_view, e);
}

int report_operations(struct prof_data *d, struct report_table *t, struct error *e)
{
	return bits_report(d, t, bits_make, &operations_view, e);
}

int report_access(struct prof_data *d, struct report_table *t, struct error *e)
{
	return bits_report(d, t, bits_make, &access_view, e);
}

int report_conflicts(struct prof_data *d, struct report_table *t, struct error *e)
{
	return bits_report(d, t, bits_make, &conflicts_view, e);
}

int report_redundant(struct prof_data *d, struct report_table *t, struct error *e)
{
	return bits_report(d, t, bits_make, &redundant_view, e);
}
