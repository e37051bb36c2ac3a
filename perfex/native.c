/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -native. The counted runs come first, and their output is the user's: so they are the same with
 * and without this option. */
#include "native.h"

#include "base/say.h"

void native_measure(const struct options *o, struct replay *input, struct native_times *t)
{
	struct error e = {0};
	bool interrupted;

	if (native_times_measure(o->command, input, t, &interrupted, &e))
		say_error(&e);
	else if (interrupted && !t->runs)
		say("interrupted: no run without the model has ended, so its time is not known");
}
