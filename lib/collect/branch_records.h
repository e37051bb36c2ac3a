/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the records of lib/branches to the experiment: addresses of memory become those of images,
 * by the address space at that time, and the clock's samples in bursts are left out.
 */
#ifndef COLLECT_BRANCH_RECORDS_H
#define COLLECT_BRANCH_RECORDS_H

#include "branches/branches.h"
#include "collect/latency_records.h"
#include "collect/value_records.h"
#include "experiment/branches.h"

/* Of a burst, in which a process was stopped repeatedly. */
struct branch_quiet {
	uint64_t begin, end;
	pid_t pid;
};

/* The place of a candidate for rates: by its number less 1. */
struct branch_site {
	uint64_t address;
	uint32_t image;
};

/* A piece of memory with code of ours, that belongs to an instruction of the program. */
struct branch_stub {
	uint64_t begin, end, to;
	pid_t pid;
};

struct branch_records {
	struct branches *branches;         /* owned; NULL: nothing is followed */
	struct value_records *values;      /* whose visits it makes, borrowed; NULL: none */
	struct value_records *logged;      /* of what its bursts log, borrowed; NULL: none */
	struct latency_records *latencies; /* whose loads it times, borrowed */
	struct experiment *experiment;
	struct spaces *spaces;
	/* Takes records of samples by stops (stops.h); NULL: there are none. */
	int (*take)(void *context, const struct record *r);
	void *context;                     /* of take */
	bool only_samples;                 /* tallies are not added */
	VEC(struct branch_record) pending; /* from next on not yet in the experiment */
	size_t next;
	VEC(struct branch_quiet) quiet;
	VEC(struct branch_site) sites;
	VEC(struct branch_stub) stubs;   /* in order of process and address */
	VEC(struct experiment_run) ways; /* without counts: by their number less 1 */
};

/* Takes new records. Returns the time up to which they are complete: records of the kernel may be
 * taken up to it. -1 when memory is out. */
int branch_records_take(struct branch_records *r, uint64_t *known);
/* Whether there is anything before this time that is not in the experiment. */
bool branch_records_due(const struct branch_records *r, uint64_t time);
/* Adds everything before this time to the experiment. -1 when memory is out. */
int branch_records_advance(struct branch_records *r, uint64_t time);
/* Adds the branches that the processor recorded with a sample of process p. Not taken ones are not
 * among them: a run ends at the next that was taken. -1 when memory is out. */
int branch_records_stack(struct branch_records *r, struct process *p, const struct record *record);
/* Is a sample of this process at this time caused by the tracer? Times do not decrease. */
bool branch_records_quiet(struct branch_records *r, pid_t pid, uint64_t time);
/* Where a sample of this process at this address belongs: the instruction of a stub;
 * elsewhere the address itself. */
uint64_t branch_records_origin(const struct branch_records *r, pid_t pid, uint64_t address);
void branch_records_fini(struct branch_records *r);

#endif
