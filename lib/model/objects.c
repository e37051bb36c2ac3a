/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See objects.h. */
#include "model/objects.h"

#include "model/state.h"

/* Entries at most; an address space of some hundred MiB in the worst case. */
enum { PLACES_MAX = 1 << 20, TOUCHES_MAX = 1 << 19, LINES_MAX = 1 << 16, ENDS_MAX = 1 << 19 };
/* In place of a line's index. */
#define GRAVE UINT32_MAX

static const uint8_t columns[OBJECTS_COLUMNS] = {EV_L1D_MISSES, EV_L2D_MISSES, EV_LL_DATA_MISSES,
	EV_DTLB_MISSES, EV_DTLB_WALKS, EV_INTERVENTIONS, EV_INTERVENTION_HITS, EV_INVALIDATIONS,
	EV_INVALIDATION_HITS, EV_STORES_TO_SHARED};

unsigned objects_event(unsigned column)
{
	return columns[column];
}

/* ---- tables ---- */

static uint64_t *entry_at(const struct objects_table *t, uint32_t i)
{
	return (uint64_t *)(void *)(t->entries + (size_t)i * t->size);
}

static uint32_t objects_slot_of(const uint64_t *key)
{
	uint64_t h = key[0] * UINT64_C(0x9E3779B97F4A7C15);

	h = (h ^ h >> 29 ^ key[1]) * UINT64_C(0xC2B2AE3D27D4EB4F);
	h = (h ^ h >> 32 ^ key[2]) * UINT64_C(0x165667B19E3779F9);
	return (uint32_t)(h >> 32);
}

static void objects_clear(void *memory, size_t bytes)
{
	char *at = memory;

	while (bytes--)
		*at++ = 0;
}

static void place_slots(struct objects_table *t)
{
	uint32_t i;

	objects_clear(t->slots, ((size_t)t->mask + 1) * sizeof(*t->slots));
	for (i = 0; i < t->count; i++) {
		uint32_t at = objects_slot_of(entry_at(t, i)) & t->mask;

		while (t->slots[at])
			at = (at + 1) & t->mask;
		t->slots[at] = i + 1;
	}
}

static void objects_grow(struct objects *o, struct objects_table *t)
{
	uint32_t slots = t->mask ? (t->mask + 1) * 4 : 256;

	t->mask = slots - 1;
	t->slots = o->memory(t->slots, slots * sizeof(*t->slots));
	t->entries = o->memory(t->entries, (size_t)(slots / 2) * t->size);
	place_slots(t);
}

/* The index + 1 of the entry with this key; a new one has zeros after the key; 0: there is no room.
 */
static uint32_t objects_add(
	struct objects *o, struct objects_table *t, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t key[3] = {a, b, c};
	uint64_t *e;
	uint32_t at;

	if (t->count >= (t->mask + 1) / 2)
		objects_grow(o, t);
	for (at = objects_slot_of(key) & t->mask; t->slots[at]; at = (at + 1) & t->mask) {
		e = entry_at(t, t->slots[at] - 1);
		if (e[0] == a && e[1] == b && e[2] == c)
			return t->slots[at];
	}
	if (t->count >= t->limit) {
		t->lost++;
		return 0;
	}
	e = entry_at(t, t->count);
	objects_clear(e, t->size);
	e[0] = a;
	e[1] = b;
	e[2] = c;
	return t->slots[at] = ++t->count;
}

static void objects_empty(struct objects_table *t)
{
	t->count = 0;
	t->lost = 0;
	if (t->slots)
		place_slots(t);
}

void objects_init(struct objects *o)
{
	o->places.size = sizeof(struct objects_place);
	o->places.limit = PLACES_MAX;
	o->touches.size = sizeof(struct objects_touch);
	o->touches.limit = TOUCHES_MAX;
	o->lines.size = sizeof(struct objects_line);
	o->lines.limit = LINES_MAX;
	o->ends.size = sizeof(struct objects_end);
	o->ends.limit = ENDS_MAX;
	o->holders.size = sizeof(struct objects_holder);
	o->holders.limit = ENDS_MAX;
}

void objects_reset(struct objects *o)
{
	objects_empty(&o->places);
	objects_empty(&o->touches);
	objects_empty(&o->lines);
	objects_empty(&o->ends);
	objects_empty(&o->holders);
	objects_clear(o->sizes, o->size_count * sizeof(*o->sizes));
	if (o->live)
		objects_clear(o->live, ((size_t)o->live_mask + 1) * sizeof(*o->live));
	o->live_used = 0;
}

