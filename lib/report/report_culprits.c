/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_culprits.h"
#include "explain/by_branches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* FEW samples at a neighbour would make that difference. */
enum { SHOWN = 3, POSSIBLE_SHOWN = 2, FEW = 4 };
#define POSSIBLE 0.5
#define WORTH    0.05

const char *report_culprits_confidence(const struct explain_result *p, uint32_t i)
{
	if (p->analysed.exact)
		return p->analysed.analysis->compared ? "counted" : "exact";
	return analysis_confidence_name(
		p->analysed.frequencies.block[p->code.flow->block_of[i]].confidence);
}

const char *report_culprits_unsure(const struct explain_result *p, uint32_t i)
{
	struct quantity q = explain_executions_of(&p->analysed, i);

	if (q.label != LABEL_ESTIMATED || !explain_too_wide(q.value, q.low, q.high))
		return NULL;
	return !(q.low > 0) && p->analysed.analysis->branches ? "met by no burst"
							      : "executions not known";
}

static void take(struct report_table *t, const char *cause, double value, double low, double high,
	const struct flow *f, uint32_t blame)
{
	struct report_culprit c = {.cause = cause, .cycles = {value, low, high, LABEL_ESTIMATED}};

	if (blame != FLOW_NONE) {
		c.blame = f->insns.data[blame].address;
		c.blamed = true;
	}
	t->failed |= vec_add(&t->culprits, c) != 0;
}

/* The instruction that the schedule blames. */
static uint32_t scheduled(const struct explain_result *p, uint32_t i)
{
	uint32_t of = culprit_scheduled(&p->culprits, i);
	const struct schedule_row *r = &p->analysed.rows[of];

	return r->blame >= 0 ? (uint32_t)r->blame : FLOW_NONE;
}

/* The static wait: from the part that no other cause explains to the most that the schedule allows.
 */
static void take_fixed(
	struct report_table *t, const struct explain_result *p, uint32_t i, double others)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	double high = w->wait > 0 ? fmax(fmin(w->most, w->wait), w->fixed) : w->fixed;
	double low = w->wait > 0 ? fmin(fmax(w->wait - others, 0), w->fixed) : w->fixed;

	if (w->unsure) {
		low = w->fixed_low;
		high = w->fixed_high;
	}
	take(t,
		report_text(t, "static: %s",
			culprit_fixed_name(culprit_fixed(&p->culprits, &p->input, i))),
		w->fixed, low, high, p->code.flow, scheduled(p, i));
}

void report_culprits_take(
	struct report_table *t, const struct explain_result *p, uint32_t i, struct report_row *row)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	double others = 0;

	row->first_culprit = t->culprits.count;
	for (uint32_t k = w->first; k < w->first + w->count; k++) {
		const struct culprit *c = &p->culprits.list.data[k];

		others += c->high;
		take(t, culprit_key((enum culprit_cause)c->cause), c->likely, c->low, c->high,
			p->code.flow, c->blame);
	}
	if (w->fixed > 0)
		take_fixed(t, p, i, others);
	if (w->unexplained > 0)
		take(t, "unexplained", w->unexplained, w->unexplained, w->unexplained, p->code.flow,
			FLOW_NONE);
	row->culprits = t->culprits.count - row->first_culprit;
}

/* Causes under the names that reports show: the levels of the data cache are one. */
struct share {
	char name[40];
	double cycles;
};

static int by_share(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: strcmp(x->name, y->name);
}

/* The static wait, beyond the n so far: of the divider, or of a dependency, it is one with what the
 * schedule does not explain. Was it added to one of these? */
static bool add_fixed(struct share *list, size_t n, const char *name, double cycles)
{
	for (size_t k = 0; k < n && cycles > 0; k++)
		if (strcmp(list[k].name, name) == 0 && list[k].cycles > 0) {
			list[k].cycles += cycles;
			return true;
		}
	list[n].cycles = cycles;
	snprintf(list[n].name, sizeof(list->name), "static: %s", name);
	return false;
}

static size_t shares_of(const struct explain_result *p, uint32_t i, struct share *list)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	double data = 0;
	size_t n = 0;

	for (uint32_t k = w->first; k < w->first + w->count; k++) {
		const struct culprit *c = &p->culprits.list.data[k];

		if (CULPRIT_DATA >> c->cause & 1) {
			data += c->likely;
			continue;
		}
		list[n].cycles = c->likely;
		snprintf(list[n++].name, sizeof(list->name), "%s",
			culprit_key((enum culprit_cause)c->cause));
	}
	list[n].cycles = data;
	snprintf(list[n++].name, sizeof(list->name), "dcache");
	n += !add_fixed(
		list, n, culprit_fixed_name(culprit_fixed(&p->culprits, &p->input, i)), w->fixed);
	list[n].cycles = w->unexplained;
	snprintf(list[n++].name, sizeof(list->name), "unexplained");
	qsort(list, n, sizeof(*list), by_share);
	return n;
}

