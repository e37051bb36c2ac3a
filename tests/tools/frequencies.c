/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lib/analysis makes of samples and branch records, beside exact counts:
 *   frequencies [-classic] [-clock] [-insns] SAMPLES... [COUNTS]
 * Several files of samples are added up; what is shown is of one run among them.  -clock: without
 * branch records.  Lines of words, for scripts:
 *   procedure IMAGE ADDRESS SAMPLES NAME
 *   block NUMBER FIRST INSTRUCTIONS CLASS LOOP FLAGS SAMPLES MI ESTIMATE CONFIDENCE COUNT WIDTH
 *     SCATTER
 *   edge FROM TO KIND CLASS ESTIMATE CONFIDENCE COUNT SCATTER
 *   insn ADDRESS RAW SAMPLES MI MNEMONIC CLASSES
 * Estimates and counts are executions; COUNT is - without COUNTS, ESTIMATE where nothing is known.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "experiment/branches.h"
#include "experiment/file.h"
#include "experiment/merge.h"
#include "explain/procedure.h"
#include "machine/machine.h"
#include "profile/image_files.h"

struct figure {
	double samples, estimate, count;
	uint32_t insns, procedure;
	int confidence;
};

struct asked {
	struct prof_data data;
	struct explain_analysis analysis;
	struct explain_procedures procedures;
	struct explain_edges edges, none;
	bool insns, figures, clock;
	double runs;  /* of samples, for each of counts */
	long counted; /* metric; -1 */
	VEC(struct figure) blocks, arcs;
};

static void show_estimate(const struct asked *a, const struct analysis_estimate *x)
{
	if (x->confidence == ANALYSIS_UNKNOWN)
		printf(" - -");
	else
		printf(" %.6g %s", x->value * a->analysis.cycles / a->runs,
			analysis_confidence_name(x->confidence));
}

/* How far up its interval goes, as a factor. */
static void show_width(const struct analysis_estimate *x)
{
	if (x->value > 0 && isfinite(x->high))
		printf(" %.4g", x->high / x->value);
	else
		printf(" -");
}

static uint64_t count_of(const struct asked *a, const struct explain_code *c, uint32_t i)
{
	return c->counts[i * a->data.metrics.count + (size_t)a->counted];
}

static void show_blocks(
	const struct asked *a, const struct explain_analysed *p, const uint32_t *class)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		double samples = 0, mi = 0;

		for (uint32_t k = b->first; k < b->first + b->count; k++) {
			samples += p->samples[k];
			mi += p->mi[k];
		}
		printf("block %u %u %u %u %d %u %.6g %.6g", i, b->first, b->count, class[i],
			(int)b -> loop, b -> flags, samples, mi);
		show_estimate(a, &p->frequencies.block[i]);
		if (a->counted >= 0)
			printf(" %" PRIu64, count_of(a, p->code, b->first));
		else
			printf(" -");
		show_width(&p->frequencies.block[i]);
		printf(" %.4g\n", p->frequencies.block[i].scatter);
	}
}

static void show_edges(const struct asked *a, const struct explain_analysed *p,
	const uint32_t *class, const double *counts)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *edge = &f->edges.data[i];

		printf("edge %u %u %u %u", edge->from, edge->to, edge->kind, class[i]);
		show_estimate(a, &p->frequencies.edge[i]);
		if (counts)
			printf(" %.0f", counts[i]);
		else
			printf(" -");
		printf(" %.4g\n", p->frequencies.edge[i].scatter);
	}
}

static void show_insns(const struct asked *a, const struct explain_analysed *p)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->insns.count; i++) {
		const struct insn *insn = &f->insns.data[i];

		printf("insn %" PRIx64 " %" PRIu64 " %.6g %.6g %s %x %" PRIx64 "\n", insn->address,
			p->code->counts[i * a->data.metrics.count + a->analysis.metric],
			p->samples[i], p->mi[i], isa_mnemonic(f->machine, insn->mnemonic),
			insn->classes, insn->has_target ? insn->target : 0);
	}
}

static void note_figures(struct asked *a, const struct explain_analysed *p, const double *counts)
{
	const struct flow *f = p->code->flow;
	double unit = a->analysis.cycles / a->runs;
	static uint32_t procedure;

	procedure++;
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		struct figure *g = vec_push(&a->blocks);
		const struct analysis_estimate *x = &p->frequencies.block[i];

		*g = (struct figure){.estimate = x->confidence ? x->value * unit : 0,
			.count = (double)count_of(a, p->code, b->first),
			.insns = b->count,
			.procedure = procedure,
			.confidence = x->confidence};
		for (uint32_t k = b->first; k < b->first + b->count; k++)
			g->samples += p->samples[k];
	}
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct analysis_estimate *x = &p->frequencies.edge[i];
		struct figure *g = vec_push(&a->arcs);

		*g = (struct figure){.estimate = x->confidence ? x->value * unit : 0,
			.count = counts[i],
			.confidence = x->confidence};
	}
}

