/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/strbuf.h"
#include "export/private.h"
#include "report/report_columns.h"

const struct export_format export_formats[] = {
	{.name = "pprof",
		.help = "Google's pprof: profile.proto, compressed",
		.binary = true,
		.stacks = true,
		.write = export_pprof},
	{.name = "callgrind",
		.help = "KCachegrind, callgrind_annotate",
		.merged = true,
		.write = export_callgrind},
	{.name = "folded",
		.help = "one line per stack, for flamegraph.pl and similar tools",
		.one = true,
		.bare = true,
		.stacks = true,
		.write = export_folded},
	{.name = "speedscope",
		.help = "speedscope.app",
		.stacks = true,
		.write = export_speedscope},
	{.name = "json", .help = "everything, schema prof.profile/1", .write = export_json},
	{.name = NULL},
};

const struct export_format *export_format_find(const char *name, struct error *e)
{
	struct nearest near;

	nearest_init(&near, name);
	for (const struct export_format *f = export_formats; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
		nearest_offer(&near, f->name);
	}
	error_set(e, ERR_NOT_FOUND, "-export: unknown format '%s'", name);
	nearest_hint(&near, e,
		"the formats are pprof, callgrind, folded, speedscope and json; for compilers and "
		"linkers llvm, afdo, bolt, profgen, propeller, order and sections");
	return NULL;
}

void export_free(struct export_profile *x)
{
	if (!x)
		return;
	vec_fini(&x->metrics);
	vec_fini(&x->locations);
	vec_fini(&x->frames);
	table_fini(&x->functions);
	free(x->location);
	free(x->wanted);
	report_table_fini(&x->notes);
	free(x);
}

/* A path of n functions, sampled in each, takes room for n * n / 2: of deep paths, the outermost
 * functions and the innermost are kept. */
static int export_shorten(struct export_profile *x, struct error *e)
{
	struct prof_data *d = x->data;
	uint32_t *depth = calloc(d->nodes.count + 1, sizeof(*depth));
	uint64_t cut = 0;

	if (!depth)
		return error_nomem(e);
	for (size_t i = 1; i < d->nodes.count; i++) {
		struct prof_node *n = table_at(&d->nodes, i);
		bool deep = depth[n->key.parent] > PROF_DEEP;

		if (deep) /* beside its parent; nodes are not looked up by key any more */
			n->key.parent = profile_tree_node_at(d, n->key.parent)->key.parent;
		depth[i] = depth[n->key.parent] + 1;
		for (size_t m = 0; deep && m < x->metrics.count; m++)
			cut += export_samples(x, i, m);
	}
	free(depth);
	if (cut)
		report_note(&x->notes,
			"%llu sample%s deeper than %d calls: of their paths, the outermost %d "
			"functions and the innermost are there (-whole: all)",
			(unsigned long long)cut, cut == 1 ? " is" : "s are", PROF_DEEP, PROF_DEEP);
	return 0;
}

struct export_profile *export_new(struct prof_data *d, const struct export_request *request,
	const struct export_format *format, struct error *e)
{
	struct export_profile *x = calloc(1, sizeof(*x));

	if (!x) {
		error_nomem(e);
		return NULL;
	}
	x->data = d;
	x->request = request;
	x->format = format;
	if (format->merged && d->request->threads) {
		error_set(e, ERR_CONFLICT, "-export %s cannot separate threads", format->name);
		error_hint(e, "leave out -threads, or use pprof, speedscope, folded or json");
	} else if (export_choose(x, e) == 0 && profile_data_tree(d, e) == 0 &&
		   export_name(x, e) == 0 && export_describe(x, e) == 0) {
		report_describe(&x->notes, d);
		report_coverage(&x->notes, d);
		if ((!format->stacks || d->request->whole || export_shorten(x, e) == 0) &&
			report_finish(&x->notes, 0, e) == 0)
			return x;
	}
	export_free(x);
	return NULL;
}

int export_write(const struct export_profile *x, FILE *out, struct error *e)
{
	return x->format->write(x, out, e);
}

const struct report_table *export_notes(const struct export_profile *x)
{
	return &x->notes;
}

size_t export_metrics(const struct export_profile *x)
{
	return x->metrics.count;
}

uint64_t export_metric_samples(const struct export_profile *x, size_t metric)
{
	return x->metrics.data[metric].samples;
}

const char *export_metric_text(const struct export_profile *x, size_t metric)
{
	return x->metrics.data[metric].text;
}
