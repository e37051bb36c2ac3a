/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling with perf_event_open: runs the command, or attaches, and reads the kernel's records
 * until the command or the process ends, or the user stops it.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "collect/collect.h"
#include "collect/collect_costs.h"
#include "collect/collect_values.h"
#include "collect/perf_events.h"
#include "collect/stops.h"
#include "process/launch.h"
#include "process/seize.h"

/* A record's time is taken shortly before it is visible; newer records wait. */
#define GUARD (SECOND / 1000)
/* Rings wake us when they are a quarter full; other sources are polled at this interval. */
#define ROUND_MS       250
#define EARLY_ROUND_MS 30
/* A round is this part of the time before it, so that a run of a second has some 20. */
#define ROUND_PART 8
/* While processes come and go, to read their arguments while they exist. */
#define FORKING_ROUND_MS 5
#define FORKING          (SECOND / 4)
/* Checkpoints: the first one early, then rarely enough that they cost less than a hundredth. */
#define CHECKPOINT_FIRST (SECOND)
#define CHECKPOINT_EVERY (5 * (uint64_t)SECOND)
#define CHECKPOINT_SHARE 500

struct collection {
	const struct collect_request *request;
	struct collect_result *result;
	struct experiment *experiment;
	struct sampler sampler;
	struct launch launch;
	bool launched, stop;
	struct collect_costs costs;
	bool stops;            /* samples are by stops (stops.h), */
	struct error no_clock; /* for this reason */
	int signals, pidfd;    /* descriptors; -1 */
	uint64_t began, next_caliper, next_checkpoint;
	size_t processes;    /* that were known in the last round, */
	uint64_t last_began; /* and when their number last grew */
	VEC(struct pollfd) poll;
};

/* ---- beginning ------------------------------------------------------------------------------- */

static int attach_thread(struct collection *c, pid_t tid, struct error *e)
{
	struct error why;

	if (perf_events_open(c->request, &c->sampler, tid, false, &why) == 0)
		return 0;
	if (why.errnum == ESRCH) /* it ended just now */
		return 0;
	*e = why;
	return -1;
}

/* All existing threads; threads created meanwhile, by threads not yet attached to, are found when
 * the list is read again. */
static int attach(struct collection *c, pid_t pid, struct error *e)
{
	struct table known = {.entry_size = 8, .key_size = 8};
	size_t before;
	int rc = 0;

	do {
		DIR *list = proc_list(pid);
		uint64_t tid;

		before = known.count;
		if (!list) {
			rc = error_set(e, ERR_NOT_FOUND, "process %d does not exist", (int)pid);
			break;
		}
		while (rc == 0 && (tid = (uint64_t)proc_next(list)))
			if (!table_find(&known, &tid))
				rc = table_add(&known, &tid) ? attach_thread(c, (pid_t)tid, e)
							     : error_nomem(e);
		closedir(list);
	} while (rc == 0 && known.count > before);
	table_fini(&known);
	return rc;
}

/* All processes. */
static int look_at_all(struct collection *c, struct error *e)
{
	DIR *list = proc_list(0);
	pid_t pid;
	int rc = 0;

	while (rc == 0 && (pid = proc_next(list)))
		if (!spaces_process(&c->sampler.spaces, pid, c->began))
			rc = error_nomem(e);
	if (list)
		closedir(list);
	return rc;
}

static int start_command(struct collection *c, struct error *e)
{
	struct phases *phases = &c->sampler.phases;

	if (launch_init(&c->launch, c->request->argv, e))
		return -1;
	c->launched = true;
	c->launch.input = c->request->input;
	c->launch.silent = c->request->silent;
	if (phases_listen(phases, NULL) == 0 &&
		launch_setenv(&c->launch, POINTS_ENVIRONMENT, phases->path, e))
		return -1;
	return launch_start(&c->launch, e);
}

/* Branch records, values and samples by stops come from a thread that traces. */
static bool wants_tracer(const struct collection *c)
{
	return c->stops || collect_wants(c->request, METRIC_BRANCHES | METRIC_VALUES);
}

