/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static void add_sums(struct experiment_value_site *to, const struct experiment_value_site *from)
{
	to->count += from->count;
	to->moments += from->moments;
	to->squares += from->squares;
	to->least += from->least;
	to->zeros += from->zeros;
	to->pairs += from->pairs;
	to->repeats += from->repeats;
	to->high = from->high > to->high ? from->high : to->high;
	to->low_complement = from->low_complement > to->low_complement ? from->low_complement
								       : to->low_complement;
	to->bits[0] |= from->bits[0];
	to->bits[1] |= from->bits[1];
	to->cut = from->cut > to->cut ? from->cut : to->cut;
}

static void add_value_sums(struct experiment_value *to, const struct experiment_value *from)
{
	to->over += from->over;
	to->sure += from->sure;
	to->squares += from->squares;
	to->products += from->products;
}

static int compare_values(const void *pa, const void *pb)
{
	const struct experiment_value *a = pa, *b = pb;

	return sort_rising(a->key.image, b->key.image) ?: sort_rising(a->key.value, b->key.value);
}

/* Rows of one input differ: only those of others can be the same. */
static int add_value(
	struct prof_value_site *s, const struct experiment_value *from, uint32_t image, bool first)
{
	struct experiment_value *to;

	for (size_t i = 0; !first && i < s->list.count; i++) {
		to = &s->list.data[i];
		if (to->key.value != from->key.value || to->key.image != image ||
			to->key.grade != from->key.grade)
			continue;
		add_value_sums(to, from);
		return 0;
	}
	to = vec_push(&s->list);
	if (!to)
		return -1;
	*to = *from;
	to->key.image = image;
	return 0;
}

/* As experiment_cut_values does for sums in files. */
static void cut_list(struct prof_value_site *s)
{
	uint32_t rows[VALUE_GRADES] = {0};
	size_t count = 0;
	uint64_t cut;

	for (size_t i = 0; i < s->list.count; i++)
		rows[s->list.data[i].key.grade]++;
	cut = experiment_value_cut(rows);
	s->sums.cut = cut > s->sums.cut ? cut : s->sums.cut;
	for (size_t i = 0; i < s->list.count; i++)
		if (s->list.data[i].key.grade >= s->sums.cut)
			s->list.data[count++] = s->list.data[i];
	s->list.count = count;
}

/* Rows of one value add up, whatever their grades. */
static void join_grades(struct prof_value_site *s)
{
	size_t count = 0;

	if (s->list.count)
		qsort(s->list.data, s->list.count, sizeof(*s->list.data), compare_values);
	for (size_t i = 0; i < s->list.count; i++) {
		struct experiment_value *v = &s->list.data[i],
					*last = count ? &s->list.data[count - 1] : NULL;

		if (last && compare_values(last, v) == 0)
			add_value_sums(last, v);
		else
			s->list.data[count++] = *v;
	}
	s->list.count = count;
}

/* of: the site of each row of the input's. */
static int take_sites(struct prof_values *v, const struct prof_data *d, size_t input, uint32_t *of)
{
	const struct experiment *x = d->request->inputs[input].experiment;

	for (size_t i = 0; i < x->value_sites.count; i++) {
		const struct experiment_value_site *from = experiment_value_site_at(x, i);
		struct prof_value_site
			key = {.key = {.address = from->key.address,
				       .image = d->image_of.data[input][from->key.image],
				       .kind = from->key.kind,
				       .operand = from->key.operand,
				       .form = from->key.form}},
			*to = table_add(&v->sites, &key.key);

		if (!to)
			return -1;
		add_sums(&to->sums, from);
		of[i] = (uint32_t)table_number(&v->sites, to);
	}
	return 0;
}

static int take_values(
	struct prof_values *v, const struct prof_data *d, size_t input, const uint32_t *of)
{
	const struct experiment *x = d->request->inputs[input].experiment;

	for (size_t i = 0; i < x->values.count; i++) {
		const struct experiment_value *from = experiment_value_at(x, i);
		struct prof_value_site *s = table_at(&v->sites, of[from->key.site]);

		if (add_value(s, from, d->image_of.data[input][from->key.image], input == 0))
			return -1;
		if (s->list.count > (size_t)2 * VALUES_KEPT)
			cut_list(s);
	}
	return 0;
}

static int take_input(struct prof_values *v, const struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	uint32_t *of = calloc(x->value_sites.count + 1, sizeof(*of));
	int rc = of ? take_sites(v, d, input, of) : -1;

	if (rc == 0)
		rc = take_values(v, d, input, of);
	for (uint32_t k = 0; k < VALUE_TALLIES; k++)
		v->tallies[k] += experiment_value_tally(x, k);
	free(of);
	return rc;
}

static int by_site(const void *pa, const void *pb)
{
	const struct prof_value_site *a = pa, *b = pb;

	return sort_rising(a->key.image, b->key.image)
		       ?: sort_rising(a->key.address, b->key.address)
		       ?: sort_rising(a->key.kind, b->key.kind)
		       ?: sort_rising(a->key.operand, b->key.operand)
		       ?: sort_rising(a->key.form, b->key.form);
}

static int by_count(const void *pa, const void *pb)
{
	const struct experiment_value *a = pa, *b = pb;

	return sort_falling(a->over + a->sure, b->over + b->sure)
		       ?: sort_rising(a->key.image, b->key.image)
		       ?: sort_rising(a->key.value, b->key.value);
}

static int add_places(struct prof_value_site *s, struct prof_data *d)
{
	long place = profile_place_add(d, 0, s->key.image, s->key.address);

	s->place = (uint32_t)place;
	for (size_t k = 0; place >= 0 && k < s->list.count; k++)
		if (s->list.data[k].key.image && profile_place_add(d, 0, s->list.data[k].key.image,
							 s->list.data[k].key.value) < 0)
			return -1;
	return place < 0 ? -1 : 0;
}

int profile_values_init(struct prof_values *v, struct prof_data *d, bool places)
{
	memset(v, 0, sizeof(*v));
	v->sites = TABLE_OF(struct prof_value_site);
	for (size_t i = 0; i < d->request->count; i++)
		if (take_input(v, d, i))
			return -1;
	table_sort(&v->sites, by_site);
	for (size_t i = 0; i < v->sites.count; i++) {
		struct prof_value_site *s = table_at(&v->sites, i);

		cut_list(s);
		join_grades(s);
		if (s->list.count)
			qsort(s->list.data, s->list.count, sizeof(*s->list.data), by_count);
		if (places && add_places(s, d))
			return -1;
	}
	return 0;
}

void profile_values_fini(struct prof_values *v)
{
	for (size_t i = 0; i < v->sites.count; i++) {
		struct prof_value_site *s = table_at(&v->sites, i);

		vec_fini(&s->list);
	}
	table_fini(&v->sites);
}

size_t profile_values_from(const struct prof_values *v, uint32_t image, uint64_t address)
{
	return vec_search(i, v->sites.count,
		profile_value_site(v, i)->key.image < image ||
			(profile_value_site(v, i)->key.image == image &&
				profile_value_site(v, i)->key.address < address));
}

const struct prof_value_site *profile_value_find(const struct prof_values *v, uint32_t image,
	uint64_t address, uint32_t kind, uint32_t operand)
{
	for (size_t i = profile_values_from(v, image, address); i < v->sites.count; i++) {
		const struct prof_value_site *s = profile_value_site(v, i);

		if (s->key.image != image || s->key.address != address)
			return NULL;
		if (s->key.kind == kind && s->key.operand == operand)
			return s;
	}
	return NULL;
}
