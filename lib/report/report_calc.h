/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a disassembly that -calc adds: executions, cycles of each, and their causes. */
#ifndef REPORT_REPORT_CALC_H
#define REPORT_REPORT_CALC_H

#include "explain/explain.h"
#include "report/report_dis.h"

enum report_calc_column {
	REPORT_CALC_CPI,
	REPORT_CALC_MI,
	REPORT_CALC_BLOCK,
	REPORT_CALC_WHY,
	REPORT_CALC_BLAME,
	REPORT_CALC_COLUMNS
};

struct report_calc {
	struct explain explain;
	size_t executions, confidence; /* columns, unless executions were counted */
	size_t first;                  /* of enum report_calc_column */
	bool told[CULPRITS + 1];       /* whether the letters of this procedure were explained */
};

/* The metric, the core and the columns; -1 with *e set. */
int report_calc_init(struct dis *l, struct error *e);
void report_calc_fini(struct dis *l);

/* After samples were moved: writes the procedure's best case and its measured cycles in its row,
 * which is the last. */
int report_calc_analyse(struct dis *l, struct report_dis_body *b, struct error *e);
void report_calc_body_free(struct dis *l, struct report_dis_body *b);
/* A row before that of instruction i, where it waited. */
void report_calc_bubble(struct dis *l, struct report_dis_body *b, uint32_t i);
/* The cells of instruction i, in row. */
void report_calc_fill(struct dis *l, size_t row, const struct report_dis_body *b, uint32_t i);
/* ", 1.5 CPI" of a loop, or "". */
const char *report_calc_loop(struct dis *l, const struct report_dis_body *b, uint32_t loop);
void report_calc_notes(struct dis *l);

#endif
