/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of ssrun; each returns the exit status. */
#ifndef SSRUN_COMMAND_H
#define SSRUN_COMMAND_H

#include "options.h"
#include "process/replay.h"

int do_run(struct options *o);
int do_list(const struct options *o);
int do_completion(void);

/* After the first run of -explain: the second, whose counts are added to x. -1: there are none,
 * which has been said, and x is as it was. */
int second_run(const struct options *o, const struct collect_request *native,
	const struct collect_result *first, struct replay *input, struct experiment *x);

#endif
