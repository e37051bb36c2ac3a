/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entities of rows, and their sums: functions, lines or images, each for all places that belong
 * to it (and, with -threads, for one thread).
 */
#ifndef PROFILE_ENTITIES_H
#define PROFILE_ENTITIES_H

#include "profile/places.h"

enum prof_grain {
	PROF_BY_IMAGE,
	PROF_BY_PROCEDURE,
	PROF_BY_LINE,   /* of a function */
	PROF_BY_SOURCE, /* of a file, in whatever function; of a function where no line is known */
};

/* "function", "Function" */
extern const struct prof_grain_text {
	const char *name, *title;
} profile_grains[];

struct prof_entity { /* table entry */
	struct {
		uint64_t begin; /* of the function, where it has one address of its own: not of
				   generated code, or of different builds */
		uint32_t group, image, procedure, file, line, inlined;
	} key;
	uint32_t place;    /* the one with most samples */
	uint32_t selected; /* by -only and -exclude */
};

struct prof_sums {
	struct table entities;
	uint32_t *of;        /* [place] */
	uint64_t *own;       /* [entity * metrics + metric] */
	uint64_t *inclusive; /* likewise, with all their callees; NULL if not requested */
	size_t metrics;
};

/* d is named as far as the grain needs.  -1 when memory is out. */
int profile_sums_init(struct prof_sums *s, struct prof_data *d, enum prof_grain grain);
/* Callees count as well, recursive ones once; needs profile_data_paths. */
int profile_sums_inclusive(struct prof_sums *s, const struct prof_data *d);
void profile_sums_fini(struct prof_sums *s);

static inline const struct prof_entity *profile_entity_at(const struct prof_sums *s, size_t i)
{
	return (const struct prof_entity *)(const void *)s->entities.entries + i;
}

/* Order of what costs the same: by thread, procedure, image, file, line, address. */
int profile_entity_order(
	const struct prof_data *d, const struct prof_entity *a, const struct prof_entity *b);

/* For other groupings: between init and finish each place is added to the entity of a key; the
 * entity's place becomes this one if `better` returns true. -1 when memory is out. */
int profile_sums_begin(struct prof_sums *s, const struct prof_data *d);
int profile_sums_take(struct prof_sums *s, const struct prof_data *d, size_t place,
	const struct prof_entity *key,
	bool (*better)(const struct prof_data *d, size_t a, size_t b));
int profile_sums_end(struct prof_sums *s, const struct prof_data *d);

/* Does the request (-only, -exclude) select this function of this image? */
bool profile_wanted(const struct prof_data *d, uint32_t image, uint32_t procedure);

/* Does this pattern fit no function, image or object of the report? Then hint has "did you mean
 * ...", or "". After a report was made of d; functions count if it named them (profile_data_name).
 */
bool profile_unmatched(const struct prof_data *d, const char *glob, char *hint, size_t size);

/* A pattern of -only that this name alone fits; to be freed by the caller, NULL when memory is
 * out. */
char *profile_only_name(const char *name);

#endif
