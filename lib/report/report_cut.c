/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that lists leave out (-q), and shares. */
#include <string.h>

#include "base/plural.h"
#include "report/report_columns.h"

enum { SHOWN_WITHOUT_FOLD = 20 };

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

struct report_fold report_fold_of(const struct prof_data *d)
{
	const struct prof_quit *q = &d->request->quit;
	bool asked = q->rows || q->percent > 0 || q->cumulative > 0;

	return (struct report_fold){.on = d->request->folds && !d->request->whole && !asked};
}

bool report_folds(struct report_fold *fold, const uint64_t *samples, size_t metrics)
{
	bool rare = fold->on && fold->shown >= SHOWN_WITHOUT_FOLD;

	for (size_t k = 0; k < metrics; k++)
		rare = rare && samples[k] <= 1;
	if (!rare) {
		fold->shown++;
		return false;
	}
	fold->left++;
	fold->samples += metrics ? samples[0] : 0;
	return true;
}

void report_folded(
	struct report_table *t, const struct report_fold *fold, const char *what, uint64_t all)
{
	const char *share = all ? report_text(t, ", %.1f%% in all,",
					  report_percent((double)fold->samples, (double)all))
				: "";

	if (fold->left)
		report_note(t, "%zu more %s%s of one sample or none%s %s left out (-whole)",
			fold->left, what,
			fold->left > 1 && what[strlen(what) - 1] == 's' ? "es" : plural(fold->left),
			share, plural_is(fold->left));
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
