/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an access to memory has to do with earlier ones in the window: where a load gets its bytes
 * from (store forwarding), whether it or a store was needless, and which stores are never read.
 *
 * Stores of push, call and string instructions are no sites, so they are not looked at; a load of
 * what they stored counts as one of memory.
 */
#include <string.h>

#include "experiment/values.h"
#include "values/private.h"

#define LINE 64u
#define WORD 8u
/* A processor may not have written to the cache yet: the last stores, of the last instructions. */
#define IN_FLIGHT   64
#define IN_WINDOW   512
#define ALIAS_BYTES 4096u
#define MULTIPLIER  0x9e3779b97f4a7c15u

void access_begin(struct accesses *a)
{
	a->epoch++;
	a->stored = a->noded = 0;
}

/* ---- stores by where they are ---- */

static uint32_t *bucket_of(struct accesses *a, uint64_t word)
{
	__typeof__(a->buckets[0]) *b = &a->buckets[word % ACCESS_BUCKETS];

	if (b->epoch != a->epoch)
		b->node = 0;
	b->epoch = a->epoch;
	return &b->node;
}

/* NULL: there is none, or it is too long ago. */
static struct access_node *node_at(struct accesses *a, uint32_t number)
{
	struct access_node *n = &a->nodes[number % ACCESS_NODES];

	return number && a->noded - number < ACCESS_NODES && a->stored - n->store <= ACCESSES
		       ? n
		       : NULL;
}

static struct access *store_at(struct accesses *a, uint32_t number)
{
	return &a->stores[number % ACCESSES];
}

/* The first and the last word of an access. */
static uint64_t first_word(uint64_t address)
{
	return address / WORD;
}

static uint64_t last_word(uint64_t address, unsigned size)
{
	return (address + size - 1) / WORD;
}

static void store_add(struct accesses *a, const struct access *store)
{
	uint64_t last = last_word(store->address, store->size);

	*store_at(a, a->stored) = *store;
	for (uint64_t word = first_word(store->address); word <= last; word++) {
		uint32_t *bucket = bucket_of(a, word);

		a->noded++;
		a->nodes[a->noded % ACCESS_NODES] = (struct access_node){a->stored, *bucket};
		*bucket = a->noded;
	}
	a->stored++;
}

static bool access_overlaps(uint64_t a, unsigned a_size, uint64_t b, unsigned b_size)
{
	return a < b + b_size && b < a + a_size;
}

static unsigned access_splits(uint64_t address, unsigned size)
{
	unsigned bits = 0;

	if (address / LINE != (address + size - 1) / LINE)
		bits |= VALUE_SPLITS_LINE;
	if (address / PAGE != (address + size - 1) / PAGE)
		bits |= VALUE_SPLITS_PAGE;
	return bits;
}

/* Of the number of a bit of enum experiment_value_access. */
static void see_partner(struct values *v, uint64_t pc, unsigned bit, uint64_t partner)
{
	value_seen_add(
		v, pc, VALUE_PARTNER, (unsigned)__builtin_ctz(bit), 64, VALUE_PLACE, partner);
}

static void set_seen(struct values *v, const struct access *a, unsigned bit)
{
	if (a->seen < v->window->seen.count)
		v->window->seen.data[a->seen].value |= bit;
}

static bool in_flight(const struct values *v, uint32_t number)
{
	const struct accesses *a = &v->accesses;

	return a->stored - number <= IN_FLIGHT &&
	       v->number - a->stores[number % ACCESSES].number <= IN_WINDOW;
}

/* The youngest stores in a word's bucket that overlap it and that only seem to: their distances, if
 * these are less than what is there. */
static void find_stores(struct values *v, const struct step *s, uint64_t address, uint64_t word,
	uint32_t *overlaps, uint32_t *alias)
{
	struct accesses *a = &v->accesses;

	for (const struct access_node *n = node_at(a, *bucket_of(a, word));
		n && in_flight(v, n->store); n = node_at(a, n->before)) {
		const struct access *store = store_at(a, n->store);
		uint32_t distance = a->stored - n->store;

		if (access_overlaps(address, s->size, store->address, store->size)) {
			*overlaps = distance < *overlaps ? distance : *overlaps;
			return;
		}
		if (distance < *alias && access_overlaps(address % ALIAS_BYTES, s->size,
						 store->address % ALIAS_BYTES, store->size))
			*alias = distance;
	}
}

