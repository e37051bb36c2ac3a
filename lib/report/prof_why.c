/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the cycles of a procedure, or of the program, went: each cause from what only it can have
 * been to what it can have been in part, and what usually helps.  After figure 4 of Anderson et al.
 * (SOSP'97): dynamic waits, static ones and execution make up all samples, as far as executions
 * are known.
 */
#include <math.h>
#include <string.h>

#include "report/prof_columns.h"
#include "report/prof_culprits.h"
#include "report/prof_views.h"

struct why {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_explain x;
	struct culprits_sum all;
	double bare; /* cycles of code that cannot be had */
	long from, to, likely;
};

/* ---- what helps ---- */

static const char *const advice[CULPRITS] = {
	[CULPRIT_ICACHE] = "code is larger than the first level holds: keep what runs together "
			   "together (-freorder-functions with a profile), inline and unroll less",
	[CULPRIT_ITLB] = "code is spread over many pages: order functions by use, or map code with "
			 "large pages",
	[CULPRIT_L2] = "data come from the second level: make the working set smaller (blocking, "
		       "smaller types), or let loads run ahead of their use",
	[CULPRIT_LL] = "data come from the last level: block loops so that data are used again "
		       "while they are near; split hot from cold fields",
	[CULPRIT_MEMORY] =
		"data come from memory: touch less of it, in the order in which it lies; "
		"prefetch where addresses are known early",
	[CULPRIT_DTLB] = "data lie in more pages than the TLB holds: access them in the order of "
			 "pages, or use large pages (madvise MADV_HUGEPAGE)",
	[CULPRIT_MISPREDICT] =
		"branches depend on data that cannot be foreseen: compute both sides "
		"(conditional moves, masks), sort the data, or use tables",
	[CULPRIT_STORES] =
		"stores miss faster than lines come: write whole lines in order, or past "
		"the caches where the data are not needed soon",
	[CULPRIT_FORWARD] =
		"loads want bytes of stores that are of another size or place: write and "
		"read with one width",
	[CULPRIT_DIVIDER] =
		"divisions: by constants or powers of two, multiply by a reciprocal, or "
		"use narrower types",
	[CULPRIT_MULTIPLIER] =
		"multiplications wait for each other: break the chain, or use shifts "
		"and additions",
	[CULPRIT_LOCKED] =
		"atomic instructions: do them less often (one a batch, one a thread), and "
		"keep what they touch on lines of its own",
	[CULPRIT_SERIALISING] =
		"system calls and serialising instructions: make fewer of them, each "
		"for more work",
	[CULPRIT_FAULT] = "pages are touched for the first time: reuse memory, or map it populated",
	[CULPRIT_DEPENDENCY] = "chains of results from one block to the next: break them (several "
			       "sums at once, pointers that are known earlier)",
	[CULPRIT_FRONT_END] = "many taken branches: straighten the usual way (profile feedback), "
			      "unroll short loops",
};

/* ---- rows ---- */

static void set_share(struct why *w, long at, long column, double cycles)
{
	struct prof_cell *c = &prof_cells(w->t, (size_t)at)[column];

	c->quantity = quantity_exact(cycles, LABEL_ESTIMATED);
	c->percent = w->all.cycles > 0 ? 100 * cycles / w->all.cycles : 0;
	c->cumulative = NAN;
}

/* from, to: bounds; depth: of a part of the row above. */
static int add(struct why *w, enum prof_role role, const char *name, const char *key,
	unsigned depth, double from, double to, double likely)
{
	struct prof_row row = {
		.role = role, .text = name, .note = key, .parent = -1, .depth = depth};
	long at = prof_row_add(w->t, &row);

	if (at < 0)
		return -1;
	set_share(w, at, w->from, from);
	set_share(w, at, w->to, to);
	set_share(w, at, w->likely, likely);
	return 0;
}

static int add_exact(
	struct why *w, enum prof_role role, const char *name, const char *key, double cycles)
{
	return add(w, role, name, key, 0, cycles, cycles, cycles);
}

static int add_data(struct why *w)
{
	const struct culprits_sum *s = &w->all;
	double likely = s->likely[CULPRIT_L2] + s->likely[CULPRIT_LL] + s->likely[CULPRIT_MEMORY];

	return add(w, PROF_ROW, "D-cache miss", "dcache", 0, s->data_low, s->data_high, likely);
}

static int dynamic_rows(struct why *w)
{
	const struct culprits_sum *s = &w->all;

	for (unsigned k = 0; k < CULPRITS; k++) {
		bool level = CULPRIT_DATA >> k & 1;

		if (k == CULPRIT_L2 && add_data(w))
			return -1;
		if (level && !(s->high[k] > 0))
			continue;
		if (add(w, PROF_ROW, culprit_name((enum culprit_cause)k),
			    culprit_key((enum culprit_cause)k), level, s->low[k], s->high[k],
			    s->likely[k]))
			return -1;
	}
	return add_exact(w, PROF_ROW, "Unexplained stall", "unexplained", s->unexplained) ||
			       add_exact(w, PROF_ROW, "Unexplained gain", "gain", s->gain) ||
			       add_exact(w, PROF_SUBTOTAL, "Subtotal dynamic", "dynamic",
				       s->dynamic + s->gain)
		       ? -1
		       : 0;
}

static int static_rows(struct why *w, double *sum)
{
	const struct culprits_sum *s = &w->all;

	*sum = 0;
	for (unsigned k = 0; k < CULPRIT_FIXED; k++) {
		const char *name = culprit_fixed_name(k);
		const char *text = prof_text(w->t, "Static: %s", name);
		const char *key = prof_text(w->t, "static-%s", name);

		*sum += s->fixed[k];
		if (!text || !key ||
			(s->fixed_high[k] != 0 && add(w, PROF_ROW, text, key, 0, s->fixed_low[k],
							  s->fixed_high[k], s->fixed[k])))
			return -1;
	}
	return add_exact(w, PROF_SUBTOTAL, "Subtotal static", "static", *sum);
}

static int rows(struct why *w)
{
	const struct culprits_sum *s = &w->all;
	double fixed, dynamic = s->dynamic + s->gain;

	if (dynamic_rows(w) || static_rows(w, &fixed) ||
		add_exact(w, PROF_SUBTOTAL, "Total stall", "stall", dynamic + fixed) ||
		add_exact(w, PROF_ROW, "Execution", "execution", s->execution) ||
		add_exact(w, PROF_ROW, "Net sampling error", "error", s->error))
		return -1;
	if (s->untold + w->bare > 0 &&
		add_exact(w, PROF_ROW, "Executions not known", "unknown", s->untold + w->bare))
		return -1;
	return add_exact(w, PROF_SUBTOTAL, "Total tallied", "total",
		dynamic + fixed + s->execution + s->error + s->untold + w->bare);
}

/* The largest causes in plain words. */
static int advise(struct why *w)
{
	bool said[CULPRITS] = {false};

	for (int n = 0; n < 3; n++) {
		unsigned most = 0;

		for (unsigned k = 1; k < CULPRITS; k++)
			if (!said[k] && (said[most] || w->all.likely[k] > w->all.likely[most]))
				most = k;
		if (said[most] || !(w->all.likely[most] > 0.03 * w->all.cycles))
			break;
		said[most] = true;
		if (prof_note(w->t, "%s, about %.0f%%: %s", culprit_name((enum culprit_cause)most),
			    100 * w->all.likely[most] / w->all.cycles, advice[most]))
			return -1;
	}
	return 0;
}

static int add_columns(struct why *w)
{
	struct prof_column c = {.kind = PROF_COUNT,
		.flags = PROF_KEY | PROF_PERCENT,
		.unit = "cycles",
		.experiment = -1,
		.label = LABEL_ESTIMATED};

	c.name = "from";
	c.heading = "only this";
	w->from = prof_column_add(w->t, &c);
	c.name = "to";
	c.heading = "partly this";
	w->to = prof_column_add(w->t, &c);
	c.name = "likely";
	c.heading = "likely";
	w->likely = prof_column_add(w->t, &c);
	return w->from < 0 || w->to < 0 || w->likely < 0 ? -1 : 0;
}

static int take_procedure(void *to, struct prof_explained *p, struct error *e)
{
	struct why *w = to;
	double cycles = (double)p->code.sums[w->x.analysis.metric] * w->x.analysis.cycles;

	(void)e;
	if (p->told) {
		culprits_add(&w->all, &p->culprits, &p->input);
		return 0;
	}
	w->bare += cycles;
	w->all.cycles += cycles;
	return 0;
}

static int summary(struct why *w)
{
	double all = w->x.total * w->x.analysis.cycles;

	if (prof_culprits_describe(w->t, &w->x))
		return -1;
	return all > 0 ? prof_summary(w->t, "Of all samples, those of these functions", "%.1f%%",
				 100 * w->all.cycles / all)
		       : 0;
}

static int notes(struct why *w)
{
	return prof_note(w->t,
		"only this: cycles that nothing else is left for; partly this: that it can have "
		"been, "
		"with others; likely: by what each usually costs");
}

int prof_why(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct why w = {.d = d, .t = t};
	int rc = -1;

	t->report = "why";
	t->title = "Where the cycles went";
	t->layout = PROF_CAUSES;
	if (prof_data_name(d, false, e) || prof_describe(t, d, e) || prof_explain_init(&w.x, d, e))
		goto out;
	rc = prof_explain_each(&w.x, take_procedure, &w, e);
	if (rc == 0 && (summary(&w) || add_columns(&w) || rows(&w) || advise(&w) || notes(&w)))
		rc = error_nomem(e);
	if (rc == 0)
		rc = prof_coverage(t, d, e);
out:
	prof_explain_fini(&w.x);
	return rc;
}