/* The signals that we handle; the command's are unchanged. The tracer waits for stops of
 * threads. */
static int take_signals(struct collection *c, bool children, struct error *e)
{
	static const int handled[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&set, handled[i]);
	if (c->request->caliper_signal)
		sigaddset(&set, c->request->caliper_signal);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!children)
		sigdelset(&set, SIGCHLD);
	c->signals = signalfd(c->signals, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals >= 0 ? 0 : error_sys(e, errno, "signalfd");
}

/* Samples work without branch records and values. */
static int begin_tracer(struct collection *c, pid_t pid, struct error *e)
{
	const struct collect_request *r = c->request;
	struct branches_request request = {.pid = pid,
		.running = !r->argv,
		.began = r->began,
		.rate = r->bursts,
		.share = r->values.budget,
		.seed = clock_ns() ^ (uint64_t)pid << 40,
		.quiet = perf_events_silence,
		.known = r->known,
		.context = &c->sampler};
	struct error why;
	const char *what = collect_wants(r, METRIC_BRANCHES) ? "branch records"
			   : r->values.latency               ? "latencies"
							     : "values";

	if (!wants_tracer(c))
		return 0;
	if (collect_wants(r, METRIC_BRANCHES))
		request.costs = collect_costs_find(&c->costs, r->known);
	else if (collect_wants(r, METRIC_VALUES))
		c->experiment->cost_until = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	if (c->stops)
		stops_request(r, &c->sampler, &request);
	else
		request.sampled = c->experiment->metrics.data[0].period;
	c->sampler.branches.only_samples = request.only_samples;
	if (collect_values_begin(r, &c->sampler, &request, &why) == 0) {
		/* To time known levels costs once, and is no reason for fewer loads. */
		request.before = r->values.latency ? clock_of(CLOCK_PROCESS_CPUTIME_ID)
						   : c->experiment->cost_until;
		c->sampler.branches.branches = branches_new(&request, &why);
	}
	if (c->sampler.branches.branches) {
		if (c->stops)
			stops_say(r, &c->sampler, &c->no_clock);
		return 0;
	}
	c->experiment->cost_until = 0;
	if (c->stops)
		return why.code == ERR_NOT_FOUND ? (*e = why, -1)
						 : stops_refused(&c->no_clock, &why, e);
	collect_say(r, 0, "no %s, only samples: %s%s%s", what, why.message, why.hint[0] ? "; " : "",
		why.hint);
	return take_signals(c, true, e);
}

static int begin_command(struct collection *c, struct error *e)
{
	const struct collect_request *r = c->request;
	pid_t pid = c->launch.pid;
	struct process *p;

	if (collect_output_claim(r->output, pid, e) ||
		collect_output_checkpoint(r->output, c->experiment, e))
		return -1;
	if ((!c->stops && perf_events_open(r, &c->sampler, pid, true, e)) ||
		begin_tracer(c, pid, e))
		return -1;
	c->began = c->sampler.spaces.began = clock_ns();
	c->sampler.spaces.with_arguments = true;
	p = spaces_add(&c->sampler.spaces, pid, getpid(), false, c->began);
	if (!p || spaces_thread(&c->sampler.spaces, p, pid) < 0)
		return error_nomem(e);
	p->threads = 1;
	return launch_release(&c->launch, e);
}

/* For a process that sleeps now, the place is unknown. A command beside the whole system is one of
 * its processes. */
static int begin_running(struct collection *c, struct error *e)
{
	const struct collect_request *r = c->request;

	if (r->began && proc_began(r->pid) != r->began) {
		error_set(e, ERR_NOT_FOUND, "process %d is not the one that began at tick %" PRIu64,
			(int)r->pid, r->began);
		return error_hint(e, "it has ended: see field 22 of /proc/PID/stat");
	}
	if (r->all ? perf_events_open(r, &c->sampler, -1, false, e)
		   : !c->stops && attach(c, r->pid, e))
		return -1;
	if (collect_output_claim(r->output, r->all ? getpid() : r->pid, e))
		return -1;
	c->sampler.spaces.with_arguments = !r->all; /* of other users, they may be secret */
	c->pidfd = r->all ? -1 : (int)syscall(SYS_pidfd_open, r->pid, 0);
	c->began = c->sampler.spaces.began = clock_ns();
	rings_enable(&c->sampler.rings, true);
	if (r->all && look_at_all(c, e))
		return -1;
	if (r->all)
		return c->launched ? launch_release(&c->launch, e) : 0;
	if (!spaces_process(&c->sampler.spaces, r->pid, c->began))
		return error_nomem(e);
	return begin_tracer(c, r->pid, e);
}