/* "overlap", and that when shares in a procedure are exact, or those of procedures are. */
static void overlaps(struct asked *a)
{
	double x = 0, e = 0, o = 0, in = 0, between = 0, *ps, *pe;
	size_t n = a->blocks.count ? a->blocks.data[a->blocks.count - 1].procedure : 0;

	ps = calloc(n + 1, sizeof(double));
	pe = calloc(n + 1, sizeof(double));
	for (size_t i = 0; i < a->blocks.count; i++) {
		const struct figure *g = &a->blocks.data[i];

		x += g->count, e += g->estimate;
		ps[g->procedure] += g->count, pe[g->procedure] += g->estimate;
	}
	for (size_t i = 0; i < a->blocks.count; i++) {
		const struct figure *g = &a->blocks.data[i];
		double sx = ps[g->procedure], se = pe[g->procedure];

		o += fmin(g->count / x, g->estimate / e);
		if (se > 0)
			in += fmin(g->count / x, g->estimate / se * sx / x);
	}
	for (size_t i = 1; i <= n; i++)
		between += fmin(ps[i] / x, pe[i] / e);
	printf(" %5.1f %5.1f %5.1f", 100 * o, 100 * between, 100 * in);
}

static double within(const struct figure *g, size_t n, double limit, double scale)
{
	double all = 0, good = 0;

	for (size_t i = 0; i < n; i++) {
		double w = g[i].insns ? g[i].samples : g[i].count;

		all += w;
		if (g[i].count > 0 && fabs(g[i].estimate * scale / g[i].count - 1) <= limit)
			good += w;
	}
	return all > 0 ? 100 * good / all : 0;
}

static void show_figures(struct asked *a)
{
	double made = 0, real = 0, s, high = 0, good = 0, all = 0, bad = 0, low = 0;

	for (size_t i = 0; i < a->blocks.count; i++) {
		const struct figure *g = &a->blocks.data[i];
		bool off = !(g->count > 0 && fabs(g->estimate / g->count - 1) <= .15);

		made += g->estimate * g->insns;
		real += g->count * g->insns;
		all += g->samples;
		if (g->confidence == ANALYSIS_HIGH) {
			high += g->samples;
			good += g->count > 0 && fabs(g->estimate / g->count - 1) <= .10 ? g->samples
											: 0;
		}
		bad += off ? g->samples : 0;
		low += off && g->confidence <= ANALYSIS_LOW ? g->samples : 0;
	}
	s = made > 0 ? real / made : 0;
	overlaps(a);
	for (int k = 0; k < 2; k++)
		for (int l = 1; l <= 3; l++)
			printf(" %3.0f",
				within(a->blocks.data, a->blocks.count, .05 * l, k ? s : 1));
	printf(" %3.0f %3.0f scale %.2f high %.0f good %.0f low %.0f\n",
		within(a->arcs.data, a->arcs.count, .10, 1),
		within(a->arcs.data, a->arcs.count, .10, s), s, 100 * high / all,
		high > 0 ? 100 * good / high : 0, bad > 0 ? 100 * low / bad : 0);
}

static int show(struct asked *a, const struct explain_procedure *p, const struct explain_code *code,
	struct error *e)
{
	size_t metrics = a->data.metrics.count;
	const struct explain_skid skid = {.flow = code->flow, .entered = NAN};
	struct explain_moved *moved = calloc(code->flow->insns.count + 1, sizeof(*moved));
	struct analysis_classes *classes = analysis_classes_new(code->flow, e);
	struct explain_analysed analysed = {0};
	double *counts = NULL, entered;
	int rc = -1;

	if (moved && classes &&
		explain_skid_move(&skid, code->counts + a->analysis.metric, metrics, moved) == 0 &&
		explain_analyse(&analysed, &a->analysis, code, moved, e) == 0) {
		if (a->counted >= 0)
			counts = explain_edges_of(&a->edges, code->flow, p->image,
				code->counts + a->counted, metrics, &entered);
		if (a->figures) {
			note_figures(a, &analysed, counts);
			rc = 0;
			goto done;
		}
		printf("procedure %s %" PRIx64 " %" PRIu64 " %s\n",
			a->data.images.data[p->image].name, p->begin, p->value,
			profile_string_at(&a->data, p->name));
		show_blocks(a, &analysed, classes->block);
		show_edges(a, &analysed, classes->edge, counts);
		if (a->insns)
			show_insns(a, &analysed);
		rc = 0;
	}
done:
	free(counts);
	explain_analysed_fini(&analysed);
	analysis_classes_free(classes);
	free(moved);
	return rc;
}

