/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For reports by line: samples whose address an interrupt took are moved to the instruction that
 * waited (skid.h), in each function with enough of them. So lines agree with -dis. Sums of
 * functions are unchanged: shares are rounded so that no sample is lost (largest remainders).
 *
 * Cost: the flow graph of each such function.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "explain/unskid.h"

#include "explain/code.h"
#include "explain/skid.h"

/* Applied at the end: the index of places must not change until then. */
struct addition {
	uint64_t address, count;
	uint32_t group, image;
	size_t metric;
};

struct unskid {
	struct prof_data *d;
	struct explain_procedures procedures;
	VEC(uint32_t) groups; /* that have samples in the current function */
	VEC(struct addition) additions;
	uint64_t *raw, *whole;
	struct explain_moved *moved;
};

static bool unskid_has_skid(const struct prof_data *d, size_t metric)
{
	uint32_t flags = d->metrics.data[metric].metric->flags;

	return flags & METRIC_SKID && !(flags & METRIC_EXACT);
}

static bool enough(const struct prof_data *d, const struct explain_code *c)
{
	for (size_t k = 0; k < d->metrics.count; k++)
		if (unskid_has_skid(d, k) && c->sums[k] >= PROF_WEAK)
			return true;
	return false;
}

struct remainder {
	double rest;
	uint32_t insn;
};

static int by_remainder(const void *a, const void *b)
{
	const struct remainder *x = a, *y = b;

	return sort_falling_number(x->rest, y->rest) ?: sort_rising(x->insn, y->insn);
}

/* Whole numbers that add up to `all`. */
static int round_shares(const struct explain_moved *moved, size_t n, uint64_t all, uint64_t *whole)
{
	struct remainder *rest = calloc(n + 1, sizeof(*rest));
	uint64_t sum = 0;

	if (!rest)
		return -1;
	for (size_t i = 0; i < n; i++) {
		double down = floor(moved[i].value + 1e-9);

		whole[i] = (uint64_t)down;
		sum += whole[i];
		rest[i] = (struct remainder){moved[i].value - down, (uint32_t)i};
	}
	qsort(rest, n, sizeof(*rest), by_remainder);
	for (size_t i = 0; i < n && sum < all; i++, sum++)
		whole[rest[i].insn]++;
	free(rest);
	return sum == all ? 0 : 1;
}

/* Samples of one metric and thread in the function: removed from the places into u->raw; their
 * sum. */
static uint64_t take_off(struct unskid *u, const struct explain_code *c, uint32_t image,
	uint32_t group, size_t metric, bool take)
{
	struct prof_data *d = u->d;
	uint64_t sum = 0;

	for (size_t i = explain_place_from(d, &u->procedures, image, c->begin);
		i < u->d->places.count; i++) {
		const struct profile_place *p = profile_place_at(d, u->procedures.places[i]);
		uint64_t *count =
			d->counts.data + u->procedures.places[i] * d->metrics.count + metric;
		uint32_t at;

		if (p->key.image != image || p->key.address - c->begin >= c->size)
			break;
		if (p->key.group != group || !*count)
			continue;
		at = flow_insn_over(c->flow, p->key.address);
		if (at == FLOW_NONE)
			continue;
		sum += *count;
		if (take)
			*count = 0;
		else
			u->raw[at] += *count;
	}
	return sum;
}

static int move_metric(struct unskid *u, const struct explain_code *c, uint32_t image,
	uint32_t group, size_t metric)
{
	const struct explain_skid s = {.flow = c->flow, .entered = NAN};
	size_t n = c->flow->insns.count;
	uint64_t all;
	int rc;

	memset(u->raw, 0, n * sizeof(*u->raw));
	all = take_off(u, c, image, group, metric, false);
	if (!all)
		return 0;
	if (explain_skid_move(&s, u->raw, 1, u->moved))
		return -1;
	rc = round_shares(u->moved, n, all, u->whole);
	if (rc)
		return rc < 0 ? -1 : 0; /* shares that do not add up are ignored */
	take_off(u, c, image, group, metric, true);
	for (size_t i = 0; i < n; i++) {
		const struct addition own = {
			c->flow->insns.data[i].address, u->whole[i], group, image, metric};

		if (u->whole[i] && vec_add(&u->additions, own))
			return -1;
	}
	return 0;
}

