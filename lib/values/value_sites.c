/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "experiment/tables.h"

#define LINE 64u /* of the cache */

struct listed_value {
	uint64_t error;
	uint64_t squares, products; /* of moments before this one */
	uint32_t image;
	uint32_t now; /* in this moment */
};

/* One block: what is looked through for each value is together. */
struct value_list {
	uint64_t *value, *count;
	struct listed_value *other;
};

/*
 * Memory of lists: by their room, those that were outgrown, of which each begins with the address
 * of the next, and blocks of new ones.
 */
#define LIST_SIZES 5      /* 1 to VALUE_LIST */
#define LIST_BLOCK 65528u /* bytes */

struct list_block {
	struct list_block *next;
	char bytes[LIST_BLOCK];
};

struct value_lists {
	void *free[LIST_SIZES];
	struct list_block *blocks;
	size_t used; /* of the last block */
};

struct live_site { /* table entry */
	struct experiment_value_site row;
	struct value_list list;
	uint32_t listed, room;
	uint32_t recent; /* the last one of the list that was met */
	uint32_t stride; /* the number of its site of strides, and 1; 0: none yet */
	uint32_t leasts; /* places of a full list with the least count; 0: to be looked for */
	uint64_t marks[VALUE_LIST / 8]; /* a byte for each of the list */
	uint64_t moment;                /* of its last value */
	uint64_t now;                   /* values in it */
	uint64_t last;                  /* the last one, raw */
};

void value_sites_init(struct value_sites *s)
{
	s->sites = (struct table){.entry_size = sizeof(struct live_site),
		.key_size = sizeof(((struct experiment_value_site *)0)->key)};
	s->lists = NULL;
	s->listed = 0;
	s->moment = 0;
	s->shape = false;
}

static void *next_outgrown(const void *memory)
{
	void *next;

	memcpy(&next, memory, sizeof(next));
	return next;
}

void value_sites_fini(struct value_sites *s)
{
	for (struct list_block *b = s->lists ? s->lists->blocks : NULL, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(s->lists);
	s->lists = NULL;
	table_fini(&s->sites);
}

void value_sites_moment(struct value_sites *s)
{
	s->moment++;
}

/* The sums over moments take in the one that is over. */
static void end_moment(struct live_site *s)
{
	s->row.squares = row_sum(s->row.squares, s->now * s->now);
	for (uint32_t i = 0; s->now && i < s->listed; i++) {
		struct listed_value *l = &s->list.other[i];

		l->squares += (uint64_t)l->now * l->now;
		l->products += l->now * s->now;
		l->now = 0;
	}
	s->now = 0;
}

static size_t list_bytes(uint32_t room)
{
	return room * (2 * sizeof(uint64_t) + sizeof(struct listed_value));
}

static bool list_more(struct value_lists *l)
{
	struct list_block *block = malloc(sizeof(*block));

	if (!block)
		return false;
	block->next = l->blocks;
	l->blocks = block;
	l->used = 0;
	return true;
}

/* room: a power of two. NULL: memory is out. */
static void *list_take(struct value_lists *l, uint32_t room)
{
	void **outgrown = &l->free[__builtin_ctz(room)], *memory = *outgrown;
	size_t bytes = list_bytes(room);

	if (memory) {
		*outgrown = next_outgrown(memory);
	} else {
		if ((!l->blocks || l->used + bytes > LIST_BLOCK) && !list_more(l))
			return NULL;
		memory = l->blocks->bytes + l->used;
		l->used += bytes;
	}
	return memset(memory, 0, bytes);
}

static void list_give(struct value_lists *l, void *memory, uint32_t room)
{
	void **outgrown = &l->free[__builtin_ctz(room)];

	memcpy(memory, outgrown, sizeof(*outgrown));
	*outgrown = memory;
}

static int list_grow(struct value_sites *all, struct live_site *s)
{
	uint32_t room = s->room ? 2 * s->room : 1;
	struct value_list old = s->list, list;

	if (!all->lists && !(all->lists = calloc(1, sizeof(*all->lists))))
		return -1;
	list.value = list_take(all->lists, room);
	if (!list.value)
		return -1;
	list.count = list.value + room;
	list.other = (struct listed_value *)(list.count + room);
	if (s->listed) {
		memcpy(list.value, old.value, s->listed * sizeof(*list.value));
		memcpy(list.count, old.count, s->listed * sizeof(*list.count));
		memcpy(list.other, old.other, s->listed * sizeof(*list.other));
		list_give(all->lists, old.value, s->room);
	}
	s->list = list;
	s->room = room;
	return 0;
}

/* Of a full list: the first one of those with the least count. Counts only grow, so these stay so
 * until they are counted, and all are looked through only when none of them is left. */
static uint32_t list_least(struct live_site *s)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; !s->leasts && i < s->listed; i++)
		least = s->list.count[i] < least ? s->list.count[i] : least;
	for (uint32_t i = 0; least != UINT64_MAX && i < s->listed; i++)
		s->leasts |= (s->list.count[i] == least ? 1u : 0u) << i;
	return (uint32_t)__builtin_ctz(s->leasts);
}

