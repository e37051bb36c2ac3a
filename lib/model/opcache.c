/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/opcache.h"

/* At least OPCACHE_EACH. */
static unsigned class_of(uint64_t since)
{
	unsigned high = 63u - (unsigned)__builtin_clzll(since | OPCACHE_EACH);

	return (high - 3) * OPCACHE_EACH + (unsigned)((since | OPCACHE_EACH) >> (high - 3));
}

/* Of a line that was executed once only no groups are known yet. */
static unsigned opcache_entries(unsigned groups)
{
	return groups ? (unsigned)__builtin_popcount(groups) : 1;
}

/* What the cache has by the uses of lines in L1I. */
static void opcache_settle(struct opcache *o, const struct cache *l1i)
{
	uint64_t count = (l1i->sets ? l1i->sets : l1i->mask + 1) * l1i->ways, now = 0, i;

	for (i = 0; i < OPCACHE_CLASSES; i++)
		o->of_class[i] = 0;
	for (i = 0; i < count; i++)
		now = now < l1i->used[i] ? l1i->used[i] : now;
	for (i = 0; i < count; i++) {
		struct opcache_line *l = &o->line[i];

		if (!l1i->entries[i])
			continue;
		l->class = (uint16_t)class_of(now - l1i->used[i]);
		l->counted = (uint16_t)opcache_entries(l->groups);
		o->of_class[l->class] += l->counted;
	}
	o->held = 0;
	for (o->oldest = 1;
		o->oldest < OPCACHE_CLASSES && o->held + o->of_class[o->oldest] <= o->entries;
		o->oldest++)
		o->held += o->of_class[o->oldest];
}

static void opcache_room(struct opcache *o)
{
	while (o->held > o->entries && o->oldest > 1)
		o->held -= o->of_class[--o->oldest];
}

/* The line is used. Is it there? */
static inline int opcache_has(struct opcache *o, struct opcache_line *l)
{
	if (l->class >= o->oldest)
		return 0;
	if (l->class) {
		o->of_class[l->class] -= l->counted;
		l->class = 0;
	}
	return 1;
}

/* The same of all lines of a segment of which it is known where they are; 0: perhaps not. */
static int opcache_has_all(
	struct opcache *o, const struct core *core, const struct model_segment *s)
{
	unsigned count = s->run.fetch_count;

	if (s->run.stamp != core->stamp || count > MODEL_RUNNING_LINES)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (!opcache_has(o, &o->line[s->run.entry[i]]))
			return 0;
	return 1;
}

int opcache_lacks(struct model *m, struct core *core, struct model_segment *s)
{
	const struct retire *t = core->retire;
	struct opcache *o = core->opcache;
	int lacks = 0;

	if (t->instructions >= o->until) {
		opcache_settle(o, &core->l1i);
		o->until = t->instructions + OPCACHE_EPOCH;
		o->epoch = ++m->op_epochs;
	}
	s->op_epoch = o->epoch;
	if (LIKELY(opcache_has_all(o, core, s)))
		return 0;
	for (unsigned i = 0; i < s->fetch_count; i++) {
		const struct model_fetch *f = &s->block->fetches[i];
		uint32_t at = i < MODEL_RUNNING_LINES ? s->run.entry[i] : f->hint;

		if (!cache_is(core->l1i.entries[at], f->line) || !opcache_has(o, &o->line[at])) {
			o->held += opcache_entries(f->groups);
			lacks = 1;
		}
	}
	opcache_room(o);
	return lacks;
}
