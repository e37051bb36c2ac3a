/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads waited: for each row of -waits, and for the head. */
#ifndef REPORT_REPORT_WAITERS_H
#define REPORT_REPORT_WAITERS_H

#include "base/table.h"
#include "experiment/pauses.h"
#include "report/report_rows.h"

struct report_waiters {
	struct prof_data *d;
	struct table rows;
};

void report_waiters_init(struct report_waiters *w, struct prof_data *d);
void report_waiters_fini(struct report_waiters *w);
/* Adds a pause to row wait of the report (0: all); reason: what the row is about, PAUSE_REASONS if
 * it is not a row of a reason.  Does nothing if wait is negative.  -1 when memory is out. */
int report_waiters_add(struct report_waiters *w, long wait, uint32_t reason, size_t input,
	const struct experiment_pause *p);
/* Before what follows, when all are added. */
void report_waiters_sort(struct report_waiters *w);
/* "thread 12 name", "threads 12 a, 13 b"; NULL: not known, or rows are by thread anyway. */
const char *report_waiters_text(
	const struct report_waiters *w, struct report_table *t, size_t wait);
/* Those that waited longest, with their main reasons, in the head. */
void report_waiters_head(const struct report_waiters *w, struct report_table *t);

#endif
