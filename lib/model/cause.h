/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What cycles are spent on. A clock that follows instructions to their retirement knows it. Sums by
 * cause are in the shared file of a process (wire/shared.h).
 */
#ifndef MODEL_CAUSE_H
#define MODEL_CAUSE_H

#include <stdint.h>

/* Why time passed. */
enum model_cause {
	MODEL_CAUSE_BASE,       /* an instruction retired in its turn */
	MODEL_CAUSE_DEPENDENCY, /* an operand, or the instruction's own latency */
	MODEL_CAUSE_UNIT,       /* all execution units of its kind were busy */
	MODEL_CAUSE_DIVIDER,
	MODEL_CAUSE_L2, /* data: a load from there; the next four in the order of distance */
	MODEL_CAUSE_LL,
	MODEL_CAUSE_MEMORY,
	MODEL_CAUSE_INTERVENTION,
	MODEL_CAUSE_DTLB,
	MODEL_CAUSE_FORWARD,      /* store forwarding failed */
	MODEL_CAUSE_ALIAS,        /* a load looked as if a store of another page had its data */
	MODEL_CAUSE_STORE_BUFFER, /* it was full */
	MODEL_CAUSE_LOCKED,
	MODEL_CAUSE_SERIALISING,
	/* The front end had nothing to give. */
	MODEL_CAUSE_FETCH_L2,
	MODEL_CAUSE_FETCH_LL,
	MODEL_CAUSE_FETCH_MEMORY,
	MODEL_CAUSE_FETCH_INTERVENTION,
	MODEL_CAUSE_ITLB,
	MODEL_CAUSE_TAKEN, /* taken branches follow each other too closely */
	MODEL_CAUSE_MISPREDICT,
	MODEL_CAUSE_SYSTEM_CALL, /* at user level */
	MODEL_CAUSE_PAGE_FAULT,  /* likewise: no clock sees it, it follows from the count */
	MODEL_CAUSE_STEAL,       /* a hypervisor's interruptions: likewise, a part of all others */
	MODEL_CAUSES,
};

/* Are cycles of the cause stalls of the front end, or of the back end? */
static inline int model_cause_is_front(unsigned cause)
{
	return cause >= MODEL_CAUSE_FETCH_L2 && cause <= MODEL_CAUSE_MISPREDICT;
}

static inline int model_cause_is_back(unsigned cause)
{
	return (cause >= MODEL_CAUSE_DEPENDENCY && cause <= MODEL_CAUSE_SERIALISING) ||
	       cause == MODEL_CAUSE_SYSTEM_CALL;
}

/* Of one cause. */
struct model_clock_sum {
	double value;    /* cycles */
	double variance; /* of the value, if it is an estimate from windows */
	double squares;  /* of the variance's terms, for its degrees of freedom */
};

/* Of a process since it began, or of several: all fields add up. All zero: nothing was clocked. */
struct model_clock_sums {
	uint64_t windows; /* that the values are estimated from; 0: every cycle was clocked */
	struct model_clock_sum causes[MODEL_CAUSES];
	struct model_clock_sum cycles; /* of all causes, if they are estimates; else zero */
};

#endif
