/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Monitor without rights: it attaches to the processes of its own user. What they start is
 * watched with them; what others start for this user (a login) is found by reading /proc again.
 */
#ifndef MONITOR_MONITOR_OWN_H
#define MONITOR_MONITOR_OWN_H

#include "collect/rings.h"
#include "monitor/monitor_clock.h"

struct monitor_own {
	struct table seen;   /* processes that the last look found and did not attach to */
	uint64_t unattached; /* threads that could not be watched */
	bool begun;
};

/* Attaches to processes that are not yet known to w, and closes the events of ended ones. -1 with
 * *e set: memory is out. */
int monitor_own_look(struct monitor_own *o, const struct monitor_clock *clock, struct rings *rings,
	struct watch *w, uint64_t time, struct error *e);
void monitor_own_fini(struct monitor_own *o);

#endif
