/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions by source line, as sample profiles have them (llvm/ProfileData/SampleProfReader.h):
 * a line is an offset from its function's declaration, of 16 bits, with the base discriminator; its
 * count is the greatest of its instructions, times the factor by which the compiler divided it when
 * it duplicated them. Lines of an executed function that never ran count 0: without a row, the
 * compiler would take them for unknown.
 */
#include <string.h>

#include "base/sort.h"
#include "pgo/private.h"

enum { DEEPEST = 64, OFFSET_MASK = 0xffff };

/* The first of three numbers in a discriminator; each has 1, 7 or 14 bits. */
static uint32_t first_number(uint32_t packed)
{
	uint32_t rest = packed >> 1;

	if (packed & 1)
		return 0;
	return rest & 0x20 ? ((rest >> 1) & 0xfe0) | (rest & 0x1f) : rest & 0x1f;
}

uint32_t pgo_discriminator_base(uint32_t packed)
{
	return first_number(packed);
}

uint32_t pgo_discriminator_factor(uint32_t packed)
{
	uint32_t rest = packed & 1 ? packed >> 1 : packed & 0x40 ? packed >> 14 : packed >> 7;
	uint32_t factor = first_number(rest);

	return factor ? factor : 1;
}

struct growing {
	struct pgo_tree *tree;
	struct pgo *p;
	bool flat;
	bool clang; /* of the current function */
	struct image_source frames[DEEPEST];
};

static uint32_t line_offset(const struct image_source *s)
{
	return (s->line - s->declared) & OFFSET_MASK;
}

static uint32_t discriminator_of(const struct growing *g, const struct image_source *s)
{
	if (g->clang)
		return pgo_discriminator_base(s->discriminator);
	return g->flat ? 0 : s->discriminator;
}

/* The scope of an address; 0: there are no lines there; -1 when memory is out. */
static long scope_of(struct growing *g, uint64_t address, const struct image_source **leaf)
{
	size_t n = image_sources_at(g->p->file, address, g->frames, DEEPEST);
	struct pgo_tree *t = g->tree;
	struct pgo_scope *scope;
	uint32_t at;

	if (n == 0 || n > DEEPEST || !g->frames[0].line)
		return 0;
	for (size_t k = 0; k < n; k++)
		if (!pgo_name_fits(g->frames[k].name))
			return 0;
	scope = pgo_scope_add(t, 0, pgo_source_name(t->data, g->frames[n - 1].name), 0, 0);
	for (size_t k = n - 1; k > 0 && scope; k--) {
		const struct image_source *call = &g->frames[k];

		at = (uint32_t)table_number(&t->scopes, scope);
		scope = pgo_scope_add(t, at, pgo_source_name(t->data, g->frames[k - 1].name),
			line_offset(call), discriminator_of(g, call));
	}
	*leaf = &g->frames[0];
	return scope ? (long)table_number(&t->scopes, scope) : -1;
}

static int tree_insn(struct growing *g, const struct pgo_insn *insn)
{
	const struct image_source *leaf;
	long scope = scope_of(g, insn->address, &leaf);
	struct pgo_line key = {0}, *line;
	uint64_t count = insn->count;

	if (scope <= 0)
		return (int)scope;
	key.key.scope = (uint32_t)scope;
	key.key.offset = line_offset(leaf);
	key.key.discriminator = discriminator_of(g, leaf);
	line = table_add(&g->tree->lines, &key.key);
	if (!line)
		return -1;
	if (g->clang)
		count *= pgo_discriminator_factor(leaf->discriminator);
	if (line->count < count)
		line->count = count;
	((struct pgo_scope *)table_at(&g->tree->scopes, (size_t)scope))->own += insn->count;
	g->p->coverage.sourced += (double)insn->count;
	return 0;
}

/* A branch to a function's beginning: a call at its line, if it is one that was decoded. */
static int add_entry(struct growing *g, const struct pgo_arc *b)
{
	const struct pgo_code *code = &g->p->code;
	const struct pgo_function *f = pgo_entered(code, b);
	const struct pgo_insn *from = pgo_insn_at(code, b->key.from);
	const struct image_source *leaf;
	struct pgo_call key = {0}, *call;
	long name, scope;

	/* stubs of the procedure linkage table (name@plt) are no functions of the source */
	if (!f || !from || strchr(f->name, '@') || !pgo_name_fits(f->name))
		return 0;
	g->clang = image_from_clang(g->p->file, from->address);
	name = pgo_source_name(g->tree->data, f->name);
	scope = scope_of(g, from->address, &leaf);
	if (name < 0 || scope <= 0)
		return name < 0 ? -1 : (int)scope;
	key.key.scope = (uint32_t)scope;
	key.key.offset = line_offset(leaf);
	key.key.discriminator = discriminator_of(g, leaf);
	key.key.name = (uint32_t)name;
	call = table_add(&g->tree->calls, &key.key);
	if (!call)
		return -1;
	call->count += b->count;
	return 0;
}

static int add_head(struct growing *g, const struct pgo_function *f)
{
	long name = pgo_source_name(g->tree->data, f->name);
	const struct pgo_scope key = {.key = {.name = (uint32_t)name}};
	struct pgo_scope *scope;

	if (name < 0)
		return -1;
	scope = table_find(&g->tree->scopes, &key.key);
	if (scope)
		scope->head += f->entries;
	return 0;
}

