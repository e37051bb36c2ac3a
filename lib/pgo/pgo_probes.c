/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions by pseudo-probe. A probe has one address for each copy that the compiler made of its
 * block or call, and its count is their sum. Probes of an executed function that never ran count
 * 0. The first probe of a function is its entry. Where the inlined call is not known (site 0),
 * executions are those of the function by itself, as llvm-profgen has it. Compilers merge code of
 * several functions, and probes of others are then in a function, as if not inlined: they are left
 * out, with what is inlined in them, if their function by itself was not executed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "pgo/private.h"

enum { ENTRY = 1 };

/* Scopes of the nodes of executed functions; 0: of none. NULL when memory is out. */
static uint32_t *make_scopes(struct pgo_tree *t, const struct pgo *p, const bool *wanted)
{
	const struct image_probes *all = &p->probes;
	uint32_t *scopes = calloc(all->nodes.count + 1, sizeof(*scopes));

	for (size_t i = 0; scopes && i < all->nodes.count; i++) {
		const struct image_probe_node *n = &all->nodes.data[i];
		bool top = n->parent == IMAGE_PROBE_ROOT || !n->site;
		struct pgo_scope *s;
		long name;

		if (!wanted[i] || (!top && !scopes[n->parent]) || !n->checksum ||
			!pgo_name_fits(n->name))
			continue;
		name = pgo_source_name(t->data, n->name);
		s = pgo_scope_add(t, top ? 0 : scopes[n->parent], name, top ? 0 : n->site, 0);
		if (!s) {
			free(scopes);
			return NULL;
		}
		s->checksum = n->checksum;
		scopes[i] = (uint32_t)table_number(&t->scopes, s);
	}
	return scopes;
}

static int add_probe(
	struct pgo_tree *t, struct pgo *p, const struct image_probe *probe, uint32_t scope)
{
	const struct pgo_insn *insn = pgo_insn_at(&p->code, probe->address);
	struct pgo_scope *s = table_at(&t->scopes, scope);
	const struct pgo_line key = {.key = {.scope = scope, .offset = probe->number}};
	struct pgo_line *line;

	if (!insn)
		return 0;
	line = table_add(&t->lines, &key.key);
	if (!line)
		return -1;
	line->count += insn->count;
	s->own += insn->count;
	if (probe->number == ENTRY && !s->key.parent)
		s->head += insn->count;
	return 0;
}

/* Nodes with a probe at an executed function's instruction, and those that they are inlined in. */
static bool *wanted_nodes(const struct pgo *p)
{
	const struct image_probes *all = &p->probes;
	bool *wanted = calloc(all->nodes.count + 1, sizeof(*wanted));

	for (size_t i = 0; wanted && i < all->all.count; i++) {
		const struct pgo_insn *insn = pgo_insn_at(&p->code, all->all.data[i].address);

		if (insn && p->code.functions.data[insn->function].heat)
			wanted[all->all.data[i].node] = true;
	}
	for (size_t i = all->nodes.count; wanted && i-- > 0;)
		if (wanted[i] && all->nodes.data[i].parent != IMAGE_PROBE_ROOT)
			wanted[all->nodes.data[i].parent] = true;
	return wanted;
}

static int probes_by_name(const void *a, const void *b)
{
	return sort_rising(*(const long *)a, *(const long *)b);
}

typedef VEC(long) probe_names;

/* Names of functions that were executed by themselves, rising. */
static int executed_names(probe_names *to, struct pgo_tree *t, const struct pgo *p)
{
	for (size_t i = 0; i < p->code.functions.count; i++) {
		const struct pgo_function *f = &p->code.functions.data[i];

		if (f->heat && pgo_name_fits(f->name) &&
			vec_add(to, pgo_source_name(t->data, f->name)))
			return -1;
	}
	if (to->count)
		qsort(to->data, to->count, sizeof(*to->data), probes_by_name);
	return 0;
}

static bool is_executed(const probe_names *executed, long name)
{
	size_t i = vec_search(k, executed->count, executed->data[k] < name);

	return i < executed->count && executed->data[i] == name;
}

/* Takes back nodes of merged code. Parents come first. */
static int leave_out_merged(bool *wanted, struct pgo_tree *t, const struct pgo *p)
{
	const struct image_probes *all = &p->probes;
	probe_names executed = {0};
	int rc = executed_names(&executed, t, p);

	for (size_t i = 0; i < all->nodes.count && rc == 0; i++) {
		const struct image_probe_node *n = &all->nodes.data[i];

		if (!wanted[i])
			continue;
		if (n->parent != IMAGE_PROBE_ROOT)
			wanted[i] = wanted[n->parent];
		else
			wanted[i] = pgo_name_fits(n->name) &&
				    is_executed(&executed, pgo_source_name(t->data, n->name));
	}
	vec_fini(&executed);
	return rc;
}

/* The call at a branch to a function's beginning; NULL: no probe is one. */
static const struct image_probe *call_at(const struct image_probes *all, uint64_t address)
{
	size_t i = vec_search(k, all->all.count, all->all.data[k].address < address);

	for (; i < all->all.count && all->all.data[i].address == address; i++)
		if (all->all.data[i].kind != IMAGE_PROBE_BLOCK)
			return &all->all.data[i];
	return NULL;
}

static int add_call(
	struct pgo_tree *t, const struct pgo *p, const struct pgo_arc *b, const uint32_t *scopes)
{
	const struct pgo_function *f = pgo_entered(&p->code, b);
	const struct image_probe *probe = f ? call_at(&p->probes, b->key.from) : NULL;
	struct pgo_call key = {0}, *call;
	long name;

	if (!probe || !scopes[probe->node] || strchr(f->name, '@') || !pgo_name_fits(f->name))
		return 0;
	name = pgo_source_name(t->data, f->name);
	key.key.scope = scopes[probe->node];
	key.key.offset = probe->number;
	key.key.name = (uint32_t)name;
	call = name < 0 ? NULL : table_add(&t->calls, &key.key);
	if (!call)
		return -1;
	call->count += b->count;
	return 0;
}

static void cover_probes(struct pgo *p)
{
	uint64_t last = 0;
	uint32_t function = UINT32_MAX;

	/* a function's instructions are covered if it has probes */
	for (size_t i = 0; i < p->probes.all.count; i++) {
		const struct pgo_insn *insn = pgo_insn_at(&p->code, p->probes.all.data[i].address);

		if (!insn || (last && insn->function == function))
			continue;
		last = insn->address;
		function = insn->function;
		p->coverage.sourced += (double)p->code.functions.data[function].heat;
	}
}

int pgo_probes_grow(struct pgo_tree *t, struct pgo *p)
{
	bool *wanted = wanted_nodes(p);
	uint32_t *scopes =
		wanted && leave_out_merged(wanted, t, p) == 0 ? make_scopes(t, p, wanted) : NULL;
	int rc = scopes ? 0 : -1;

	for (size_t i = 0; i < p->probes.all.count && rc == 0; i++) {
		const struct image_probe *probe = &p->probes.all.data[i];

		if (scopes[probe->node])
			rc = add_probe(t, p, probe, scopes[probe->node]);
	}
	for (size_t i = 0; i < p->counts.branches.count && rc == 0; i++)
		rc = add_call(t, p, pgo_arc_at(&p->counts.branches, i), scopes);
	if (rc == 0)
		cover_probes(p);
	free(scopes);
	free(wanted);
	return rc;
}
