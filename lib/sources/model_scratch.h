/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory that a run under the model keeps its files in (model/wire/shared.h), in memory
 * by preference.  Its file "config" is locked for as long as the run lasts, so that what a run has
 * left that was killed can be told from what is in use: the next run removes it.
 */
#ifndef SOURCES_MODEL_SCRATCH_H
#define SOURCES_MODEL_SCRATCH_H

#include "base/error.h"
#include "model/model.h"

struct model_scratch {
	char path[512]; /* "" before it is made */
	int lock;       /* descriptor */
};

/* With the configuration in it. */
int model_scratch_make(struct model_scratch *s, const struct model_config *config, struct error *e);
/* Also of one that was never made, if it is zeroed. */
void model_scratch_remove(struct model_scratch *s);

#endif
