/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by model_fill.c and model_data.c. */
#ifndef COLLECT_MODEL_FILLING_H
#define COLLECT_MODEL_FILLING_H

#include "collect/model_fill.h"

struct filling {
	struct experiment *x;
	const struct collect_metrics *m;
	const struct profile *p;
	long *image;           /* in x, of the profile's; -1: not yet added */
	uint32_t *node;        /* likewise, of its paths; 0 (the root) is itself */
	uint32_t *process;     /* in x, of its processes */
	uint32_t *first_phase; /* in x, of each process: its first point's */
	struct table threads;
	uint64_t clock_hz;
	struct error *e;
};

/* In x, of the profile's; -1 with *f->e set. */
long model_fill_image(struct filling *f, uint32_t i);

/* model_data.c: data space. */
int model_fill_data(struct filling *f);

#endif
