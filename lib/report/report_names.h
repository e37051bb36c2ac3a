/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Short forms of functions' names. Names of C++ can have hundreds of characters: parameters and
 * arguments of templates, within one another.
 */
#ifndef REPORT_REPORT_NAMES_H
#define REPORT_REPORT_NAMES_H

#include "base/strbuf.h"
#include "report/report_rows.h"

enum names_level {
	NAMES_FULL,
	NAMES_TYPES,      /* "f(g<...>)": only where the next ones are another's */
	NAMES_PARAMETERS, /* "f(...)": without a type before the name */
	NAMES_INNER,      /* and "g<h<...>>" */
	NAMES_ARGUMENTS,  /* and "g<...>" */
	NAMES_BARE,       /* and neither "(...)", nor what follows it, nor "<impl a for b>" */
	NAMES_ENDS,       /* and only beginning and end of what is still longer than limit */
	NAMES_LEVELS,
};

/* Appends the form of a name; limit (characters) matters to NAMES_ENDS. */
void report_name_put(struct strbuf *out, const char *name, enum names_level level, size_t limit);

/*
 * Gives rows whose names are longer than limit characters the least shortened form that fits, or
 * the shortest (struct report_row, shown). Two names of one report never have the same form.
 * Returns -1 with *e set when memory is out. limit 0: names stay as they are. Cost: n log n
 * comparisons of names for n rows.
 */
int report_names_shorten(struct report_table *t, size_t limit, struct error *e);

#endif
