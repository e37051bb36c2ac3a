/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranks of one launch of MPI have a file each, and are one run: files of different ranks, of one
 * type and one side, that were recorded at the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "load/load.h"

struct launch {
	size_t to;          /* index of the experiment that it is added up in */
	uint64_t from, end; /* of its first rank */
	VEC(int32_t) ranks;
};

/* The rank that the file is of; -1: none. */
static int32_t rank_of(const struct experiment *x)
{
	for (size_t i = 0; i < x->processes.count; i++)
		if (x->processes.data[i].rank >= 0)
			return x->processes.data[i].rank;
	return -1;
}

static bool belongs(const struct loaded *l, const struct launch *launch, size_t i, size_t first)
{
	const struct experiment *x = &l->experiments.data[i];

	if (launch->to < first || x->began >= launch->end ||
		x->began + x->elapsed <= launch->from ||
		strcmp(l->experiments.data[launch->to].type, x->type) != 0)
		return false;
	for (size_t k = 0; k < launch->ranks.count; k++)
		if (launch->ranks.data[k] == rank_of(x))
			return false;
	return true;
}

static int add_rank(struct launch *launch, int32_t rank)
{
	int32_t *slot = vec_push(&launch->ranks);

	if (!slot)
		return -1;
	*slot = rank;
	return 0;
}

typedef VEC(struct launch) launches;

static int new_launch(launches *list, const struct experiment *x, size_t to)
{
	struct launch *launch = vec_push(list);

	if (!launch)
		return -1;
	*launch = (struct launch){.to = to, .from = x->began, .end = x->began + x->elapsed};
	return add_rank(launch, rank_of(x));
}

/* Adds the experiment at i to that of its launch, if there is one: then *joined. */
static int join_launch(
	struct loaded *l, launches *list, size_t i, size_t first, bool *joined, struct error *e)
{
	struct experiment *x = &l->experiments.data[i], *to;

	*joined = false;
	if (rank_of(x) < 0 || !x->began)
		return 0;
	for (size_t k = 0; k < list->count; k++) {
		struct launch *launch = &list->data[k];

		if (!belongs(l, launch, i, first))
			continue;
		to = &l->experiments.data[launch->to];
		if (add_rank(launch, rank_of(x)))
			return error_nomem(e);
		if ((to->runs == 1 && experiment_settle(to, e)) || experiment_settle(x, e) ||
			experiment_merge(to, x, 0, e))
			return -1;
		*joined = true;
		return 0;
	}
	return new_launch(list, x, i) ? error_nomem(e) : 0;
}

static void move(struct loaded *l, size_t from, size_t to)
{
	if (from == to)
		return;
	l->experiments.data[to] = l->experiments.data[from];
	l->names.data[to] = l->names.data[from];
	memset(&l->experiments.data[from], 0, sizeof(l->experiments.data[from]));
	l->names.data[from] = NULL;
}

int ranks_join(struct loaded *l, struct error *e)
{
	size_t kept = 0, first = 0, boundary = l->sides[0].files;
	launches list = {0};
	int rc = 0;

	for (size_t i = 0; i < l->experiments.count && rc == 0; i++) {
		bool joined;

		if (boundary && i == boundary)
			first = kept;
		move(l, i, kept);
		rc = join_launch(l, &list, kept, first, &joined, e);
		if (!joined) {
			kept++;
			continue;
		}
		experiment_fini(&l->experiments.data[kept]);
		memset(&l->experiments.data[kept], 0, sizeof(l->experiments.data[kept]));
		free(l->names.data[kept]);
		l->names.data[kept] = NULL;
		l->sides[i >= boundary].files -= boundary != 0;
	}
	for (size_t i = 0; i < kept && rc == 0; i++)
		if (l->experiments.data[i].runs > 1)
			rc = experiment_settle(&l->experiments.data[i], e);
	if (rc == 0)
		l->experiments.count = l->names.count = kept;
	for (size_t i = 0; i < list.count; i++)
		vec_fini(&list.data[i].ranks);
	vec_fini(&list);
	return rc;
}
