/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -calc adds to a disassembly: executions, cycles of each, and what they are for. */
#ifndef REPORT_PROF_CALC_H
#define REPORT_PROF_CALC_H

#include "explain/explain.h"
#include "report/prof_dis.h"

enum calc_column { CALC_CPI, CALC_MI, CALC_BLOCK, CALC_WHY, CALC_BLAME, CALC_COLUMNS };

struct prof_calc {
	struct prof_explain explain;
	size_t executions, confidence; /* columns, unless executions were counted */
	size_t first;                  /* of enum calc_column */
	bool told[CULPRITS + 1];       /* whether the letters of this procedure were explained */
};

/* The metric, the core and the columns; -1 with *e set. */
int calc_init(struct dis *l, struct error *e);
void calc_fini(struct dis *l);

/* After samples were moved; says the procedure's best case and what it took, in its row, which is
 * the last. */
int calc_analyse(struct dis *l, struct dis_body *b, struct error *e);
void calc_body_free(struct dis *l, struct dis_body *b);
/* A row before that of instruction i, where it waited. */
void calc_bubble(struct dis *l, struct dis_body *b, uint32_t i);
/* The cells of instruction i, in row. */
void calc_fill(struct dis *l, size_t row, const struct dis_body *b, uint32_t i);
/* ", 1.5 CPI" of a loop, or "". */
const char *calc_loop(struct dis *l, const struct dis_body *b, uint32_t loop);
void calc_notes(struct dis *l);

#endif
