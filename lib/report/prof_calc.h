/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -calc adds to a disassembly: executions, cycles of each, and what they are for. */
#ifndef REPORT_PROF_CALC_H
#define REPORT_PROF_CALC_H

#include "explain/explain.h"
#include "report/prof_dis.h"

struct prof_calc {
	struct prof_explain explain;
	long executions, cpi, mi, confidence, block, why, blame;
	bool told[CULPRITS + 1]; /* whether the letters of this procedure were explained */
};

/* The metric, the core and the columns; -1 with *e set. */
int calc_init(struct dis *l, struct error *e);
void calc_fini(struct dis *l);

/* After samples were moved. */
int calc_analyse(struct dis *l, struct dis_body *b, struct error *e);
void calc_body_free(struct dis *l, struct dis_body *b);
/* A row before that of instruction i, where it waited. */
int calc_bubble(struct dis *l, struct dis_body *b, uint32_t i);
/* The cells of instruction i, in row. */
int calc_fill(struct dis *l, size_t row, const struct dis_body *b, uint32_t i);
/* Says the procedure's best case and what it took, in its row, which is the last. */
int calc_summary(struct dis *l, const struct dis_body *b);
/* ", 1.5 CPI" of a loop, or "". */
const char *calc_loop(struct dis *l, const struct dis_body *b, uint32_t loop);
int calc_notes(struct dis *l);

#endif
