/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the samples of one procedure say: cycles that each instruction took and would take at best,
 * what those are for, and how often it was executed, counted exactly where an experiment has that,
 * else estimated (lib/analysis).  For every report that explains time.
 */
#ifndef EXPLAIN_PROCEDURE_H
#define EXPLAIN_PROCEDURE_H

#include "analysis/context.h"
#include "analysis/frequency.h"
#include "explain/code.h"
#include "explain/edges.h"
#include "explain/skid.h"
#include "schedule/schedule.h"

/* Samples of a procedure at what waited, and its edges. */
struct explain_moves {
	double *edges;                /* executions; NULL: not counted */
	struct explain_moved **moved; /* [metric]; NULL: it has no skid */
};

/* times[i * metrics]: executions of instruction i; NULL: not counted.  -1 when memory is out, with
 * what there is to be freed all the same. */
int explain_moves_make(struct explain_moves *m, const struct prof_data *d,
	const struct explain_edges *edges, const struct explain_code *code, const uint64_t *times);
void explain_moves_fini(struct explain_moves *m, const struct prof_data *d);

/* Of a whole report. */
struct explain_analysis {
	const struct prof_data *d;
	struct core core;
	struct schedule_work *work;
	size_t metric;                     /* of cycles or of time */
	double cycles;                     /* between two samples */
	bool exact;                        /* executions were counted */
	size_t counted;                    /* by this metric */
	struct explain_branches *branches; /* NULL: no experiment has branch records */
	bool asked;                        /* for those */
	struct explain_program
		*program; /* what all procedures say together; NULL: nobody asked yet */
};

/* ERR_UNSUPPORTED without samples of time or cycles, or where no core is known.  d must outlive a.
 */
int explain_analysis_init(struct explain_analysis *a, const struct prof_data *d, struct error *e);
void explain_analysis_fini(struct explain_analysis *a);

/* Of one procedure. */
struct explain_analysed {
	const struct explain_analysis *analysis;
	const struct explain_code *code;
	double *mi, *samples;      /* of each instruction; samples are moved, of the metric */
	bool *unsure;              /* likewise: samples may be another's */
	struct schedule_row *rows; /* of each; blame is an instruction of the procedure's */
	struct analysis_frequencies frequencies; /* none where executions were counted */
};

/* moved: of the metric (skid.h); NULL: it has no skid.  Borrows a and code,
 * whose flow is not NULL.  -1 with *e set when memory is out; explain_analysed_fini all the same.
 */
int explain_analyse(struct explain_analysed *p, struct explain_analysis *a,
	const struct explain_code *code, const struct explain_moved *moved, struct error *e);
/* Samples and schedule alone, of edges that are passed as often as given (any unit; NULL: not
 * known), by which samples are moved where moved is NULL. */
int explain_schedule(struct explain_analysed *p, const struct explain_analysis *a,
	const struct explain_code *code, const double *edges, const struct explain_moved *moved,
	struct error *e);
void explain_analysed_fini(struct explain_analysed *p);

/* How often instruction i was executed, counted or estimated; LABEL_NONE: not known. */
struct quantity explain_executions_of(const struct explain_analysed *p, uint32_t i);
/* Its value; 0 where it is not known. */
double explain_executed(const struct explain_analysed *p, uint32_t i);
/* Cycles of so many samples, each of `times`; LABEL_NONE: not known. */
struct quantity explain_cycles_each(
	const struct explain_analysis *a, double samples, struct quantity times);
/* Cycles that instruction i took each time; LABEL_NONE: not known. */
struct quantity explain_cpi_of(const struct explain_analysed *p, uint32_t i);
/* And each of a loop's instructions (FLOW_NONE: of the procedure's). */
struct quantity explain_loop_cpi(const struct explain_analysed *p, uint32_t loop);

#endif
