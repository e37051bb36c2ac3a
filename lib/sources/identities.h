/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold between counts: misses are no more than accesses, mispredicted branches no more
 * than branches ... A scaled estimate may say otherwise by chance; then it is moved to where it can
 * be.  A processor whose events mean something else breaks an identity by more than chance (the
 * intervals do not touch); that is left to be seen.
 */
#ifndef SOURCES_IDENTITIES_H
#define SOURCES_IDENTITIES_H

#include <stddef.h>

#include "events/event.h"
#include "sources/source.h"

/* Moves scaled estimates within their intervals, and sets their clamped.  specs and counts: as many
 * as count. */
void identities_clamp(const struct event_spec *specs, struct count *counts, size_t count);

#endif
