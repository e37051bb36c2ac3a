/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports of waits (prof_stalls.c, prof_why.c, prof_topblocks.c) have in common. */
#ifndef REPORT_PROF_CULPRITS_H
#define REPORT_PROF_CULPRITS_H

#include "explain/explain.h"
#include "report/prof_columns.h"

/* A report of what instructions waited for. */
struct prof_waits {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_explain x;
};

/* Names, the run, what explains it; then what make adds, and what is to be said below. */
int prof_waits_report(struct prof_data *d, struct prof_table *t,
	int (*make)(struct prof_waits *w, struct error *e), struct error *e);

/* A column of executions as that analysis knows them. */
struct prof_column prof_executions_column(const struct prof_explain *x);
/* The row of code at an address, with its line. */
struct prof_row prof_code_row(
	const struct prof_data *d, const char *procedure, uint32_t image, uint64_t address);

/* How sure its executions are: "exact", "high" ...; "" where they are not known. */
const char *prof_culprits_confidence(const struct prof_explained *p, uint32_t i);
/* Adds the culprits of instruction i to the table's, as those of row. */
void prof_culprits_take(
	struct prof_table *t, const struct prof_explained *p, uint32_t i, struct prof_row *row);
/* "dcache 80%, dtlb 20%": most likely first, what stands in the schedule among them. */
const char *prof_culprits_text(struct prof_table *t, const struct prof_explained *p, uint32_t i);
/* The address of the instruction that caused most of it, "" where that is itself. */
const char *prof_culprits_blame(struct prof_table *t, const struct prof_explained *p, uint32_t i);
/* Which core and which costs all that stands on. */
void prof_culprits_describe(struct prof_table *t, const struct prof_explain *x);

#endif
