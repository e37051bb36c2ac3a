/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of loads of known levels on this host (lib/values/latencies.h), measured or kept. */
#ifndef COLLECT_KEPT_LEVELS_H
#define COLLECT_KEPT_LEVELS_H

#include "values/latencies.h"

/* -1: that is not possible here. */
int kept_levels_find(struct latency_levels *l, struct error *e);

#endif
