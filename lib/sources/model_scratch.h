/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory for the files of a run under the model (model/wire/shared.h), in memory by
 * preference. Its file "config" is locked during the run, so that the next run can recognise and
 * remove the directories of runs that were killed.
 */
#ifndef SOURCES_MODEL_SCRATCH_H
#define SOURCES_MODEL_SCRATCH_H

#include <sys/types.h>

#include "base/error.h"
#include "model/model.h"

struct model_scratch {
	char path[512]; /* "" before it is made */
	int lock;       /* descriptor */
};

/* Removes what killed runs have left in memory and in TMPDIR. Making a directory does so as well.
 */
void model_scratch_sweep(void);
/* With the configuration in it. */
int model_scratch_make(struct model_scratch *s, const struct model_config *config, struct error *e);
/* This process is of the run: what Valgrind leaves for it goes with the directory. */
void model_scratch_note(const struct model_scratch *s, pid_t pid);
/* Also of one that was never made, if it is zeroed. */
void model_scratch_remove(struct model_scratch *s);

#endif
