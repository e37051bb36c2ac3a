/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: costs of stops are kept after three measurements. */
#include "../tap.h"

#include <stdlib.h>

#include "machine/kept.h"
#include "machine/machine.h"

#include "kept_files.h"

int main(void)
{
	char dir[] = "/tmp/stop-costs.XXXXXX";
	struct machine_stop_costs c;

	if (!mkdtemp(dir)) {
		ok(0, "a directory of its own");
		return done();
	}
	setenv("XDG_CACHE_HOME", dir, 1);
	kept_directories(dir, NULL);
	unsetenv("PERFEX_HOST");
	ok(!machine_stop_costs(&c), "none is known");
	machine_keep_stop_costs(&(struct machine_stop_costs){9000, 4000, 11000});
	machine_keep_stop_costs(&(struct machine_stop_costs){70000, 30000, 90000});
	ok(!machine_stop_costs(&c), "two do not show which one was disturbed");
	machine_keep_stop_costs(&(struct machine_stop_costs){0, 4000, 11000});
	ok(!machine_stop_costs(&c), "impossible ones are not kept");
	machine_keep_stop_costs(&(struct machine_stop_costs){8000, 5000, 12000});
	ok(machine_stop_costs(&c), "three do");
	ok(c.elapsed == 9000 && c.stopped == 5000 && c.interrupted == 12000, "medians");
	machine_keep_stop_costs(&(struct machine_stop_costs){1, 1, 1});
	ok(machine_stop_costs(&c) && c.elapsed == 9000, "no more are kept");
	setenv("PERFEX_HOST", "none", 1);
	ok(!machine_stop_costs(&c), "none, where nothing measured may be used");
	kept_files_remove(dir);
	return done();
}