static int add_poll(struct collection *c, int fd)
{
	struct pollfd *p = vec_push(&c->poll);

	if (p)
		*p = (struct pollfd){.fd = fd, .events = POLLIN};
	return p ? 0 : -1;
}

/* Signals, the process attached to, the end of a traced one, then the rings. */
static int prepare_poll(struct collection *c, struct error *e)
{
	const struct branches *b = c->sampler.branches.branches;

	if (add_poll(c, c->signals) || add_poll(c, c->pidfd) ||
		add_poll(c, b ? branches_descriptor(b) : -1))
		return error_nomem(e);
	for (size_t i = 0; i < c->sampler.rings.poll.count; i++)
		if (add_poll(c, c->sampler.rings.poll.data[i].fd))
			return error_nomem(e);
	return 0;
}

static int perf_begin(struct collection *c, struct error *e)
{
	const struct collect_request *r = c->request;

	if (perf_events_init(r, &c->sampler, e) || collect_values_load(r, &c->sampler, e))
		return -1;
	c->stops = stops_serve(r, &c->no_clock);
	if (c->stops && stops_begin(&c->sampler, e))
		return -1;
	/* The command is forked before we block signals: it keeps our original mask. */
	if ((r->argv && start_command(c, e)) || take_signals(c, !wants_tracer(c), e))
		return -1;
	if ((r->argv && !r->all ? begin_command : begin_running)(c, e) || prepare_poll(c, e))
		return -1;
	if (r->caliper_seconds > 0)
		c->next_caliper = c->began + (uint64_t)(r->caliper_seconds * SECOND);
	/* Values and bursts would have less of their budget for it, in runs that are short. */
	c->next_checkpoint =
		c->began + (collect_wants(r, METRIC_BRANCHES | METRIC_VALUES) ? CHECKPOINT_EVERY
									      : CHECKPOINT_FIRST);
	return 0;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* The terminal sends ^C to the command as well; signals from other processes are passed on. */
static int perf_on_signal(
	struct collection *c, const struct signalfd_siginfo *info, struct error *e)
{
	int number = (int)info->ssi_signo;

	if (number == c->request->caliper_signal)
		return phases_point(&c->sampler.phases, clock_ns()) ? error_nomem(e) : 0;
	if (number == SIGCHLD)
		return 0;
	if (number != SIGUSR1 && number != SIGUSR2) {
		c->result->interrupted = true;
		c->result->signal = number;
		c->stop = !c->launched;
	}
	if (c->launched && !c->launch.reaped && info->ssi_code <= 0)
		kill(c->launch.pid, number);
	return 0;
}

static int hear_signals(struct collection *c, struct error *e)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (perf_on_signal(c, &info, e))
			return -1;
	return 0;
}

static void set_elapsed(struct collection *c, uint64_t time)
{
	c->experiment->elapsed = time - c->began;
}

/* A failed checkpoint does not stop the run: there may be space again at the end. */
static void checkpoint(struct collection *c, uint64_t time)
{
	uint64_t cost, before;
	struct error why;

	if (time < c->next_checkpoint)
		return;
	before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	set_elapsed(c, time);
	if (sampler_put_values(&c->sampler))
		return; /* memory is out */
	if (collect_output_checkpoint(c->request->output, c->experiment, &why))
		collect_say(c->request, 1, "no checkpoint: %s", why.message);
	cost = clock_of(CLOCK_PROCESS_CPUTIME_ID) - before;
	sampler_wrote_values(&c->sampler, cost);
	c->next_checkpoint =
		time + (cost * CHECKPOINT_SHARE > CHECKPOINT_EVERY ? cost * CHECKPOINT_SHARE
								   : CHECKPOINT_EVERY);
}