static int all(struct asked *a, struct error *e)
{
	int rc = 0;

	a->counted = a->analysis.exact ? (long)a->analysis.counted : -1;
	a->analysis.exact = false;
	if (!a->figures)
		printf("cycles %.9g\n", a->analysis.cycles);
	for (size_t i = 0; i < a->procedures.list.count && rc == 0; i++) {
		const struct explain_procedure *p = &a->procedures.list.data[i];
		struct explain_code code;

		if (!p->value)
			continue;
		rc = explain_code_load(&code, &a->data, &a->procedures, p, e);
		if (rc == 0 && code.flow)
			rc = show(a, p, &code, e);
		explain_code_fini(&code);
	}
	if (a->figures && rc == 0)
		show_figures(a);
	return rc;
}

static int ask(struct asked *a, const struct prof_request *request, struct error *e)
{
	const struct prof_images_search search = {0};
	int rc = -1;

	if (profile_named_init(&a->data, request, &search, e))
		return -1;
	if (profile_data_name(&a->data, false, e) == 0 &&
		explain_edges_init(&a->edges, &a->data) == 0 &&
		explain_procedures_init(&a->procedures, &a->data) == 0 &&
		explain_analysis_init(&a->analysis, &a->data, e) == 0) {
		a->analysis.asked = a->clock;
		rc = all(a, e);
	}
	explain_analysis_fini(&a->analysis);
	explain_procedures_fini(&a->procedures);
	explain_edges_fini(&a->edges);
	profile_named_fini(&a->data);
	return rc;
}

static bool is_exact(const struct experiment *x)
{
	for (size_t i = 0; i < x->metrics.count; i++)
		if (x->metrics.data[i].flags & METRIC_EXACT)
			return true;
	return false;
}

/* Samples become one experiment, counts another. */
static int add_file(struct asked *a, struct experiment *sum, struct experiment *counts,
	const char *path, struct error *e)
{
	struct experiment own;

	if (experiment_read(&own, path, NULL, e))
		return -1;
	if (a->clock)
		own.branch_runs.count = own.branch_rates.count = 0;
	if (is_exact(&own)) {
		experiment_fini(counts);
		*counts = own;
		return 0;
	}
	a->runs += own.metrics.count > 0 ? own.runs : 0;
	if (experiment_merge(sum, &own, 0, e)) {
		experiment_fini(&own);
		return -1;
	}
	experiment_fini(&own);
	return experiment_settle(sum, e);
}

static void parse(char ***words, struct asked *a, struct prof_request *request)
{
	char **argv = *words;

	for (; *argv && **argv == '-'; argv++) {
		request->classic |= strcmp(*argv, "-classic") == 0;
		a->insns |= strcmp(*argv, "-insns") == 0;
		a->figures |= strcmp(*argv, "-figures") == 0;
		a->clock |= strcmp(*argv, "-clock") == 0;
		if (strcmp(*argv, "-core") == 0 && argv[1])
			request->core = *++argv;
	}
	*words = argv;
}

int main(int argc, char **argv)
{
	struct experiment samples, counts;
	struct prof_input inputs[2] = {{.experiment = &samples, .file = "samples"},
		{.experiment = &counts, .file = "counts"}};
	struct prof_request request = {.inputs = inputs, .count = 2};
	struct asked a = {.runs = 0};
	struct utsname host;
	struct machine machine;
	struct error e = {0};
	int rc = experiment_merge_begin(&samples, &e) || experiment_init(&counts, &e);

	argv++;
	parse(&argv, &a, &request);
	for (; *argv && rc == 0; argv++)
		rc = add_file(&a, &samples, &counts, *argv, &e);
	a.runs = fmax(a.runs, 1);
	if (rc == 0 && uname(&host) == 0 && machine_find(NULL, &machine, &e) == 0) {
		request.host = host.nodename;
		request.host_hz = (double)machine.model.clock_hz;
	}
	if (rc || ask(&a, &request, &e)) {
		fprintf(stderr, "frequencies: %s\n", e.message);
		return 1;
	}
	experiment_fini(&samples);
	experiment_fini(&counts);
	return argc > 1 ? 0 : 2;
}
