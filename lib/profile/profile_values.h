/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of all inputs of a report, added up by site. */
#ifndef PROFILE_PROFILE_VALUES_H
#define PROFILE_PROFILE_VALUES_H

#include "base/vec.h"
#include "experiment/values.h"
#include "profile/places.h"

struct prof_value_site { /* table entry */
	struct {
		uint64_t address;
		uint32_t image, kind, operand, form; /* image: of prof_data */
	} key;
	struct experiment_value_site sums; /* its key is not set */
	VEC(struct experiment_value) list; /* most frequent first; images of prof_data */
	uint32_t place;
};

struct prof_values {
	struct table sites; /* by image, address, kind, operand */
	uint64_t tallies[VALUE_TALLIES];
};

/* Adds all up and, with places, their addresses to the places of d: to be called before
 * profile_data_name then. -1 when memory is out; profile_values_fini is due then, too. */
int profile_values_init(struct prof_values *v, struct prof_data *d, bool places);
void profile_values_fini(struct prof_values *v);

static inline const struct prof_value_site *profile_value_site(
	const struct prof_values *v, size_t i)
{
	return (const struct prof_value_site *)(const void *)v->sites.entries + i;
}

/* NULL: there is none, of any form. */
const struct prof_value_site *profile_value_find(const struct prof_values *v, uint32_t image,
	uint64_t address, uint32_t kind, uint32_t operand);
/* The first site at or after the address. */
size_t profile_values_from(const struct prof_values *v, uint32_t image, uint64_t address);

static inline unsigned profile_value_bits(const struct prof_value_site *s)
{
	return s->key.form >> 8 & 0xff;
}

static inline enum experiment_value_class profile_value_class(const struct prof_value_site *s)
{
	return (enum experiment_value_class)(s->key.form & 0xff);
}

/* Its values are ranks, see VALUE_SHAPE. */
static inline bool profile_value_is_rank(const struct prof_value_site *s)
{
	return s->key.form & VALUE_SHAPE;
}

#endif
