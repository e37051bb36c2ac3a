/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second program of -versus: the command with another program in place of its first word, in
 * the same way and with the same input, into a file of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "ssrun.h"

static int run_second(struct options *o, const struct machine *m, struct collect_output *output,
	struct replay *input, bool *complete, struct error *e)
{
	int from = input->input;

	if (input->kind != REPLAY_EMPTY && replay_again(input, &from, e))
		return failed(e);
	return run_side(o, m, output, from, input, complete);
}

int run_versus(struct options *o, const struct machine *m, const struct collect_output *first,
	struct replay *input, int status)
{
	char *command = o->command[0], *file = NULL;
	const char *output_file = o->output;
	struct collect_output output = {0};
	bool complete = false;
	struct error e = {0};
	int second;

	if (o->output && asprintf(&file, "%s.versus", o->output) < 0) {
		error_nomem(&e);
		return failed(&e);
	}
	o->output = file;
	o->command[0] = (char *)o->versus;
	second = name_output(o, &output, &e) ? failed(&e)
					     : run_second(o, m, &output, input, &complete, &e);
	if (complete && !o->quiet)
		say("wrote %s and %s: prof -diff %s %s", first->path, output.path, first->path,
			output.path);
	else if (!complete)
		say("there is nothing to compare %s with: %s was not recorded to its end",
			first->path, o->versus);
	o->output = output_file;
	o->command[0] = command;
	collect_output_fini(&output);
	free(file);
	return status ? status : second;
}
