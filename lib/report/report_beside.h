/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a second run on the model counted (ssrun -explain), beside the time that the first run
 * measured: which of its events have a column for people, and its waits by cause.
 */
#ifndef REPORT_REPORT_BESIDE_H
#define REPORT_REPORT_BESIDE_H

#include "profile/modelled.h"
#include "report/report_entity.h"

/* shown[metric]: has it a column for people? Counts of a second run have one if they may have cost
 * a hundredth of the time; executions have a column of their own. -1 with *e set. */
int report_beside_choose(const struct prof_data *d, bool *shown, struct error *e);

/* Two columns: modelled cycles, and their causes in words. */
struct report_beside {
	bool any;
	struct prof_modelled modelled;
	struct prof_waited *of; /* of entities; NULL: not asked for */
	size_t column;
};

/* Finds the waits of experiments, and adds columns if there are any: together, or in two steps.
 * report_beside_fini is needed in any case. */
void report_beside_init(struct report_beside *b, struct report_table *t, const struct prof_data *d);
void report_beside_find(struct report_beside *b, struct report_table *t, const struct prof_data *d);
void report_beside_columns(struct report_beside *b, struct report_table *t);
/* w may be NULL: the cells stay empty. */
void report_beside_fill(const struct report_beside *b, struct report_table *t, size_t row,
	const struct prof_waited *w);
/* Of count ranks those that have samples of the first run, or a share of modelled waits that
 * matters, stay; returns their number. */
size_t report_beside_drop(struct report_table *t, const struct report_beside *b,
	const struct prof_data *d, const struct prof_sums *s, struct report_rank *ranks,
	size_t count);
void report_beside_fini(struct report_beside *b);

/* "memory 71%, dtlb 9%", in t's arena; NULL for w NULL. */
const char *report_beside_text(struct report_table *t, const struct prof_waited *w);

#endif
