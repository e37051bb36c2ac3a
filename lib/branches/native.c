/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The speed of code that is not followed. Between bursts, some direct branches lead through stubs
 * that count and go on to the original target: about a nanosecond each time, without a stop. A
 * breakpoint's stop would cost as much as ten thousand instructions. Stubs are put in at the end
 * of a burst and taken out at the beginning of the next, when the thread is stopped anyway; so
 * this is done for processes of one thread only.
 *
 * Code in copies takes 1.5 times its native time, or ten times while it is new; no model predicted
 * that within ten percent. So the rate of a watched branch natively is compared with its rate in
 * copies in the next burst. The median over branches is the factor by which all rates are
 * multiplied; tallies carry it to prof. The branches to watch are chosen before.
 *
 * A stub and its counter are in pages that children of fork have, too. A stub is never reused for
 * another branch, because a signal may have interrupted a thread in it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stats.h"
#include "branches/cache.h"

#define WATCHED    24     /* branches at a time */
#define STAYS      0.97   /* probability that a branch is watched again */
#define SEEN       3      /* bursts with a branch before it is watched */
#define RATE_MIN   2000.0 /* per second, in copies */
#define RATE_MAX   3e6
#define TRIES      200
#define STUB_BYTES 16
#define STUBS      254 /* of an arena */
#define UNIT       1e4 /* of tallies */

/* Table entry: a branch with a displacement of 32 bits. */
struct direct {
	struct {
		uint64_t address, to;
	} key;
	double rate; /* sum over bursts of executions per second, with corrected time */
	uint32_t bursts;
	uint32_t pairs;
	double natively,
		copied; /* sums over pairs of executions per second: natively, in the burst after */
	uint8_t at;     /* of its displacement; 0: it cannot be watched */
};

struct watched {
	uint64_t address, to;
	uint64_t where;     /* of its displacement */
	uint64_t counter;   /* address */
	uint32_t own, ours; /* displacements */
	uint64_t hits;
	double copied; /* executions per second in the burst after */
};

/* Table entry: a stub. */
struct stub {
	struct {
		uint64_t address, to;
	} key;
	uint8_t arena;
	uint8_t number; /* in it, from 1 */
};

struct native {
	struct table known, stubs;
	uint8_t numbers[ARENAS_MAX]; /* of stubs of each arena */
	struct watched watched[WATCHED];
	unsigned count;
	bool in;
	uint64_t began; /* CPU time of the process */
	double ns;      /* of it, with stubs in place */
	double bursts;  /* included in known */
};

static struct native *native_of(struct cache *c)
{
	if (!c->native) {
		c->native = calloc(1, sizeof(*c->native));
		if (c->native)
			*c->native = (struct native){
				.known = {.entry_size = sizeof(struct direct), .key_size = 16},
				.stubs = {.entry_size = sizeof(struct stub), .key_size = 16}};
	}
	return c->native;
}

bool native_counts(const struct cache *c)
{
	return c->native && c->native->count;
}

/* ---- insertion and removal of stubs ---- */

void native_take_out(struct cache *c)
{
	struct native *n = c->native;
	uint64_t now = branches_now(c->process->clock);

	if (!n || !n->in)
		return;
	n->in = false;
	n->ns = now > n->began ? (double)(now - n->began) : 0;
	for (unsigned i = 0; i < n->count; i++) {
		struct watched *w = &n->watched[i];
		uint32_t there;

		if (!process_read(c->process->memory, w->counter, &w->hits, sizeof(w->hits)))
			n->ns = 0;
		/* The program may have changed it. */
		if (process_read(c->process->memory, w->where, &there, sizeof(there)) &&
			there == w->ours)
			process_write(c->process->memory, w->where, &w->own, sizeof(w->own));
	}
}

/* inc counter; jmp to */
static bool make_stub(struct cache *c, const struct arena *a, const struct stub *s)
{
	uint64_t at = a->code + STUB_BYTES * s->number;
	uint8_t bytes[12] = {0x48, 0xff, 0x05, 0, 0, 0, 0, 0xe9};
	uint32_t word;

	word = (uint32_t)(arena_slot_address(a, SLOT_WATCHED + s->number) - (at + 7));
	memcpy(bytes + 3, &word, sizeof(word));
	word = (uint32_t)(s->key.to - (at + sizeof(bytes)));
	memcpy(bytes + 8, &word, sizeof(word));
	return process_write(c->process->memory, at, bytes, sizeof(bytes));
}

