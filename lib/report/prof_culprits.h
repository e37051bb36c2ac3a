/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports of waits (prof_stalls.c, prof_why.c, prof_topblocks.c) have in common. */
#ifndef REPORT_PROF_CULPRITS_H
#define REPORT_PROF_CULPRITS_H

#include "explain/explain.h"
#include "report/prof_rows.h"

/* How sure its executions are: "exact", "high" ...; "" where they are not known. */
const char *prof_culprits_confidence(const struct prof_explained *p, uint32_t i);
/* Adds the culprits of instruction i to the table's; -1 when memory is out. */
int prof_culprits_take(struct prof_table *t, const struct prof_explained *p, uint32_t i);
/* "dcache 80%, dtlb 20%": most likely first, what stands in the schedule among them. */
const char *prof_culprits_text(struct prof_table *t, const struct prof_explained *p, uint32_t i);
/* The address of the instruction that caused most of it, "" where that is itself. */
const char *prof_culprits_blame(struct prof_table *t, const struct prof_explained *p, uint32_t i);
/* Which core and which costs all that stands on. */
int prof_culprits_describe(struct prof_table *t, const struct prof_explain *x);

#endif
