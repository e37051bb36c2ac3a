/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions of each instruction. A range adds to all instructions from its first to its last: it
 * is added at the first and taken off after the last, and a sum over instructions in order of
 * address gives the counts. Cost: the code of executed functions once, and two searches for each
 * range.
 */
#include <string.h>

#include "pgo/private.h"

enum { CODE_LARGEST = 64 << 20 }; /* bytes of a function; symbols may be wrong */

static int take_symbol(void *context, const struct image_symbol *symbol)
{
	struct pgo_code *code = context;
	const struct pgo_function f = {
		.begin = symbol->address, .size = symbol->size, .name = symbol->name};

	return vec_add(&code->functions, f);
}

long pgo_function_at(const struct pgo_code *code, uint64_t address)
{
	size_t i = vec_search(k, code->functions.count, code->functions.data[k].begin <= address);

	/* A symbol within another one hides what follows it of the outer one: look back a little.
	 */
	for (size_t back = 0; back < 4 && i > back; back++) {
		const struct pgo_function *f = &code->functions.data[i - 1 - back];

		if (address - f->begin < f->size)
			return (long)(i - 1 - back);
	}
	return -1;
}

const struct pgo_insn *pgo_insn_at(const struct pgo_code *code, uint64_t address)
{
	size_t i = vec_search(k, code->insns.count, code->insns.data[k].address < address);

	return i < code->insns.count && code->insns.data[i].address == address
		       ? &code->insns.data[i]
		       : NULL;
}

static void mark_warm(struct pgo_code *code, uint64_t address)
{
	long f = pgo_function_at(code, address);

	if (f >= 0)
		code->functions.data[f].warm = true;
}

static int decode_bytes(struct pgo_code *code, uint32_t function, enum isa_machine machine,
	const uint8_t *bytes, size_t size)
{
	uint64_t begin = code->functions.data[function].begin;

	for (size_t at = 0; at < size;) {
		struct insn insn;
		size_t length = isa_decode(machine, bytes + at, size - at, begin + at, &insn);
		const struct pgo_insn mine = {.address = begin + at,
			.function = function,
			.classes = insn.classes,
			.length = (uint8_t)length};

		if (!length)
			break;
		/* symbols may overlap: an address is decoded once */
		if (!code->insns.count ||
			code->insns.data[code->insns.count - 1].address < begin + at)
			if (vec_add(&code->insns, mine))
				return -1;
		at += length;
	}
	return 0;
}

static int decode_function(
	struct pgo_code *code, uint32_t function, struct image *file, enum isa_machine machine)
{
	const struct pgo_function *f = &code->functions.data[function];
	uint8_t *bytes;
	int rc;

	if (!f->warm || f->size > CODE_LARGEST)
		return 0;
	bytes = malloc(f->size);
	if (!bytes)
		return -1;
	rc = decode_bytes(
		code, function, machine, bytes, image_code(file, f->begin, bytes, f->size));
	free(bytes);
	return rc;
}

/* Counts of instructions, from ranges: those along the instructions of one function. */
static int spread_ranges(
	struct pgo_code *code, const struct pgo_counts *c, struct pgo_coverage *coverage)
{
	uint64_t *steps = calloc(code->insns.count + 1, sizeof(*steps)), sum = 0;

	if (!steps)
		return -1;
	for (size_t i = 0; i < c->ranges.count; i++) {
		const struct pgo_arc *r = pgo_arc_at(&c->ranges, i);
		const struct pgo_insn *first = pgo_insn_at(code, r->key.from);
		const struct pgo_insn *last = pgo_insn_at(code, r->key.to);

		coverage->ranges += (double)r->count;
		if (pgo_function_at(code, r->key.from) < 0) {
			coverage->unmapped += (double)r->count;
		} else if (!first || !last || last < first || first->function != last->function) {
			coverage->mismatched += (double)r->count;
		} else {
			steps[first - code->insns.data] += r->count;
			steps[last + 1 - code->insns.data] -= r->count;
		}
	}
	for (size_t i = 0; i < code->insns.count; i++) {
		sum += steps[i];
		code->insns.data[i].count = sum;
	}
	free(steps);
	return 0;
}

/* Its first instruction moves the stack pointer: no loop begins there. */
static bool has_prologue(const struct pgo_code *code, const struct pgo_function *f)
{
	const struct pgo_insn *i = pgo_insn_at(code, f->begin);

	while (i && i + 1 < code->insns.data + code->insns.count && i->classes & INSN_NOP)
		i++;
	return i && i->classes & INSN_STACK;
}