static int find_groups(struct unskid *u, const struct explain_code *c, uint32_t image)
{
	u->groups.count = 0;
	for (size_t i = explain_place_from(u->d, &u->procedures, image, c->begin);
		i < u->d->places.count; i++) {
		const struct profile_place *p = profile_place_at(u->d, u->procedures.places[i]);
		bool known = false;

		if (p->key.image != image || p->key.address - c->begin >= c->size)
			break;
		for (size_t k = 0; k < u->groups.count; k++)
			known = known || u->groups.data[k] == p->key.group;
		if (!known && vec_add(&u->groups, p->key.group))
			return -1;
	}
	return 0;
}

static int move_function(struct unskid *u, const struct explain_code *c, uint32_t image)
{
	size_t n = c->flow->insns.count;
	int rc = find_groups(u, c, image);

	u->raw = calloc(n + 1, sizeof(*u->raw));
	u->whole = calloc(n + 1, sizeof(*u->whole));
	u->moved = calloc(n + 1, sizeof(*u->moved));
	if (!u->raw || !u->whole || !u->moved)
		rc = -1;
	for (size_t g = 0; g < u->groups.count && rc == 0; g++)
		for (size_t k = 0; k < u->d->metrics.count && rc == 0; k++)
			if (unskid_has_skid(u->d, k))
				rc = move_metric(u, c, image, u->groups.data[g], k);
	free(u->raw);
	free(u->whole);
	free(u->moved);
	return rc;
}

static int move_all(struct unskid *u, struct error *e)
{
	for (size_t i = 0; i < u->procedures.list.count; i++) {
		const struct explain_procedure *p = &u->procedures.list.data[i];
		struct explain_code code;
		int rc = 0;

		profile_progress(u->d, i, u->procedures.list.count, "moving samples");
		if (p->all < PROF_WEAK)
			continue;
		if (explain_code_load(&code, u->d, &u->procedures, p, e))
			return -1;
		if (code.flow && enough(u->d, &code))
			rc = move_function(u, &code, p->image);
		explain_code_fini(&code);
		if (rc)
			return error_nomem(e);
	}
	return 0;
}

static int apply(struct unskid *u)
{
	for (size_t i = 0; i < u->additions.count; i++) {
		const struct addition *a = &u->additions.data[i];
		long place = profile_place_add(u->d, a->group, a->image, a->address);

		if (place < 0)
			return -1;
		u->d->counts.data[(size_t)place * u->d->metrics.count + a->metric] += a->count;
	}
	return 0;
}

enum { FEW_GROUPS = 64 }; /* many threads are too much work */

static bool any_has_skid(const struct prof_data *d)
{
	for (size_t i = 0; i < d->metrics.count; i++)
		if (unskid_has_skid(d, i))
			return true;
	return false;
}

const char *explain_unskid_note(const struct prof_data *d, bool moved)
{
	if (moved)
		return "Samples of interrupts are shown at the line that waited: that of the "
		       "instruction executed before the address found (-raw: where they were "
		       "found)";
	if (d->request->raw || !any_has_skid(d))
		return NULL;
	return d->groups.count > FEW_GROUPS
		       ? "Samples are where interrupts found them, as there are more than 64 "
			 "threads: -heavy without -by shows the line that waited"
		       : "Samples are where interrupts found them, as call paths and times are: "
			 "-heavy and -inlines alone show the line that waited";
}

int explain_unskid(struct prof_data *d, bool *moved, struct error *e)
{
	struct unskid u = {.d = d};
	int rc;

	/* call paths end where they were found */
	*moved = any_has_skid(d) && !d->request->raw && !d->request->inclusive &&
		 d->groups.count <= FEW_GROUPS;
	if (!*moved)
		return 0;
	if (profile_data_name(d, false, e))
		return -1;
	rc = explain_procedures_init(&u.procedures, d) ? error_nomem(e) : move_all(&u, e);
	if (rc == 0 && apply(&u))
		rc = error_nomem(e);
	explain_procedures_fini(&u.procedures);
	vec_fini(&u.groups);
	vec_fini(&u.additions);
	return rc;
}
