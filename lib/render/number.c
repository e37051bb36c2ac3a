/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/number.h"

#include <math.h>
#include <stdio.h>

void number_figure(struct strbuf *out, double value, enum number_style style)
{
	double size = fabs(value);

	if (!isfinite(value))
		strbuf_puts(out, "-");
	else if (style == NUMBER_COUNT)
		strbuf_printf(out, "%.0f", value);
	else if (style == NUMBER_SECONDS)
		strbuf_printf(out, size != 0 && size < 0.0005 ? "%.9f" : "%.6f", value);
	else if (size >= 1000 || value == 0)
		strbuf_printf(out, "%.0f", value);
	else
		strbuf_printf(out, "%.4g", value);
}

void number_interval(struct strbuf *out, const struct quantity *q)
{
	double above = q->high - q->value, below = q->value - q->low, half = fmax(above, below);
	const char *sign = below <= 0 ? "+" : above <= 0 ? "-" : "+-";

	if (q->label == LABEL_NONE || half <= 0)
		return;
	if (q->value > 0)
		strbuf_printf(out, "%s%.*f%%", sign, half / q->value < 0.0995 ? 2 : 0,
			100 * half / q->value);
	else
		strbuf_printf(out, "<=%.0f", q->high);
}

void number_json(struct json *j, const char *key, const struct quantity *q)
{
	if (q->label == LABEL_NONE) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	number_json_members(j, q);
	json_end_object(j);
}

void number_json_members(struct json *j, const struct quantity *q)
{
	json_number(j, "value", q->value);
	json_string(j, "label", label_name(q->label));
	json_number(j, "low", q->low);
	json_number(j, "high", q->high);
}

void number_csv(struct strbuf *out, const struct quantity *q, enum number_style style)
{
	if (q->label == LABEL_NONE) {
		strbuf_puts(out, ",,,");
		return;
	}
	number_figure(out, q->value, style);
	strbuf_putc(out, ',');
	number_figure(out, q->low, style);
	strbuf_putc(out, ',');
	number_figure(out, q->high, style);
	strbuf_printf(out, ",%s", label_name(q->label));
}
