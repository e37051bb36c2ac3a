/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the reports of waits (report_stalls.c, report_why.c, report_topblocks.c). */
#ifndef REPORT_REPORT_CULPRITS_H
#define REPORT_REPORT_CULPRITS_H

#include "explain/explain.h"
#include "report/report_columns.h"

/* A report of what instructions waited for. */
struct report_waits {
	struct prof_data *d;
	struct report_table *t;
	struct explain x;
	struct report_beside beside; /* without columns so far */
};

/* Names, the run, its explanation; then the rows of `make`, and the lines below. */
int report_waits_report(struct prof_data *d, struct report_table *t,
	int (*make)(struct report_waits *w, struct error *e), struct error *e);

/* A column of executions as computed by that analysis. */
struct report_column report_executions_column(const struct explain *x);
/* How sure these are: beside them, and its heading says so. */
struct report_column report_confidence_column(void);
/* A column of estimated cycles of one execution.  heading NULL: the name. */
struct report_column report_cycles_column(const char *name, const char *heading);
/* The row of code at an address, with its line. */
struct report_row report_code_row(
	const struct prof_data *d, const char *procedure, uint32_t image, uint64_t address);

/* How sure its executions are: "exact", "high" ...; "" where they are not known. */
const char *report_culprits_confidence(const struct explain_result *p, uint32_t i);
/* Are these so uncertain that nothing follows from them? "met by no burst" ..., or NULL. */
const char *report_culprits_unsure(const struct explain_result *p, uint32_t i);
/* Adds the culprits of instruction i to the table's, as those of row. */
void report_culprits_take(
	struct report_table *t, const struct explain_result *p, uint32_t i, struct report_row *row);
/* Instead of "unexplained": so few that those of a neighbour would make the difference. */
#define REPORT_FEW_SAMPLES "few samples"
/* "dcache 80%, dtlb 20%": most likely first, with the static wait among them. Where executions are
 * unsure, or samples few, that, and without shares. */
const char *report_culprits_text(
	struct report_table *t, const struct explain_result *p, uint32_t i);
/* The address of the instruction that caused most of it, "" for the instruction itself. */
const char *report_culprits_blame(
	struct report_table *t, const struct explain_result *p, uint32_t i);
/* The core and the costs that the analysis used. */
void report_culprits_describe(struct report_table *t, const struct explain *x);

/* The command that counts executions, and the report (an option) with the counts. */
const char *report_culprits_counted(
	struct report_table *t, const struct prof_data *d, const char *option);

#endif
