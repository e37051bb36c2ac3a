/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the instructions of a procedure waited for: "guilty until proven innocent" (Anderson et al.,
 * SOSP'97, section 6.3). Cycles beyond those that the static schedule explains are a dynamic wait.
 * At first every cause is a suspect. Causes that the code rules out are removed, and each of the
 * rest gets a bound: at most so many occurrences, at most so many cycles each. A cause is charged
 * at least what the others together cannot explain, and at most its bound. Between these, `likely`
 * divides the wait in proportion to the usual cost of each cause where it is possible.
 *
 * Samples are of what retirement waits for. On a core that executes out of order, all operands of
 * the oldest instruction are ready: so it waits for its own miss, for its own latency, or because
 * it came late from the front end, and rules can be local. On a core that executes in order, it
 * waits for the load that its operands come from.
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
	CULPRIT_L2, /* data from there; the next two in the order of distance */
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
	CULPRIT_DEPENDENCY, /* operands of other blocks, its own latency: beyond the block's
			       schedule */
	CULPRIT_FRONT_END,  /* fetching and decoding what was jumped to: likewise */
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
	uint32_t fetch_lines, fetch_pages; /* that the first level holds, of code */
	double data[3];                    /* bytes that L1, L2, LL hold; 0: not known */
};

struct culprits_input {
	const struct flow *flow;
	const struct core *core;
	const struct culprits_machine *machine;
	const double *cycles;       /* of each instruction, at what waited */
	double sample;              /* cycles that a sample stands for: how much they scatter */
	const double *executions;   /* of each block; 0 or NAN: not known */
	const double *least, *most; /* bounds of these; NULL: they are sure (culprits_unsure) */
	const double *edges;        /* of each edge; NAN: not known; may be NULL */
	const double *mi;           /* of each instruction */
	const struct schedule_row *rows; /* likewise */
	const bool *unsure;              /* of each: its cycles may be another's; may be NULL */
	/* Likely misses of each instruction's line and page a time that it is fetched anew
	 * (culprits_lines.h); may be NULL. */
	const double *line_misses, *page_misses;
	/* Events counted by instruction: what they cost usually, and at most, in cycles; of a
	 * misprediction at the branch.  NULL: nobody counted. */
	const double *events[CULPRITS], *events_most[CULPRITS];
	/* Of misses: how often, and what all of them take, in cycles; NULL: not told. */
	const double *events_times[CULPRITS], *events_full[CULPRITS];
	/* Where mispredictions were counted: of returns, and of calls, the share mispredicted. */
	double wrong_returns, wrong_calls;
	bool counted;      /* executions of edges are no estimates */
	bool behind_calls; /* what waits behind a call is shown at the call */
	/* How much more or less usual causes are in this program than elsewhere, the schedule's
	 * waits last (culprits_learn.h); NULL: not known. */
	const double *factor;
	bool survey;     /* fill culprits.possible */
	bool any_events; /* some of events is there */
	bool faults;     /* the time of page faults is that of the instruction */
};

struct culprit {
	uint8_t cause;    /* enum culprit_cause */
	uint32_t blame;   /* instruction; FLOW_NONE: none is known */
	double low, high; /* cycles */
	double likely;
	double weight; /* what likely is in proportion to, before factors */
	double usual;  /* it gets no more as long as others can have it; 0: no such limit */
};

/* Cycles of one instruction; they add up to what was sampled there. */
struct culprit_wait {
	double execution;   /* its turns to retire */
	double fixed;       /* what the schedule says it waits, as far as that was seen */
	double dynamic;     /* beyond both */
	double gain;        /* it took less than its turns: <= 0 */
	double error;       /* a difference that so few samples do not tell from none */
	double unexplained; /* of dynamic */
	/* Not part of the sum: */
	double wait;  /* beyond its turns: fixed and dynamic together; 0 where that is error */
	double most;  /* what the schedule says at most */
	double trust; /* how likely that is, before factors: 1 where nothing speaks against it */
	uint32_t first, count; /* of list */
	/* Bounds where executions are not sure: of fixed, and of CULPRIT_DATA taken together. */
	bool unsure;
	double fixed_low, fixed_high, data_low, data_high;
};

struct culprits {
	size_t count;
	struct culprit_wait *wait; /* of each instruction */
	VEC(struct culprit) list;  /* most likely first, of each instruction */
	double untold;             /* cycles where executions are not known */
	double possible[CULPRITS +
			1]; /* sums of weights, of what waited or not; the schedule's last */
};

/* -1 with *e set when memory is out. */
int culprits_find(struct culprits *c, const struct culprits_input *in, struct error *e);
/* Behind that: bounds are widened to what can have been between in->least and in->most executions,
 * and causes that could have had a part are added; what is likely stays as it is. */
int culprits_unsure(struct culprits *c, const struct culprits_input *in, struct error *e);
void culprits_fini(struct culprits *c);

/* What a wait of the schedule is for: enum schedule_cause, or a division's own. */
enum { CULPRIT_FIXED_DIVISION = SCHEDULE_CAUSES, CULPRIT_FIXED };
unsigned culprit_fixed(const struct culprits_input *in, uint32_t insn);
const char *culprit_fixed_name(unsigned fixed);

/* Sums over instructions. */
struct culprits_sum {
	double low[CULPRITS], high[CULPRITS], likely[CULPRITS];
	double data_low, data_high; /* CULPRIT_L2 to CULPRIT_MEMORY taken together */
	double fixed[CULPRIT_FIXED], fixed_low[CULPRIT_FIXED], fixed_high[CULPRIT_FIXED];
	double execution, dynamic, gain, error, unexplained, untold;
	double cycles; /* of all */
};
void culprits_add(
	struct culprits_sum *s, const struct culprits *c, const struct culprits_input *in);

/* The causes of misses of data. */
#define CULPRIT_DATA (1u << CULPRIT_L2 | 1u << CULPRIT_LL | 1u << CULPRIT_MEMORY)

#endif