/* Where a value that is not listed may be; -1: memory is out. */
static long list_place(struct value_sites *all, struct live_site *s)
{
	uint32_t least;

	if (s->listed == s->room && s->room < VALUE_LIST && list_grow(all, s))
		return -1;
	if (s->listed < s->room)
		return s->listed++;
	least = list_least(s);
	s->list.other[least] = (struct listed_value){.error = s->list.count[least]};
	return least;
}

static bool list_has(const struct live_site *s, uint32_t i, uint64_t value, uint32_t image)
{
	return s->list.value[i] == value && s->list.other[i].image == image;
}

/* A byte that few values have in common. */
static uint64_t mark_of(uint64_t value)
{
	return value * 0x9e3779b97f4a7c15u >> 56;
}

static void list_mark(struct live_site *s, uint32_t i, uint64_t value)
{
	unsigned at = 8 * (i % 8);

	s->marks[i / 8] = (s->marks[i / 8] & ~(0xffull << at)) | mark_of(value) << at;
}

/* The number of those that are listed: it is not. Only those with its mark are looked at: what
 * comes next is rarely like what came before, and branches on it would be mispredicted. */
static uint32_t list_find(const struct live_site *s, uint64_t value, uint32_t image)
{
	static const uint64_t each = 0x0101010101010101u;
	uint64_t marks = mark_of(value) * each;

	for (uint32_t word = 0; word < VALUE_LIST / 8; word++) {
		uint64_t other = s->marks[word] ^ marks;
		/* The highest bit of bytes that are 0, and of few others. */
		uint64_t found = (other - each) & ~other & each << 7;

		for (; found; found &= found - 1) {
			uint32_t i = 8 * word + (uint32_t)__builtin_ctzll(found) / 8;

			if (i < s->listed && list_has(s, i, value, image))
				return i;
		}
	}
	return s->listed;
}

static int list_value(struct value_sites *all, struct live_site *s, uint64_t value, uint32_t image,
	uint32_t times)
{
	long at = s->recent;

	if (at >= s->listed || !list_has(s, (uint32_t)at, value, image))
		at = list_find(s, value, image);
	if (at == s->listed) {
		at = list_place(all, s);
		if (at < 0)
			return -1;
		s->list.value[at] = value;
		s->list.other[at].image = image;
		list_mark(s, (uint32_t)at, value);
	}
	s->recent = (uint32_t)at;
	s->leasts &= ~(1u << at);
	s->list.count[at] += times;
	s->list.other[at].now += times;
	return 0;
}

static void add_numbers(struct live_site *s, uint64_t raw)
{
	struct experiment_value_site *r = &s->row;

	r->count++;
	r->zeros += raw == 0;
	r->high = raw > r->high ? raw : r->high;
	r->low_complement = ~raw > r->low_complement ? ~raw : r->low_complement;
	r->bits[0] |= raw;
	r->bits[1] |= ~raw;
}

static long site_of(struct value_sites *s, const struct value_told *told)
{
	struct experiment_value_site key = {.key = {.address = told->address,
						    .image = told->image,
						    .kind = told->kind,
						    .operand = told->operand,
						    .form = told->form}};
	struct live_site *site = table_add(&s->sites, &key.key);

	return site ? site - (struct live_site *)table_at(&s->sites, 0) : -1;
}

