/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that have samples, and the code of one of them with its samples. */
#ifndef EXPLAIN_CODE_H
#define EXPLAIN_CODE_H

#include "flow/flow.h"
#include "profile/places.h"

struct prof_procedure {
	uint64_t begin; /* address */
	uint32_t image, name;
	uint64_t value, all; /* samples of the first metric, and of all together */
};

struct prof_jump {
	uint32_t image;
	struct flow_jump jump; /* within the image */
};

struct prof_procedures {
	VEC(struct prof_procedure) list; /* most costly first */
	uint32_t *places;                /* of prof_data, by image and address */
	uint64_t nameless;               /* samples of the first metric that no function has */
	VEC(struct prof_jump) seen;      /* in runs of branch records, by image and addresses */
};

/* All procedures that -only and -exclude leave, threads taken together.  d is named. */
int prof_procedures_init(struct prof_procedures *p, const struct prof_data *d);
/* Also what -only and -exclude leave out: what that does is known of what is shown. */
int prof_procedures_all(struct prof_procedures *p, const struct prof_data *d);
void prof_procedures_fini(struct prof_procedures *p);

struct prof_code {
	enum isa_machine machine;
	uint32_t image;
	uint64_t begin, size;
	uint8_t *bytes; /* NULL: the code cannot be had */
	struct flow *flow;
	uint64_t *counts; /* [instruction * metrics + metric] */
	uint64_t *sums;   /* [metric] */
	uint64_t astray;  /* of the first metric: at addresses between instructions */
};

/* 0 also where there is no code (then flow is NULL); -1 with *e set when memory is out. */
int prof_code_load(struct prof_code *c, const struct prof_data *d, const struct prof_procedures *p,
	const struct prof_procedure *procedure, struct error *e);
void prof_code_fini(struct prof_code *c);

/* Each of all in turn.  take may keep what c has, and then clears it; it ends the walk by -1. */
typedef int prof_code_take(
	void *to, const struct prof_procedure *procedure, struct prof_code *c, struct error *e);
int prof_code_each(const struct prof_data *d, const struct prof_procedures *all,
	prof_code_take *take, void *to, struct error *e);
/* The same, of prof_procedures_all. */
int prof_code_all(const struct prof_data *d, prof_code_take *take, void *to, struct error *e);

/* What its code is of; ISA_NONE where that cannot be had. */
enum isa_machine prof_machine(const struct prof_data *d, uint32_t image);

/* The first of p->places at or behind address of image. */
size_t prof_place_from(const struct prof_data *d, const struct prof_procedures *p, uint32_t image,
	uint64_t address);

#endif
