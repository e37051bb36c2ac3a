/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who shares what: a table of the units of coherence that one core wanted and another had, with the
 * instructions and the bytes at both ends.
 *
 * An end's instruction is the last one that is known to have gone there; its granules are of all
 * that are known.  Known are the accesses that miss, or need the line for themselves, and the next
 * WATCH_ACCESSES behind each: the line is WATCHED and UNSEEN in L1D meanwhile.  Of an end that has
 * only ever had the line when others asked, the directory knows what brought it.
 *
 * The table has sets of SHARING_WAYS; in a full set the unit that was asked for least often goes.
 */
#include "model/objects.h"
#include "model/state.h"
#include "model/watch.h"

#define WATCH_ACCESSES 16

static struct sharing_entry *set_of(struct model *m, uint64_t unit)
{
	uint64_t hash = unit * UINT64_C(0x9E3779B97F4A7C15);

	return &m->sharing[(hash >> 40) % (MODEL_SHARING_MAX / SHARING_WAYS) * SHARING_WAYS];
}

static struct sharing_entry *find(struct model *m, uint64_t unit)
{
	struct sharing_entry *e = set_of(m, unit), *end = e + SHARING_WAYS;

	for (; e < end; e++)
		if (e->is.requests && e->is.address == unit)
			return e;
	return (struct sharing_entry *)0;
}

static struct sharing_entry *find_or_add(struct model *m, uint64_t unit)
{
	struct sharing_entry *e = find(m, unit), *set = set_of(m, unit);
	unsigned i;

	if (e)
		return e;
	e = set;
	for (i = 1; i < SHARING_WAYS; i++)
		if (set[i].is.requests < e->is.requests)
			e = &set[i];
	*e = (struct sharing_entry){.is = {.address = unit, .bytes = (uint32_t)m->unit + 1}};
	return e;
}

/* The end of the core's current thread; a new one takes the place of the one heard of longest ago.
 */
static unsigned end_of(struct sharing_entry *e, const struct core *core)
{
	unsigned i, oldest = 0;

	for (i = 0; i < e->is.ends; i++) {
		if (e->is.end[i].thread == core->thread)
			break;
		if (e->heard[i] < e->heard[oldest])
			oldest = i;
	}
	if (i == MODEL_SHARING_ENDS)
		i = oldest;
	else if (i == e->is.ends)
		e->is.ends++;
	if (e->is.end[i].thread != core->thread || !e->heard[i]) {
		e->is.end[i] =
			(struct model_sharing_end){.thread = core->thread, .core = core->number};
		e->watch[i] = 0;
	}
	e->heard[i] = ++e->time;
	return i;
}

/* Which granules of the unit the current access touches. */
static uint64_t touched(const struct model *m, uint64_t unit)
{
	unsigned shift = m->unit >= 512 ? 58 - (unsigned)__builtin_clzll(m->unit) : 3;
	uint64_t first = m->accessed, last = m->accessed + m->accessed_size - 1;

	if (last < unit || first > unit + m->unit || last < first)
		return 0;
	first = first < unit ? 0 : (first - unit) >> shift;
	last = last > unit + m->unit ? m->unit >> shift : (last - unit) >> shift;
	return (UINT64_MAX << first) & (UINT64_MAX >> (63 - last));
}

void sharing_asked(
	struct model *m, struct core *core, uint64_t unit, const struct directory_entry *d)
{
	struct sharing_brought *b = &m->brought[d - m->directory];

	b->unit = unit;
	b->core = core->number;
	b->at = model_at(m);
	b->granules = touched(m, unit);
}

void sharing_conflict(struct model *m, struct core *core, struct core *other, uint64_t unit,
	int exclusive, const struct directory_entry *d)
{
	const struct sharing_brought *b = &m->brought[d - m->directory];
	uint64_t granules = touched(m, unit);
	struct sharing_entry *e;
	unsigned i;

	if (!granules)
		return; /* a prefetcher asks */
	e = find_or_add(m, unit);
	e->is.requests++;
	e->is.stores += exclusive != 0;
	i = end_of(e, other);
	if (!e->is.end[i].granules && b->unit == unit && b->core == other->number) {
		e->is.end[i].instruction = b->at;
		e->is.end[i].granules = b->granules;
	}
	i = end_of(e, core);
	e->is.end[i].instruction = model_at(m);
	e->is.end[i].granules |= granules;
	e->watch[i] = WATCH_ACCESSES;
}

/* With objects, every access to what cores take from each other is looked at. */
static int watch_objects(struct model *m, uint64_t unit, int store)
{
	struct objects *o = m->watch ? m->watch->objects : (struct objects *)0;

	if (!o || !objects_knows(o, unit))
		return 0;
	objects_access(o, m, unit, store);
	return 1;
}

int sharing_watch(struct model *m, struct core *core, uint64_t address, enum purpose purpose)
{
	int on = is_demand(purpose) && watch_objects(m, address & ~m->unit, purpose == STORE);
	struct sharing_entry *e = find(m, address & ~m->unit);
	uint64_t granules = touched(m, address & ~m->unit);
	unsigned i;

	if (!e || !granules)
		return on;
	i = end_of(e, core);
	if (!e->watch[i])
		return on;
	e->watch[i]--;
	e->is.end[i].instruction = model_at(m);
	e->is.end[i].granules |= granules;
	return 1;
}

int model_sharing(const struct model *m, unsigned index, struct model_sharing *sharing)
{
	if (!m->sharing || index >= MODEL_SHARING_MAX || !m->sharing[index].is.requests)
		return 0;
	*sharing = m->sharing[index].is;
	return 1;
}
