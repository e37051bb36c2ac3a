/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments whose instruction lines and pages are in the first level. */
#include "model/branch.h"
#include "model/jit.h"
#include "model/run.h"

/* wandering: a watcher needs the target. */
static unsigned fetched_way_of(const struct model_segment *s, int wandering)
{
	static const uint8_t way[] = {
		[MODEL_CONDITIONAL] = CONDITIONAL,
		[MODEL_JUMP] = JUMP,
		[MODEL_CALL] = CALL,
		[MODEL_INDIRECT_JUMP] = INDIRECT,
		[MODEL_INDIRECT_CALL] = INDIRECT,
		[MODEL_RETURN] = RETURN,
	};
	const struct model_block *b = s->block;
	unsigned special = b->special_count ? SPECIAL : 0;

	if (wandering && b->indirect && s->insn_count == b->insn_count && !s->next)
		special |= WANDERS;

	if (!s->outcome_count)
		return special | NO_BRANCH;
	if (s->outcome_count > 1 || s->outcomes->insn + 1u != s->insn_count)
		return special | INNER | UNUSUAL;
	return special | way[s->outcomes->kind];
}

static unsigned way_of_access(const struct model_access *a)
{
	if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH || !a->size || a->size > STORE_PIECE)
		return OTHERWISE;
	if (a->size <= GRANULE && !(a->size & (a->size - 1)))
		return a->kind == MODEL_ACCESS_LOAD    ? LOADS
		       : a->kind == MODEL_ACCESS_STORE ? STORES
						       : MODIFIES;
	return a->kind == MODEL_ACCESS_LOAD    ? WIDE_LOADS
	       : a->kind == MODEL_ACCESS_STORE ? WIDE_STORES
					       : OTHERWISE;
}

static void find_ways(const struct model_segment *s)
{
	for (unsigned i = s->access_count; i-- > 0 && !s->block->accesses[i].way;) {
		struct model_access *a = &s->block->accesses[i];

		a->way = (uint8_t)way_of_access(a);
		a->mask = a->way <= MODIFIES ? (uint8_t)(a->size - 1u) : 0;
	}
}

int fetched_see_repeat(struct model_segment *s)
{
	if (s->insn_count != 1 || s->outcome_count)
		return 0;
	find_ways(s);
	for (unsigned i = 0; i < s->access_count; i++)
		if (s->block->accesses[i].way == OTHERWISE)
			return 0;
	s->run.accesses = s->block->accesses;
	s->run.access_count = s->access_count;
	s->run.insn_count = 1;
	return 1;
}

/* The same without addresses: only guarded accesses matter. */
static unsigned fetched_kind_without(const struct model_segment *s)
{
	unsigned any = s->run.way > BRANCH_WAY || s->run.way == INNER;

	for (unsigned i = 0; i < s->access_count; i++)
		any |= s->block->accesses[i].guarded;
	return any ? RUN_ANY : RUN_NONE;
}

/* Of enum RUN_*. */
static unsigned fetched_kind_of(const struct model *m, struct model_segment *s)
{
	const struct model_access *a = s->block->accesses;
	unsigned kind = s->access_count ? 0 : RUN_NONE;

	if (!m->addresses)
		return fetched_kind_without(s);
	if (s->run.way > BRANCH_WAY || s->run.way == INNER ||
		s->access_count > MODEL_RUNNING_SIMPLE)
		return RUN_ANY;
	for (unsigned i = 0; i < s->access_count; i++) {
		if (a[i].way > STORES)
			return RUN_ANY;
		kind = 2 * kind + (a[i].way == STORES);
		s->run.size[i] = (uint8_t)a[i].size;
		s->run.insn[i] = (uint8_t)a[i].insn;
	}
	return s->access_count == 0   ? RUN_NONE
	       : s->access_count == 1 ? RUN_L + kind
				      : RUN_LL + kind;
}

/*
 * Instruction lines and pages that are in the first level stay there until an access takes the slow
 * path, and until then only the last of their uses matters. So a segment whose lines and pages are
 * there becomes one of core->fetched, and notes when it was run last; all else is delayed until
 * fetched_settle. Returns 0 if they are not there.
 */
