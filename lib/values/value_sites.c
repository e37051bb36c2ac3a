/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "experiment/tables.h"

#define WORTH_A_LIST 1

struct listed_value {
	uint64_t value, count, error;
	uint64_t squares, products; /* of moments before this one */
	uint32_t image;
	uint32_t now; /* in this moment */
};

struct live_site { /* table entry */
	struct experiment_value_site row;
	struct listed_value *list;
	uint32_t listed, room;
	uint64_t moment; /* of its last value */
	uint64_t now;    /* values in it */
	uint64_t last;   /* the last one, raw */
};

void value_sites_init(struct value_sites *s)
{
	s->sites = (struct table){.entry_size = sizeof(struct live_site),
		.key_size = sizeof(((struct experiment_value_site *)0)->key)};
	s->listed = 0;
	s->moment = 0;
	s->shape = false;
}

void value_sites_fini(struct value_sites *s)
{
	for (size_t i = 0; i < s->sites.count; i++)
		free(((struct live_site *)table_at(&s->sites, i))->list);
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
		struct listed_value *l = &s->list[i];

		l->squares += (uint64_t)l->now * l->now;
		l->products += l->now * s->now;
		l->now = 0;
	}
	s->now = 0;
}

static struct listed_value *new_value(struct live_site *s)
{
	struct listed_value *least, *more;
	uint32_t room = s->room ? 2 * s->room : 1;

	if (s->listed == s->room && s->room < VALUE_LIST) {
		more = reallocarray(s->list, room, sizeof(*more));
		if (!more)
			return NULL;
		s->list = more;
		s->room = room;
	}
	if (s->listed < s->room) {
		s->list[s->listed] = (struct listed_value){0};
		return &s->list[s->listed++];
	}
	least = s->list;
	for (uint32_t i = 1; i < s->listed; i++)
		if (s->list[i].count < least->count)
			least = &s->list[i];
	*least = (struct listed_value){.count = least->count, .error = least->count};
	return least;
}

static int list_value(struct live_site *s, uint64_t value, uint32_t image)
{
	struct listed_value *l = s->list;

	for (uint32_t i = 0; i < s->listed; i++, l++)
		if (l->value == value && l->image == image) {
			l->count++;
			l->now++;
			return 0;
		}
	l = new_value(s);
	if (!l)
		return -1;
	l->value = value;
	l->image = image;
	l->count++;
	l->now++;
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

static int add_stride(struct value_sites *s, const struct value_told *of, uint64_t stride)
{
	const struct value_told told = {.address = of->address,
		.image = of->image,
		.kind = VALUE_STRIDE,
		.form = of->form & ~0xffu, /* integers */
		.raw = stride,
		.value = stride};

	return value_sites_add(s, &told);
}

static struct live_site *site_of(struct value_sites *s, const struct value_told *told)
{
	struct experiment_value_site key = {.key = {.address = told->address,
						    .image = told->image,
						    .kind = told->kind,
						    .operand = told->operand,
						    .form = told->form}};

	return table_add(&s->sites, &key.key);
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
	rc = list_value(site, value, image);
	s->listed += site->listed;
	return rc;
}

int value_sites_add(struct value_sites *s, const struct value_told *told)
{
	struct live_site *site = site_of(s, told);
	uint64_t before;
	bool again;

	if (!site)
		return -1;
	before = site->last;
	if (add_to_site(s, site, told->raw, told->value, told->value_image, &again))
		return -1;
	return again && told->kind == VALUE_ADDRESS ? add_stride(s, told, told->raw - before) : 0;
}

int value_sites_add_run(
	struct value_sites *s, const struct value_told *of, const uint64_t *values, size_t count)
{
	struct live_site *site = site_of(s, of);
	bool again;

	if (!site)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_to_site(s, site, values[i], values[i], 0, &again))
			return -1;
	return 0;
}

/* ---- rows ---- */

static uint64_t least_listed(const struct live_site *s)
{
	uint64_t least = s->row.count;

	for (uint32_t i = 0; i < s->listed; i++)
		if (s->list[i].count < least)
			least = s->list[i].count;
	return s->listed < VALUE_LIST ? 0 : least;
}

/* Code is in every experiment: which of it comes next or has stored is no secret. */
static bool is_code(const struct experiment_value_site *row, const struct listed_value *l)
{
	return l->image && (row->key.kind == VALUE_BRANCH || row->key.kind == VALUE_PARTNER ||
				   row->key.kind == VALUE_NEXT);
}

static int compare_counts(const void *pa, const void *pb)
{
	const struct listed_value *a = pa, *b = pb;

	return sort_falling(a->count, b->count)
		       ?: sort_rising(a->image, b->image)
		       ?: sort_rising(a->value, b->value);
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

static int put_site(struct live_site *s, bool shape, struct experiment *x)
{
	struct experiment_value_site row;
	long site;

	end_moment(s);
	row = s->row;
	row.least = least_listed(s);
	shape = shape && experiment_value_is_secret(&row);
	if (shape) {
		blank_numbers(&row);
		if (s->listed)
			qsort(s->list, s->listed, sizeof(*s->list), compare_counts);
	}
	site = put_row(&x->value_sites, &row);
	if (site < 0)
		return -1;
	for (uint32_t i = 0; i < s->listed; i++) {
		const struct listed_value *l = &s->list[i];
		bool kept = !shape || is_code(&row, l);
		struct experiment_value value = {.key = {.value = kept ? l->value : i + 1,
							 .site = (uint32_t)site,
							 .image = kept ? l->image : 0},
			.over = l->count - row.least,
			.sure = l->count - l->error,
			.squares = l->squares,
			.products = l->products};

		value.key.grade = experiment_value_grade(value.key.value, l->count, row.count);
		if (put_row(&x->values, &value) < 0)
			return -1;
	}
	return 0;
}

int value_sites_put(struct value_sites *s, struct experiment *x)
{
	for (size_t i = 0; i < s->sites.count; i++)
		if (put_site(table_at(&s->sites, i), s->shape, x))
			return -1;
	return 0;
}