const struct pgo_function *pgo_entered(const struct pgo_code *code, const struct pgo_arc *b)
{
	long to = pgo_function_at(code, b->key.to);
	const struct pgo_function *f = to < 0 ? NULL : &code->functions.data[to];
	const struct pgo_insn *from;

	if (!f || f->begin != b->key.to)
		return NULL;
	if (pgo_function_at(code, b->key.from) != to)
		return f;
	from = pgo_insn_at(code, b->key.from);
	return from && (from->classes & INSN_CALL || has_prologue(code, f)) ? f : NULL;
}

static void count_entries(struct pgo_code *code, const struct pgo_counts *c)
{
	for (size_t i = 0; i < c->branches.count; i++) {
		const struct pgo_arc *b = pgo_arc_at(&c->branches, i);
		const struct pgo_function *f = pgo_entered(code, b);

		if (f)
			code->functions.data[f - code->functions.data].entries += b->count;
	}
}

void pgo_code_finish(
	struct pgo_code *code, const struct pgo_counts *c, struct pgo_coverage *coverage)
{
	count_entries(code, c);
	for (size_t i = 0; i < code->insns.count; i++) {
		const struct pgo_insn *insn = &code->insns.data[i];

		code->functions.data[insn->function].heat += insn->count;
		coverage->instructions += (double)insn->count;
	}
	for (size_t i = 0; i < code->functions.count; i++)
		coverage->functions += code->functions.data[i].heat > 0;
}

int pgo_code_init(struct pgo_code *code, const struct pgo_counts *c, struct image *file,
	struct pgo_coverage *coverage, struct error *e)
{
	enum isa_machine machine = image_machine(file) == IMAGE_X86_64    ? ISA_X86_64
				   : image_machine(file) == IMAGE_AARCH64 ? ISA_AARCH64
									  : ISA_NONE;

	if (machine == ISA_NONE)
		return error_set(e, ERR_UNSUPPORTED,
			"the image's instructions cannot be decoded: profiles are made of x86-64 "
			"and AArch64");
	if (image_symbols(file, take_symbol, code))
		return error_nomem(e);
	for (size_t i = 0; i < c->ranges.count; i++) {
		mark_warm(code, pgo_arc_at(&c->ranges, i)->key.from);
		mark_warm(code, pgo_arc_at(&c->ranges, i)->key.to);
	}
	for (size_t i = 0; i < code->functions.count; i++)
		if (decode_function(code, (uint32_t)i, file, machine))
			return error_nomem(e);
	return spread_ranges(code, c, coverage) ? error_nomem(e) : 0;
}

/* Exact counts have steps where the model's translations ended, too. */
static int keep_branches(const struct pgo_code *code, struct table *falls)
{
	struct table all = *falls;
	int rc = 0;

	*falls = TABLE_OF(struct pgo_arc);
	for (size_t i = 0; i < all.count && rc == 0; i++) {
		const struct pgo_arc *b = pgo_arc_at(&all, i);
		const struct pgo_insn *from = pgo_insn_at(code, b->key.from);

		if (from && (from->classes & INSN_CONDITIONAL))
			rc = pgo_arc_add(falls, b->key.from, b->key.to, b->count);
	}
	table_fini(&all);
	return rc;
}

int pgo_code_part_falls(const struct pgo_code *code, struct pgo_counts *c)
{
	struct table all = c->branches;
	int rc = keep_branches(code, &c->falls);

	c->branches = TABLE_OF(struct pgo_arc);
	for (size_t i = 0; i < all.count && rc == 0; i++) {
		const struct pgo_arc *b = pgo_arc_at(&all, i);
		const struct pgo_insn *from = pgo_insn_at(code, b->key.from);
		bool fell = from && (from->classes & INSN_CONDITIONAL) &&
			    b->key.to == from->address + from->length;

		rc = pgo_arc_add(fell ? &c->falls : &c->branches, b->key.from, b->key.to, b->count);
	}
	table_fini(&all);
	pgo_arcs_sort(&c->branches);
	pgo_arcs_sort(&c->falls);
	return rc;
}

void pgo_code_fini(struct pgo_code *code)
{
	vec_fini(&code->functions);
	vec_fini(&code->insns);
}
