/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a profile says: events of instructions, blocks, edges between them, and what is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/trace.h"
#include "model/watch.h"
#include "model/wire/profile.h"
#include "sources/profile_read.h"

_Static_assert(PROFILE_SAMPLERS_MAX == MODEL_SAMPLERS_MAX, "the model's limit");

uint32_t profile_sampled_as(uint32_t event)
{
	return watch_event(event);
}

bool profile_has(const struct event *event)
{
	return event->flags & EVENT_MODEL && event->number != EV_WALK_CYCLES &&
	       event->number != EV_PAGE_FAULTS;
}

uint64_t profile_instructions(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->processes.count; i++)
		sum += ((struct profile_process *)table_at(&p->processes, i))->instructions;
	return sum;
}

/* What had no room, of each kind that is not 0. */
static void put_lost(char *line, const struct profile_lost *l)
{
	const struct {
		uint64_t n;
		const char *name;
	} kinds[] = {{l->samples, "samples"}, {l->counts, "counts"}, {l->targets, "branch targets"},
		{l->data, "data addresses"}, {l->calipers, "caliper points"}};
	int at = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].n)
			at += snprintf(line + at, PROFILE_LINE - (size_t)at, "%s%llu %s",
				at ? ", " : "the profile's tables were full, and lack ",
				(unsigned long long)kinds[i].n, kinds[i].name);
	if (at)
		snprintf(line + at, PROFILE_LINE - (size_t)at, ": profile a shorter run");
}

void profile_missing(const struct profile *p, char line[][PROFILE_LINE])
{
	const struct profile_lost *l = &p->lost;
	unsigned long long lost = p->unprofiled + p->damaged, all = p->counted,
			   profiled = profile_instructions(p);

	line[0][0] = line[1][0] = '\0';
	if (lost)
		snprintf(line[0], PROFILE_LINE,
			"the profile lacks what %llu process%s did, or did at last: there was no "
			"room for it",
			lost, lost == 1 ? "" : "es");
	else if (profiled < all)
		snprintf(line[0], PROFILE_LINE,
			"the profile lacks %llu of %llu instructions: processes were killed or "
			"still run",
			all - profiled, all);
	put_lost(line[1], l);
}

size_t profile_first_count(const struct profile *p, size_t insn)
{
	return vec_search(i, p->counts.count,
		((struct profile_count *)table_at(&p->counts, i))->key.insn < insn);
}

void profile_counts(const struct profile *p, size_t insn, uint64_t *counts)
{
	const struct profile_insn *d = table_at(&p->insns, insn);
	bool conditional = d->branch == MODEL_CONDITIONAL;
	bool indirect = d->branch == MODEL_INDIRECT_JUMP || d->branch == MODEL_INDIRECT_CALL;
	uint64_t once = d->executions - d->repeated;
	bool call = d->branch == MODEL_CALL || d->branch == MODEL_INDIRECT_CALL;

	memset(counts, 0, EVENT_LIMIT * sizeof(*counts));
	for (size_t i = profile_first_count(p, insn); i < p->counts.count; i++) {
		const struct profile_count *c = table_at(&p->counts, i);

		if (c->key.insn != insn)
			break;
		if (c->key.item < EVENT_LIMIT)
			counts[c->key.item] += c->n;
	}
	counts[EV_LOADS] += d->loads;
	counts[EV_STORES] += d->stores;
	counts[EV_INSTRUCTIONS] += once;
	counts[EV_MICRO_OPS] += once * d->uops;
	counts[EV_FP_OPERATIONS] += once * d->flops;
	counts[EV_FP_INSTRUCTIONS] += d->class_bits & MODEL_FP ? once : 0;
	counts[EV_VECTOR_INSTRUCTIONS] += d->class_bits & MODEL_VECTOR ? once : 0;
	counts[EV_BRANCHES] += d->branches;
	counts[EV_TAKEN_BRANCHES] += d->taken;
	counts[EV_CONDITIONAL_BRANCHES] += conditional ? d->branches : 0;
	counts[EV_INDIRECT_BRANCHES] += indirect ? d->branches : 0;
	counts[EV_CALLS] += call ? d->branches : 0;
	counts[EV_RETURNS] += d->branch == MODEL_RETURN ? d->branches : 0;
	counts[EV_CYCLES_16] = counts[EV_CYCLES];
	counts[EV_INSTRUCTIONS_15] = counts[EV_INSTRUCTIONS];
	counts[EV_STORE_CONDITIONALS] = counts[EV_LOCKED_INSTRUCTIONS];
	counts[EV_DECODED_BRANCHES] = counts[EV_CONDITIONAL_BRANCHES];
	counts[EV_TLB_MISSES] = counts[EV_DTLB_WALKS] + counts[EV_ITLB_WALKS];
	counts[EV_MISPREDICTED_BRANCHES] = counts[EV_MISPREDICTED_CONDITIONALS] +
					   counts[EV_MISPREDICTED_INDIRECTS] +
					   counts[EV_MISPREDICTED_RETURNS];
}

