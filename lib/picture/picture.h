/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of a plot, as data: panels of bars or curves with intervals, from which lib/render
 * makes a gnuplot script. The figures are those of Zagha et al. (1996): event costs (2, 8, 9),
 * source lines with their misses (3), sweeps over a parameter (4 to 7).
 *
 * Texts are borrowed or are in the arena. Functions that add to a picture do not return errors:
 * when memory is out, `failed` is set and the addition is missing; picture_finish returns the
 * error.
 */
#ifndef PICTURE_PICTURE_H
#define PICTURE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"

enum picture_shape {
	PICTURE_BARS,    /* lying, one row a category, series beside each other */
	PICTURE_LISTING, /* likewise, categories are lines of source */
	PICTURE_CURVES,  /* over x */
	PICTURE_AREAS,   /* over x, each series on top of those before */
};

/* low, high: 95% interval, or least and most; NAN: there is none. */
struct picture_point {
	double x, y, low, high; /* x of bars: index of the category */
};

struct picture_series {
	const char *name;
	bool line; /* in PICTURE_AREAS: a curve over them */
	VEC(struct picture_point) points;
};

struct picture_panel {
	enum picture_shape shape;
	const char *title, *x_label, *y_label; /* with units and labels; NULL: none */
	VEC(const char *) categories;
	VEC(struct picture_series) series;
};

struct picture {
	const char *title, *subtitle; /* what; of which program, where and how counted */
	VEC(struct picture_panel) panels;
	VEC(char *) arena;
	bool failed;                      /* memory was out */
	struct picture_panel spare_panel; /* receives additions that failed */
	struct picture_series spare_series;
};

void picture_fini(struct picture *p);
/* 0, or -1 with *e set if memory was out on the way. */
int picture_finish(const struct picture *p, struct error *e);
/* A text that lives as long as the picture. */
const char *picture_text(struct picture *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Panels and series move when one is added. */
struct picture_panel *picture_panel_add(struct picture *p, enum picture_shape shape);
struct picture_series *picture_series_add(
	struct picture *p, struct picture_panel *panel, const char *name);
/* Index of the category. */
size_t picture_category_add(struct picture *p, struct picture_panel *panel, const char *name);
void picture_point_add(
	struct picture *p, struct picture_series *s, double x, double y, double low, double high);
/* A command as titles show it: without the directories of the program, in `length` characters at
 * most.  words: NULL-terminated. */
const char *picture_command(struct picture *p, const char *const *words, size_t length);

#endif