static int on_time(struct collection *c, uint64_t time, struct error *e)
{
	const struct collect_request *r = c->request;

	while (c->next_caliper && time >= c->next_caliper) {
		if (phases_point(&c->sampler.phases, c->next_caliper))
			return error_nomem(e);
		c->next_caliper += (uint64_t)(r->caliper_seconds * SECOND);
	}
	if (!r->argv && r->seconds > 0 && time - c->began >= (uint64_t)(r->seconds * SECOND))
		c->stop = true;
	checkpoint(c, time);
	return 0;
}

/* Short programs' files must be read while they exist, so polling is frequent in the beginning;
 * what threads wait for, while they do; arguments of a command's processes, before they end. */
static uint64_t round_ms(struct collection *c, uint64_t time)
{
	size_t processes = c->experiment->processes.count;
	bool forks = c->sampler.spaces.with_arguments && processes > 2;
	uint64_t early = (time - c->began) / ROUND_PART / 1000000u;

	if (processes != c->processes)
		c->last_began = time;
	c->processes = processes;
	if (forks && time - c->last_began < FORKING)
		return FORKING_ROUND_MS;
	if (forks || c->sampler.blocking || early < EARLY_ROUND_MS)
		return EARLY_ROUND_MS;
	return early < ROUND_MS ? early : ROUND_MS;
}

static int timeout(struct collection *c, uint64_t time)
{
	uint64_t round = round_ms(c, time);
	uint64_t until = time + round * 1000000u;

	if (c->next_caliper && c->next_caliper < until)
		until = c->next_caliper;
	if (!c->request->argv && c->request->seconds > 0) {
		uint64_t end = c->began + (uint64_t)(c->request->seconds * SECOND);

		if (end < until)
			until = end;
	}
	return until > time ? (int)((until - time) / 1000000u) + 1 : 0;
}