/* Causes that are unlikely, but may be most of the wait: executions are too uncertain. */
static void add_possible(
	const struct explain_result *p, uint32_t i, char *text, size_t size, const char *likely)
{
	static const uint8_t order[] = {CULPRIT_L2, CULPRIT_MISPREDICT, CULPRIT_DTLB,
		CULPRIT_ICACHE, CULPRIT_DIVIDER, CULPRIT_LOCKED, CULPRIT_STORES};
	const struct culprit_wait *w = &p->culprits.wait[i];
	double most = POSSIBLE * p->input.cycles[i];
	unsigned shown = 0;
	size_t used = 0;

	for (size_t k = 0; k < sizeof(order) && shown < POSSIBLE_SHOWN; k++) {
		bool data = order[k] == CULPRIT_L2;
		const char *name = data ? "dcache" : culprit_key((enum culprit_cause)order[k]);
		double high = data ? w->data_high : 0;

		for (uint32_t n = w->first; n < w->first + w->count && !data; n++)
			if (p->culprits.list.data[n].cause == order[k])
				high = p->culprits.list.data[n].high;
		if (high < most || strstr(likely, name))
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", shown++ ? ", " : " (or ", name);
	}
	if (shown)
		snprintf(text + used, size - used, ")");
}

/* Shares are not known, or may be of a neighbour: names alone. */
static const char *names_text(
	struct report_table *t, const char *text, const struct share *list, size_t n, double all)
{
	bool any = false;

	for (size_t k = 0; k < n && k < SHOWN && list[k].cycles > WORTH * all; k++) {
		if (strcmp(list[k].name, "unexplained") == 0)
			continue;
		text = report_text(t, "%s%s%s", text, any ? ", " : ": perhaps ", list[k].name);
		any = true;
	}
	return text;
}

/* By the number of executions that is likeliest, however wide its interval. */
static const char *guess_text(
	struct report_table *t, const struct explain_result *p, uint32_t i, const char *why)
{
	struct share list[CULPRITS + 3] = {0};
	size_t n = shares_of(p, i, list);
	double all = 0;

	for (size_t k = 0; k < n; k++)
		all += list[k].cycles;
	return names_text(t, why, list, n, all);
}

/* Shares follow from executions: without these, only a cause that no number of executions within
 * the interval rules out is named. */
static const char *unsure_text(
	struct report_table *t, const struct explain_result *p, uint32_t i, const char *why)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	const char *name = "dcache";
	double least = w->unsure ? w->data_low : 0;

	for (uint32_t k = w->first; k < w->first + w->count && w->unsure; k++) {
		const struct culprit *c = &p->culprits.list.data[k];

		if (c->low > least && !(CULPRIT_DATA >> c->cause & 1)) {
			name = culprit_key((enum culprit_cause)c->cause);
			least = c->low;
		}
	}
	if (!(least > 0) || least < POSSIBLE * p->input.cycles[i])
		return guess_text(t, p, i, why);
	return report_text(
		t, "%s: %s %.0f%% at least", why, name, 100 * least / p->input.cycles[i]);
}

const char *report_culprits_text(struct report_table *t, const struct explain_result *p, uint32_t i)
{
	const char *unsure = report_culprits_unsure(p, i);
	struct share list[CULPRITS + 3] = {0};
	size_t n = shares_of(p, i, list), used = 0;
	double all = 0;
	char text[200] = "", possible[80] = "";

	for (size_t k = 0; k < n; k++)
		all += list[k].cycles;
	if (unsure)
		return unsure_text(t, p, i, unsure);
	if (p->input.cycles[i] < FEW * p->input.sample && strcmp(list[0].name, "unexplained") == 0)
		return names_text(t, REPORT_FEW_SAMPLES, list, n, all);
	for (size_t k = 0; k < n && k < SHOWN && used < sizeof(text); k++) {
		double percent = all > 0 ? 100 * list[k].cycles / all : 0;

		if (percent < (k ? 5 : 0.5))
			break;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %.0f%%",
			k ? ", " : "", list[k].name, percent);
	}
	if (p->culprits.wait[i].unsure)
		add_possible(p, i, possible, sizeof(possible), text);
	return report_text(t, "%s%s", text, possible);
}