/* The stub of a branch; NULL: not possible. */
static const struct stub *stub_of(struct cache *c, struct held *f, const struct direct *d)
{
	struct native *n = c->native;
	struct stub *s = table_find(&n->stubs, &d->key), key = {.key = {d->key.address, d->key.to}};
	const struct arena *a;

	if (s)
		return s->number ? s : NULL;
	a = arena_for(c, f, d->key.address);
	s = table_add(&n->stubs, &key.key);
	if (!a || !s)
		return NULL;
	s->arena = (uint8_t)(a - c->arenas);
	if (n->numbers[s->arena] == STUBS || d->key.to - a->code + (1ull << 31) >= 1ull << 32)
		return NULL;
	s->number = ++n->numbers[s->arena];
	if (make_stub(c, a, s))
		return s;
	s->number = 0;
	return NULL;
}

static bool put_in(struct cache *c, struct held *f, unsigned i, const struct direct *d)
{
	const struct stub *s = stub_of(c, f, d);
	struct watched *w = &c->native->watched[i];
	const struct arena *a;
	uint64_t zero = 0;

	if (!s)
		return false;
	a = &c->arenas[s->arena];
	*w = (struct watched){.address = d->key.address,
		.to = d->key.to,
		.where = d->key.address + d->at,
		.counter = arena_slot_address(a, SLOT_WATCHED + s->number)};
	w->own = (uint32_t)(w->to - (w->where + 4));
	w->ours = (uint32_t)(a->code + STUB_BYTES * s->number - (w->where + 4));
	return process_write(c->process->memory, w->counter, &zero, sizeof(zero)) &&
	       process_write(c->process->memory, w->where, &w->ours, sizeof(w->ours));
}

uint64_t native_step_out(const struct cache *c, uint64_t address)
{
	const struct native *n = c->native;

	for (size_t i = 0; n && i < n->stubs.count; i++) {
		const struct stub *s = table_at(&n->stubs, i);

		if (s->number &&
			address - (c->arenas[s->arena].code + STUB_BYTES * s->number) < STUB_BYTES)
			return s->key.to;
	}
	return address;
}

static bool is_watched(const struct native *n, const struct direct *d)
{
	for (unsigned i = 0; i < n->count; i++)
		if (n->watched[i].address == d->key.address)
			return true;
	return false;
}

static bool can_be_watched(const struct native *n, const struct direct *d)
{
	double rate = d->rate / n->bursts;

	return d->at && d->bursts >= SEEN && rate > RATE_MIN && rate < RATE_MAX;
}

/* First branches that are watched again, then others. */
void native_put_in(struct cache *c, struct held *f)
{
	struct native *n = c->native;
	unsigned before;

	if (!n || n->in || c->refused || c->process->threads != 1 || !(n->bursts > 0))
		return;
	before = n->count;
	n->count = 0;
	for (unsigned i = 0; i < before; i++) {
		const struct direct key = {.key = {n->watched[i].address, n->watched[i].to}};
		const struct direct *d = table_find(&n->known, &key.key);

		if (d && branches_chance(c->b) < STAYS && put_in(c, f, n->count, d))
			n->count++;
	}
	for (int i = 0; i < TRIES && n->count < WATCHED && n->known.count; i++) {
		size_t at = (size_t)(branches_chance(c->b) * (double)n->known.count);
		const struct direct *d =
			table_at(&n->known, at < n->known.count ? at : n->known.count - 1);

		if (can_be_watched(n, d) && !is_watched(n, d) && put_in(c, f, n->count, d))
			n->count++;
	}
	n->in = true;
	n->began = branches_now(c->process->clock);
}

void native_clean(struct followed *copy, const struct followed *parent)
{
	const struct native *n = parent->cache ? parent->cache->native : NULL;
	uint32_t there;

	if (!n || !n->in || process_shares(parent->pid, copy->pid) || process_memory(copy) < 0)
		return;
	for (unsigned i = 0; i < n->count; i++) {
		const struct watched *w = &n->watched[i];

		if (process_read(copy->memory, w->where, &there, 4) && there == w->ours)
			process_write(copy->memory, w->where, &w->own, 4);
	}
}

/* ---- evaluation ---- */

