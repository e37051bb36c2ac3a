/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows by address: for perf2bolt -pa ("pre-aggregated", bolt/docs/profiles.md)
 * and llvm-profgen --unsymbolized-profile --use-offset=0.
 */
#include <inttypes.h>

#include "pgo/private.h"

static void bolt_side(FILE *out, uint64_t address)
{
	if (address)
		fprintf(out, " %" PRIx64, address);
	else
		fputs(" X:0", out);
}

static int target_order(const void *a, const void *b)
{
	return (*(const uint64_t *)a > *(const uint64_t *)b) -
	       (*(const uint64_t *)a < *(const uint64_t *)b);
}

static void bolt_straight(FILE *out, const struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct pgo_arc *r = pgo_arc_at(t, i);

		if (r->key.from && r->key.to)
			fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", r->key.from,
				r->key.to, r->count);
	}
}

/* Exact counts have no ranges: the ways from a block to the next one without a branch between them
 * are those of its last instruction. A block begins where a branch goes. */
static int bolt_steps(struct pgo *p, FILE *out)
{
	const struct table *branches = &p->counts.branches;
	uint64_t *targets = calloc(branches->count + 1, sizeof(*targets));

	if (!targets)
		return -1;
	for (size_t i = 0; i < branches->count; i++)
		targets[i] = pgo_arc_at(branches, i)->key.to;
	qsort(targets, branches->count, sizeof(*targets), target_order);
	for (size_t i = 1; i < p->code.insns.count; i++) {
		const struct pgo_insn *a = &p->code.insns.data[i - 1], *b = a + 1;

		if (a->count && a->function == b->function && !(a->classes & INSN_BRANCH) &&
			bsearch(&b->address, targets, branches->count, sizeof(*targets),
				target_order))
			fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", a->address,
				b->address, a->count);
	}
	free(targets);
	return 0;
}

int pgo_write_bolt(struct pgo *p, FILE *out, struct error *e)
{
	const struct pgo_counts *c = &p->counts;

	for (size_t i = 0; i < c->branches.count; i++) {
		const struct pgo_arc *b = pgo_arc_at(&c->branches, i);

		fputc('B', out);
		bolt_side(out, b->key.from);
		bolt_side(out, b->key.to);
		fprintf(out, " %" PRIu64 " 0\n", b->count);
	}
	if (c->kind == PGO_BRANCHES)
		bolt_straight(out, &c->ranges);
	bolt_straight(out, &c->falls);
	if (c->kind == PGO_EXACT && bolt_steps(p, out))
		return error_nomem(e);
	return 0;
}

/* A straight range of instructions that are executed equally often. */
static size_t range_end(const struct pgo_code *code, size_t first)
{
	const struct pgo_insn *all = code->insns.data;
	size_t last = first;

	while (last + 1 < code->insns.count && !(all[last].classes & INSN_BRANCH) &&
		all[last + 1].function == all[first].function &&
		all[last + 1].count == all[first].count &&
		all[last + 1].address == all[last].address + all[last].length)
		last++;
	return last;
}

/* Ranges of instructions rather than rows: readers add up what covers an instruction, and get the
 * counts that the other formats have. Returns their number; out may be NULL. */
static size_t profgen_ranges(FILE *out, const struct pgo_code *code)
{
	size_t count = 0;

	for (size_t i = 0, last; i < code->insns.count; i = last + 1) {
		const struct pgo_insn *first = &code->insns.data[i];

		last = range_end(code, i);
		if (!first->count)
			continue;
		count++;
		if (out)
			fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", first->address,
				code->insns.data[last].address, first->count);
	}
	return count;
}

/* Those within the image. */
static size_t profgen_branches(FILE *out, const struct table *t)
{
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct pgo_arc *a = pgo_arc_at(t, i);

		if (!a->key.from || !a->key.to)
			continue;
		count++;
		if (out)
			fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", a->key.from,
				a->key.to, a->count);
	}
	return count;
}

int pgo_write_profgen(struct pgo *p, FILE *out, struct error *e)
{
	(void)e;
	fprintf(out, "%zu\n", profgen_ranges(NULL, &p->code));
	profgen_ranges(out, &p->code);
	fprintf(out, "%zu\n", profgen_branches(NULL, &p->counts.branches));
	profgen_branches(out, &p->counts.branches);
	return 0;
}
