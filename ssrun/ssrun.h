/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of ssrun; each returns the exit status. */
#ifndef SSRUN_COMMAND_H
#define SSRUN_COMMAND_H

#include "options.h"
#include "process/replay.h"

int do_run(struct options *o);
/* The parts of it.  The first part of the file's name: the command, the process, or the whole
 * system. */
int name_output(const struct options *o, struct collect_output *output, struct error *e);
/* The runs of a command into a file; from: what the first reads. *complete: it is written, and none
 * was interrupted. */
int run_side(struct options *o, const struct machine *m, struct collect_output *output, int from,
	struct replay *input, bool *complete);
/* The runs of the program of -versus, after those of the command, whose status this is. */
int run_versus(struct options *o, const struct machine *m, const struct collect_output *first,
	struct replay *input, int status);
/* Says the error, and returns its status. */
int failed(const struct error *e);
int do_list(const struct options *o);
int do_completion(void);
/* The words after "monitor". */
int do_monitor(int argc, char **argv);
extern const struct option_row monitor_options[];

/* After the first run of -explain: the second, whose counts are added to x. -1: there are none,
 * which has been said, and x is as it was. */
int second_run(const struct options *o, const struct collect_request *native,
	const struct collect_result *first, struct replay *input, struct experiment *x);

/* The runs of -runs after the first, whose result this is: adds them to x. *result becomes that of
 * the first run that failed. A run that ^C ends is left out, and so are those after it. -1 with *e
 * set when memory is out: x can only be freed. */
int further_runs(const struct options *o, struct collect_request *request,
	struct collect_result *result, struct replay *input, struct experiment *x, struct error *e);

#endif
