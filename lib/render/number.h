/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way by which counted and estimated numbers reach text, CSV and JSON: with their label.  A
 * quantity without one is written as "not counted" (null in JSON, an empty cell in CSV).
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
/* "12345 +-1.2%  scaled", "0.52  model", "not counted". */
void number_text(struct strbuf *out, const struct quantity *q, enum number_style style);
/* Relative half-width of the interval in percent as "+-1.2%", "" when exact. */
void number_interval(struct strbuf *out, const struct quantity *q);
/* {"value":N,"label":"...","low":N,"high":N}, or null. */
void number_json(struct json *j, const char *key, const struct quantity *q);
/* value,low,high,label: four cells, empty where not counted.  No trailing comma. */
void number_csv(struct strbuf *out, const struct quantity *q, enum number_style style);

#endif