static int tree_grow(struct growing *g)
{
	const struct pgo_code *code = &g->p->code;
	const struct pgo_counts *c = &g->p->counts;
	uint32_t function = UINT32_MAX;

	for (size_t i = 0; i < code->insns.count; i++) {
		const struct pgo_insn *insn = &code->insns.data[i];

		if (insn->function != function)
			g->clang = image_from_clang(g->p->file, insn->address);
		function = insn->function;
		if (tree_insn(g, insn))
			return -1;
	}
	for (size_t i = 0; i < c->branches.count; i++)
		if (add_entry(g, pgo_arc_at(&c->branches, i)))
			return -1;
	for (size_t i = 0; i < code->functions.count; i++)
		if (code->functions.data[i].entries && add_head(g, &code->functions.data[i]))
			return -1;
	return 0;
}

/* ---- order ---- */

static int scopes_compare(const void *a, const void *b, void *context)
{
	const struct pgo_tree *t = context;
	const struct pgo_scope *x = pgo_scope_at(t, *(const uint32_t *)a);
	const struct pgo_scope *y = pgo_scope_at(t, *(const uint32_t *)b);
	int by = sort_rising(x->key.parent, y->key.parent);

	if (!by && !x->key.parent)
		by = sort_falling(x->total, y->total);
	if (!by)
		by = sort_rising(x->key.offset, y->key.offset)
			     ?: sort_rising(x->key.discriminator, y->key.discriminator);
	return by ? by
		  : strcmp(profile_string_at(t->data, x->key.name),
			    profile_string_at(t->data, y->key.name));
}

static int lines_compare(const void *a, const void *b)
{
	const struct pgo_line *x = a, *y = b;

	return sort_rising(x->key.scope, y->key.scope)
		       ?: sort_rising(x->key.offset, y->key.offset)
		       ?: sort_rising(x->key.discriminator, y->key.discriminator);
}

static int calls_compare(const void *a, const void *b, void *context)
{
	const struct pgo_tree *t = context;
	const struct pgo_call *x = a, *y = b;
	int by = sort_rising(x->key.scope, y->key.scope)
			 ?: sort_rising(x->key.offset, y->key.offset)
			 ?: sort_rising(x->key.discriminator, y->key.discriminator)
			 ?: sort_falling(x->count, y->count);

	return by ? by
		  : strcmp(profile_string_at(t->data, x->key.name),
			    profile_string_at(t->data, y->key.name));
}

static int finish(struct pgo_tree *t)
{
	struct pgo_scope *scopes = (struct pgo_scope *)(void *)t->scopes.entries;
	size_t n = t->scopes.count;

	t->order = calloc(n, sizeof(*t->order));
	if (!t->order)
		return -1;
	/* Parents are before their children. */
	for (size_t i = n; i-- > 1;) {
		scopes[i].total += scopes[i].own;
		if (scopes[i].key.parent)
			scopes[scopes[i].key.parent].total += scopes[i].total;
	}
	for (size_t i = 0; i < n; i++)
		t->order[i] = (uint32_t)i;
	/* the root stays first */
	qsort_r(t->order + 1, n - 1, sizeof(*t->order), scopes_compare, t);
	table_sort(&t->lines, lines_compare);
	if (t->calls.count)
		qsort_r(t->calls.entries, t->calls.count, t->calls.entry_size, calls_compare, t);
	return 0;
}

int pgo_tree_init(struct pgo_tree *t, struct pgo *p, bool flat, struct error *e)
{
	const struct pgo_scope root = {.key = {UINT32_MAX, 0, 0, 0}};
	struct growing *g = calloc(1, sizeof(*g));
	int rc = -1;

	*t = (struct pgo_tree){.data = p->data,
		.scopes = TABLE_OF(struct pgo_scope),
		.lines = TABLE_OF(struct pgo_line),
		.calls = TABLE_OF(struct pgo_call)};
	if (g && table_add(&t->scopes, &root.key)) {
		g->tree = t;
		g->p = p;
		g->flat = flat;
		rc = p->probes.all.count && !flat ? pgo_probes_grow(t, p) : tree_grow(g);
		rc = rc || finish(t) ? -1 : 0;
	}
	free(g);
	return rc ? error_nomem(e) : 0;
}

void pgo_tree_fini(struct pgo_tree *t)
{
	table_fini(&t->scopes);
	table_fini(&t->lines);
	table_fini(&t->calls);
	free(t->order);
}

struct pgo_span pgo_scopes_of(const struct pgo_tree *t, uint32_t parent)
{
	size_t n = t->scopes.count - 1;
	size_t first = vec_search(i, n, pgo_scope_at(t, t->order[i + 1])->key.parent < parent);
	size_t end = vec_search(i, n, pgo_scope_at(t, t->order[i + 1])->key.parent <= parent);

	return (struct pgo_span){first + 1, end - first};
}

struct pgo_span pgo_lines_of(const struct pgo_tree *t, uint32_t scope)
{
	size_t first = vec_search(i, t->lines.count, pgo_line_at(t, i)->key.scope < scope);
	size_t end = vec_search(i, t->lines.count, pgo_line_at(t, i)->key.scope <= scope);

	return (struct pgo_span){first, end - first};
}

static int call_before(const struct pgo_call *c, const struct pgo_line *l)
{
	return sort_rising(c->key.scope, l->key.scope) ?: sort_rising(c->key.offset, l->key.offset)
		       ?: sort_rising(c->key.discriminator, l->key.discriminator);
}

struct pgo_span pgo_calls_of(const struct pgo_tree *t, const struct pgo_line *line)
{
	size_t first = vec_search(i, t->calls.count, call_before(pgo_call_at(t, i), line) < 0);
	size_t end = vec_search(i, t->calls.count, call_before(pgo_call_at(t, i), line) <= 0);

	return (struct pgo_span){first, end - first};
}
