/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of data space (experiment/data.h) as reports name them, added up over all inputs: what is
 * called the same, in the same image, is one.
 */
#ifndef REPORT_PROF_OBJECTS_H
#define REPORT_PROF_OBJECTS_H

#include "experiment/data.h"
#include "profile/places.h"
#include "report/prof_rows.h"

/* table entry; texts are indices of d->strings, 0 of "" */
struct prof_object {
	struct {
		uint32_t name, image; /* image: of d, 0 where it has none */
		uint32_t file, line;  /* where it was allocated; 0: nowhere */
	} key;
	uint32_t kind;
	uint64_t blocks, bytes; /* bytes: of all blocks, or of the variable */
	uint32_t place;         /* image of d and address of a variable: 0, 0 else */
	uint64_t address;
};

struct prof_objects {
	struct table all;                              /* struct prof_object */
	uint32_t **of;                                 /* [input][object there]: index in all */
	VEC(const struct experiment_metric *) metrics; /* the same of several inputs are one */
	uint32_t **metric_of;                          /* [input][data metric there] */
	uint64_t *counts;                              /* [object * metrics + metric] */
	uint64_t *totals;                              /* [metric] */
};

/* ERR_NOT_FOUND where no input has data space.  Arrays are as of prof_scratch; prof_objects_fini
 * all the same. */
int prof_objects_init(
	struct prof_objects *o, struct prof_table *t, struct prof_data *d, struct error *e);
void prof_objects_fini(struct prof_objects *o);

static inline const struct prof_object *prof_object_at(const struct prof_objects *o, size_t i)
{
	return (const struct prof_object *)(const void *)o->all.entries + i;
}

/* "function (file: line)" of code, as `format` says of several: a text of t's arena. */
const char *prof_code_place(
	struct prof_table *t, const struct prof_data *d, uint32_t image, uint64_t address);

#endif
