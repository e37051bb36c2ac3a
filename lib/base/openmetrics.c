/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/openmetrics.h"

#include <math.h>

#include "base/utf8.h"

#define EXACT 0x1p53 /* integers below it have their own text */

/* Quotes are escaped in labels and not in help. */
static void openmetrics_escaped(struct strbuf *out, const char *text, bool quoted)
{
	while (*text) {
		int n = utf8_length(text);

		if (*text == '\n')
			strbuf_puts(out, "\\n");
		else if (*text == '\\' || (quoted && *text == '"'))
			strbuf_printf(out, "\\%c", *text);
		else if (!utf8_plain(text))
			strbuf_puts(out, UTF8_REPLACEMENT);
		else
			strbuf_add(out, text, (size_t)n);
		text += n ? n : 1;
	}
}

void openmetrics_family(
	struct strbuf *out, const char *name, const char *type, const char *unit, const char *help)
{
	strbuf_printf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		strbuf_printf(out, "# UNIT %s %s\n", name, unit);
	strbuf_printf(out, "# HELP %s ", name);
	openmetrics_escaped(out, help, false);
	strbuf_putc(out, '\n');
}

static void openmetrics_value(struct strbuf *out, double value)
{
	if (isnan(value))
		strbuf_puts(out, "NaN");
	else if (isinf(value))
		strbuf_puts(out, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < EXACT)
		strbuf_printf(out, "%.0f", value);
	else
		strbuf_printf(out, "%.15g", value);
}

void openmetrics_sample(struct strbuf *out, const char *name, const char *suffix,
	const char *const *labels, double value)
{
	bool any = false;

	strbuf_printf(out, "%s%s", name, suffix);
	for (size_t i = 0; labels && labels[i]; i += 2) {
		if (!labels[i + 1][0])
			continue;
		strbuf_printf(out, "%s%s=\"", any ? "," : "{", labels[i]);
		openmetrics_escaped(out, labels[i + 1], true);
		strbuf_putc(out, '"');
		any = true;
	}
	strbuf_puts(out, any ? "} " : " ");
	openmetrics_value(out, value);
	strbuf_putc(out, '\n');
}

void openmetrics_end(struct strbuf *out)
{
	strbuf_puts(out, "# EOF\n");
}
