/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often blocks and edges were executed, from samples of the clock and from the cycles Mi that
 * each instruction keeps retirement waiting when nothing goes wrong (lib/schedule).
 *
 * ANALYSIS_CLASSIC is the rule of Anderson et al. (SOSP'97, section 6.1) for processors that issue
 * in order: ratios Si / Mi of a class's issue points are clustered, and the lowest cluster that is
 * large enough is its frequency; what has none gets it from its neighbours where flow says so.
 *
 * ANALYSIS_FLOW is for processors that execute out of order, where a wait hides those behind it and
 * a short block may have no samples though it is executed often.  A class says how often it was
 * executed only up to such displacements: frequencies are those that fit all blocks of the
 * procedure best and flow through it without loss.
 *
 * Frequencies are in samples a cycle: times the cycles between two samples they are executions.
 */
#ifndef ANALYSIS_FREQUENCY_H
#define ANALYSIS_FREQUENCY_H

#include "analysis/classes.h"

enum analysis_method { ANALYSIS_FLOW, ANALYSIS_CLASSIC };

enum analysis_confidence {
	ANALYSIS_UNKNOWN, /* nothing is known: no value */
	ANALYSIS_LOW,
	ANALYSIS_MEDIUM,
	ANALYSIS_HIGH,
};

struct analysis_estimate {
	double value, low, high; /* samples a cycle; high may be INFINITY */
	double scatter; /* by branch records alone: standard deviation of the value's logarithm */
	enum analysis_confidence confidence;
};

struct analysis_input {
	const struct flow *flow;
	const struct analysis_classes *classes;
	const double *samples; /* of each instruction, at what waited */
	const double *mi;      /* cycles of each; 0: no issue point */
	const bool *unsure;    /* of each: some samples may be another's; may be NULL */
	enum analysis_method method;
};

struct analysis_frequencies {
	struct analysis_estimate *block, *edge;
};

/* -1 with *e set when memory is out.  Linear in blocks and edges. */
int analysis_frequencies_make(
	struct analysis_frequencies *q, const struct analysis_input *input, struct error *e);
void analysis_frequencies_fini(struct analysis_frequencies *q);

/* "", "low", "medium", "high".  Static. */
const char *analysis_confidence_name(enum analysis_confidence confidence);

/* The parts, one a method; value and confidence of classes, then of what flow says of others. */
int analysis_classic(struct analysis_frequencies *q, const struct analysis_input *input);
int analysis_flow(struct analysis_frequencies *q, const struct analysis_input *input);

#endif
