/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of data space (experiment/data.h) by the names in reports, added up over all inputs:
 * objects with the same name, in the same image, are one.
 */
#ifndef REPORT_REPORT_OBJECTS_H
#define REPORT_REPORT_OBJECTS_H

#include "experiment/data.h"
#include "profile/places.h"
#include "report/report_rows.h"

/* table entry; texts are indices of d->strings, 0 of "" */
struct report_object {
	struct {
		uint32_t name, image; /* image: of d, 0 where it has none */
		uint32_t file, line;  /* where it was allocated; 0: nowhere */
	} key;
	uint32_t kind;
	uint64_t blocks, bytes; /* bytes: of all blocks, or of the variable */
	uint32_t place;         /* image of d and address of a variable: 0, 0 else */
	uint64_t address;
};

struct report_objects {
	struct table all;                              /* struct report_object */
	uint32_t **of;                                 /* [input][object there]: index in all */
	VEC(const struct experiment_metric *) metrics; /* the same of several inputs are one */
	uint32_t **metric_of;                          /* [input][data metric there] */
	uint64_t *counts;                              /* [object * metrics + metric] */
	uint64_t *totals;                              /* [metric] */
};

/* ERR_NOT_FOUND where no input has data space.  Arrays are as of report_scratch;
 * report_objects_fini all the same. */
int report_objects_init(
	struct report_objects *o, struct report_table *t, struct prof_data *d, struct error *e);
void report_objects_fini(struct report_objects *o);

static inline const struct report_object *report_object_at(const struct report_objects *o, size_t i)
{
	return (const struct report_object *)(const void *)o->all.entries + i;
}

/* Where code is; function and file NULL: unknown. */
struct report_code {
	const char *function, *file;
	unsigned line;
	uint32_t image; /* of d */
};

/* Rust nests inlined functions deeper than others. */
enum { REPORT_CODE_FRAMES = 48 };

/* The functions inlined there, innermost first, and the real one; at least one. */
size_t report_code_at(const struct prof_data *d, uint32_t image, uint64_t address,
	struct report_code *to, size_t room);
/* Is it of a language's library, by its source file or its name? The program's own function further
 * out says more. */
bool report_code_is_library(const struct report_code *c);
/* "function (file: line)" of code, in `format`: a text of t's arena. */
const char *report_code_place(
	struct report_table *t, const struct prof_data *d, uint32_t image, uint64_t address);

#endif
