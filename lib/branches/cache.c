/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process's cache, and the evaluation of its counters. */
#include "branches/cache.h"

#include <string.h>
#include <unistd.h>

static void init_tables(struct cache *c)
{
	c->copies = (struct table){.entry_size = sizeof(struct copy), .key_size = 16};
	c->exits = (struct table){.entry_size = sizeof(struct exit), .key_size = 8};
	c->waiting = (struct table){.entry_size = sizeof(struct waiting), .key_size = 16};
	c->pairs = (struct table){.entry_size = sizeof(struct pair), .key_size = 8};
	c->met = (struct table){.entry_size = sizeof(struct met), .key_size = 24};
	c->doors = (struct table){.entry_size = sizeof(struct door), .key_size = 16};
	c->flags = (struct table){.entry_size = sizeof(struct flags_at), .key_size = 8};
	c->pages = (struct table){.entry_size = sizeof(struct code_page), .key_size = 8};
}

static void fini_tables(struct cache *c)
{
	struct table *all[] = {&c->copies, &c->exits, &c->waiting, &c->pairs, &c->doors, &c->met,
		&c->flags, &c->pages};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		table_fini(all[i]);
	c->sites.count = c->touched.count = c->page_numbers.count = c->loads.count = 0;
	c->logged.count = c->loops.count = c->turns.count = 0;
}

static struct cache *cache_get(struct held *f, struct cache **own, bool logs)
{
	struct followed *p = f->process;
	struct cache *c = *own;

	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->b = f->b;
		c->pagemap = -1;
		c->process = p;
		c->pid = p->pid;
		c->logs = logs;
		init_tables(c);
		*own = c;
	}
	if (fresh_critical(f))
		p->uncached = true;
	c->refused |= p->uncached;
	if (c->refused)
		return NULL;
	if (c->full || !fresh_originals(c))
		cache_renew(c);
	return c->refused ? NULL : c;
}

struct cache *cache_of(struct held *f)
{
	return cache_get(f, &f->process->cache, false);
}

struct cache *cache_logging(struct held *f)
{
	return cache_get(f, &f->process->logging, true);
}

bool cache_serves(const struct cache *c)
{
	return !c->refused;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cache_tell(c);
	native_free(c);
	if (c->pagemap >= 0)
		close(c->pagemap);
	fini_tables(c);
	vec_fini(&c->sites);
	vec_fini(&c->touched);
	vec_fini(&c->loads);
	vec_fini(&c->logged);
	vec_fini(&c->rings);
	vec_fini(&c->goes);
	vec_fini(&c->page_numbers);
	vec_fini(&c->loops);
	vec_fini(&c->turns);
	for (unsigned i = 0; i < c->arena_count; i++)
		arena_fini(&c->arenas[i]);
	free(c->translation);
	free(c);
}

/* Clears the table of targets. */
static void clear_table(struct cache *c, const struct arena *a)
{
	static const uint64_t none;

	for (size_t i = 0; i < a->chains.count; i++) {
		const struct chain *chain = table_at(&a->chains, i);

		c->refused |= !arena_write(
			c, a, a->table + chain->key.hash * (uint64_t)8, &none, sizeof(none));
	}
}

void cache_renew(struct cache *c)
{
	cache_tell(c);
	for (unsigned i = 0; i < c->arena_count; i++) {
		clear_table(c, &c->arenas[i]);
		doors_clear(c, &c->arenas[i]);
		arena_reset(&c->arenas[i]);
	}
	fini_tables(c);
	init_tables(c);
	c->full = false;
	c->unfinished = c->unfinished_turn = 0;
}

/* ---- runs of a burst ---- */

static struct met *cache_meet(struct cache *c, uint64_t begin, uint64_t end, uint64_t to)
{
	const struct met key = {.key = {begin, end, to}};
	struct met *m = table_add(&c->met, &key.key);

	if (!m || m->id)
		return m;
	m->id = ++c->b->run_ids;
	branches_put(c->b, &(struct branch_record){.kind = BRANCH_WAY,
				   .pid = c->pid,
				   .time = branches_now(CLOCK_MONOTONIC),
				   .begin = begin,
				   .end = end,
				   .to = to,
				   .id = m->id});
	return m;
}

static void cache_add(struct cache *c, struct met *m, uint64_t times)
{
	if (!m || !times)
		return;
	if (!m->now && vec_add(&c->touched, (uint32_t)(m - (struct met *)table_at(&c->met, 0))))
		return;
	m->now += times;
}

void cache_met(struct cache *c, uint64_t begin, uint64_t end, uint64_t to, uint64_t times)
{
	cache_add(c, cache_meet(c, begin, end, to), times);
}

/* row: index + 1 of the known run. */
void cache_add_run(
	struct cache *c, uint32_t *row, const struct copy *copy, uint64_t to, uint64_t times)
{
	struct met *m;