/* *again: it is not its first value in this moment. */
static int add_to_site(struct value_sites *s, struct live_site *site, uint64_t raw, uint64_t value,
	uint32_t image, bool *again)
{
	int rc;

	*again = site->now && site->moment == s->moment;
	if (!*again) {
		end_moment(site);
		site->moment = s->moment;
		site->row.moments++;
	}
	site->now++;
	site->row.pairs += *again;
	site->row.repeats += *again && raw == site->last;
	site->last = raw;
	add_numbers(site, raw);
	s->listed -= site->listed;
	rc = list_value(s, site, value, image, 1);
	s->listed += site->listed;
	return rc;
}

static int add_stride(struct value_sites *s, long of, uint64_t stride)
{
	struct live_site *site = table_at(&s->sites, (size_t)of), *strides;
	const struct value_told told = {.address = site->row.key.address,
		.image = site->row.key.image,
		.kind = VALUE_STRIDE,
		.form = site->row.key.form & ~0xffu}; /* integers */
	uint32_t number = site->stride;
	bool again;

	if (!number) {
		number = (uint32_t)(site_of(s, &told) + 1);
		if (!number)
			return -1;
		site = table_at(&s->sites, (size_t)of);
		site->stride = number;
	}
	strides = table_at(&s->sites, number - 1);
	return add_to_site(s, strides, stride, stride, 0, &again);
}

long value_sites_find(struct value_sites *s, const struct value_told *told)
{
	return site_of(s, told);
}

int value_sites_add_to(
	struct value_sites *s, long number, uint64_t raw, uint64_t value, uint32_t image)
{
	struct live_site *site = table_at(&s->sites, (size_t)number);
	uint64_t before = site->last;
	bool again;

	if (add_to_site(s, site, raw, value, image, &again))
		return -1;
	return again && site->row.key.kind == VALUE_ADDRESS ? add_stride(s, number, raw - before)
							    : 0;
}

void value_sites_fetch(const struct value_sites *s, long number)
{
	const char *site = table_at(&s->sites, (size_t)number);

	for (size_t at = 0; at < sizeof(struct live_site); at += LINE)
		__builtin_prefetch(site + at);
}

void value_sites_fetch_list(const struct value_sites *s, long number)
{
	const struct live_site *site = table_at(&s->sites, (size_t)number);

	if (!site->listed)
		return;
	__builtin_prefetch(site->list.value);
	__builtin_prefetch(site->list.count);
	__builtin_prefetch(&site->list.other[site->recent]);
}

int value_sites_add(struct value_sites *s, const struct value_told *told)
{
	long site = site_of(s, told);

	return site < 0 ? -1
			: value_sites_add_to(s, site, told->raw, told->value, told->value_image);
}

/* As add_numbers for each of them. */
static void add_run_numbers(struct live_site *s, const uint64_t *values, size_t count)
{
	struct experiment_value_site *r = &s->row;
	uint64_t high = r->high, low = ~r->low_complement, any = r->bits[0], all = ~r->bits[1];
	uint64_t zeros = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[i];

		zeros += value == 0;
		high = value > high ? value : high;
		low = value < low ? value : low;
		any |= value;
		all &= value;
	}
	r->count += count;
	r->zeros += zeros;
	r->high = high;
	r->low_complement = ~low;
	r->bits[0] = any;
	r->bits[1] = ~all;
}

/* Equal ones that follow each other are listed together. */
static int list_run(
	struct value_sites *all, struct live_site *s, const uint64_t *values, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && values[next] == values[i];)
			next++;
		s->row.repeats += next - i - 1 + (values[i] == s->last);
		s->last = values[i];
		if (list_value(all, s, values[i], 0, (uint32_t)(next - i)))
			return -1;
	}
	return 0;
}

int value_sites_add_run(
	struct value_sites *s, const struct value_told *of, const uint64_t *values, size_t count)
{
	long number = site_of(s, of);
	struct live_site *site;
	bool again;
	int rc;

