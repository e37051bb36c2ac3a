/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures that have samples, and the code of one of them with its samples. */
#ifndef REPORT_PROF_CODE_H
#define REPORT_PROF_CODE_H

#include "flow/flow.h"
#include "report/prof_data.h"

struct prof_procedure {
	uint64_t begin; /* address */
	uint32_t image, name;
	uint64_t value, all; /* samples of the first metric, and of all together */
};

struct prof_procedures {
	VEC(struct prof_procedure) list; /* most costly first */
	uint32_t *places;                /* of prof_data, by image and address */
	uint64_t nameless;               /* samples of the first metric that no function has */
};

/* All procedures that -only and -exclude leave, threads taken together.  d is named. */
int prof_procedures_init(struct prof_procedures *p, const struct prof_data *d);
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

/* What its code is of; ISA_NONE where that cannot be had. */
enum isa_machine prof_machine(const struct prof_data *d, uint32_t image);

/* The first of p->places at or behind address of image. */
size_t prof_place_from(const struct prof_data *d, const struct prof_procedures *p, uint32_t image,
	uint64_t address);

#endif