/* call, jmp, jcc with a displacement of 32 bits, with flags dead after it. */
static uint8_t displacement_of(struct cache *c, uint64_t address, uint64_t to)
{
	uint8_t bytes[6] = {0}, at = 1;
	int32_t word;

	if (!process_read(c->process->memory, address, bytes, 5))
		return 0;
	if (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)
		at = process_read(c->process->memory, address, bytes, 6) ? 2 : 0;
	else if (bytes[0] != 0xe8 && bytes[0] != 0xe9)
		return 0;
	if (!at)
		return 0;
	memcpy(&word, bytes + at, sizeof(word));
	if (address + at + 4 + (uint64_t)(int64_t)word != to)
		return 0;
	return copy_flags_dead(c, to) ? at : 0;
}

static void met(struct cache *c, const struct met *m, double seconds)
{
	struct native *n = c->native;
	const struct direct key = {.key = {m->key.end, m->key.to}};
	size_t before = n->known.count;
	struct direct *d = table_add(&n->known, &key.key);

	if (!d)
		return;
	if (n->known.count > before)
		d->at = displacement_of(c, m->key.end, m->key.to);
	if (!d->at)
		return;
	d->rate += (double)m->now / seconds;
	d->bursts++;
	for (unsigned i = 0; i < n->count; i++) {
		struct watched *w = &n->watched[i];

		if (w->address != m->key.end || w->to != m->key.to)
			continue;
		w->copied += (double)m->now / seconds;
	}
}

/* Rates in bursts: of those after which the branch was watched; or of all, if those are most.
 * First bursts are slower, with new copies. */
static double in_copies(const struct native *n, const struct direct *d)
{
	return 2 * d->pairs >= n->bursts ? d->rate / n->bursts * d->pairs : d->copied;
}

/* The ratio of native executions to those in copies: the median, as a few bursts miss whole phases
 * of a program. Branches that are in most bursts weigh most, as bursts underestimate the others.
 * 0: unknown. */
static double faster(const struct native *n, double *pairs)
{
	struct stats_weighed *all = calloc(n->known.count + 1, sizeof(*all));
	double whole = 0, found = 0;
	size_t count = 0;

	*pairs = 0;
	for (size_t i = 0; all && i < n->known.count; i++) {
		const struct direct *d = table_at(&n->known, i);
		double own = in_copies(n, d), often = fmin(d->bursts / n->bursts, 1);

		if (!d->pairs || !(d->natively + own > 0))
			continue;
		all[count++] = (struct stats_weighed){
			own > 0 ? d->natively / own : HUGE_VAL, d->pairs * often * often};
		whole += d->pairs * often * often;
		*pairs += d->pairs;
	}
	if (whole > 0)
		found = stats_weighed(all, count, whole / 2);
	free(all);
	return isfinite(found) ? found : 0;
}

static void native_compare(struct cache *c)
{
	struct native *n = c->native;

	for (unsigned i = 0; i < n->count && n->ns > 0; i++) {
		const struct watched *w = &n->watched[i];
		const struct direct key = {.key = {w->address, w->to}};
		struct direct *d = table_find(&n->known, &key.key);

		if (!d)
			continue;
		d->natively += (double)w->hits / n->ns * 1e9;
		d->copied += w->copied;
		d->pairs++;
	}
	n->ns = 0;
}

static void native_tell(struct cache *c)
{
	struct native *n = c->native;
	uint64_t *counts = c->b->counts;
	double pairs, by = faster(n, &pairs);

	if (!(by > 0))
		return;
	counts[TALLY_NATIVE_PAIRS] += (uint64_t)pairs;
	counts[TALLY_NATIVE] += (uint64_t)(UNIT * pairs * by / (1 + by));
	counts[TALLY_COPIED] += (uint64_t)(UNIT * pairs / (1 + by));
}

void native_rate(struct cache *c, double seconds)
{
	struct native *n = native_of(c);

	if (!n || !(seconds > 0))
		return;
	n->bursts++;
	for (size_t i = 0; i < c->touched.count; i++)
		met(c, table_at(&c->met, c->touched.data[i]), seconds);
	native_compare(c);
}

static void native_forget(struct cache *c)
{
	native_tell(c);
	table_fini(&c->native->known);
	c->native->known = (struct table){.entry_size = sizeof(struct direct), .key_size = 16};
	c->native->bursts = 0;
}

void native_renew(struct cache *c)
{
	if (c->native)
		native_forget(c);
}

void native_free(struct cache *c)
{
	if (c->native) {
		native_forget(c);
		table_fini(&c->native->stubs);
	}
	free(c->native);
	c->native = NULL;
}
