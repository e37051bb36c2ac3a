/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/opcache.h"

/* Lines of L1I's set from entry `first` on leave, the one that was used longest ago first, until
 * the others' entries fit; `keep` stays.  Returns whether one left. */
static int opcache_fit(struct opcache *o, const struct cache *l1i, uint64_t first, uint64_t keep)
{
	struct opcache_line *line = &o->line[first];
	int left = 0;

	for (;;) {
		uint64_t oldest = l1i->ways, i;
		unsigned entries = 0;

		for (i = 0; i < l1i->ways; i++) {
			entries += (unsigned)__builtin_popcount(line[i].there);
			if (line[i].there && first + i != keep &&
				(oldest == l1i->ways ||
					l1i->used[first + i] < l1i->used[first + oldest]))
				oldest = i;
		}
		if (entries <= o->ways || oldest == l1i->ways)
			return left;
		line[oldest].there = 0;
		left = 1;
	}
}

/* What the cache has by the uses of lines in L1I. Of a line that was executed once only no entries
 * are known yet. */
static void opcache_settle(struct opcache *o, const struct cache *l1i)
{
	uint64_t sets = l1i->sets ? l1i->sets : l1i->mask + 1, i, way;

	for (i = 0; i < sets * l1i->ways; i += l1i->ways) {
		for (way = i; way < i + l1i->ways; way++) {
			struct opcache_line *l = &o->line[way];

			l->there = (uint16_t)(!l1i->entries[way] ? 0 : l->known ? l->known : 1);
		}
		opcache_fit(o, l1i, i, UINT64_MAX);
	}
}

/* The groups of the line in entry `at` of L1I are decoded. */
static void opcache_fill(
	struct model *m, struct opcache *o, const struct cache *l1i, uint64_t at, unsigned groups)
{
	struct opcache_line *l = &o->line[at];

	/* Of entries that have no room together, only these; of more than a set has, none. */
	if ((unsigned)__builtin_popcount(l->there | groups) > o->ways)
		l->there = 0;
	if ((unsigned)__builtin_popcount(groups) > o->ways)
		return;
	l->there |= (uint16_t)groups;
	if (opcache_fit(o, l1i, at - at % l1i->ways, at))
		o->epoch = ++m->op_epochs;
}

/* Are all groups of the segment there? They are now. */
static int opcache_lacks(struct model *m, struct core *core, struct model_segment *s)
{
	struct opcache *o = core->opcache;
	int lacks = 0;

	for (unsigned i = 0; i < s->fetch_count; i++) {
		const struct model_fetch *f = &s->block->fetches[i];
		uint32_t at = i < MODEL_RUNNING_LINES ? s->run.entry[i] : f->hint;

		if (!cache_is(core->l1i.entries[at], f->line)) {
			lacks = 1;
		} else if (f->groups & ~o->line[at].there) {
			opcache_fill(m, o, &core->l1i, at, f->groups);
			lacks = 1;
		}
	}
	if (!lacks)
		s->op_epoch = o->epoch;
	return lacks;
}

int opcache_decodes(struct model *m, struct core *core, struct model_segment *s)
{
	const struct retire *t = core->retire;
	struct opcache *o = core->opcache;
	int stays = o->until_branch && t->decodes && !o->jumped;

	if (t->instructions >= o->until) {
		opcache_settle(o, &core->l1i);
		o->until = t->instructions + OPCACHE_EPOCH;
		o->epoch = ++m->op_epochs;
	}
	return (s->op_epoch != o->epoch && opcache_lacks(m, core, s)) || stays;
}
