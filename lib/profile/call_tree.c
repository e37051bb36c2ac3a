/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths: the trees of all inputs (and, with -threads, of each thread) as one, whose nodes are
 * places; and sums over it. Everything is a pass over the nodes: parents precede children.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/places.h"

/* What became of the nodes of an input: index + 1 in d->nodes.  With -threads a node becomes one of
 * each thread. */
struct memos {
	bool *folded;       /* [node]: leads from the start to functions of Python; NULL: none is */
	uint32_t *own;      /* [node]; without -threads */
	struct table table; /* struct memo; with */
};

struct memo {
	struct {
		uint32_t input, group, node;
	} key;
	uint32_t own;
};

/* 0: not known yet. */
static uint32_t recall(const struct memos *m, size_t input, uint32_t group, uint32_t node)
{
	const struct memo key = {.key = {(uint32_t)input, group, node}};
	const struct memo *memo;

	if (m->own)
		return m->own[node];
	memo = table_find(&m->table, &key.key);
	return memo ? memo->own : 0;
}

static int remember(struct memos *m, size_t input, uint32_t group, uint32_t node, long own)
{
	const struct memo key = {.key = {(uint32_t)input, group, node}};
	struct memo *memo;

	if (m->own) {
		m->own[node] = (uint32_t)own + 1;
		return 0;
	}
	memo = table_add(&m->table, &key.key);
	if (memo)
		memo->own = (uint32_t)own + 1;
	return memo ? 0 : -1;
}

/* fresh: there is none like it, since those of one tree all differ. */
static long call_tree_add_node(struct prof_data *d, uint32_t parent, uint32_t place, bool fresh)
{
	struct prof_node key = {.key = {.parent = parent, .place = place}}, *node;
	size_t before = d->nodes.count;

	node = fresh ? table_append(&d->nodes) : table_add(&d->nodes, &key.key);
	if (!node)
		return -1;
	node->key = key.key;
	if (d->nodes.count > before && d->metrics.count &&
		!vec_extend(&d->node_counts, d->metrics.count))
		return -1;
	return (long)table_number(&d->nodes, node);
}

/* The interpreter of Python, and what starts programs and threads. */
static bool leads_to_python(const char *path)
{
	static const char *const images[] = {
		"python3.*", "libpython3.*", "libc.so*", "libc-*", "libpthread*", "ld-*", "ld.so*"};
	const char *name = file_base_name(path);

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (fnmatch(images[i], name, 0) == 0)
			return true;
	return false;
}

/* Functions that only lead to the first one of Python say nothing of the program. Those of
 * other images are: a program that has Python in it. */
static int fold_python(const struct prof_data *d, const struct experiment *x, struct memos *m)
{
	bool *leads = NULL;
	uint32_t python = UINT32_MAX;

	for (size_t i = 0; i < x->images.count && python == UINT32_MAX; i++)
		if (strcmp(x->images.data[i].path, PYTHON_IMAGE) == 0)
			python = (uint32_t)i;
	if (python == UINT32_MAX || d->request->whole)
		return 0;
	leads = calloc(x->images.count, sizeof(*leads));
	m->folded = calloc(x->nodes.count + 1, sizeof(*m->folded));
	if (!leads || !m->folded) {
		free(leads);
		return -1;
	}
	for (size_t i = 0; i < x->images.count; i++)
		leads[i] = leads_to_python(x->images.data[i].path);
	for (uint32_t i = 0; i < x->nodes.count; i++) {
		const struct experiment_node *n = experiment_node_at(x, i);

		m->folded[i] = n->key.image < x->images.count && leads[n->key.image] &&
			       (n->key.parent == EXPERIMENT_ROOT ||
				       (n->key.parent < i && m->folded[n->key.parent]));
	}
	free(leads);
	return 0;
}

/* Is the node a function of Python, to which nothing but the interpreter leads? */
static bool begins_python(
	const struct memos *m, const struct experiment *x, const struct experiment_node *n)
{
	return m->folded && n->key.parent != EXPERIMENT_ROOT && n->key.parent < x->nodes.count &&
	       m->folded[n->key.parent] && n->key.image < x->images.count &&
	       strcmp(x->images.data[n->key.image].path, PYTHON_IMAGE) == 0;
}

/* Walks up from the node to a known one or the root, then down again. */
static long call_tree_take_node(
	struct prof_data *d, struct memos *memos, size_t input, uint32_t group, uint32_t node)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	bool fresh = memos->own && input == 0;
	VEC(uint32_t) path = {0};
	long parent = 0;

	while (node != EXPERIMENT_ROOT) {
		uint32_t known = recall(memos, input, group, node);

		if (known) {
			parent = known - 1;
			break;
		}
		if (vec_add(&path, node)) {
			parent = -1;
			break;
		}
		if (begins_python(memos, x, experiment_node_at(x, node))) {
			d->folded = true;
			break;
		}
		/* a damaged file may have any parent; the loop must end anyway */
		if (experiment_node_at(x, node)->key.parent >= node)
			break;
		node = experiment_node_at(x, node)->key.parent;
	}
	for (size_t i = path.count; i-- > 0 && parent >= 0;) {
		const struct experiment_node *of = experiment_node_at(x, path.data[i]);
		long place = profile_place(d, input, group,
			of->key.image < x->images.count ? of->key.image : 0, of->key.address);

		if (place < 0)
			parent = -1;
		else
			parent = call_tree_add_node(d, (uint32_t)parent, (uint32_t)place, fresh);
		if (parent >= 0 && remember(memos, input, group, path.data[i], parent))
			parent = -1;
	}
	vec_fini(&path);
	return parent;
}

