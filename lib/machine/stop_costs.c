/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stops of threads cost on this host: the medians of several measurements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "machine/machine.h"

#define MOST         1e6 /* ns */
#define COSTS_FORMAT "stops 1, perfex " PERFEX_VERSION ": %lf %lf %lf ns\n"
#define COSTS_TEXT   "stops 1, perfex " PERFEX_VERSION ": %.0f %.0f %.0f ns\n"

static bool costs_scan(const char *text, struct machine_stop_costs *c)
{
	return sscanf(text, COSTS_FORMAT, &c->elapsed, &c->stopped, &c->interrupted) == 3 &&
	       c->elapsed > 0 && c->elapsed < MOST && c->stopped > 0 && c->stopped < MOST &&
	       fabs(c->interrupted) < MOST;
}

static bool costs_usable(const char *text)
{
	struct machine_stop_costs c;

	return costs_scan(text, &c);
}

static const struct machine_measurement costs_kept = {"stops", costs_usable};

bool machine_stop_costs(struct machine_stop_costs *c)
{
	double elapsed[MACHINE_MEASURED], stopped[MACHINE_MEASURED], interrupted[MACHINE_MEASURED];

	for (unsigned i = 0; i < MACHINE_MEASURED; i++) {
		char *text = machine_measured(&costs_kept, i);
		bool found = text && costs_scan(text, c);

		free(text);
		if (!found)
			return false;
		elapsed[i] = c->elapsed;
		stopped[i] = c->stopped;
		interrupted[i] = c->interrupted;
	}
	*c = (struct machine_stop_costs){stats_median(elapsed, MACHINE_MEASURED),
		stats_median(stopped, MACHINE_MEASURED),
		stats_median(interrupted, MACHINE_MEASURED)};
	return true;
}

void machine_keep_stop_costs(const struct machine_stop_costs *c)
{
	char text[200];

	snprintf(text, sizeof(text), COSTS_TEXT, c->elapsed, c->stopped, c->interrupted);
	machine_keep_measured(&costs_kept, text);
}
