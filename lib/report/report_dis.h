/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the two files of -dis: report_dis.c chooses and adds up, report_dis_rows.c makes rows.
 */
#ifndef REPORT_REPORT_DIS_H
#define REPORT_REPORT_DIS_H

#include "explain/procedure.h"
#include "flow/arrows.h"
#include "profile/profile_values.h"
#include "report/report_columns.h"
#include "report/report_source.h"

struct report_dis_source {
	const char *file; /* of an image: same lifetime */
	struct report_source text;
};

struct report_calc;
struct explain_analysed;

enum report_dis_text {
	REPORT_DIS_LOOP,
	REPORT_DIS_MARGIN,
	REPORT_DIS_BYTES,
	REPORT_DIS_TARGET,
	REPORT_DIS_TEXTS
};

struct dis {
	struct prof_data *d;
	struct report_table *t;
	struct report_columns columns;
	struct explain_procedures procedures;
	struct explain_edges edges;
	VEC(struct report_dis_source) sources;
	size_t *raw;   /* column of each metric that has skid */
	uint64_t *own; /* [metric]: of one instruction */
	size_t taken;  /* column, where edges were counted */
	struct prof_values values;
	size_t valued;    /* column, where there are values */
	size_t text;      /* the first of enum report_dis_text */
	uint64_t guessed; /* samples of the first metric with skid that were moved by a guess */
	size_t unknown;   /* jumps */
	struct report_calc *calc; /* of -calc; else NULL */
};

/* One procedure on its way to rows. */
struct report_dis_body {
	struct explain_code code;
	const struct explain_procedure *procedure;
	struct explain_moves moves;
	struct flow_margin arrows;
	uint8_t *shown;                   /* of each instruction */
	struct explain_analysed *calc;    /* of -calc; else NULL */
	struct explain_result *explained; /* likewise; calc is its */
	const char *file;
	unsigned line; /* of the last source line */
	const char *name;
};

/* Each adds a row: of the procedure; of the source line of instruction i, if it differs from the
 * one before; of the instruction; of the instructions left out between two. */
void report_dis_head_row(struct dis *l, const struct report_dis_body *b);
void report_dis_source_row(struct dis *l, struct report_dis_body *b, uint32_t i);
void report_dis_insn_row(struct dis *l, struct report_dis_body *b, uint32_t i);
void report_dis_gap_row(struct dis *l, struct report_dis_body *b, uint32_t from, uint32_t to);
/* What instruction i waited for, before its row. */
void report_dis_bubble_row(struct dis *l, struct report_dis_body *b, uint32_t i, const char *text);

#endif