/* The youngest store that overlaps it; failing that, one that only seems to. */
static unsigned access_store(struct values *v, const struct step *s, uint64_t address)
{
	struct accesses *a = &v->accesses;
	uint32_t overlaps = UINT32_MAX, alias = UINT32_MAX;
	const struct access *store;
	bool whole;

	for (uint64_t word = first_word(address); word <= last_word(address, s->size); word++)
		find_stores(v, s, address, word, &overlaps, &alias);
	if (overlaps == UINT32_MAX && alias == UINT32_MAX)
		return 0;
	if (overlaps == UINT32_MAX) {
		see_partner(v, s->pc, VALUE_ALIAS, store_at(a, a->stored - alias)->pc);
		return VALUE_ALIAS;
	}
	store = store_at(a, a->stored - overlaps);
	whole = address >= store->address && address + s->size <= store->address + store->size;
	value_seen_add(v, s->pc, VALUE_DISTANCE, 0, 16, VALUE_INTEGER, overlaps);
	see_partner(v, s->pc, whole ? VALUE_FORWARDED : VALUE_BLOCKED, store->pc);
	return whole ? VALUE_FORWARDED : VALUE_BLOCKED;
}

/* All stores that have bytes of it are used. */
static void use_stores(struct values *v, const struct step *s, uint64_t address, uint64_t word)
{
	struct accesses *a = &v->accesses;

	for (const struct access_node *n = node_at(a, *bucket_of(a, word)); n;
		n = node_at(a, n->before)) {
		struct access *store = store_at(a, n->store);

		if (!access_overlaps(address, s->size, store->address, store->size))
			continue;
		if (!store->used)
			set_seen(v, store, VALUE_USED);
		store->used = true;
	}
}

/* Whether the same was loaded from there before; it is kept. */
static bool is_reload(struct accesses *a, const struct step *s, uint64_t address, uint64_t value)
{
	const size_t slots = sizeof(a->loads) / sizeof(a->loads[0]);
	size_t slot = ((address ^ s->size) * MULTIPLIER) >> 53;

	for (size_t k = 0; k < 8; k++, slot++) {
		__typeof__(a->loads[0]) *l = &a->loads[slot % slots];
		bool same;

		if (l->epoch == a->epoch && (l->address != address || l->size != s->size))
			continue;
		same = l->epoch == a->epoch && l->value == value;
		l->epoch = a->epoch;
		l->address = address;
		l->size = s->size;
		l->value = value;
		return same;
	}
	return false;
}

static void kill_store(struct values *v, const struct step *s, struct access *store)
{
	if (!store->used) {
		set_seen(v, store, VALUE_DEAD);
		if (store->seen != SIZE_MAX)
			see_partner(v, store->pc, VALUE_DEAD, s->pc);
	}
	store->size = 0;
}

/* Earlier stores that nothing has read, and that this one covers, were for nothing. Those that it
 * covers are forgotten. */
static void kill_stores(struct values *v, const struct step *s, uint64_t address, uint64_t word)
{
	struct accesses *a = &v->accesses;
	uint32_t *link = bucket_of(a, word);

	for (struct access_node *n = node_at(a, *link); n; n = node_at(a, *link)) {
		struct access *store = store_at(a, n->store);

		if (store->size && store->address >= address &&
			store->address + store->size <= address + s->size)
			kill_store(v, s, store);
		if (store->size)
			link = &n->before;
		else
			*link = n->before;
	}
}

static unsigned access_load(struct values *v, struct step *s, const struct execution *x)
{
	unsigned bits = VALUE_READS | access_store(v, s, x->address);

	for (uint64_t word = first_word(x->address); word <= last_word(x->address, s->size); word++)
		use_stores(v, s, x->address, word);
	if (s->size <= 8 && is_reload(&v->accesses, s, x->address, x->read))
		bits |= VALUE_REDUNDANT;
	if (s->size == 8 && s->epoch == v->epoch && s->loaded && s->base < GENERALS &&
		x->address - (uint64_t)s->displacement == s->loaded && s->index == REG_NONE)
		bits |= VALUE_CHASES;
	s->epoch = v->epoch;
	s->loaded = x->read;
	return bits;
}

static void touch_add(struct values *v, const struct step *s, const struct execution *x)
{
	struct value_touch *t = vec_push(&v->window->touches);

	if (t)
		*t = (struct value_touch){.address = x->address,
			.pc = s->pc,
			.next = s->next,
			.size = s->size,
			.reads = s->reads,
			.writes = s->writes,
			.silent = x->silent,
			.left_out = v->left_out};
}

void access_see(struct values *v, struct step *s, const struct execution *x)
{
	unsigned bits = access_splits(x->address, s->size);
	size_t seen;

	if (v->config.touches)
		touch_add(v, s, x);
	if (s->reads)
		bits |= access_load(v, s, x);
	if (s->writes) {
		bits |= VALUE_WRITES | (x->silent ? VALUE_SILENT : 0);
		for (uint64_t word = first_word(x->address); word <= last_word(x->address, s->size);
			word++)
			kill_stores(v, s, x->address, word);
	}
	seen = v->window->seen.count;
	value_seen_add(v, s->pc, VALUE_ACCESS, 0, VALUE_ACCESSES, VALUE_BITS, bits);
	if (s->writes)
		store_add(&v->accesses,
			&(struct access){.address = x->address,
				.pc = s->pc,
				.seen = seen < v->window->seen.count ? seen : SIZE_MAX,
				.number = v->number,
				.size = s->size});
}