const char *report_culprits_blame(
	struct report_table *t, const struct explain_result *p, uint32_t i)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	uint32_t blame = w->count ? p->culprits.list.data[w->first].blame : FLOW_NONE;

	if (!w->count || w->fixed > p->culprits.list.data[w->first].likely)
		blame = scheduled(p, i);
	if (blame == FLOW_NONE || blame == i || report_culprits_unsure(p, i))
		return "";
	return report_text(t, "%llx", (unsigned long long)p->code.flow->insns.data[blame].address);
}

const char *report_culprits_counted(
	struct report_table *t, const struct prof_data *d, const char *option)
{
	const char *file = d->request->count == 1 ? d->request->inputs[0].file : "THESE";

	return report_text(t, "ssrun -ideal -o X COMMAND; prof %s %s X", option, file);
}

void report_culprits_describe(struct report_table *t, const struct explain *x)
{
	const char *from = explain_branches_any(x->d) && !x->d->request->classic
				   ? "branch records and samples"
				   : "samples alone (better: ssrun -branches)";
	const char *best = x->analysis.exact ? "exact counts" : from;

	if (x->analysis.compared && x->total > 0)
		best = report_text(
			t, "the second run (%.1f%% differ)", 100 * x->differs / x->total);
	report_brief(t, "Analysis", "core %s; executions from %s", x->analysis.core.name, best);
	report_summary(t, "Core, cost table", "%s, %s", x->analysis.core.name, x->cost_table);
	if (!x->analysis.exact)
		report_summary(t, "Executions are estimated from", "%s", from);
	if (!x->analysis.compared)
		return;
	report_summary(t, "Executions are counted in",
		"the second run (model), where branch records agree");
	if (x->total > 0)
		report_summary(t, "Of all samples, where the two runs differ", "%.1f%%",
			100 * x->differs / x->total);
	if (x->differs > 0)
		report_note(t,
			"Where the runs differ, executions are estimated from branch records, and "
			"events are those of each execution on the model");
}

struct report_column report_executions_column(const struct explain *x)
{
	return (struct report_column){.kind = REPORT_COUNT,
		.flags = REPORT_KEY,
		.name = "executions",
		.unit = "executions",
		.experiment = -1,
		.label = x->analysis.exact && !x->analysis.compared
				 ? x->d->metrics.data[x->analysis.counted].metric->label
				 : LABEL_ESTIMATED};
}

struct report_column report_confidence_column(void)
{
	return (struct report_column){.kind = REPORT_TEXT,
		.flags = REPORT_BESIDE,
		.name = "confidence",
		.heading = "(confidence)"};
}

struct report_column report_cycles_column(const char *name, const char *heading)
{
	return report_ratio_column(REPORT_KEY, name, heading, "cycles", LABEL_ESTIMATED);
}

struct report_row report_code_row(
	const struct prof_data *d, const char *procedure, uint32_t image, uint64_t address)
{
	struct image_line line = {0};
	struct report_row row = {.role = REPORT_ROW,
		.procedure = procedure,
		.image = d->images.data[image].name,
		.address = address,
		.addressed = true,
		.parent = -1};

	if (d->names.ops->line(d->names.context, image, address, &line) == 0 && line.line) {
		row.file = line.file;
		row.line = line.line;
	}
	return row;
}

static void note_unsure(struct report_table *t)
{
	bool unsure = false;

	for (size_t i = 0; i < t->rows.count && !t->failed; i++)
		for (size_t k = 0; k < t->columns.count; k++)
			unsure = unsure || report_cells(t, i)[k].unsure;
	if (unsure)
		report_note(t,
			"?: the 95%% interval of executions is wider than a factor of %.0f "
			"(-ci and -json show it)",
			EXPLAIN_TOO_WIDE);
}

int report_waits_report(struct prof_data *d, struct report_table *t,
	int (*make)(struct report_waits *w, struct error *e), struct error *e)
{
	struct report_waits w = {.d = d, .t = t};
	int rc = profile_data_name(d, false, e);

	report_describe(t, d);
	report_beside_find(&w.beside, t, d);
	if (rc == 0)
		rc = explain_init(&w.x, d, e);
	if (rc == 0)
		rc = make(&w, e);
	if (rc == 0)
		note_unsure(t);
	if (rc == 0)
		report_coverage(t, d);
	explain_fini(&w.x);
	report_beside_fini(&w.beside);
	return report_finish(t, rc, e);
}
