/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -calc adds to a disassembly: executions, cycles of each, and what they are for. */
#ifndef REPORT_PROF_CALC_H
#define REPORT_PROF_CALC_H

#include "analysis/frequency.h"
#include "report/prof_dis.h"
#include "schedule/schedule.h"

struct prof_calc {
	struct core core;
	struct schedule_work *work;
	size_t metric; /* of cycles or of time */
	double cycles; /* between two samples */
	bool exact;    /* executions were counted */
	long executions, cpi, mi, confidence, block, why;
};

/* Of one procedure. */
struct calc_body {
	double *mi, *samples;      /* of each instruction */
	bool *unsure;              /* likewise: samples may be another's */
	struct schedule_row *rows; /* of each; blame counts from its block's first */
	struct analysis_frequencies frequencies;
};

/* The metric, the core and the columns; -1 with *e set. */
int calc_init(struct dis *l, struct error *e);
void calc_fini(struct dis *l);

/* After samples were moved. */
int calc_analyse(struct dis *l, struct dis_body *b, struct error *e);
void calc_body_free(struct calc_body *c);
/* The cells of instruction i, in row. */
int calc_fill(struct dis *l, size_t row, const struct dis_body *b, uint32_t i);
/* Says the procedure's best case and what it took, in its row, which is the last. */
int calc_summary(struct dis *l, const struct dis_body *b);
int calc_notes(struct dis *l);

#endif
