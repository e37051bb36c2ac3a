/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modelled waits: the cycles that each instruction kept retirement waiting on the model, by cause
 * (the model's retirement clock). They are of the whole run: of no thread and no phase.
 */
#ifndef EXPERIMENT_WAITS_H
#define EXPERIMENT_WAITS_H

#include "experiment/experiment.h"

/* Numbers are those of the file; in the order of enum model_cause (model/retire.h). */
enum experiment_wait_cause {
	WAIT_EXECUTION, /* an instruction retired in its turn: no wait */
	WAIT_DEPENDENCY,
	WAIT_UNIT,
	WAIT_DIVIDER,
	WAIT_L2, /* data, from there */
	WAIT_LL,
	WAIT_MEMORY,
	WAIT_INTERVENTION,
	WAIT_DTLB,
	WAIT_FORWARD,
	WAIT_ALIAS,
	WAIT_STORE_BUFFER,
	WAIT_LOCKED,
	WAIT_SERIALISING,
	WAIT_FETCH_L2, /* code, from there */
	WAIT_FETCH_LL,
	WAIT_FETCH_MEMORY,
	WAIT_FETCH_INTERVENTION,
	WAIT_ITLB,
	WAIT_TAKEN,
	WAIT_MISPREDICT,
	WAIT_SYSTEM_CALL, /* at user level */
	WAIT_PAGE_FAULT,  /* of no instruction: there are no rows of it */
	WAIT_STEAL,       /* likewise */
	WAIT_CAUSES
};

/* "execution", "last-level", "mispredict" ... */
extern const char *const experiment_wait_words[WAIT_CAUSES];

#define EXPERIMENT_WAIT_PARTS 4096 /* of a cycle */

/* table entry ("key" first, see base/table.h) */
struct experiment_wait {
	struct {
		uint64_t address; /* of an instruction */
		uint32_t image, cause;
	} key;
	uint64_t parts; /* of cycles; not 0 */
};

static inline const struct experiment_wait *experiment_wait_at(const struct experiment *x, size_t i)
{
	return (const struct experiment_wait *)(const void *)x->waits.entries + i;
}

#endif