	if (!times || !copy->key.begin)
		return;
	if (!*row) {
		m = cache_meet(c, copy->key.begin, copy->end, to);
		if (!m)
			return;
		*row = (uint32_t)(m - (struct met *)table_at(&c->met, 0)) + 1;
	}
	cache_add(c, table_at(&c->met, *row - 1), times);
}

double cache_count_cost(int by)
{
	if (by == BY_FLAGS)
		return 1;
	return by == BY_DETOUR ? COUNT_DETOUR : COUNT_THROUGH;
}

static void count_copy(struct cache *c, uint64_t *const *values, size_t i)
{
	struct copy *copy = table_at(&c->copies, i);
	const struct arena *a = &c->arenas[copy->arena];
	uint64_t all, side;

	copy->now = copy->now_side = 0;
	if (!copy->head)
		return;
	all = values[copy->arena][copy->head] - a->values[copy->head];
	if (!all)
		return;
	side = copy->side ? values[copy->arena][copy->side] - a->values[copy->side] : 0;
	c->plain += (double)all * cache_count_cost(copy->head_by) +
		    (double)side * cache_count_cost(copy->side_by);
	if (c->unfinished == i + 1)
		all--;
	if (side > all)
		side = all;
	copy->now = all;
	copy->now_side = side;
	if (!copy->side) {
		cache_add_run(c, &copy->run_taken, copy, copy->taken, all);
		return;
	}
	cache_add_run(c, &copy->run_taken, copy, copy->taken, copy->side_taken ? side : all - side);
	cache_add_run(c, &copy->run_next, copy, copy->next, copy->side_taken ? all - side : side);
}

static void count_pair(struct cache *c, uint64_t *const *values, size_t i)
{
	struct pair *p = table_at(&c->pairs, i);
	const struct copy *copy = table_at(&c->copies, p->copy);
	const struct arena *a = &c->arenas[copy->arena];
	uint64_t all = values[copy->arena][p->counter] - a->values[p->counter];

	c->work += (double)all * (p->near ? COUNT_NEAR : COUNT_INDIRECT);
	cache_add_run(c, &p->run, copy, p->to, all);
}

/* Slots up to SLOTS_KEPT count nothing here. */
static bool arena_counts(
	const struct cache *c, const struct arena *a, uint64_t *values, size_t size)
{
	memset(values, 0, ARENA_KEPT);
	return arena_read(c, a, a->data + ARENA_KEPT, values + SLOTS_KEPT, size - ARENA_KEPT);
}

uint64_t cache_count(struct cache *c)
{
	uint64_t *values[ARENAS_MAX] = {NULL}, all = 0;
	bool good = true;

	doors_read(c);
	for (unsigned i = 0; i < c->arena_count && good; i++) {
		struct arena *a = &c->arenas[i];
		size_t size = a->slots_sent * (size_t)8;

		values[i] = malloc(a->slots * (size_t)8);
		good = values[i] && arena_counts(c, a, values[i], size);
		if (good)
			memcpy(values[i] + a->slots_sent, a->values + a->slots_sent,
				(a->slots - a->slots_sent) * (size_t)8);
	}
	for (size_t i = 0; good && i < c->copies.count; i++)
		count_copy(c, values, i);
	for (size_t i = 0; good && i < c->pairs.count; i++)
		count_pair(c, values, i);
	if (good)
		unroll_count(c, values);
	c->work += c->plain;
	for (unsigned i = 0; i < c->arena_count; i++) {
		struct arena *a = &c->arenas[i];

		if (good)
			memcpy(a->values, values[i], a->slots * (size_t)8);
		free(values[i]);
	}
	for (size_t i = 0; i < c->touched.count; i++)
		all += ((struct met *)table_at(&c->met, c->touched.data[i]))->now;
	c->unfinished = c->unfinished_turn = 0;
	return all;
}

void cache_rate(struct cache *c, double seconds)
{
	for (size_t i = 0; i < c->touched.count; i++) {
		struct met *m = table_at(&c->met, c->touched.data[i]);
		double rate = seconds > 0 ? (double)m->now / seconds : 0;

		branches_window_met(c->b, c->process, m->key.end, m->now);
		m->count += m->now;
		m->now = 0;
		if (seconds > 0) {
			m->bursts++;
			m->rate += rate;
			m->squares += rate * rate;
		}
	}
	c->touched.count = 0;
}

void cache_tell(struct cache *c)
{
	for (size_t i = 0; i < c->met.count; i++) {
		struct met *m = table_at(&c->met, i);

		if (!m->count)
			continue;
		branches_put(c->b, &(struct branch_record){.kind = BRANCH_MET,
					   .pid = c->pid,
					   .time = branches_now(CLOCK_MONOTONIC),
					   .id = m->id,
					   .hits = m->count,
					   .windows = (uint32_t)m->bursts,
					   .rate = m->rate,
					   .squares = m->squares});
		m->count = m->bursts = 0;
		m->rate = m->squares = 0;
	}
}