bool profile_is_executed(int event)
{
	return event >= 0 && model_event_is_static((unsigned)event);
}

/* Targets of branches, sorted. */
struct place {
	uint64_t address;
	uint32_t image;
};

static int profile_blocks_compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	int order = ORDER(a->image, b->image);

	return order ? order : ORDER(a->address, b->address);
}

static struct place *find_targets(const struct profile *p, size_t *count)
{
	struct place *targets = malloc((p->x.edges.count + 1) * sizeof(*targets));

	*count = 0;
	for (size_t i = 0; targets && i < p->x.edges.count; i++) {
		const struct experiment_edge *edge = table_at(&p->x.edges, i);

		if (edge->key.kind != PROFILE_FALL)
			targets[(*count)++] = (struct place){edge->key.to, edge->key.to_image};
	}
	if (targets)
		qsort(targets, *count, sizeof(*targets), profile_blocks_compare_places);
	return targets;
}

/* Does b continue the block of a, the instruction before it? */
static bool goes_on(const struct profile_insn *a, const struct profile_insn *b)
{
	return a->key.image == b->key.image && a->key.address + a->key.length == b->key.address &&
	       a->branch == MODEL_NO_BRANCH && a->executions == b->executions && !a->repeated &&
	       !b->repeated;
}

int profile_find_blocks(const struct profile *p, profile_blocks *blocks, struct error *e)
{
	size_t count, at = 0;
	struct place *targets = find_targets(p, &count);
	struct profile_block *block = NULL;

	if (!targets)
		return error_nomem(e);
	for (size_t i = 0; i < p->insns.count; i++) {
		const struct profile_insn *d = table_at(&p->insns, i);
		struct place here = {d->key.address, d->key.image};

		while (at < count && profile_blocks_compare_places(&targets[at], &here) < 0)
			at++;
		if (block && goes_on(table_at(&p->insns, i - 1), d) &&
			!(at < count && profile_blocks_compare_places(&targets[at], &here) == 0)) {
			block->count++;
			continue;
		}
		block = vec_push(blocks);
		if (!block) {
			free(targets);
			return error_nomem(e);
		}
		*block = (struct profile_block){i, 1};
	}
	free(targets);
	return 0;
}

/* ---- edges between instructions that follow each other ---- */

struct leaving {
	struct place from;
	uint64_t count;
};

/* How often execution left each instruction by an edge, sorted. */
static struct leaving *find_leaving(const struct profile *p)
{
	struct leaving *out = malloc((p->x.edges.count + 1) * sizeof(*out));

	for (size_t i = 0; out && i < p->x.edges.count; i++) {
		const struct experiment_edge *edge = table_at(&p->x.edges, i);

		out[i] = (struct leaving){{edge->key.from, edge->key.from_image}, edge->count};
	}
	if (out)
		qsort(out, p->x.edges.count, sizeof(*out), profile_blocks_compare_places);
	return out;
}

/* Within a superblock, execution goes from one instruction to the next without a record. If a block
 * begins there, that is an edge too: all executions that did not leave otherwise. */
static int add_next(
	struct profile *p, const struct leaving *out, size_t count, size_t *at, size_t second)
{
	const struct profile_insn *a = table_at(&p->insns, second - 1),
				  *b = table_at(&p->insns, second);
	struct place from = {a->key.address, a->key.image};
	struct experiment_edge edge = {.key = {.from = a->key.address,
					       .to = b->key.address,
					       .from_image = a->key.image,
					       .to_image = b->key.image,
					       .kind = PROFILE_FALL}};
	uint64_t left = 0, all = a->executions;

	if (a->key.image != b->key.image || a->key.address + a->key.length != b->key.address ||
		a->branch != MODEL_NO_BRANCH)
		return 0;
	while (*at < count && profile_blocks_compare_places(&out[*at], &from) < 0)
		++*at;
	for (size_t i = *at; i < count && profile_blocks_compare_places(&out[i], &from) == 0; i++)
		left += out[i].count;
	if (left >= all)
		return 0;
	edge.count = all - left;
	return experiment_row(&p->x, EXPERIMENT_EDGES, &edge) < 0 ? -1 : 0;
}

int profile_add_sequence(struct profile *p, struct error *e)
{
	struct leaving *out = find_leaving(p);
	size_t at = 0, known = p->x.edges.count;
	profile_blocks blocks = {0};
	int rc = out ? profile_find_blocks(p, &blocks, e) : error_nomem(e);

	for (size_t i = 1; rc == 0 && i < blocks.count; i++)
		if (add_next(p, out, known, &at, blocks.data[i].first))
			rc = error_nomem(e);
	vec_fini(&blocks);
	free(out);
	return rc;
}
