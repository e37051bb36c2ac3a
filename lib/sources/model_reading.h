/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the model's sums are as a reading. */
#ifndef SOURCES_MODEL_READING_H
#define SOURCES_MODEL_READING_H

#include "sources/model_counts.h"
#include "sources/source.h"

/* Stores the counts of these events, the cycles by cause, and the threads' counts, if the sums have
 * their rows. The machine has what is added to cycles: execution.page_fault and steal. r->counts
 * has room for count. */
int model_reading_fill(struct reading *r, const struct model_sums *sums,
	const struct event_spec *specs, size_t count, const struct model_execution_config *machine,
	struct error *e);

#endif
