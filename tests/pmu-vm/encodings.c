/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our table of Neoverse N1 encodings against libpfm4's, which knows this processor only in its
 * build for arm64. */
#include "../tap.h"

#include "events/encodings.h"
#include "events/event.h"
#include "events/libpfm.h"

int main(void)
{
	size_t compared = 0;

	is_str(event_host_family(), "neoverse-n1", "this machine is one");
	for (int i = 0; i < EV_COUNT; i++) {
		const struct encoding *ours = &encodings_neoverse_n1.rows[i];
		struct event_code theirs;
		struct error e;
		char name[128];

		if (!ours->event || !ours->raw)
			continue;
		snprintf(name, sizeof(name), "arm_n1::%s", ours->event);
		if (libpfm_encode(name, true, &theirs, &e) != 0) {
			skip(e.message); /* libpfm4 does not have all of them */
			continue;
		}
		compared++;
		if (theirs.config != ours->raw || i < 2)
			is_int(theirs.config, ours->raw, "event %d is %s", i, ours->event);
	}
	ok(compared > 20, "%zu encodings are libpfm4's", compared);
	return done();
}
