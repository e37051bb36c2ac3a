/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frequencies of all procedures of a report that have samples, tied together: a procedure is
 * entered as often as the blocks that call it are executed. Calls are those with a known target,
 * through stubs of the dynamic linker by name, and tail calls. Other calls (pointers, code without
 * samples) are possible, so a tie is weaker if a procedure seems to be entered more often than
 * called.
 */
#ifndef EXPLAIN_PROGRAM_H
#define EXPLAIN_PROGRAM_H

#include "analysis/fit.h"
#include "explain/procedure.h"

struct explain_program;

/* NULL with *e set when memory is out.  Linear in the code of those procedures. */
struct explain_program *explain_program_new(const struct explain_analysis *a, struct error *e);
void explain_program_free(struct explain_program *g);

/* The result for the procedure that begins at this address of image; NULL: it has no samples, or
 * no code. */
const struct analysis_fit *explain_program_find(
	const struct explain_program *g, uint32_t image, uint64_t begin);
/* The code of such a procedure, once, if it was kept: then the caller owns it. Several threads may
 * take that of different procedures. */
bool explain_program_take_code(
	struct explain_program *g, uint32_t image, uint64_t begin, struct explain_code *code);

#endif
