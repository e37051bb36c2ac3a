/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that lists leave out (-q), and shares. */
#include <string.h>

#include "base/plural.h"
#include "report/report_columns.h"

/* Of counts, unlike of samples, the rows that follow are known to be small. */
enum { SHOWN_WITHOUT_FOLD = 20, SHOWN_OF_COUNTS = 5 };

struct report_cut report_cut_of(const struct prof_data *d, struct prof_quit usual)
{
	const struct prof_quit *q = &d->request->quit;
	bool asked = q->rows || q->percent > 0 || q->cumulative > 0;

	return (struct report_cut){.quit = asked ? *q : usual, .usual = !asked};
}

const char *report_cut_why(const struct report_cut *cut)
{
	return cut->usual ? "-q N: more" : "-q";
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

struct report_fold report_fold_samples(const struct prof_data *d)
{
	struct report_fold fold = report_fold_of(d);

	fold.of = d;
	return fold;
}

static bool is_rare(const struct report_fold *fold, size_t metric, uint64_t samples)
{
	const struct prof_data *d = fold->of;

	return samples <= 1 ||
	       (d && metric < d->metrics.count &&
		       report_percent((double)samples, (double)d->metrics.data[metric].samples) <
			       REPORT_FOLDED);
}

static size_t shown_at_least(const struct report_fold *fold)
{
	const struct prof_data *d = fold->of;

	for (size_t k = 0; d && k < d->metrics.count; k++)
		if (d->metrics.data[k].metric->period > 1)
			return SHOWN_WITHOUT_FOLD;
	return d ? SHOWN_OF_COUNTS : SHOWN_WITHOUT_FOLD;
}

bool report_folds(struct report_fold *fold, const uint64_t *samples, size_t metrics)
{
	bool rare = fold->on && fold->shown >= shown_at_least(fold);

	for (size_t k = 0; k < metrics; k++)
		rare = rare && is_rare(fold, k, samples[k]);
	if (!rare) {
		fold->shown++;
		return false;
	}
	fold->left++;
	for (size_t k = 0; k < metrics; k++)
		fold->many = fold->many || samples[k] > 1;
	fold->samples += metrics ? samples[0] : 0;
	return true;
}

void report_folded(
	struct report_table *t, const struct report_fold *fold, const char *what, uint64_t all)
{
	const char *share = all ? report_text(t, ", %.1f%% in all,",
					  report_percent((double)fold->samples, (double)all))
				: "";

	const char *rare =
		fold->many ? report_text(t, "below %g%%", REPORT_FOLDED) : "of one sample or none";

	if (fold->left)
		report_note(t, "%zu more %s%s %s%s %s left out (-whole)", fold->left, what,
			fold->left > 1 && what[strlen(what) - 1] == 's' ? "es" : plural(fold->left),
			rare, share, plural_is(fold->left));
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
