/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files of -dis share: prof_dis.c chooses and adds up, prof_dis_rows.c makes rows. */
#ifndef REPORT_PROF_DIS_H
#define REPORT_PROF_DIS_H

#include "explain/procedure.h"
#include "flow/arrows.h"
#include "report/prof_columns.h"
#include "report/prof_source.h"

struct dis_source {
	const char *file; /* of an image: lives as long */
	struct prof_source text;
};

struct prof_calc;
struct prof_analysed;

enum dis_text { DIS_LOOP, DIS_MARGIN, DIS_BYTES, DIS_TARGET, DIS_TEXTS };

struct dis {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_columns columns;
	struct prof_procedures procedures;
	struct prof_edges edges;
	VEC(struct dis_source) sources;
	size_t *raw;      /* column of each metric that has skid */
	uint64_t *own;    /* [metric]: of one instruction */
	size_t taken;     /* column, where edges were counted */
	size_t text;      /* the first of enum dis_text */
	uint64_t guessed; /* samples of the first metric with skid that were moved by a guess */
	size_t unknown;   /* jumps */
	struct prof_calc *calc; /* of -calc; else NULL */
};

/* One procedure on its way to rows. */
struct dis_body {
	struct prof_code code;
	const struct prof_procedure *procedure;
	struct prof_moves moves;
	struct flow_margin arrows;
	uint8_t *shown;                   /* of each instruction */
	struct prof_analysed *calc;       /* of -calc; else NULL */
	struct prof_explained *explained; /* likewise; calc is its */
	const char *file;
	unsigned line; /* of the last source line */
	const char *name;
};

/* Each adds a row.  The procedure's own; the source line of instruction i, where it is another one
 * than before; the instruction; what was left out between two. */
void dis_head_row(struct dis *l, const struct dis_body *b);
void dis_source_row(struct dis *l, struct dis_body *b, uint32_t i);
void dis_insn_row(struct dis *l, struct dis_body *b, uint32_t i);
void dis_gap_row(struct dis *l, struct dis_body *b, uint32_t from, uint32_t to);
/* What instruction i waited for, before its row. */
void dis_bubble_row(struct dis *l, struct dis_body *b, uint32_t i, const char *text);

#endif
