/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relations that must hold between counts: misses are at most accesses, mispredicted branches at
 * most branches ... A scaled estimate may violate one by chance; then it is moved to the nearest
 * possible value. A processor whose events mean something else violates one by more than chance
 * (the intervals do not overlap); such counts are left unchanged.
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
