/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stops of threads cost on this host. It is measured by the first MEASURED runs after a boot,
 * for all users, since it takes some milliseconds. A busy machine disturbs a measurement: so the
 * medians of several are used.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "machine/kept.h"
#include "machine/machine.h"

#define MEASURED     3
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

static const struct kept_file costs_files[MEASURED] = {
	{"stops-1", costs_usable}, {"stops-2", costs_usable}, {"stops-3", costs_usable}};

bool machine_stop_costs(struct machine_stop_costs *c)
{
	double elapsed[MEASURED], stopped[MEASURED], interrupted[MEASURED];
	struct machine_identity id;

	if (!kept_measures())
		return false;
	machine_identify("", &id);
	for (size_t i = 0; i < MEASURED; i++) {
		char *text = kept_read(&costs_files[i], &id, KEPT_BOOT);
		bool found = text && costs_scan(text, c);

		free(text);
		if (!found)
			return false;
		elapsed[i] = c->elapsed;
		stopped[i] = c->stopped;
		interrupted[i] = c->interrupted;
	}
	*c = (struct machine_stop_costs){stats_median(elapsed, MEASURED),
		stats_median(stopped, MEASURED), stats_median(interrupted, MEASURED)};
	return true;
}

void machine_keep_stop_costs(const struct machine_stop_costs *c)
{
	struct machine_identity id;
	char text[200];

	if (!kept_measures())
		return;
	machine_identify("", &id);
	snprintf(text, sizeof(text), COSTS_TEXT, c->elapsed, c->stopped, c->interrupted);
	if (!costs_usable(text))
		return;
	for (size_t i = 0; i < MEASURED; i++) {
		char *there = kept_read(&costs_files[i], &id, KEPT_BOOT);
		bool found = there != NULL;

		free(there);
		if (!found) {
			kept_write(&costs_files[i], &id, KEPT_BOOT, text);
			return;
		}
	}
}
