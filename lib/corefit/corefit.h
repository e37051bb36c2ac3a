/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a core's description (perfex-core(5)) with measurements on this processor, instruction
 * form by instruction form, and writes the lines that correct it.
 *
 * A form is a mnemonic with kinds of registers and immediates. Of each, two blocks are measured: a
 * chain, in which every instruction needs the result of the one before (latency), and eight
 * independent instructions (throughput). If the schedule of a block differs from its measurement
 * by more than the tolerance, the form gets a line: the latency of the chain, and ports of the
 * description that give the throughput, as similar to its old ones as possible. Time alone does
 * not identify the ports.
 */
#ifndef COREFIT_COREFIT_H
#define COREFIT_COREFIT_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "blockbench/blockbench.h"
#include "schedule/schedule.h"

#define FORM_BYTES_MAX 160

struct form {
	uint16_t mnemonic;
	uint8_t operands;
	struct insn_operand operand[INSN_OPERANDS_MAX];
	uint8_t chain[FORM_BYTES_MAX], many[FORM_BYTES_MAX]; /* blocks */
	uint8_t chain_length, many_length;                   /* bytes; 0: none */
	uint8_t many_count;                                  /* instructions */
	/* cycles per instruction; below 0: not measured */
	double latency, throughput;               /* measured */
	double latency_before, throughput_before; /* by the description */
	double latency_after, throughput_after;   /* by the corrected one */
	bool corrected;
};

typedef VEC(struct form) form_list;

/* All forms that this library can encode, without branches, system calls, memory and x87. */
int forms_make(form_list *forms, struct error *e);

/* Fills latency and throughput; for instructions that this processor does not support, they stay
 * below 0. done as in blockbench_measure. */
int corefit_forms_measure(form_list *forms, struct blockbench *bench,
	int (*done)(void *context, size_t count), void *context, struct error *e);

/* Fills ..._before (after: false) or ..._after. */
int corefit_forms_schedule(form_list *forms, const struct core *core, struct schedule_work *work,
	bool after, struct error *e);

/* Adds a description based on core's, with lines for all forms that differ from their measurement
 * by more than tolerance (0.08: 8%); returns their number. */
size_t corefit_forms_correct(form_list *forms, const struct core *core, double tolerance,
	const char *name, const char *description, struct strbuf *out);

/* "imul r64, r64". */
void corefit_form_text(const struct form *f, struct strbuf *out);

/* Mean error of all measured figures, [0,1], before or after. */
double corefit_forms_error(const form_list *forms, bool after);

#endif
