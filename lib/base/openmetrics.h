/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text format of OpenMetrics 1.0, which Prometheus and its textfile collectors read: families
 * of samples with labels, and a last line that shows that the text is whole. Labels may have any
 * text: what is not UTF-8, and control characters, become U+FFFD.
 */
#ifndef BASE_OPENMETRICS_H
#define BASE_OPENMETRICS_H

#include "base/strbuf.h"

#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Begins a family; its samples follow. type: "counter" or "gauge",
 * which older readers know, too. name ends in _UNIT where
 * unit is not NULL. */
void openmetrics_family(
	struct strbuf *out, const char *name, const char *type, const char *unit, const char *help);
/* A sample: name and suffix ("_total" of counters, else ""). labels: names and values in
 * turn, NULL after the last; a value of "" is left out. May be NULL. */
void openmetrics_sample(struct strbuf *out, const char *name, const char *suffix,
	const char *const *labels, double value);
void openmetrics_end(struct strbuf *out);

#endif
