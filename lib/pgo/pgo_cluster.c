/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call-chain clustering (Ottoni and Maher, "Optimizing function placement for large-scale
 * data-center applications", CGO 2017): functions, hottest first, are appended to the cluster of
 * their most frequent caller; clusters are sorted by density of execution. As the paper has it, a
 * cluster stays below the reach of a large page, and callers that contribute little are ignored.
 * Cost: n log n of functions and calls.
 */
#include "base/sort.h"
#include "pgo/private.h"

enum { CLUSTER_LARGEST = 2 << 20 }; /* bytes */
static const double SLIGHT = 1e-4;  /* of a function's executions */

struct cluster {
	uint64_t size, heat;
	uint32_t first, last; /* functions, linked by next */
};

struct clustering {
	const struct pgo_code *code;
	uint32_t *caller;    /* [function]: the most frequent, UINT32_MAX: none */
	uint64_t *calls;     /* from it */
	uint32_t *of, *next; /* [function] */
	struct cluster *all; /* [function], empty after it was appended to another */
	uint32_t *order;     /* hot functions */
	size_t hot;
};

struct call_arc { /* table entry */
	struct {
		uint32_t callee, caller;
	} key;
	uint64_t count;
};

static int find_callers(struct clustering *k, const struct pgo_counts *c)
{
	struct table arcs = TABLE_OF(struct call_arc);

	for (size_t i = 0; i < c->branches.count; i++) {
		const struct pgo_arc *b = pgo_arc_at(&c->branches, i);
		long from = pgo_function_at(k->code, b->key.from);
		long to = pgo_function_at(k->code, b->key.to);
		struct call_arc key, *arc;

		if (from < 0 || to < 0 || from == to ||
			k->code->functions.data[to].begin != b->key.to)
			continue;
		key = (struct call_arc){.key = {(uint32_t)to, (uint32_t)from}};
		arc = table_add(&arcs, &key.key);
		if (!arc) {
			table_fini(&arcs);
			return -1;
		}
		arc->count += b->count;
	}
	for (size_t i = 0; i < arcs.count; i++) {
		const struct call_arc *arc = table_at(&arcs, i);
		uint32_t to = arc->key.callee, from = arc->key.caller;

		if (arc->count > k->calls[to] ||
			(arc->count == k->calls[to] && from < k->caller[to])) {
			k->calls[to] = arc->count;
			k->caller[to] = from;
		}
	}
	table_fini(&arcs);
	return 0;
}

static int by_heat(const void *a, const void *b, void *context)
{
	const struct clustering *k = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return sort_falling(k->code->functions.data[x].heat, k->code->functions.data[y].heat)
		       ?: sort_rising(x, y);
}

static int by_density(const void *a, const void *b, void *context)
{
	const struct clustering *k = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double left = (double)k->all[x].heat * (double)(k->all[y].size ? k->all[y].size : 1);
	double right = (double)k->all[y].heat * (double)(k->all[x].size ? k->all[x].size : 1);

	return sort_falling_number(left, right) ?: sort_rising(x, y);
}

static void append(struct clustering *k, uint32_t f)
{
	uint32_t caller = k->caller[f];
	struct cluster *to, *from = &k->all[k->of[f]];

	if (caller == UINT32_MAX || !k->code->functions.data[caller].heat ||
		(double)k->calls[f] < SLIGHT * (double)k->code->functions.data[f].heat)
		return;
	to = &k->all[k->of[caller]];
	if (to == from || to->size + from->size > CLUSTER_LARGEST)
		return;
	for (uint32_t g = from->first; g != UINT32_MAX; g = k->next[g])
		k->of[g] = k->of[caller];
	k->next[to->last] = from->first;
	to->last = from->last;
	to->size += from->size;
	to->heat += from->heat;
	*from = (struct cluster){.first = UINT32_MAX};
}

static uint32_t *clusters_listed(struct clustering *k, size_t *count)
{
	uint32_t *list = calloc(k->hot + 1, sizeof(*list));
	size_t clusters = 0;

	*count = 0;
	if (!list)
		return NULL;
	for (size_t i = 0; i < k->hot; i++)
		append(k, k->order[i]);
	for (size_t i = 0; i < k->hot; i++)
		if (k->all[k->order[i]].first != UINT32_MAX)
			k->order[clusters++] = k->order[i];
	qsort_r(k->order, clusters, sizeof(*k->order), by_density, k);
	for (size_t i = 0; i < clusters; i++)
		for (uint32_t f = k->all[k->order[i]].first; f != UINT32_MAX; f = k->next[f])
			list[(*count)++] = f;
	return list;
}

uint32_t *pgo_cluster(const struct pgo_code *code, const struct pgo_counts *c, size_t *count)
{
	size_t n = code->functions.count;
	struct clustering k = {.code = code,
		.caller = calloc(n + 1, sizeof(*k.caller)),
		.calls = calloc(n + 1, sizeof(*k.calls)),
		.of = calloc(n + 1, sizeof(*k.of)),
		.next = calloc(n + 1, sizeof(*k.next)),
		.all = calloc(n + 1, sizeof(*k.all)),
		.order = calloc(n + 1, sizeof(*k.order))};
	uint32_t *list = NULL;

	if (k.caller && k.calls && k.of && k.next && k.all && k.order) {
		for (uint32_t i = 0; i < n; i++) {
			const struct pgo_function *f = &code->functions.data[i];

			k.caller[i] = k.next[i] = UINT32_MAX;
			k.of[i] = i;
			k.all[i] = (struct cluster){f->size, f->heat, i, i};
			if (f->heat)
				k.order[k.hot++] = i;
		}
		qsort_r(k.order, k.hot, sizeof(*k.order), by_heat, &k);
		if (find_callers(&k, c) == 0)
			list = clusters_listed(&k, count);
	}
	free(k.caller);
	free(k.calls);
	free(k.of);
	free(k.next);
	free(k.all);
	free(k.order);
	return list;
}