/* ---- counts ---- */

static unsigned column_of(unsigned event)
{
	unsigned i = 0;

	while (i < OBJECTS_COLUMNS && columns[i] != event)
		i++;
	return i;
}

static struct objects_size *objects_size_of(struct objects *o, uint32_t object)
{
	uint32_t before = o->size_count;

	if (object >= before) {
		o->size_count = object + object / 2 + 64;
		o->sizes = o->memory(o->sizes, o->size_count * sizeof(*o->sizes));
		objects_clear(o->sizes + before, (o->size_count - before) * sizeof(*o->sizes));
	}
	return &o->sizes[object];
}

/* The object has too many lines: from now on they are counted by four times as many at once. */
static void coarsen(struct objects *o, uint32_t object)
{
	struct objects_size *size = objects_size_of(o, object);
	struct objects_table old = o->places;
	uint32_t i;
	unsigned k;

	size->shift += 2;
	size->lines = 0;
	o->places.entries = (char *)0;
	o->places.slots = (uint32_t *)0;
	o->places.mask = o->places.count = 0;
	for (i = 0; i < old.count; i++) {
		const struct objects_place *p = (const void *)entry_at(&old, i);
		int same = p->key[0] == object;
		uint64_t line = same ? (uint64_t)((int64_t)p->key[1] >> 2) : p->key[1];
		uint32_t before = o->places.count;
		struct objects_place *to =
			(void *)entry_at(&o->places, objects_add(o, &o->places, p->key[0], line,
							     same ? size->shift : p->key[2]) -
							     1);

		size->lines += same && o->places.count > before;
		for (k = 0; k < OBJECTS_COLUMNS; k++)
			to->counts[k] += p->counts[k];
	}
	o->memory(old.entries, 0);
	o->memory(old.slots, 0);
}

static void count_place(
	struct objects *o, uint32_t object, int64_t line, unsigned column, uint64_t n)
{
	struct objects_size *size = objects_size_of(o, object);
	uint32_t before = o->places.count, i;

	i = objects_add(o, &o->places, object, (uint64_t)(line >> size->shift), size->shift);
	if (!i)
		return;
	((struct objects_place *)(void *)entry_at(&o->places, i - 1))->counts[column] += n;
	size->lines += o->places.count > before;
	if (size->lines > OBJECTS_LINES_MAX)
		coarsen(o, object);
}

static uint64_t objects_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void note_offset(struct objects_touch *t, int64_t offset, int first)
{
	if (first) {
		t->least = t->most = offset;
	} else {
		t->apart = objects_divisor(t->apart,
			(uint64_t)(offset > t->least ? offset - t->least : t->least - offset));
		if (offset < t->least)
			t->least = offset;
		if (offset > t->most)
			t->most = offset;
	}
}

void objects_count(
	struct objects *o, const struct model *m, unsigned event, uint64_t n, uint64_t address)
{
	unsigned column = column_of(event);
	uint64_t start = 0, at = model_at(m);
	uint32_t object, i, before;

	if (column == OBJECTS_COLUMNS || o->off)
		return;
	o->code = at;
	object = o->find(o->context, address, &start);
	count_place(o, object,
		(int64_t)(address >> OBJECTS_LINE_BITS) - (int64_t)(start >> OBJECTS_LINE_BITS),
		column, n);
	before = o->touches.count;
	i = objects_add(o, &o->touches, object, at, o->image(o->context, at));
	if (i) {
		struct objects_touch *t = (void *)entry_at(&o->touches, i - 1);

		t->counts[column] += n;
		note_offset(t, (int64_t)(address - start), o->touches.count > before);
	}
}

/* ---- lines ---- */

static uint32_t live_slot(const struct objects *o, uint64_t unit)
{
	uint32_t at = (uint32_t)(unit * UINT64_C(0x9E3779B97F4A7C15) >> 32) & o->live_mask;

	while (o->live[at] && o->live_key[at] != unit)
		at = (at + 1) & o->live_mask;
	return at;
}

static struct objects_line *line_at(const struct objects *o, uint64_t unit)
{
	uint32_t at, i;

	if (!o->live)
		return (struct objects_line *)0;
	at = live_slot(o, unit);
	i = o->live[at];
	if (!i || i == GRAVE)
		return (struct objects_line *)0;
	return (void *)entry_at(&o->lines, i - 1);
}