static int take_paths(struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	struct memos memos = {.table = TABLE_OF(struct memo)};
	size_t first = profile_metric_index(d, input, 0);
	int rc = 0;

	if (!d->request->threads) {
		memos.own = calloc(x->nodes.count + 1, sizeof(*memos.own));
		if (!memos.own)
			return -1;
	}
	rc = fold_python(d, x, &memos);
	for (size_t i = 0; i < x->samples.count && rc == 0; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		uint64_t count = profile_selected(d, input, i);
		long group, node;

		if (i % 4096 == 0)
			profile_progress(d, i, x->samples.count, "joining call paths");
		if (!count || experiment_node_at(x, s->key.node)->key.image >= x->images.count)
			continue;
		group = profile_group_of(d, input, s->key.thread);
		node = group < 0 ? -1
				 : call_tree_take_node(
					   d, &memos, input, (uint32_t)group, s->key.node);
		if (node < 0)
			rc = -1;
		else
			d->node_counts
				.data[(size_t)node * d->metrics.count + first + s->key.metric] +=
				count;
	}
	table_fini(&memos.table);
	free(memos.folded);
	free(memos.own);
	return rc;
}

int profile_data_tree(struct prof_data *d, struct error *e)
{
	if (d->nodes.count)
		return 0;
	if (call_tree_add_node(d, UINT32_MAX, UINT32_MAX, false) < 0)
		return error_nomem(e);
	for (size_t i = 0; i < d->request->count; i++)
		if (take_paths(d, i))
			return error_nomem(e);
	return 0;
}

int profile_data_metrics(const struct prof_data *d, struct error *e)
{
	if (d->metrics.count)
		return 0;
	error_set(e, ERR_NOT_FOUND, "the experiment has no metric");
	return error_hint(e, "prof -dump shows what it has; a run under ssrun records one");
}

int profile_data_paths(struct prof_data *d, struct error *e)
{
	bool stacks = false, exact = false;

	if (d->nodes.count)
		return 0;
	for (size_t i = 0; i < d->metrics.count; i++) {
		stacks = stacks || (d->metrics.data[i].metric->flags & METRIC_STACKS);
		exact = exact || (d->metrics.data[i].metric->flags & METRIC_EXACT);
	}
	if (!stacks && exact) {
		error_set(e, ERR_UNSUPPORTED,
			"exact counts have no call paths: what a function cost for one of its "
			"callers is not known");
		return error_hint(e,
			"-butterfly shows its callers and their calls; ssrun -fusertime "
			"records call paths");
	}
	if (!stacks) {
		error_set(e, ERR_UNSUPPORTED, "the experiment has no call paths");
		return error_hint(e, "ssrun -fusertime, -totaltime and the *_hwctime experiments "
				     "record them");
	}
	return profile_data_tree(d, e);
}

uint64_t *profile_subtrees(const struct prof_data *d)
{
	size_t m = d->metrics.count;
	uint64_t *sums = malloc((d->nodes.count * m + 1) * sizeof(*sums));

	if (!sums)
		return NULL;
	memcpy(sums, d->node_counts.data, d->nodes.count * m * sizeof(*sums));
	for (size_t i = d->nodes.count; i-- > 1;)
		for (size_t k = 0; k < m; k++)
			sums[profile_tree_node_at(d, i)->key.parent * m + k] += sums[i * m + k];
	return sums;
}

/* Children as lists: first[n] and next[n], 0: none. */
static int link_children(const struct prof_data *d, uint32_t **first, uint32_t **next)
{
	*first = calloc(d->nodes.count + 1, sizeof(**first));
	*next = calloc(d->nodes.count + 1, sizeof(**next));
	if (!*first || !*next)
		return -1;
	for (size_t i = d->nodes.count; i-- > 1;) {
		uint32_t parent = profile_tree_node_at(d, i)->key.parent;

		(*next)[i] = (*first)[parent];
		(*first)[parent] = (uint32_t)i;
	}
	return 0;
}

int profile_outermost(const struct prof_data *d, const uint32_t *key, size_t keys,
	void (*call)(void *context, size_t node), void *context)
{
	uint32_t *first = NULL, *next = NULL, *active = calloc(keys + 1, sizeof(*active));
	int rc = -1;

	if (active && link_children(d, &first, &next) == 0) {
		size_t node = first[0];

		rc = 0;
		while (node) {
			if (key[node] != UINT32_MAX && active[key[node]]++ == 0)
				call(context, node);
			if (first[node]) {
				node = first[node];
				continue;
			}
			/* leaves it, and all that end with it */
			for (;;) {
				if (key[node] != UINT32_MAX)
					active[key[node]]--;
				if (next[node]) {
					node = next[node];
					break;
				}
				node = profile_tree_node_at(d, node)->key.parent;
				if (!node)
					break;
			}
		}
	}
	free(first);
	free(next);
	free(active);
	return rc;
}
