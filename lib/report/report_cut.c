/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that lists leave out (-q), and shares. */
#include <string.h>

#include "base/plural.h"
#include "report/report_columns.h"

struct report_cut report_cut_of(const struct prof_data *d, struct prof_quit usual)
{
	const struct prof_quit *q = &d->request->quit;
	bool asked = q->rows || q->percent > 0 || q->cumulative > 0;

	return (struct report_cut){.quit = asked ? *q : usual};
}

bool report_cuts(struct report_cut *cut, double percent)
{
	const struct prof_quit *q = &cut->quit;

	if ((q->rows && cut->shown >= q->rows) || percent < q->percent ||
		(q->cumulative > 0 && cut->cumulative >= q->cumulative))
		return true;
	cut->shown++;
	cut->cumulative += percent;
	return false;
}

void report_left_out(struct report_table *t, size_t n, const char *what, const char *why)
{
	if (n)
		report_note(t, "%zu more %s%s %s left out (%s)", n, what,
			n > 1 && what[strlen(what) - 1] == 's' ? "es" : plural(n), plural_is(n),
			why);
}

double report_percent(double n, double all)
{
	return all > 0 ? 100 * n / all : 0;
}
