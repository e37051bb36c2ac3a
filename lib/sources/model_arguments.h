/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's arguments, above all for a profile. */
#ifndef SOURCES_MODEL_ARGUMENTS_H
#define SOURCES_MODEL_ARGUMENTS_H

#include "base/strbuf.h"
#include "sources/model_counts.h"
#include "sources/source.h"

/* Where Valgrind's messages go, a file for each process. */
void model_log_argument(const char *directory, struct strbuf *to);

#define MODEL_PROFILE_ARGUMENTS 5

/* arguments[MODEL_PROFILE_ARGUMENTS]: options of the tool, or nothing; the caller's to release.
 * r: NULL for no profile. */
void model_profile_arguments(const struct profile_request *r, struct strbuf *arguments);

/* The counts with which the profile is compared. */
void model_profile_missing(const struct profile_request *r, const struct model_sums *sums);

/* What the run asks of the model: config.parts and events.  Profiles, except for samples alone, may
 * need any event. */
void model_arguments_ask(struct model_config *config, const struct source_options *options,
	const struct event_spec *specs, size_t count);

#endif
