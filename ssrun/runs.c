/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs of -runs after the first, added to its experiment. Moments of bursts differ from run to
 * run, and what they may cost is shared. Thus a short program that is run often is followed like
 * a long one.
 */
#include "base/say.h"
#include "experiment/branches.h"
#include "experiment/merge.h"
#include "ssrun.h"

static int add_run(struct experiment *x, struct experiment *own, struct error *e)
{
	return experiment_settle(own, e) || experiment_merge(x, own, MERGE_THREADS, e) ||
			       experiment_settle(x, e)
		       ? -1
		       : 0;
}

/* As of perfex -r: the first status that is not 0. */
static void join_result(struct collect_result *all, const struct collect_result *own)
{
	all->elapsed += own->elapsed;
	if (all->exit_status)
		return;
	all->exit_status = own->exit_status;
	all->killed = own->killed;
}

static int one_more(struct collect_request *request, struct collect_result *own,
	struct experiment *x, struct error *e)
{
	struct experiment run;
	int rc;

	if (experiment_init(&run, e))
		return -1;
	rc = collect(request, &run, own, e);
	if (request->progress)
		progress_end(request->progress);
	if (rc == 0 && !own->interrupted)
		rc = add_run(x, &run, e);
	experiment_fini(&run);
	return rc;
}

/* Returns the number of runs in x. */
static unsigned long run_on(const struct options *o, struct collect_request *request,
	struct collect_result *result, struct replay *input, struct experiment *x, struct error *e)
{
	unsigned long n = 1;

	for (; n < o->runs && !result->interrupted; n++) {
		struct collect_result own;

		if ((input->kind != REPLAY_EMPTY && replay_again(input, &request->input, e)) ||
			one_more(request, &own, x, e))
			return n;
		if (own.interrupted) {
			result->interrupted = true;
			result->signal = own.signal;
			return n;
		}
		join_result(result, &own);
	}
	return n;
}

static bool has_bursts(const struct experiment *x)
{
	return experiment_tally(x, TALLY_BURSTS) || experiment_tally(x, TALLY_BURSTS_EMPTY);
}

int further_runs(const struct options *o, struct collect_request *request,
	struct collect_result *result, struct replay *input, struct experiment *x, struct error *e)
{
	struct error why = {0};
	unsigned long n = 1;

	if (o->runs == 1)
		return 0;
	if (experiment_settle(x, e))
		return -1;
	n = run_on(o, request, result, input, x, &why);
	if (why.code == ERR_NOMEM) { /* perhaps in the middle of x */
		*e = why;
		return -1;
	}
	if (why.code != ERR_NONE) {
		say("run %lu of %lu failed, the experiment is of those before it: %s", n + 1,
			o->runs, why.message);
		if (why.hint[0])
			say("  %s", why.hint);
		result->exit_status = EXIT_OURS;
		result->killed = false;
	}
	if (result->interrupted) {
		say("interrupted: the experiment is of %lu of %lu runs", n, o->runs);
		result->exit_status = 128 + result->signal;
		result->killed = false;
	}
	if (experiment_tally(x, TALLY_PROGRAM_NS) && !has_bursts(x) && !o->quiet)
		say("the program was too short for branch records (%.2g s of CPU time in %lu "
		    "runs): give more runs, or a rate with -bursts",
			(double)experiment_tally(x, TALLY_PROGRAM_NS) * 1e-9, n);
	return 0;
}
