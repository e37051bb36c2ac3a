/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cycles of a procedure, or of the program, by cause: each from the cycles that no other cause
 * explains to those that it may explain in part, and the usual remedies. After figure 4 of Anderson
 * et al. (SOSP'97): dynamic waits, static ones and execution make up all samples, as far as
 * executions are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "report/report_culprits.h"
#include "report/report_views.h"

struct why {
	struct report_waits *w;
	struct report_table *t;
	struct culprits_sum all;
	double bare;                 /* cycles of code that cannot be had */
	double kernel;               /* cycles of the kernel */
	struct prof_waited modelled; /* by a second run */
	bool brief;                  /* causes of nothing are left out, */
	size_t left;                 /* as many */
};

enum { REMEDIES = 3 };
#define WORTH    0.03   /* of all cycles: a cause with a remedy */
#define NOTHING  0.0005 /* of all cycles: 0.0% as it is shown */
#define TOO_MUCH 0.25   /* net sampling error and unexplained gain, of all cycles */

enum { WHY_FROM, WHY_TO, WHY_LIKELY, WHY_MODEL, WHY_COLUMNS };

/* ---- what helps ---- */

static const char *const advice[CULPRITS] = {
	[CULPRIT_ICACHE] =
		"code is larger than the first level: place code that runs together in one region "
		"(-freorder-functions with a profile), inline and unroll less",
	[CULPRIT_ITLB] = "code is spread over many pages: order functions by use, or map code with "
			 "large pages",
	[CULPRIT_L2] = "data come from the second level: make the working set smaller (blocking, "
		       "smaller types), or let loads run ahead of their use",
	[CULPRIT_LL] = "data come from the last level: block loops so that data are used again "
		       "while they are in near caches; split hot from cold fields",
	[CULPRIT_MEMORY] = "data come from memory: access less of it, in address order; prefetch "
			   "where addresses are known early",
	[CULPRIT_DTLB] = "data are on more pages than the TLB has entries: access them in the "
			 "order of pages, or use large pages (madvise MADV_HUGEPAGE)",
	[CULPRIT_MISPREDICT] = "branches depend on unpredictable data: compute both sides "
			       "(conditional moves, masks), sort the data, or use tables",
	[CULPRIT_STORES] = "stores miss faster than lines arrive: write whole lines in order, or "
			   "bypass the caches for data not needed soon",
	[CULPRIT_FORWARD] = "loads need bytes of stores of another size or address: write and read "
			    "with one width",
	[CULPRIT_DIVIDER] =
		"divisions: by constants or powers of two, multiply by a reciprocal, or "
		"use narrower types",
	[CULPRIT_MULTIPLIER] =
		"multiplications wait for each other: break the chain, or use shifts "
		"and additions",
	[CULPRIT_LOCKED] = "atomic instructions: use fewer (one per batch, one per thread), and "
			   "put their data on separate lines",
	[CULPRIT_SERIALISING] =
		"system calls and serialising instructions: make fewer of them, each "
		"for more work",
	[CULPRIT_FAULT] = "pages are touched for the first time: reuse memory, or map it populated",
	[CULPRIT_DEPENDENCY] = "chains of results from one block to the next: break them (several "
			       "sums in parallel, pointers known earlier)",
	[CULPRIT_FRONT_END] = "many taken branches: make the usual path fall through (profile "
			      "feedback), unroll short loops",
};

/* Of waits that the schedule explains. */
static const char *const advice_fixed[CULPRIT_FIXED] = {
	[SCHEDULE_NONE] = "the schedule of the core explains it: execute fewer instructions",
	[SCHEDULE_FRONT_END] =
		"the front end delivers no more instructions in a cycle: execute fewer "
		"(vectors, simpler addresses, work moved out of loops)",
	[SCHEDULE_FETCH] = "bytes of code arrive no faster: align loops, use shorter instructions",
	[SCHEDULE_WINDOW] = "the window is full of instructions that wait: shorten the chain that "
			    "they wait for",
	[SCHEDULE_INPUT] = "each result is needed for the next: break the chain (several sums in "
			   "parallel), or use operations of less latency",
	[SCHEDULE_MEMORY] = "data go from a store to a load: keep them in registers",
	[SCHEDULE_PORT] = "one kind of execution unit is busy: use other instructions, or vectors",
	[SCHEDULE_STORES] = "stores leave the store buffer no faster: store less often, more at "
			    "once",
	[SCHEDULE_RETIREMENT] = "instructions retire as fast as the core can: execute fewer of "
				"them (vectors, work moved out of loops)",
	[SCHEDULE_LATENCY] = "nothing else is there to do meanwhile: start it earlier, or use an "
			     "operation of less latency",
	[SCHEDULE_SERIAL] = "an instruction is executed alone: execute it less often",
};

/* ---- modelled waits ---- */

/* The model's causes of waits that are this cause. */
static const uint32_t modelled_as[CULPRITS] = {
	[CULPRIT_ICACHE] = 1u << WAIT_FETCH_L2 | 1u << WAIT_FETCH_LL | 1u << WAIT_FETCH_MEMORY |
			   1u << WAIT_FETCH_INTERVENTION,
	[CULPRIT_ITLB] = 1u << WAIT_ITLB,
	[CULPRIT_L2] = 1u << WAIT_L2,
	[CULPRIT_LL] = 1u << WAIT_LL,
	[CULPRIT_MEMORY] = 1u << WAIT_MEMORY | 1u << WAIT_INTERVENTION,
	[CULPRIT_DTLB] = 1u << WAIT_DTLB,
	[CULPRIT_MISPREDICT] = 1u << WAIT_MISPREDICT,
	[CULPRIT_STORES] = 1u << WAIT_STORE_BUFFER,
	[CULPRIT_FORWARD] = 1u << WAIT_FORWARD | 1u << WAIT_ALIAS,
	[CULPRIT_DIVIDER] = 1u << WAIT_DIVIDER,
	[CULPRIT_LOCKED] = 1u << WAIT_LOCKED,
	[CULPRIT_SERIALISING] = 1u << WAIT_SERIALISING | 1u << WAIT_SYSTEM_CALL,
	[CULPRIT_FRONT_END] = 1u << WAIT_TAKEN,
};
/* The model does not separate waits of the schedule from those beyond it. */
#define MODELLED_RESULTS (1u << WAIT_DEPENDENCY | 1u << WAIT_UNIT)

static double why_modelled(const struct why *w, uint32_t causes)
{
	double cycles = 0;

	for (unsigned k = 0; k < WAIT_CAUSES && w->w->beside.any; k++)
		cycles += causes >> k & 1 ? w->modelled.cycles[k] : 0;
	return cycles;
}

/* In the row that was added last. */
static void set_modelled(const struct why *w, uint32_t causes)
{
	double cycles = why_modelled(w, causes);

	if (!w->w->beside.any || w->t->failed)
		return;
	report_cells(w->t, w->t->rows.count - 1)[WHY_MODEL] =
		(struct report_cell){.quantity = quantity_exact(cycles, LABEL_MODEL),
			.percent = report_percent(cycles, w->modelled.all),
			.cumulative = NAN};
}

/* ---- rows ---- */

static void set_share(const struct why *w, size_t at, size_t column, double cycles)
{
	report_cells(w->t, at)[column] =
		(struct report_cell){.quantity = quantity_exact(cycles, LABEL_ESTIMATED),
			.percent = report_percent(cycles, w->all.cycles),
			.cumulative = NAN};
}

/* from, to: bounds; depth: of a part of the row above. */
static void why_add(const struct why *w, enum report_role role, const char *name, const char *key,
	unsigned depth, double from, double to, double likely)
{
	const struct report_row row = {
		.role = role, .text = name, .note = key, .parent = -1, .depth = depth};
	size_t at = report_row_add(w->t, &row);

	set_share(w, at, WHY_FROM, from);
	set_share(w, at, WHY_TO, to);
	set_share(w, at, WHY_LIKELY, likely);
}

/* A cause with nothing to show: likely, at most, and as modelled. */
static bool why_leaves(struct why *w, double high, double likely, double modelled)
{
	double nothing = NOTHING * w->all.cycles;

	if (!w->brief || fabs(high) >= nothing || fabs(likely) >= nothing ||
		(modelled > 0 && modelled >= NOTHING * w->modelled.all))
		return false;
	w->left++;
	return true;
}

static void add_exact(const struct why *w, enum report_role role, const char *name, const char *key,
	double cycles)
{
	why_add(w, role, name, key, 0, cycles, cycles, cycles);
}

/* All levels of the data cache, before the first. */
static void why_add_data(struct why *w)
{
	const struct culprits_sum *s = &w->all;
	const uint32_t causes =
		modelled_as[CULPRIT_L2] | modelled_as[CULPRIT_LL] | modelled_as[CULPRIT_MEMORY];
	double likely = s->likely[CULPRIT_L2] + s->likely[CULPRIT_LL] + s->likely[CULPRIT_MEMORY];

	if (why_leaves(w, s->data_high, likely, why_modelled(w, causes)))
		return;
	why_add(w, REPORT_ROW, "D-cache miss", "dcache", 0, s->data_low, s->data_high, likely);
	set_modelled(w, causes);
}

static void dynamic_rows(struct why *w)
{
	const struct culprits_sum *s = &w->all;

	for (unsigned k = 0; k < CULPRITS; k++) {
		bool level = CULPRIT_DATA >> k & 1;

		if (k == CULPRIT_L2)
			why_add_data(w);
		if ((level && s->high[k] <= 0) ||
			why_leaves(w, s->high[k], s->likely[k], why_modelled(w, modelled_as[k])))
			continue;
		why_add(w, REPORT_ROW, culprit_name((enum culprit_cause)k),
			culprit_key((enum culprit_cause)k), level, s->low[k], s->high[k],
			s->likely[k]);
		if (modelled_as[k])
			set_modelled(w, modelled_as[k]);
	}
	if (!why_leaves(w, s->unexplained, 0, 0))
		add_exact(w, REPORT_ROW, "Unexplained stall", "unexplained", s->unexplained);
	if (!why_leaves(w, s->gain, 0, 0))
		add_exact(w, REPORT_ROW, "Unexplained gain", "gain", s->gain);
	add_exact(w, REPORT_SUBTOTAL, "Subtotal dynamic", "dynamic", s->dynamic + s->gain);
}

/* Cycles of all of them. */
static double static_rows(struct why *w)
{
	const struct culprits_sum *s = &w->all;
	double sum = 0;

	for (unsigned k = 0; k < CULPRIT_FIXED; k++) {
		const char *name = culprit_fixed_name(k);

		sum += s->fixed[k];
		if (s->fixed_high[k] != 0 && !why_leaves(w, s->fixed_high[k], s->fixed[k], 0))
			why_add(w, REPORT_ROW, report_text(w->t, "Static: %s", name),
				report_text(w->t, "static-%s", name), 0, s->fixed_low[k],
				s->fixed_high[k], s->fixed[k]);
	}
	add_exact(w, REPORT_SUBTOTAL, "Subtotal static", "static", sum);
	set_modelled(w, MODELLED_RESULTS);
	return sum;
}

static void why_rows(struct why *w)
{
	const struct culprits_sum *s = &w->all;
	double fixed, dynamic = s->dynamic + s->gain;
	double unknown = s->untold + s->unsure + w->bare;

	dynamic_rows(w);
	fixed = static_rows(w);
	add_exact(w, REPORT_SUBTOTAL, "Total stall", "stall", dynamic + fixed);
	add_exact(w, REPORT_ROW, "Execution", "execution", s->execution);
	add_exact(w, REPORT_ROW, "Net sampling error", "error", s->error);
	if (w->kernel > 0)
		add_exact(w, REPORT_ROW, "In the kernel", "kernel", w->kernel);
	if (unknown > 0)
		add_exact(w, REPORT_ROW, "Executions not known", "unknown", unknown);
	add_exact(w, REPORT_SUBTOTAL, "Total tallied", "total",
		dynamic + fixed + s->execution + s->error + unknown + w->kernel);
}

struct remedy {
	double cycles;
	const char *name, *text;
};

static int remedies_by_cycles(const void *a, const void *b)
{
	const struct remedy *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: strcmp(x->name, y->name);
}

static size_t find_remedies(const struct why *w, struct remedy *list)
{
	const struct culprits_sum *s = &w->all;
	size_t n = 0;

	for (unsigned k = 0; k < CULPRITS; k++) {
		double divisions = k == CULPRIT_DIVIDER ? s->fixed[CULPRIT_FIXED_DIVISION] : 0;

		list[n++] = (struct remedy){
			s->likely[k] + divisions, culprit_name((enum culprit_cause)k), advice[k]};
	}
	for (unsigned k = 0; k < CULPRIT_FIXED_DIVISION; k++)
		list[n++] = (struct remedy){s->fixed[k],
			report_text(w->t, "Static: %s", culprit_fixed_name(k)), advice_fixed[k]};
	list[n++] = (struct remedy){s->unexplained, "Unexplained stall",
		w->w->x.analysis.exact ? "no known cause fits"
				       : report_text(w->t,
						 "no cause fits, or there are more executions than "
						 "estimated: for exact ones, %s",
						 report_culprits_counted(w->t, w->w->d, "-why"))};
	return n;
}

/* The largest causes in plain words. */
static void advise(const struct why *w)
{
	struct remedy list[CULPRITS + CULPRIT_FIXED] = {0};
	size_t n = find_remedies(w, list);

	qsort(list, n, sizeof(*list), remedies_by_cycles);
	for (size_t i = 0; i < n && i < REMEDIES; i++)
		if (list[i].cycles > WORTH * w->all.cycles)
			report_note(w->t, "%s, about %.0f%%: %s", list[i].name,
				100 * list[i].cycles / w->all.cycles, list[i].text);
	if (w->all.unsure > WORTH * w->all.cycles)
		report_note(w->t,
			"Executions not known, about %.0f%%: their intervals are wider than a "
			"factor of %g, so no cause follows: run it for longer, or for exact ones, "
			"%s",
			100 * w->all.unsure / w->all.cycles, EXPLAIN_TOO_WIDE,
			report_culprits_counted(w->t, w->w->d, "-why"));
	if (-w->all.gain > WORTH * w->all.cycles)
		report_note(w->t, "Unexplained gain, %.0f%%: %s", 100 * w->all.gain / w->all.cycles,
			w->w->x.analysis.exact
				? "these instructions took less time than the core needs at least, "
				  "by its description"
				: report_text(w->t,
					  "these instructions took less time than their executions "
					  "need at least: there are fewer than estimated; for "
					  "exact ones, %s",
					  report_culprits_counted(w->t, w->w->d, "-why")));
}

static bool why_is_kernels(const struct why *w, const struct explain_result *p)
{
	return w->w->d->images.data[p->procedure->image].image->kind == EXPERIMENT_IMAGE_KERNEL;
}

/* No cause follows from executions that are not known. */
static int why_add_culprits(struct why *w, const struct explain_result *p, struct error *e)
{
	size_t count = p->code.flow->insns.count;
	bool *unsure = calloc(count + 1, sizeof(*unsure));

	if (!unsure)
		return error_nomem(e);
	for (uint32_t i = 0; i < count; i++)
		unsure[i] = report_culprits_unsure(p, i) != NULL;
	culprits_add(&w->all, &p->culprits, &p->input, unsure);
	free(unsure);
	return 0;
}

static int why_take_procedure(void *to, struct explain_result *p, struct error *e)
{
	struct why *w = to;
	const struct explain *x = &w->w->x;
	double cycles = (double)p->code.sums[x->analysis.metric] * x->analysis.cycles;

	for (uint32_t i = 0; p->code.flow && i < p->code.flow->insns.count; i++) {
		const struct prof_waited *waited = profile_waited_at(&w->w->beside.modelled,
			p->procedure->image, p->code.flow->insns.data[i].address);

		if (waited)
			profile_waited_add(&w->modelled, waited);
	}
	if (p->told)
		return why_add_culprits(w, p, e);
	*(why_is_kernels(w, p) ? &w->kernel : &w->bare) += cycles;
	w->all.cycles += cycles;
	return 0;
}

#define WHY_COLUMN(column_name, column_heading)                                                    \
	{                                                                                          \
		.kind = REPORT_COUNT, .flags = REPORT_KEY | REPORT_PERCENT, .name = column_name,   \
		.heading = column_heading, .unit = "cycles", .label = LABEL_ESTIMATED              \
	}

static const struct report_column columns[WHY_COLUMNS] = {
	[WHY_FROM] = WHY_COLUMN("from", "only this"),
	[WHY_TO] = WHY_COLUMN("to", "partly this"),
	[WHY_LIKELY] = WHY_COLUMN("likely", "likely"),
	[WHY_MODEL] = {.kind = REPORT_COUNT,
		.flags = REPORT_KEY | REPORT_PERCENT,
		.name = "modelled",
		.unit = "cycles",
		.label = LABEL_MODEL},
};

static int why_make(struct report_waits *waits, struct error *e)
{
	const struct prof_request *r = waits->d->request;
	struct why w = {.w = waits, .t = waits->t, .brief = r->folds && !r->whole};
	double all = waits->x.total * waits->x.analysis.cycles;

	if (explain_each(&waits->x, why_take_procedure, &w, e))
		return -1;
	report_culprits_describe(w.t, &waits->x);
	if (all > 0)
		report_summary(w.t, "Of all samples, those of these functions", "%.1f%%",
			100 * w.all.cycles / all);
	report_columns_add(w.t, columns, waits->beside.any ? WHY_COLUMNS : WHY_MODEL);
	if (w.t->failed)
		return error_nomem(e);
	why_rows(&w);
	advise(&w);
	if (w.left)
		report_note(w.t, "%zu cause%s of 0.0%% %s left out (-whole)", w.left,
			plural(w.left), plural_is(w.left));
	if (fabs(w.all.error) + fabs(w.all.gain) > TOO_MUCH * w.all.cycles)
		report_note(w.t,
			"%.0f samples are too few to divide the time among causes, as the net "
			"sampling error and the gain show: run the command for longer",
			w.all.cycles / waits->x.analysis.cycles);
	if (waits->beside.any)
		report_note(w.t, "modelled: of all waits on the model; the line of the static ones "
				 "has all waits for results and execution units");
	report_note(w.t,
		"The instructions that waited, the longest first: prof -stalls. A wait for "
		"data is at the load, not at the instruction that uses them");
	report_note(w.t, "only this: cycles that no other cause explains; partly this: cycles that "
			 "it explains at most; likely: divided by usual costs");
	return 0;
}

int report_why(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "why";
	t->title = "Where the cycles went";
	t->layout = REPORT_CAUSES;
	return report_waits_report(d, t, why_make, e);
}
