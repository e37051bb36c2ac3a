/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pgo/pgo.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "pgo/private.h"

const struct pgo_format pgo_formats[] = {
	{.name = "llvm",
		.help = "sample profile for clang -fprofile-sample-use",
		.lines = true,
		.ties = true,
		.probes = true,
		.write = pgo_write_llvm},
	{.name = "afdo",
		.help = "sample profile for gcc -fauto-profile",
		.binary = true,
		.lines = true,
		.ties = true,
		.write = pgo_write_afdo},
	{.name = "bolt", .help = "branches for perf2bolt -pa", .write = pgo_write_bolt},
	{.name = "profgen",
		.help = "ranges for llvm-profgen --unsymbolized-profile",
		.ties = true,
		.write = pgo_write_profgen},
	{.name = "propeller",
		.help = "blocks for clang -fbasic-block-sections=list=",
		.blocks = true,
		.write = pgo_write_propeller},
	{.name = "order",
		.help = "functions for ld.lld --symbol-ordering-file",
		.clock = true,
		.write = pgo_write_order},
	{.name = "sections",
		.help = "functions for gold --section-ordering-file",
		.clock = true,
		.write = pgo_write_sections},
	{.name = NULL},
};

const struct pgo_format *pgo_format_find(const char *name)
{
	for (const struct pgo_format *f = pgo_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* A glob for its path or name, or a name of the same file. */
static bool image_matches(const struct prof_image *image, const char *glob)
{
	char *real;
	bool same;

	if (!glob)
		return image->image->kind == EXPERIMENT_IMAGE_ELF;
	if (fnmatch(glob, image->image->path, 0) == 0 || fnmatch(glob, image->name, 0) == 0)
		return true;
	real = strchr(glob, '/') ? realpath(glob, NULL) : NULL;
	same = real && strcmp(real, image->image->path) == 0;
	free(real);
	return same;
}

/* The matching image with most executions; UINT32_MAX with *e set. */
static uint32_t choose_image(const struct prof_data *d, const char *glob, struct error *e)
{
	enum pgo_kind best_kind = PGO_NOTHING;
	uint32_t best = UINT32_MAX;
	double most = 0;

	for (uint32_t i = 0; i < d->images.count; i++) {
		enum pgo_kind kind;
		double executions;

		if (!image_matches(&d->images.data[i], glob))
			continue;
		kind = pgo_counts_kind(d, i, &executions);
		if (kind > best_kind || (kind == best_kind && executions > most)) {
			best_kind = kind;
			most = executions;
			best = i;
		}
	}
	if (best == UINT32_MAX) {
		error_set(e, ERR_NOT_FOUND, "no samples or branches of %s%s",
			glob ? "an image that matches " : "an executable", glob ? glob : "");
		error_hint(e, "prof -dso lists the images; -image names one");
	}
	return best;
}

static int blocks_any(void *context, const struct image_block *block)
{
	(void)context;
	(void)block;
	return 1;
}

/* The branches may have been in what is missing. */
static bool is_any_cut(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++)
		if (d->request->inputs[i].experiment->damaged)
			return true;
	return false;
}

/* Why the format cannot be made of this. */
static int refuse(const struct pgo *p, struct error *e)
{
	const char *path = pgo_image_path(p);

	if (!image_is_whole(p->file)) {
		error_set(e, ERR_PARSE, "-export %s: %s is cut short: its sections are missing",
			p->format->name, path);
		return error_hint(e, "give the whole file by -archive, or before the experiment");
	}
	if (p->counts.kind == PGO_CLOCK && !p->format->clock) {
		error_set(e, ERR_UNSUPPORTED,
			"%s only clock samples of %s, and programs built by a profile of these "
			"become slower",
			is_any_cut(p->data) ? "a file was cut, and there are" : "there are", path);
		return error_hint(e, "record branches: ssrun -branches; or count exactly: ssrun "
				     "-ideal");
	}
	if (p->format->blocks) {
		int any = image_blocks(p->file, blocks_any, NULL, e);

		if (any < 0)
			return -1;
		if (!any) {
			error_set(e, ERR_UNSUPPORTED, "-export %s: %s has no map of its blocks",
				p->format->name, path);
			return error_hint(e, "compile it by clang with -fbasic-block-sections="
					     "labels, or -fbasic-block-address-map in later ones");
		}
	}
	return 0;
}

/* Debug information, where the format needs it: judged by what was found. */
static int refuse_lines(const struct pgo *p, struct error *e)
{
	if (!p->format->lines || p->coverage.sourced > 0)
		return 0;
	error_set(e, ERR_UNSUPPORTED, "-export %s: no executed instruction of %s has a source line",
		p->format->name, pgo_image_path(p));
	return error_hint(e, "compile it with -g1, by clang also with -fdebug-info-for-profiling, "
			     "or give its debug information by -archive, -debug-dir or "
			     "-debuginfod");
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* What names no function is useless to readers that look functions up in the image. */
static int refuse_nameless(const struct pgo *p, struct error *e)
{
	const struct pgo_coverage *c = &p->coverage;

	if (p->format->lines || p->format->clock || c->unmapped <= c->ranges / 2)
		return 0;
	error_set(e, ERR_UNSUPPORTED,
		"-export %s: %.0f%% of the executions of %s are in no function that a symbol "
		"names: it is stripped",
		p->format->name, percent(c->unmapped, c->ranges), pgo_image_path(p));
	return error_hint(e, "give the file with its symbols by -archive, -debug-dir or "
			     "-debuginfod");
}

/* Where the other branches of the runs are. */
static void cover_others(struct pgo *p)
{
	double all = 0, others = 0, most = 0;

	for (uint32_t i = 0; i < p->data->images.count; i++) {
		double branches;

		if (pgo_counts_kind(p->data, i, &branches) != PGO_BRANCHES)
			continue;
		all += branches;
		if (i == p->image)
			continue;
		others += branches;
		if (branches > most) {
			most = branches;
			snprintf(p->coverage.busiest, sizeof(p->coverage.busiest), "%s",
				p->data->images.data[i].name);
		}
	}
	p->coverage.elsewhere = all > 0 ? others / all : 0;
}

static void cover(struct pgo *p)
{
	cover_others(p);
	p->coverage.exact = p->counts.kind == PGO_EXACT;
	p->coverage.probes = p->probes.all.count > 0;
	p->coverage.bursts = p->counts.bursts;
	p->coverage.transfers = p->counts.transfers;
	for (size_t i = 0; i < p->data->request->count; i++)
		p->coverage.runs += p->data->request->inputs[i].experiment->runs;
}

/* Counts of code and branches as the format wants them. */
static int pgo_settle(struct pgo *p, struct error *e)
{
	if (p->format->ties && p->counts.kind == PGO_BRANCHES && pgo_ties(&p->code, &p->counts))
		return error_nomem(e);
	pgo_code_finish(&p->code, &p->counts, &p->coverage);
	return pgo_code_part_falls(&p->code, &p->counts) ? error_nomem(e) : 0;
}

struct pgo *pgo_new(
	struct prof_data *d, const char *image, const struct pgo_format *format, struct error *e)
{
	struct pgo *p = calloc(1, sizeof(*p));
	const char *why = NULL;

	if (!p) {
		error_nomem(e);
		return NULL;
	}
	p->data = d;
	p->format = format;
	p->image = choose_image(d, image, e);
	if (p->image != UINT32_MAX) {
		p->file = profile_names_file(&d->names, p->image);
		if (!p->file) {
			d->names.ops->state(d->names.context, p->image, &why);
			error_set(e, ERR_NOT_FOUND, "the image %s cannot be read: %s",
				pgo_image_path(p), why ? why : "it is not an ELF file");
			error_hint(e, "give the executable before the experiment, or where images "
				      "are by -archive or -root");
		} else if (pgo_counts_init(&p->counts, d, p->image, e) == 0 && refuse(p, e) == 0 &&
			   pgo_code_init(&p->code, &p->counts, p->file, &p->coverage, e) == 0 &&
			   pgo_settle(p, e) == 0 && refuse_nameless(p, e) == 0 &&
			   (!format->probes || image_probes_read(p->file, &p->probes, e) == 0)) {
			cover(p);
			return p;
		}
	}
	pgo_free(p);
	return NULL;
}

void pgo_free(struct pgo *p)
{
	if (!p)
		return;
	pgo_counts_fini(&p->counts);
	pgo_code_fini(&p->code);
	image_probes_fini(&p->probes);
	free(p);
}

int pgo_write(struct pgo *p, FILE *out, struct error *e)
{
	p->coverage.sourced = 0;
	if (p->format->write(p, out, e))
		return -1;
	return refuse_lines(p, e);
}

const struct pgo_coverage *pgo_coverage_of(const struct pgo *p)
{
	return &p->coverage;
}

const char *pgo_image_path(const struct pgo *p)
{
	return p->data->images.data[p->image].image->path;
}

void pgo_describe(const struct pgo *p, struct strbuf *out)
{
	static const char *const kinds[] = {[PGO_NOTHING] = "nothing",
		[PGO_CLOCK] = "clock samples",
		[PGO_BRANCHES] = "branch records",
		[PGO_EXACT] = "exact counts"};
	const struct pgo_coverage *c = &p->coverage;

	strbuf_printf(out, "%s of %s: %zu functions by %s", p->format->name,
		p->data->images.data[p->image].name, c->functions, kinds[p->counts.kind]);
	if (p->counts.kind == PGO_BRANCHES)
		strbuf_printf(out, " (%llu bursts, %llu branches)",
			(unsigned long long)p->counts.bursts,
			(unsigned long long)p->counts.transfers);
	strbuf_printf(out, "; %.2f%% of executions in no function, %.2f%% not along the code",
		percent(c->unmapped, c->ranges), percent(c->mismatched, c->ranges));
	if (p->format->lines)
		strbuf_printf(out, "; %.2f%% have %s", percent(c->sourced, c->instructions),
			c->probes ? "pseudo-probes" : "source lines");
}
