/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples moved to the instruction that waited.
 *
 * An interrupt lets the oldest instruction retire and takes the address of the next one (measured
 * by T. Downs, travisdowns.github.io, 2019-08-20; the same here): so a sample belongs to the
 * instruction executed before the one it names. Within a block that is the instruction before. At
 * its head, it is the last instruction of the preceding block: samples are split over these in
 * proportion to the executions of edges, if counted, else to the samples of the blocks themselves.
 *
 * A compare and the branch that processors fuse with it retire as one. They are shown at the
 * compare, because only that can wait.
 *
 * Guesses are marked: splits; samples after a call, which are shown at the call, though the return
 * of the called function waited; samples at an entry, which stay, because the instruction that
 * waited is in the caller; and those of a repeated instruction, which stay with it, because an
 * interrupt stops it before its end.
 */
#ifndef EXPLAIN_SKID_H
#define EXPLAIN_SKID_H

#include "flow/flow.h"

struct explain_moved {  /* of one instruction */
	double value;   /* samples */
	uint64_t sure;  /* of these, moved without a guess */
	uint64_t might; /* that may be its own, including `sure` */
	bool estimated; /* some were, or may have been, given to others */
};

struct explain_skid {
	const struct flow *flow;
	const double *edges; /* executions of each edge; NULL: not counted */
	double entered;      /* executions of the procedure's entry from outside; NAN: unknown */
};

/* raw[i * stride]: samples at instruction i.  moved has room for all instructions, and its values
 * add up to those of raw.  -1 when memory is out. */
int explain_skid_move(const struct explain_skid *s, const uint64_t *raw, size_t stride,
	struct explain_moved *moved);

#endif
