/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the instructions of a procedure waited for: "guilty until proven innocent" (Anderson et
 * al., SOSP'97, section 6.3). Cycles beyond those that the static schedule explains are a dynamic
 * wait. At first every cause is a suspect. Causes that the code rules out are removed, and each of
 * the rest gets a bound: a largest number of occurrences and of cycles for each. A cause is
 * charged at least what the others together cannot explain, and at most its bound. Between these,
 * `likely` divides the wait in proportion to the usual cost of each cause where it is possible.
 *
 * A sample names the instruction that retirement waits for. On a core that executes out of order,
 * the operands of the oldest instruction are ready. It waits for its own miss, for its own
 * latency, or because the front end delivered it late, so rules can be local. On a core that
 * executes in order, it waits for the load that produces its operands.
 *
 * The factors of priors are learnt from the program: instructions that could have waited for a
 * cause and did not make it less likely. With fixed priors, loads were blamed for mispredicted
 * branches.
 *
 * If counts of events by instruction are given (misses, mispredictions), bounds follow from these.
 *
 * Cost: linear in instructions and edges.
 */
#ifndef ANALYSIS_CULPRITS_H
#define ANALYSIS_CULPRITS_H

#include "flow/flow.h"
#include "schedule/schedule.h"

enum culprit_cause {
	CULPRIT_ICACHE,
	CULPRIT_ITLB,
	CULPRIT_L2, /* data from L2; the next two are in order of distance */
	CULPRIT_LL,
	CULPRIT_MEMORY,
	CULPRIT_DTLB,
	CULPRIT_MISPREDICT,
	CULPRIT_STORES,  /* the store buffer was full */
	CULPRIT_FORWARD, /* store forwarding failed */
	CULPRIT_DIVIDER,
	CULPRIT_MULTIPLIER,
	CULPRIT_LOCKED,
	CULPRIT_SERIALISING,
	CULPRIT_FAULT,      /* page faults */
	CULPRIT_DEPENDENCY, /* operands from other blocks or its own latency, beyond the block's
			       schedule */
	CULPRIT_FRONT_END,  /* fetching and decoding a jump's target, beyond the block's schedule */
	CULPRITS
};

/* "I-cache miss" ...; a letter for bubbles; a short name for scripts.  Static. */
const char *culprit_name(enum culprit_cause cause);
char culprit_letter(enum culprit_cause cause);
const char *culprit_key(enum culprit_cause cause);

/* Of one occurrence, in cycles. */
struct culprit_cost {
	double typical, maximum;
};

struct culprits_machine {
	struct culprit_cost cost[CULPRITS];
	uint32_t line, page;               /* bytes, powers of two */
	uint32_t fetch_lines, fetch_pages; /* entries of the first level, for code */
	double data[3];                    /* bytes of L1, L2, LL; 0: unknown */
};

/* What was seen of an instruction's loads: shares of its executions, and what they are at most. */
struct culprit_seen {
	bool levels, forwarding;      /* which of these are known */
	double share[3], most[3];     /* data from L2, the last level, memory */
	bool alike[3];                /* a level that was not distinguished from L1 */
	double blocked, blocked_most; /* store forwarding failed */
};

struct culprits_input {
	const struct flow *flow;
	const struct core *core;
	const struct culprits_machine *machine;
	const double
		*cycles; /* cycles of each instruction, charged to the instruction that waited */
	double sample;   /* cycles per sample: the scatter follows from them */
	const double *executions;   /* executions of each block; 0 or NAN: unknown */
	const double *least, *most; /* their bounds; NULL: executions are exact (culprits_unsure) */
	const double *edges;        /* of each edge; NAN: unknown; may be NULL */
	const double *mi;           /* of each instruction */
	const struct schedule_row *rows; /* likewise */
	const bool *unsure; /* of each: its cycles may belong to another; may be NULL */
	/* Probability that each instruction's line and page miss per fetch (culprits_lines.h); may
	 * be NULL. */
	const double *line_misses, *page_misses;
	/* Events counted by instruction: their usual and greatest cost, in cycles; mispredictions
	 * at the branch. NULL: not counted. */
	const double *events[CULPRITS], *events_most[CULPRITS];
	/* Of misses: their number and the cycles of all together; NULL: unknown. */
	const double *events_times[CULPRITS], *events_full[CULPRITS];
	const struct culprit_seen *seen; /* by instruction; NULL: nothing was seen */
	/* Where mispredictions were counted: the mispredicted share of returns and of calls. */
	double wrong_returns, wrong_calls;
	bool counted;      /* executions of edges are exact */
	bool behind_calls; /* a wait after a call is shown at the call */
	/* How much more or less usual causes are in this program than elsewhere, the schedule's
	 * waits last (culprits_learn.h); NULL: unknown. */
	const double *factor;
	bool survey;     /* fill culprits.possible */
	bool any_events; /* at least one element of events is set */
	bool modelled;   /* events are a model's, cycles are not: a miss may cost more */
	bool faults;     /* page faults are charged to the instruction */
};

struct culprit {
	uint8_t cause;    /* enum culprit_cause */
	uint32_t blame;   /* instruction; FLOW_NONE: unknown */
	double low, high; /* cycles */
	double likely;
	double weight; /* before factors, likely is in proportion to this */
	double usual;  /* limit as long as other causes can take the rest; 0: none */
};

/* Cycles of one instruction; they add up to what was sampled there. */
struct culprit_wait {
	double execution;   /* its turns to retire */
	double fixed;       /* the schedule's wait, as far as samples show it */
	double dynamic;     /* beyond both */
	double gain;        /* it took less than its turns: <= 0 */
	double error;       /* a difference within the scatter of the samples */
	double unexplained; /* of dynamic */
	/* Not part of the sum: */
	double wait;       /* beyond its turns: fixed and dynamic together; 0 if that is error */
	double most;       /* the schedule's wait at most */
	double trust;      /* confidence in most, before factors: 1 if no evidence is against it */
	double lack;       /* of most: neither it nor a neighbour waited so long */
	double shown;      /* of fixed: the schedule's waits of neighbours */
	double shown_most; /* those of shown_of, the largest */
	uint32_t shown_of; /* instruction */
	uint32_t first, count; /* of list */
	/* Bounds if executions are uncertain: of fixed, and of all CULPRIT_DATA together. */
	bool unsure;
	double fixed_low, fixed_high, data_low, data_high;
};

struct culprits {
	size_t count;
	struct culprit_wait *wait;     /* of each instruction */
	VEC(struct culprit) list;      /* most likely first, of each instruction */
	double untold;                 /* cycles of instructions with unknown executions */
	double possible[CULPRITS + 1]; /* sums of weights, waited or not; the schedule's last */
};

/* -1 with *e set when memory is out. */
int culprits_find(struct culprits *c, const struct culprits_input *in, struct error *e);
/* To be called after culprits_find: widens bounds to what is possible between in->least and
 * in->most executions, and adds causes that are possible there. likely does not change. */
int culprits_unsure(struct culprits *c, const struct culprits_input *in, struct error *e);
void culprits_fini(struct culprits *c);

/* The reason of a wait of the schedule: enum schedule_cause, or a divider's own. */
enum { CULPRIT_FIXED_DIVISION = SCHEDULE_CAUSES, CULPRIT_FIXED };
unsigned culprit_fixed(const struct culprits *c, const struct culprits_input *in, uint32_t insn);
/* The instruction whose schedule `fixed` mostly is: itself, or a neighbour. */
uint32_t culprit_scheduled(const struct culprits *c, uint32_t insn);
const char *culprit_fixed_name(unsigned fixed);

/* Sums over instructions. */
struct culprits_sum {
	double low[CULPRITS], high[CULPRITS], likely[CULPRITS];
	double data_low, data_high; /* CULPRIT_L2 to CULPRIT_MEMORY taken together */
	double fixed[CULPRIT_FIXED], fixed_low[CULPRIT_FIXED], fixed_high[CULPRIT_FIXED];
	double execution, dynamic, gain, error, unexplained, untold;
	double unsure; /* of instructions whose executions are too uncertain */
	double cycles; /* of all */
};
/* unsure: of each instruction, whether its cycles are added to s->unsure alone, and to the bounds;
 * NULL: of none. */
void culprits_add(struct culprits_sum *s, const struct culprits *c, const struct culprits_input *in,
	const bool *unsure);

/* The causes of misses of data. */
#define CULPRIT_DATA (1u << CULPRIT_L2 | 1u << CULPRIT_LL | 1u << CULPRIT_MEMORY)

#endif