	if (number < 0)
		return -1;
	site = table_at(&s->sites, (size_t)number);
	if (!count)
		return 0;
	if (add_to_site(s, site, values[0], values[0], 0, &again))
		return -1;
	values++;
	count--;
	site->now += count;
	site->row.pairs += count;
	add_run_numbers(site, values, count);
	s->listed -= site->listed;
	rc = list_run(s, site, values, count);
	s->listed += site->listed;
	return rc;
}

/* ---- rows ---- */

static uint64_t least_listed(const struct live_site *s)
{
	uint64_t least = s->row.count;

	for (uint32_t i = 0; i < s->listed; i++)
		if (s->list.count[i] < least)
			least = s->list.count[i];
	return s->listed < VALUE_LIST ? 0 : least;
}

/* Code is in every experiment: which of it comes next or has stored is no secret. */
static bool is_code(const struct experiment_value_site *row, const struct listed_value *l)
{
	return l->image && (row->key.kind == VALUE_BRANCH || row->key.kind == VALUE_PARTNER ||
				   row->key.kind == VALUE_NEXT);
}

/* Greater counts are first. */
static bool list_is_before(const struct live_site *s, uint32_t a, uint32_t b)
{
	const struct value_list *l = &s->list;

	return (sort_falling(l->count[a], l->count[b])
			?: sort_rising(l->other[a].image, l->other[b].image)
			?: sort_rising(l->value[a], l->value[b])) < 0;
}

static void order_list(const struct live_site *s, bool by_count, uint32_t order[VALUE_LIST])
{
	for (uint32_t i = 0; i < s->listed; i++) {
		uint32_t at = i;

		for (; by_count && at && list_is_before(s, i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static uint64_t all_below(uint64_t value)
{
	return value ? UINT64_MAX >> __builtin_clzll(value) : 0;
}

/* The width of the greatest value and the alignment of all of them are left. */
static void blank_numbers(struct experiment_value_site *row)
{
	uint64_t low = row->bits[0] & -row->bits[0];

	row->high = all_below(row->high);
	row->low_complement = UINT64_MAX;
	row->bits[0] = row->high & -low;
	row->bits[1] = UINT64_MAX;
	row->key.form |= VALUE_SHAPE;
}

/* Each is put once, so none is looked for. */
static long put_row(struct table *t, const void *row)
{
	void *to = table_append(t);

	if (!to)
		return -1;
	memcpy(to, row, t->entry_size);
	return (long)t->count - 1;
}

/* rank: of a value that is not kept, in its place. */
static int put_value(const struct live_site *s, uint32_t i, const struct experiment_value_site *row,
	long site, uint32_t rank, struct experiment *x)
{
	const struct listed_value *l = &s->list.other[i];
	uint64_t count = s->list.count[i];
	struct experiment_value value = {.key = {.value = rank ? rank : s->list.value[i],
						 .site = (uint32_t)site,
						 .image = rank ? 0 : l->image},
		.over = count - row->least,
		.sure = count - l->error,
		.squares = l->squares,
		.products = l->products};

	value.key.grade = experiment_value_grade(value.key.value, count, row->count);
	return put_row(&x->values, &value) < 0 ? -1 : 0;
}

static int put_site(struct live_site *s, bool shape, struct experiment *x)
{
	struct experiment_value_site row;
	uint32_t order[VALUE_LIST];
	long site;

	end_moment(s);
	row = s->row;
	row.least = least_listed(s);
	shape = shape && experiment_value_is_secret(&row);
	if (shape)
		blank_numbers(&row);
	order_list(s, shape, order);
	site = put_row(&x->value_sites, &row);
	if (site < 0)
		return -1;
	for (uint32_t i = 0; i < s->listed; i++) {
		bool kept = !shape || is_code(&row, &s->list.other[order[i]]);

		if (put_value(s, order[i], &row, site, kept ? 0 : i + 1, x))
			return -1;
	}
	return 0;
}

int value_sites_put(struct value_sites *s, struct experiment *x)
{
	if (table_reserve(&x->value_sites, s->sites.count) || table_reserve(&x->values, s->listed))
		return -1;
	for (size_t i = 0; i < s->sites.count; i++)
		if (put_site(table_at(&s->sites, i), s->shape, x))
			return -1;
	return 0;
}