/* A ring whose events have all ended is always readable: it is no longer polled. */
static void drop_ended(struct collection *c)
{
	for (size_t i = 0; i < c->poll.count; i++)
		if (c->poll.data[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			c->poll.data[i].fd = -1;
}

/* A traced process is awaited there. */
static int command_ended(struct collection *c, struct error *e)
{
	struct branches *b = c->sampler.branches.branches;
	struct rusage usage;
	int status;

	if (!b)
		return launch_poll(&c->launch, false, e);
	if (!c->launch.reaped && branches_ended(b, &status, &usage))
		launch_reaped(&c->launch, status, &usage);
	return c->launch.reaped;
}

static void pass_notices(struct collection *c)
{
	struct branches *b = c->sampler.branches.branches;
	const char *notice;

	while (b && (notice = branches_notice(b)))
		collect_say(c->request, 0, "%s", notice);
}

static bool perf_process_ended(const struct collection *c)
{
	if (c->request->all)
		return false;
	if (c->pidfd >= 0)
		return c->poll.data[1].revents != 0;
	return proc_has_ended(c->request->pid);
}

/* Until the command has ended, or the process attached to has, or ^C. */
static int perf_loop(struct collection *c, struct error *e)
{
	while (!c->stop) {
		uint64_t time;
		int ended;

		sampler_turn(&c->sampler);
		if (poll(c->poll.data, c->poll.count, timeout(c, clock_ns())) < 0 && errno != EINTR)
			return error_sys(e, errno, "poll");
		if (hear_signals(c, e))
			return -1;
		ended = c->launched ? command_ended(c, e) : perf_process_ended(c);
		pass_notices(c);
		if (ended != 0)
			return ended < 0 ? -1 : 0;
		drop_ended(c);
		time = clock_ns();
		if (sampler_watch(&c->sampler, time - GUARD, e) || on_time(c, time, e))
			return -1;
	}
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void report_command(struct collection *c)
{
	struct collect_result *result = c->result;

	result->exit_status = launch_exit_status(&c->launch);
	result->killed = WIFSIGNALED(c->launch.status);
	for (size_t i = 1; i < c->experiment->processes.count; i++)
		if (c->experiment->processes.data[i].pid == c->launch.pid) {
			c->experiment->processes.data[i].status = c->launch.status;
			break;
		}
}

/*
 * The kernel's total counts: threads that live shorter than a period may leave no sample. Its
 * clock counts user and kernel mode, whatever is sampled, and on idle processors.
 */
static int add_totals(struct collection *c, struct error *e)
{
	const struct collect_request *r = c->request;
	struct sampler *s = &c->sampler;
	uint64_t *totals = calloc(s->events.count + 1, sizeof(*totals));

	if (!totals)
		return error_nomem(e);
	rings_totals(&s->rings, totals);
	for (size_t i = 0; i < s->events.count && !r->all && !s->phases.cut; i++) {
		uint32_t metric = s->events.data[i].metric;
		struct experiment_metric *m = &c->experiment->metrics.data[metric];

		if (!s->events.data[i].switches && !s->events.data[i].wakes &&
			!(m->flags & METRIC_WALL) && m->flags & METRIC_KERNEL &&
			r->metrics->list.data[metric].source == COLLECT_OS)
			m->total = totals[i];
	}
	free(totals);
	return 0;
}

static int perf_end(struct collection *c, struct error *e)
{
	uint64_t time = clock_ns();
	struct sampler *s = &c->sampler;

	if (s->branches.branches)
		branches_stop(s->branches.branches);
	rings_enable(&s->rings, false);
	pass_notices(c);
	if (sampler_drain(s, UINT64_MAX, e) || sampler_end(s, time, e) || add_totals(c, e))
		return -1;
	if ((c->costs.wanted && collect_costs_end(&c->costs, c->experiment)) ||
		experiment_count_cost(c->experiment))
		return error_nomem(e);
	set_elapsed(c, time);
	c->result->elapsed = (double)c->experiment->elapsed * 1e-9;
	c->experiment->complete = true;
	if (s->phases.lost)
		collect_say(c->request, 0, "%llu caliper points were lost: they came too fast",
			(unsigned long long)s->phases.lost);
	if (s->values.module.path && s->values.module.gone.code != ERR_NONE)
		collect_say(c->request, 0, "%s", s->values.module.gone.message);
	if (s->images.unarchived)
		collect_say(c->request, 0, "%zu images could not be archived: %s",
			s->images.unarchived, s->images.why.message);
	return 0;
}

/* Our own failure during the run. The command continues, and has the terminal until it ends. */
static void perf_outlast(struct collection *c)
{
	if (c->sampler.branches.branches) {
		branches_stop(c->sampler.branches.branches);
		command_ended(c, NULL);
		branch_records_fini(&c->sampler.branches);
		take_signals(c, true, NULL);
	}
	rings_enable(&c->sampler.rings, false);
	while (launch_was_released(&c->launch) && launch_poll(&c->launch, false, NULL) == 0) {
		poll(c->poll.data, c->poll.count ? 1 : 0, ROUND_MS);
		hear_signals(c, NULL);
	}
}

int collect_perf(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e)
{
	struct collection c = {
		.request = r, .result = result, .experiment = x, .signals = -1, .pidfd = -1};
	sigset_t before;
	int rc;

	if (collect_describe(r, x, NULL, e))
		return -1;
	sigprocmask(SIG_BLOCK, NULL, &before);
	sampler_init(&c.sampler, x, r->archive);
	rc = perf_begin(&c, e);
	if (rc == 0)
		rc = perf_loop(&c, e);
	if (rc == 0)
		rc = perf_end(&c, e);
	else if (c.launched)
		perf_outlast(&c);
	if (c.launched && c.launch.reaped)
		report_command(&c);
	if (c.launched)
		launch_fini(&c.launch);
	sampler_fini(&c.sampler);
	vec_fini(&c.poll);
	if (c.pidfd >= 0)
		close(c.pidfd);
	if (c.signals >= 0) {
		struct signalfd_siginfo info;

		while (read(c.signals, &info, sizeof(info)) > 0) /* they must not kill us now */
			;
		close(c.signals);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
