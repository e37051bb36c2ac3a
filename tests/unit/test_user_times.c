/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/kernels: what the system takes of a program's time at user level. */
#include "../tap.h"

#include "kernels/user_times.h"

int main(void)
{
	struct user_times t = user_times_measure(0.05);

	ok(t.call_ns >= 0 && t.call_ns < 1e6, "a system call: %.0f ns at user level", t.call_ns);
	ok(t.fault_ns >= 0 && t.fault_ns < 1e6, "a page fault: %.0f ns", t.fault_ns);
	ok(t.walk_ns >= 0 && t.walk_ns < 1e5, "a page after a system call: %.1f ns more",
		t.walk_ns);
	ok(t.stolen >= 0 && t.stolen < 1, "stolen: %.3f", t.stolen);
	return done();
}
