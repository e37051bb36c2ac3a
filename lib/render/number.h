/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counted and estimated numbers in text, CSV and JSON. In JSON and CSV a number has its label, and
 * a quantity without a label is null or empty cells. Text has only the parts: the code that draws a
 * table adds the label (checked by tests/unit/test_render_labels.c).
 */
#ifndef RENDER_NUMBER_H
#define RENDER_NUMBER_H

#include "base/json.h"
#include "base/strbuf.h"
#include "events/label.h"

enum number_style {
	NUMBER_COUNT,   /* whole, no exponent */
	NUMBER_SECONDS, /* six decimals, more where the value is tiny */
	NUMBER_RATIO,   /* four significant digits */
};

/* The bare figure, no label: for callers in lib/render that put the label beside it. */
void number_figure(struct strbuf *out, double value, enum number_style style);
/* The larger side of the interval in percent: "+-1.20%"; "+12%" and "-12%" if the other side is
 * empty;
 * "" when exact. */
void number_interval(struct strbuf *out, const struct quantity *q);
/* {"value":N,"label":"...","low":N,"high":N}, or null. */
void number_json(struct json *j, const char *key, const struct quantity *q);
/* Its members, into an object that has others. */
void number_json_members(struct json *j, const struct quantity *q);
/* value,low,high,label: four cells, empty where not counted.  No trailing comma. */
void number_csv(struct strbuf *out, const struct quantity *q, enum number_style style);

#endif
