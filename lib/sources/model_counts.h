/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts in the files of model/wire/shared.h, added up.  Files of process images that have
 * ended are added to a sum and unlinked, so that a run may have any number of processes.
 */
#ifndef SOURCES_MODEL_COUNTS_H
#define SOURCES_MODEL_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "events/numbers.h"
#include "model/cause.h"
#include "model/fast.h"

/* A thread, over all programs that its process executed; tid 0: threads that ended and share a row.
 */
struct model_row {
	pid_t pid, tid;
	char command[16];
	uint64_t counts[EVENT_LIMIT];
};

struct model_sums {
	uint64_t total[EVENT_LIMIT];
	VEC(struct model_row) rows;   /* none unless requested */
	struct model_windows windows; /* of sampled simulation */
	struct model_clock_sums clock;
	uint64_t images;          /* number of process images */
	uint64_t lost;            /* processes without room for their counts */
	uint64_t unprofiled;      /* profiles without room */
	uint64_t native;          /* programs that ran outside the model */
	char native_program[112]; /* the first of them */
};

struct model_counts {
	char *directory; /* borrowed */
	bool per_thread;
	struct model_sums ended; /* of images whose files are gone */
};

void model_sums_fini(struct model_sums *s);
/* to += from, or to -= from. */
int model_sums_add(struct model_sums *to, const struct model_sums *from, struct error *e);
void model_sums_subtract(struct model_sums *to, const struct model_sums *from);

/* Stores all counts until now in *now, which the caller releases. */
int model_counts_read(struct model_counts *c, struct model_sums *now, struct error *e);
void model_counts_fini(struct model_counts *c);

#endif