int objects_knows(const struct objects *o, uint64_t unit)
{
	return line_at(o, unit) != 0;
}

static void grow_live(struct objects *o)
{
	uint64_t *keys = o->live_key;
	uint32_t *live = o->live, before = live ? o->live_mask + 1 : 0, i;
	uint32_t size = before ? before * 2 : 256;

	o->live_mask = size - 1;
	o->live_key = o->memory((void *)0, size * sizeof(*o->live_key));
	o->live = o->memory((void *)0, size * sizeof(*o->live));
	objects_clear(o->live, size * sizeof(*o->live));
	o->live_used = 0;
	for (i = 0; i < before; i++)
		if (live[i] && live[i] != GRAVE) {
			uint32_t at = live_slot(o, keys[i]);

			o->live_key[at] = keys[i];
			o->live[at] = live[i];
			o->live_used++;
		}
	if (before) {
		o->memory(keys, 0);
		o->memory(live, 0);
	}
}

/* The core has lost the line: did it need it? */
static void settle_holder(struct objects_line *line, struct objects_holder *h)
{
	if (h->got && h->needed)
		line->needed++;
	else if (h->got)
		line->useless++;
	h->got = 0;
}

/* The line's bytes are others from now on. */
static void forget_holders(struct objects *o, struct objects_line *line)
{
	uint32_t i = line->holders;

	while (i) {
		struct objects_holder *h = (void *)entry_at(&o->holders, i - 1);

		settle_holder(line, h);
		h->known = 0;
		i = h->next;
	}
}

void objects_kinds(const struct objects *o, const struct objects_line *line, uint64_t *needed,
	uint64_t *useless)
{
	struct objects_line copy = *line;
	uint32_t i = line->holders;

	while (i) {
		struct objects_holder h =
			*(const struct objects_holder *)(void *)entry_at(&o->holders, i - 1);

		settle_holder(&copy, &h);
		i = h.next;
	}
	*needed = copy.needed;
	*useless = copy.useless;
}

/* The line of a unit, created on first use. */
static struct objects_line *objects_line_of(struct objects *o, const struct model *m, uint64_t unit)
{
	struct objects_line *line = line_at(o, unit);
	uint64_t start = 0;
	uint32_t object, i, at;

	if (line)
		return line;
	o->unit = m->unit + 1;
	o->code = model_at(m);
	object = o->find(o->context, m->accessed, &start);
	i = objects_add(o, &o->lines, object, unit - start, m->unit + 1);
	if (!i)
		return (struct objects_line *)0;
	line = (void *)entry_at(&o->lines, i - 1);
	forget_holders(o, line);
	line->address = unit;
	if (!o->live || o->live_used >= o->live_mask / 2)
		grow_live(o);
	at = live_slot(o, unit);
	o->live_used += o->live[at] == 0;
	o->live_key[at] = unit;
	o->live[at] = i;
	return line;
}

/* Leaves an entry without an address, so that later entries of the hash are still found. */
static void bury(struct objects *o, uint32_t slot)
{
	struct objects_line *line = (void *)entry_at(&o->lines, o->live[slot] - 1);

	forget_holders(o, line);
	line->address = 0;
	o->live[slot] = GRAVE;
}

void objects_gone(struct objects *o, uint64_t from, uint64_t length)
{
	uint64_t unit = from & ~(o->unit - 1);
	uint32_t i;

	if (!o->live || !length)
		return;
	if (length / o->unit < o->live_mask / 4) {
		for (; unit < from + length; unit += o->unit) {
			i = live_slot(o, unit);
			if (o->live[i] && o->live[i] != GRAVE)
				bury(o, i);
		}
		return;
	}
	for (i = 0; i <= o->live_mask; i++)
		if (o->live[i] && o->live[i] != GRAVE &&
			o->live_key[i] - unit < from + length - unit)
			bury(o, i);
}

/* ---- sharing ---- */

/* Which bytes of the unit the current access touches. */
static int touched(const struct model *m, uint64_t unit, uint64_t *mask)
{
	uint64_t first = m->accessed, last = m->accessed + m->accessed_size - 1;
	unsigned shift = 0, i;

	while (m->unit >> shift >= 64 * OBJECTS_MASK_WORDS)
		shift++;
	for (i = 0; i < OBJECTS_MASK_WORDS; i++)
		mask[i] = 0;
	if (last < unit || first > unit + m->unit || last < first)
		return 0;
	first = first < unit ? 0 : (first - unit) >> shift;
	last = last > unit + m->unit ? m->unit >> shift : (last - unit) >> shift;
	for (; first <= last; first++)
		mask[first / 64] |= UINT64_C(1) << first % 64;
	return 1;
}

