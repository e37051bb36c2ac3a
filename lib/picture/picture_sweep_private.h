/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files picture_sweep*.c. */
#ifndef PICTURE_PICTURE_SWEEP_PRIVATE_H
#define PICTURE_PICTURE_SWEEP_PRIVATE_H

#include "picture/picture_sweep.h"

struct sweep_run {
	const char *file;
	VEC(const char *) words;             /* the command */
	const struct experiment *experiment; /* NULL: of perfex */
	const struct counts_report *report;  /* NULL: of ssrun */
	double clock_hz;                     /* 0: not known */
	double x;
	size_t variant; /* index in variants */
};

struct sweep_event {
	const char *short_name, *name, *unit;
	int number;
	enum label label;
	bool clock;
};

struct sweep {
	struct picture *picture;
	const struct picture_sweep_request *request;
	VEC(struct sweep_run) runs;
	VEC(struct sweep_event) events;
	VEC(const char *) rows;     /* names: of procedures, of the whole */
	VEC(const char *) variants; /* commands that differ otherwise than in numbers */
	const char *x_label;
	/* [(run * rows + row) * events + event]: in units of the event (seconds of clocks);
	 * LABEL_NONE: there is none */
	struct quantity *values;
	double *costs; /* [run * events + event]: seconds that one typically costs; NAN: not known
			*/
	size_t *order; /* runs by x */
};

/* picture_sweep_x.c: x and variant of each run. */
int picture_sweep_place(struct sweep *s, struct error *e);
/* picture_sweep_draw.c: the panels. */
int sweep_draw(struct sweep *s, struct error *e);

#endif
