/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that have samples, and the code of one of them with its samples. */
#ifndef EXPLAIN_CODE_H
#define EXPLAIN_CODE_H

#include "flow/flow.h"
#include "profile/places.h"

struct explain_procedure {
	uint64_t begin; /* address */
	uint32_t image, name;
	uint64_t value, all; /* samples of the first metric, and of all together */
};

struct explain_jump {
	uint32_t image;
	struct flow_jump jump; /* within the image */
};

struct explain_procedures {
	VEC(struct explain_procedure) list; /* most costly first */
	uint32_t *places;                   /* of prof_data, by image and address */
	uint64_t nameless;                  /* samples of the first metric that no function has */
	VEC(struct explain_jump) seen;      /* in runs of branch records, by image and addresses */
};

/* All procedures that -only and -exclude leave, threads taken together. d is named. */
int explain_procedures_init(struct explain_procedures *p, const struct prof_data *d);
/* Including those that -only and -exclude leave out: they affect the others' explanation. */
int explain_procedures_all(struct explain_procedures *p, const struct prof_data *d);
void explain_procedures_fini(struct explain_procedures *p);

/* The instructions of a program whose code is kept: decoding takes long, and the result room. */
enum { EXPLAIN_CODE_KEPT = 1 << 20 };

struct explain_code {
	enum isa_machine machine;
	uint32_t image;
	uint64_t begin, size;
	uint8_t *bytes; /* NULL: the code is not available */
	struct flow *flow;
	uint64_t *counts; /* [instruction * metrics + metric] */
	uint64_t *sums;   /* [metric] */
};

/* 0 also if there is no code (then flow is NULL); -1 with *e set when memory is out. */
int explain_code_load(struct explain_code *c, const struct prof_data *d,
	const struct explain_procedures *p, const struct explain_procedure *procedure,
	struct error *e);
void explain_code_fini(struct explain_code *c);

/* Each of all in turn. take may keep the contents of c, and then clears it; it ends the walk by
 * -1. */
typedef int explain_code_take(void *to, const struct explain_procedure *procedure,
	struct explain_code *c, struct error *e);
int explain_code_each(const struct prof_data *d, const struct explain_procedures *all,
	explain_code_take *take, void *to, struct error *e);
/* The same, of explain_procedures_all. */
int explain_code_all(const struct prof_data *d, explain_code_take *take, void *to, struct error *e);

/* The instruction set of its code; ISA_NONE if that is not available. */
enum isa_machine explain_isa(const struct prof_data *d, uint32_t image);

/* The first of p->places at or after address of image. */
size_t explain_place_from(const struct prof_data *d, const struct explain_procedures *p,
	uint32_t image, uint64_t address);

#endif