static struct objects_holder *holder_of(struct objects *o, struct objects_line *line, uint64_t core)
{
	uint32_t index = (uint32_t)((char *)line - o->lines.entries) / o->lines.size;
	uint32_t before = o->holders.count, i = objects_add(o, &o->holders, index, core, 0);
	struct objects_holder *h;

	if (!i)
		return (struct objects_holder *)0;
	h = (void *)entry_at(&o->holders, i - 1);
	if (o->holders.count > before) {
		h->next = line->holders;
		line->holders = i;
	}
	return h;
}

static struct objects_end *end_of(
	struct objects *o, const struct model *m, struct objects_line *line)
{
	uint32_t index = (uint32_t)((char *)line - o->lines.entries) / o->lines.size;
	uint64_t start = 0, at = model_at(m);
	uint32_t object, before = o->ends.count, i;
	struct objects_end *e;

	o->code = at;
	object = o->find(o->context, m->accessed, &start);
	i = objects_add(o, &o->ends, index, (uint64_t)m->core->thread << 32 | object, at);
	if (!i)
		return (struct objects_end *)0;
	e = (void *)entry_at(&o->ends, i - 1);
	if (o->ends.count > before) {
		e->next = line->first;
		line->first = i;
		e->image = o->image(o->context, at);
	}
	return e;
}

static void begin_holding(struct objects_line *line, struct objects_holder *h)
{
	unsigned i;

	settle_holder(line, h);
	/* Writes before it had the line for the first time are not known. */
	h->got = h->known;
	h->known = 1;
	h->needed = 0;
	for (i = 0; i < OBJECTS_MASK_WORDS; i++) {
		h->pending[i] = h->foreign[i];
		h->foreign[i] = h->written[i] = 0;
	}
}

/* The core touches these bytes: what others wrote there was worth it, and if it writes, their
 * copies lack that from now on. */
static void tell_others(struct objects *o, const struct objects_line *line, uint64_t core,
	const uint64_t *mask, int store)
{
	uint32_t i = line->holders;
	unsigned k;

	while (i) {
		struct objects_holder *h = (void *)entry_at(&o->holders, i - 1);

		for (k = 0; h->key[1] != core && k < OBJECTS_MASK_WORDS; k++) {
			h->needed |= (h->written[k] & mask[k]) != 0;
			h->foreign[k] |= store ? mask[k] : 0;
		}
		i = h->next;
	}
}

static void fetched_now(struct objects *o, const struct model *m, uint64_t unit)
{
	struct objects_line *line = line_at(o, unit);
	struct objects_holder *h = line ? holder_of(o, line, m->core->number) : 0;

	if (h)
		begin_holding(line, h);
}

void objects_access(struct objects *o, const struct model *m, uint64_t unit, int store)
{
	struct objects_line *line = line_at(o, unit);
	struct objects_holder *h = line ? holder_of(o, line, m->core->number) : 0;
	struct objects_end *e = h ? end_of(o, m, line) : 0;
	uint64_t mask[OBJECTS_MASK_WORDS], *to;
	unsigned i;

	if (!e || !touched(m, unit, mask))
		return;
	to = store ? e->written : e->read;
	e->loads += !store && !o->off;
	e->stores += store && !o->off;
	for (i = 0; i < OBJECTS_MASK_WORDS; i++) {
		to[i] |= mask[i];
		h->needed |= (h->pending[i] & mask[i]) != 0;
		h->written[i] |= store ? mask[i] : 0;
	}
	tell_others(o, line, m->core->number, mask, store);
}

void objects_request(struct objects *o, const struct model *m, uint64_t unit, int fetched)
{
	uint64_t mask[OBJECTS_MASK_WORDS];
	struct objects_line *line;
	struct objects_end *e;

	if (!touched(m, unit, mask)) {
		if (fetched) /* a request of a prefetcher */
			fetched_now(o, m, unit);
		return;
	}
	line = objects_line_of(o, m, unit);
	e = line ? end_of(o, m, line) : 0;
	if (!e)
		return;
	line->requests += !o->off;
	e->requests += !o->off;
	if (fetched)
		fetched_now(o, m, unit);
}