/* Its taken branches are executed now, and not looked at again while it is seen. */
static void fetched_find_branches(struct model *m, struct core *core, const struct model_segment *s)
{
	for (const struct model_outcome *o = s->outcomes, *end = o + s->outcome_count; o < end; o++)
		if (o->taken) {
			m->insn = &s->block->insns[o->insn];
			branch_find(m, core, (enum model_branch_kind)o->kind, o->from);
		}
}

int fetched_see(struct model *m, struct core *core, struct model_segment *s)
{
	const struct cache *l1i = &core->l1i;
	unsigned count = m->addresses ? s->fetch_count : 0;
	struct model_fetch *f = s->block->fetches, *end = f + count;

	if ((f == end && m->addresses) || count > UINT8_MAX)
		return 0;
	for (; f < end; f++) {
		const uint64_t *entry = &l1i->entries[f->hint];
		uint64_t page = (f->line >> m->page_bits) + 1;

		if (page_slot(core->fetch_pages, page)->page != page)
			return 0;
		if (!cache_is(*entry, f->line)) {
			entry = cache_find(l1i, f->line);
			if (!entry || (*entry & UNSEEN))
				return 0;
			f->hint = (uint32_t)(entry - l1i->entries);
		}
	}
	if (core->btb.entries)
		fetched_find_branches(m, core, s);
	if (LIKELY(s->run.known != 0)) {
		jit_segment(m, s); /* may settle */
		s->run.link = core->fetched;
		s->run.count = 0;
		s->run.seen = s->run.known;
		core->fetched = s;
		return 1;
	}
	s->run = (struct model_running){
		.link = core->fetched,
		.accesses = s->block->accesses,
		.access_count = s->access_count,
		.insn_count = s->insn_count,
		.fetch_count = (uint8_t)count,
		.way = (uint8_t)fetched_way_of(s, m->watch && m->watch->targets.entry),
	};
	if (s->outcome_count) {
		s->run.from = s->outcomes->from;
		s->run.length = s->block->insns[s->outcomes->insn].length;
		s->run.base = predictor_base(&core->predictor, s->outcomes->from);
		s->run.taken = s->outcomes->taken;
	}
	find_ways(s);
	s->run.seen = s->run.known = (uint8_t)fetched_kind_of(m, s);
	core->fetched = s;
	return 1;
}

/* Records of a segment while it is seen, from which on it gets code. Less would be more code than
 * the host's caches keep: large programs get slower. */
#define OFTEN 64

static void note_use(uint64_t *used, uint64_t tick)
{
	*used = *used < tick ? tick : *used;
}

static NOINLINE void fetched_settle_all(struct core *core)
{
	struct model_segment *s = core->fetched;
	unsigned page_bits = core->page_bits;
	uint64_t last = 0, sums[MODEL_STATICS] = {0};

	for (; s; s = s->run.link) {
		const struct model_fetch *f = s->block->fetches;
		uint64_t count = s->run.count, tick = s->run.tick;

		if (tick >= last && s->run.fetch_count) {
			last = tick;
			core->fetch_line = f[s->run.fetch_count - 1].line;
		}
		for (unsigned i = 0; i < s->run.fetch_count; i++, f++) {
			note_use(&core->l1i.used[f->hint], ++tick);
			note_use(page_slot(core->fetch_pages, (f->line >> page_bits) + 1)->used,
				tick);
		}
		for (unsigned i = 0; i < MODEL_STATICS; i++)
			sums[i] += (uint64_t)(uint32_t)count * s->statics[i];
		s->ended += count;
		s->often |= count >= OFTEN;
		s->run.seen = RUN_UNSEEN;
		s->run.code = (const uint8_t *)0;
	}
	for (unsigned i = 0; i < STATICS_USED; i++) {
		core->counts[model_static_event(i)] += sums[i];
		core->ran[i] += sums[i];
	}
	core->fetched = (struct model_segment *)0;
}

void fetched_settle(struct core *core)
{
	if (core->fetched)
		fetched_settle_all(core);
}
