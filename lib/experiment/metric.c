/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "experiment/private.h"

void experiment_metric_sum(
	struct experiment_metric *a, bool a_counted, struct experiment_metric *b, bool b_counted)
{
	bool unknown = (a_counted && !a->total) || (b_counted && !b->total);

	a->total = unknown ? 0 : row_sum(a->total, b->total);
	a->lost = row_sum(a->lost, b->lost);
	a->throttled = row_sum(a->throttled, b->throttled);
	for (int i = 0; i < EXPERIMENT_REASONS; i++)
		a->reasons[i] = row_sum(a->reasons[i], b->reasons[i]);
	if (*b->note && (!*a->note || strcmp(b->note, a->note) < 0)) {
		char *note = a->note;

		a->note = b->note;
		b->note = note;
	}
}
