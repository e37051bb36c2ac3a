/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Analysis of one procedure's samples: cycles that each instruction took and would take at best,
 * their reasons, and its executions: exact counts if an experiment has them, else estimates
 * (lib/analysis). For every report that explains time.
 */
#ifndef EXPLAIN_PROCEDURE_H
#define EXPLAIN_PROCEDURE_H

#include "analysis/context.h"
#include "analysis/frequency.h"
#include "explain/code.h"
#include "explain/edges.h"
#include "explain/skid.h"
#include "schedule/schedule.h"

/* Samples of a procedure at the instructions that waited, and its edges. */
struct explain_moves {
	double *edges;                /* executions; NULL: not counted */
	struct explain_moved **moved; /* [metric]; NULL: it has no skid */
};

/* times[i * metrics]: executions of instruction i; NULL: not counted. -1 when memory is out; the
 * result is to be freed nevertheless. */
int explain_moves_make(struct explain_moves *m, const struct prof_data *d,
	const struct explain_edges *edges, const struct explain_code *code, const uint64_t *times);
void explain_moves_fini(struct explain_moves *m, const struct prof_data *d);

/* Of a whole report. */
struct explain_analysis {
	const struct prof_data *d;
	struct core core;
	struct schedule_paths *paths;
	size_t metric;  /* of cycles or of time */
	double cycles;  /* between two samples */
	bool exact;     /* executions were counted */
	bool modelled;  /* by a model, and the samples are of this processor */
	bool compared;  /* in another run than the samples': branch records of the samples' run say
			   of each procedure whether the counts fit */
	size_t counted; /* by this metric */
	struct explain_branches *branches; /* NULL: no experiment has branch records */
	struct explain_program *program;   /* else: estimates from all procedures together */
	bool asked;                        /* for these two */
};

/* ERR_UNSUPPORTED without samples of time or cycles, or if no core is known. d must outlive a. */
int explain_analysis_init(struct explain_analysis *a, const struct prof_data *d, struct error *e);
void explain_analysis_fini(struct explain_analysis *a);
/* Computes what explain_analyse needs of the whole program, if that was not done yet. Afterwards
 * procedures can be analysed by several threads. -1 with *e set when memory is out. */
int explain_analysis_ready(struct explain_analysis *a, struct error *e);

/* Of one procedure. */
struct explain_analysed {
	const struct explain_analysis *analysis;
	const struct explain_code *code;
	double *mi, *samples;      /* of each instruction; samples are moved, of the metric */
	bool *unsure;              /* likewise: samples may be another's */
	bool exact;                /* its executions are those that were counted */
	struct schedule_row *rows; /* of each; blame is an instruction of the procedure's */
	struct analysis_frequencies frequencies; /* empty if executions were counted */
};

/* moved: of the metric (skid.h); NULL: it has no skid. Borrows a and code, whose flow is not NULL.
 * -1 with *e set when memory is out; explain_analysed_fini is needed nevertheless. */
int explain_analyse(struct explain_analysed *p, struct explain_analysis *a,
	const struct explain_code *code, const struct explain_moved *moved, struct error *e);
/* Samples and schedule only, with these executions of edges (any unit; NULL: unknown), by which
 * samples are moved if moved is NULL. */
int explain_schedule(struct explain_analysed *p, const struct explain_analysis *a,
	const struct explain_code *code, const double *edges, const struct explain_moved *moved,
	struct error *e);
void explain_analysed_fini(struct explain_analysed *p);

/* An end of an interval against the value. The best intervals without watched addresses reach a
 * factor of 6 (by_branches.c), and their values are good. */
#define EXPLAIN_TOO_WIDE 7.0
/* Is an interval of executions so wide that nothing follows from it? */
bool explain_too_wide(double value, double low, double high);
/* Executions of instruction i, counted or estimated; LABEL_NONE: unknown. */
struct quantity explain_executions_of(const struct explain_analysed *p, uint32_t i);
/* Its value; 0 if unknown. */
double explain_executed(const struct explain_analysed *p, uint32_t i);
/* How often instruction i was executed in the run of the samples, for each time that another run
 * counted: 1 if its counts fit, 0 if it did not execute it. */
double explain_executed_each(const struct explain_analysed *p, uint32_t i);
/* Cycles of this number of samples, each of `times`; LABEL_NONE: unknown. */
struct quantity explain_cycles_each(
	const struct explain_analysis *a, double samples, struct quantity times);
/* Cycles of instruction i per execution; LABEL_NONE: unknown. */
struct quantity explain_cpi_of(const struct explain_analysed *p, uint32_t i);
/* Cycles of each instruction of a loop (FLOW_NONE: of the procedure). */
struct quantity explain_loop_cpi(const struct explain_analysed *p, uint32_t loop);

#endif
