/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modelled waits (experiment/waits.h) of all experiments of a report, added up by place, entity or
 * instruction.
 */
#ifndef PROFILE_MODELLED_H
#define PROFILE_MODELLED_H

#include "experiment/waits.h"
#include "profile/entities.h"

/* Cycles by cause. */
struct prof_waited {
	double cycles[WAIT_CAUSES], all;
};

struct prof_modelled {
	struct table insns; /* by image of the report and address */
	double all;         /* cycles of the whole run */
};

/* Was this metric counted by the second run of an experiment of two (ssrun -explain)? */
bool profile_second_run(const struct prof_data *d, size_t metric);

/* Are exact counts of this input of another command than the samples of another input? Then they
 * are no executions of what was sampled. Sums of several commands are not known to be. */
bool profile_counts_foreign(const struct prof_data *d, size_t input);

/* Does any experiment have some? */
bool profile_has_waits(const struct prof_data *d);

/* -1 when memory is out; profile_modelled_fini is needed nevertheless. */
int profile_modelled_init(struct prof_modelled *m, const struct prof_data *d);
void profile_modelled_fini(struct prof_modelled *m);

/* Of the instruction at an address of an image of the report; NULL: none. */
const struct prof_waited *profile_waited_at(
	const struct prof_modelled *m, uint32_t image, uint64_t address);
/* Of each entity; to be freed by the caller, NULL when memory is out. */
struct prof_waited *profile_waited_of(
	const struct prof_modelled *m, const struct prof_data *d, const struct prof_sums *s);
void profile_waited_add(struct prof_waited *to, const struct prof_waited *from);

/* "memory 71%, dtlb 9%": the largest shares, at most `count`; "" if there are no cycles. */
void profile_waited_text(const struct prof_waited *w, unsigned count, char *text, size_t size);

#endif
