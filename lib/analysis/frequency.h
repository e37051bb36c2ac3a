/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often blocks and edges were executed, from samples of the clock and from the cycles Mi that
 * each instruction keeps retirement waiting when nothing goes wrong (lib/schedule).
 *
 * ANALYSIS_CLASSIC is the rule of Anderson et al. (SOSP'97, section 6.1) for processors that issue
 * in order: ratios Si / Mi of a class's issue points are clustered, and the lowest cluster that is
 * large enough is its frequency; a class without one gets it from its neighbours where
 * conservation of flow determines it.
 *
 * ANALYSIS_FLOW is for processors that execute out of order. There, a wait hides later ones, and a
 * short block may have no samples though it is executed often. Samples of a class give its
 * frequency only up to such displacements. So frequencies are fitted to all blocks of the
 * procedure, with flow conserved.
 *
 * Frequencies are in samples per cycle. Executions are frequencies times the cycles between two
 * samples.
 */
#ifndef ANALYSIS_FREQUENCY_H
#define ANALYSIS_FREQUENCY_H

#include "analysis/classes.h"

/* What several estimates take for granted. Chosen once for all programs and cores: round numbers
 * near the best profiles on the programs of tests/accuracy/frequencies. The optimum is flat. */
#define ANALYSIS_SHADOW 4.0 /* variance of displaced samples, cycles per cycle */
/* Standard deviation of the logarithm of cycles relative to those expected. */
#define ANALYSIS_SPREAD 0.5
/* An edge back to the head of a loop, against the others of its block. */
#define ANALYSIS_BACK 8.0

enum analysis_method { ANALYSIS_FLOW, ANALYSIS_CLASSIC };

enum analysis_confidence {
	ANALYSIS_UNKNOWN, /* unknown: no value */
	ANALYSIS_LOW,
	ANALYSIS_MEDIUM,
	ANALYSIS_HIGH,
};

struct analysis_estimate {
	double value, low, high; /* samples per cycle; high may be INFINITY */
	double scatter; /* by branch records alone: standard deviation of the value's logarithm */
	enum analysis_confidence confidence;
};

struct analysis_input {
	const struct flow *flow;
	const struct analysis_classes *classes;
	const double *samples; /* of each instruction, charged to the instruction that waited */
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

/* The steps, one per method: value and confidence of classes, then those that flow determines. */
int analysis_classic(struct analysis_frequencies *q, const struct analysis_input *input);
int analysis_flow(struct analysis_frequencies *q, const struct analysis_input *input);

#endif
