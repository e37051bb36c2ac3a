/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/sources_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "process/launch.h"
#include "sources/slow_run.h"

struct session {
	const struct source_ops *ops;
	void *handle;
	struct event_spec *specs; /* ours */
	size_t *place;            /* index of each in the plan */
	size_t count;
};

struct run {
	const struct run_request *request;
	struct session sessions[4];
	size_t session_count, plan_count;
	struct launch launch;
	struct trace trace; /* with per_thread */
	bool tracing;
	int pidfd; /* of the process attached to; -1 */
	struct sigaction sigchld;
	bool sigchld_saved;
	bool counting, counted, launched, per_thread; /* counted: counting was on at some time */
	double begin, next_tick, tick_every, next_period;
	double instructions, instructions_at; /* at the last but one step of the progress line */
	double speed;                         /* instructions per second of late */
	struct run_result *result;
};

static int session_open(struct run *run, const struct source_ops *ops, const struct plan *p,
	unsigned pass, const struct source_options *options, struct event_spec *specs,
	struct error *e)
{
	struct session *s = &run->sessions[run->session_count];
	struct source_options own = *options;
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += p->entries[i].source == ops && p->entries[i].pass == pass;
	if (n == 0)
		return 0;
	run->session_count++;
	s->ops = ops;
	s->specs = calloc(n, sizeof(*s->specs));
	s->place = calloc(n, sizeof(*s->place));
	if (!s->specs || !s->place)
		return error_nomem(e);
	for (size_t i = 0; i < p->count; i++) {
		if (p->entries[i].source != ops || p->entries[i].pass != pass)
			continue;
		s->specs[s->count] = specs[i];
		s->place[s->count++] = i;
	}
	own.from_exec = run->request->argv && !run->request->by_signal;
	s->handle = ops->open(&own, s->specs, s->count, e);
	return s->handle ? 0 : -1;
}

static int enable_all(struct run *run, bool on, struct error *e)
{
	if (run->counting == on)
		return 0;
	run->counting = on;
	run->counted |= on;
	for (size_t i = 0; i < run->session_count; i++)
		if (run->sessions[i].ops->enable(run->sessions[i].handle, on, e))
			return -1;
	return 0;
}

/*
 * Finds or adds the row of a thread in a reading that gathers several sessions. A tid can occur
 * again (after an exec by another thread than the first, or in a long run), with a row each time.
 * Since both lists are sorted, the search continues after the row found last, *next, and ends where
 * this session's own additions begin, at old.
 */
static struct thread_reading *thread_row(
	struct reading *all, const struct thread_reading *like, size_t *next, size_t old)
{
	struct thread_reading *t;

	for (size_t i = *next; i < old; i++)
		if (all->threads[i].pid == like->pid && all->threads[i].tid == like->tid) {
			*next = i + 1;
			return &all->threads[i];
		}
	t = reading_add_thread(all);
	if (t) {
		t->pid = like->pid;
		t->tid = like->tid;
		memcpy(t->command, like->command, sizeof(t->command));
	}
	return t;
}

static int run_gather(const struct session *s, struct reading *all, struct error *e)
{
	size_t next = 0, old = all->thread_count;
	struct reading r;
	int rc = -1;

	if (reading_init(&r, s->count, e))
		return -1;
	if (s->ops->read(s->handle, &r, e))
		goto out;
	for (size_t i = 0; i < s->count; i++)
		all->counts[s->place[i]] = r.counts[i];
	if (r.enabled_seconds > all->enabled_seconds)
		all->enabled_seconds = r.enabled_seconds;
	if (r.note[0])
		memcpy(all->note, r.note, sizeof(all->note));
	if (r.clocked) {
		all->clocked = true;
		memcpy(all->causes, r.causes, sizeof(all->causes));
	}
	for (size_t t = 0; t < r.thread_count; t++) {
		struct thread_reading *row = thread_row(all, &r.threads[t], &next, old);

		if (!row) {
			error_nomem(e);
			goto out;
		}
		for (size_t i = 0; i < s->count; i++)
			row->counts[s->place[i]] = r.threads[t].counts[i];
	}
	reading_sort_threads(all);
	rc = 0;
out:
	reading_fini(&r);
	return rc;
}

static int run_read_all(struct run *run, struct reading *all, struct error *e)
{
	if (reading_init(all, run->plan_count, e))
		return -1;
	for (size_t i = 0; i < run->session_count; i++) {
		if (run_gather(&run->sessions[i], all, e)) {
			reading_fini(all);
			return -1;
		}
	}
	return 0;
}

static int report_period(struct run *run, struct error *e)
{
	struct reading all;

	if (run_read_all(run, &all, e))
		return -1;
	run->request->on_period(run->request->context, clock_seconds() - run->begin, &all);
	reading_fini(&all);
	return 0;
}

static double run_instructions(const struct run *run)
{
	double n = 0;

	for (size_t i = 0; i < run->session_count; i++)
		if (run->sessions[i].ops->instructions)
			n += run->sessions[i].ops->instructions(run->sessions[i].handle);
	return n;
}

/* If the user sees progress at all. */
static void note_long(const struct run *run, struct run_progress *p, double t, double instructions)
{
	struct slow_run r = {
		.elapsed = t - run->begin, .instructions = instructions, .expected = p->expected};
	char text[256];

	if (!p->on_long || p->was_long || !p->line.enabled || !slow_run_is_long(&r))
		return;
	for (size_t i = 0; i < run->session_count; i++) {
		const struct session *s = &run->sessions[i];

		if (s->ops->modelled)
			r.modelled += s->ops->modelled(s->handle);
		if (s->ops->faster && !r.faster)
			r.faster = s->ops->faster(s->handle);
	}
	slow_run_text(&r, text, sizeof(text));
	progress_end(&p->line);
	p->on_long(p->context, text);
	p->was_long = true;
}

static void show_progress(struct run *run, double t)
{
	struct run_progress *p = run->request->progress;
	double n = p ? run_instructions(run) : 0, fraction = -1;
	char text[80];

	if (n <= 0)
		return;
	note_long(run, p, t, n);
	if (t - run->instructions_at >= 1) {
		run->speed = (n - run->instructions) / (t - run->instructions_at);
		run->instructions = n;
		run->instructions_at = t;
	}
	if (p->expected > 0)
		fraction = n < p->expected ? n / p->expected : 1;
	slow_run_line(n, p->expected, run->speed, text, sizeof(text));
	progress_step(&p->line, fraction, text);
}

static int do_due(struct run *run, struct error *e)
{
	double t = clock_seconds();

	if (run->tick_every > 0 && t >= run->next_tick) {
		for (size_t i = 0; i < run->session_count; i++)
			if (run->sessions[i].ops->tick &&
				run->sessions[i].ops->tick(run->sessions[i].handle, e))
				return -1;
		run->next_tick = t + run->tick_every;
		show_progress(run, t);
	}
	if (run->request->period > 0 && run->request->on_period && t >= run->next_period) {
		if (report_period(run, e))
			return -1;
		while (run->next_period <= t)
			run->next_period += run->request->period;
	}
	return 0;
}

static struct timespec until_due(const struct run *run, bool polling)
{
	double t = clock_seconds(), due = t + (polling ? 0.05 : 3600);

	if (run->tick_every > 0 && run->next_tick < due)
		due = run->next_tick;
	if (run->request->period > 0 && run->next_period < due)
		due = run->next_period;
	due = due > t ? due - t : 0;
	return (struct timespec){(time_t)due, (long)((due - (double)(time_t)due) * 1e9)};
}

static void stop_all(const struct run *run, bool stop)
{
	for (size_t i = 0; i < run->session_count; i++)
		if (run->sessions[i].ops->stop)
			run->sessions[i].ops->stop(run->sessions[i].handle, stop);
}

/* ^Z, where the command does not stop by itself: first it, then we, until we are continued. */
static void stop_with_command(const struct run *run, int signal)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signal);
	stop_all(run, true);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* the process is stopped here */
	sigprocmask(SIG_BLOCK, &one, NULL);
	stop_all(run, false);
}

/* Adds the signals of job control that are for us to handle, and not ignored. */
static void add_stops(const struct run *run, sigset_t *signals)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	bool ours = false;

	for (size_t i = 0; i < run->session_count; i++)
		ours |= run->sessions[i].ops->stop != NULL;
	for (size_t i = 0; ours && i < sizeof(stops) / sizeof(stops[0]); i++) {
		struct sigaction now;

		if (sigaction(stops[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaddset(signals, stops[i]);
	}
}

/* perfex received a signal. The terminal sends ^C to the command as well; signals from other
 * senders are passed on. */
static int run_on_signal(struct run *run, const siginfo_t *info, struct error *e)
{
	switch (info->si_signo) {
	case SIGUSR1:
	case SIGUSR2:
		if (run->request->by_signal)
			return enable_all(run, info->si_signo == SIGUSR1, e);
		break;
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
	case SIGHUP:
		run->result->interrupted = true;
		run->result->signal = info->si_signo;
		break;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		stop_with_command(run, info->si_signo);
		return 0;
	default:
		return 0;
	}
	if (run->launched && !run->launch.reaped && info->si_code <= 0)
		kill(run->launch.pid, info->si_signo);
	return 0;
}

static int on_thread(void *context, enum trace_news news, pid_t pid, pid_t tid, const char *command,
	struct error *e)
{
	const struct run *run = context;

	for (size_t i = 0; i < run->session_count; i++) {
		const struct session *s = &run->sessions[i];

		if (s->ops->thread && s->ops->thread(s->handle, news, pid, tid, command, e))
			return -1;
	}
	return 0;
}

static int start_tracing(struct run *run, pid_t pid, struct error *e)
{
	bool wanted = false;

	for (size_t i = 0; i < run->session_count; i++)
		wanted |= run->sessions[i].ops->thread != NULL;
	if (!run->per_thread || !wanted)
		return 0;
	run->tracing = true;
	run->trace = (struct trace){.hear = on_thread, .context = run};
	return threads_trace_begin(&run->trace, pid, !run->launched, e);
}

/* 1 when the command has ended. */
static int poll_command(struct run *run, struct error *e)
{
	struct rusage usage;
	int status, rc;

	if (run->launch.reaped)
		return 1;
	if (!run->tracing)
		return run->launched ? launch_poll(&run->launch, false, e) : 0;
	rc = threads_trace_poll(&run->trace, &status, &usage, e);
	if (rc > 0)
		launch_reaped(&run->launch, status, &usage);
	return rc;
}

/* Whether the process attached to has ended; also true if its parent has not waited for it yet. */
static bool run_process_ended(const struct run *run)
{
	struct pollfd p = {.fd = run->pidfd, .events = POLLIN};

	if (run->pidfd >= 0)
		return poll(&p, 1, 0) > 0;
	return proc_has_ended(run->request->pid);
}

/* Until the command has ended, or the process attached to has, or ^C. */
static int run_loop(struct run *run, const sigset_t *signals, struct error *e)
{
	for (;;) {
		struct timespec wait = until_due(run, !run->launched);
		siginfo_t info;
		int rc;

		if (sigtimedwait(signals, &info, &wait) >= 0 && run_on_signal(run, &info, e))
			return -1;
		rc = poll_command(run, e);
		if (rc != 0)
			return rc > 0 ? 0 : -1;
		if (!run->launched && (run->result->interrupted || run_process_ended(run)))
			return 0;
		if (do_due(run, e))
			return -1;
	}
}

/*
 * Opens the gate. A traced child stops for every signal until it is continued, so that must be done
 * here already, before its exec.
 */
static int run_release(struct run *run, struct error *e)
{
	int began;

	launch_open_gate(&run->launch);
	while ((began = launch_began(&run->launch, run->tracing ? 2 : -1, e)) == 0)
		if (!run->launch.reaped && poll_command(run, e) < 0)
			return -1;
	/* The end of the child. Before it, threads of it that are traced must be waited for: some
	 * sanitizers have one. */
	while (began < 0 && !run->launch.reaped && poll_command(run, NULL) == 0)
		poll(NULL, 0, 1);
	return began > 0 ? 0 : -1;
}

/* Starts the command, stopped before its exec. */
static int run_launch(struct run *run, struct error *e)
{
	if (launch_init(&run->launch, run->request->argv, e))
		return -1;
	run->launched = true;
	run->launch.input = run->request->input;
	run->launch.silent = run->request->silent;
	for (size_t i = 0; i < run->session_count; i++) {
		const struct session *s = &run->sessions[i];

		if (s->ops->prepare && s->ops->prepare(s->handle, &run->launch, e))
			return -1;
	}
	return launch_start(&run->launch, e);
}

/* Sessions begin with the process: how often they need a tick, and how many groups they have. */
static int run_attach(struct run *run, pid_t pid, struct error *e)
{
	for (size_t i = 0; i < run->session_count; i++) {
		const struct session *s = &run->sessions[i];
		size_t groups;
		double every;

		if (s->ops->attach(s->handle, pid, !run->launched, e))
			return -1;
		every = s->ops->tick_interval ? s->ops->tick_interval(s->handle) : 0;
		if (every > 0 && (run->tick_every == 0 || every < run->tick_every))
			run->tick_every = every;
		groups = s->ops->groups ? s->ops->groups(s->handle) : 1;
		if (groups > run->result->groups)
			run->result->groups = groups;
	}
	return 0;
}

static int run_start(struct run *run, sigset_t *signals, struct error *e)
{
	pid_t pid = run->request->pid;

	if (!pid) {
		if (run_launch(run, e))
			return -1;
		pid = run->launch.pid;
	}
	/* The child was forked before this: it keeps the mask and dispositions that we were given.
	 */
	sigprocmask(SIG_BLOCK, signals, NULL);
	run->sigchld_saved =
		sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &run->sigchld) == 0;
	if (!run->launched)
		run->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (run_attach(run, pid, e) || start_tracing(run, pid, e))
		return -1;
	if (!run->request->by_signal && enable_all(run, true, e))
		return -1;
	run->begin = clock_seconds();
	run->next_tick = run->begin + run->tick_every;
	run->instructions_at = run->begin;
	run->next_period = run->begin + run->request->period;
	return run->launched ? run_release(run, e) : 0;
}

/* Something of ours failed while the command ran.  The terminal is the command's until it ends. */
static void run_outlast(struct run *run, const sigset_t *signals)
{
	const struct timespec wait = {3600, 0};
	siginfo_t info;

	while (launch_poll(&run->launch, false, NULL) == 0)
		if (sigtimedwait(signals, &info, &wait) >= 0)
			run_on_signal(run, &info, NULL);
}

static int run_finish(struct run *run, struct error *e)
{
	struct run_result *result = run->result;

	result->elapsed = clock_seconds() - run->begin;
	for (size_t i = 0; i < run->session_count; i++) {
		const struct session *s = &run->sessions[i];

		if (s->ops->finish &&
			s->ops->finish(s->handle, run->launched ? &run->launch.usage : NULL, e))
			return -1;
	}
	if (run->launched) {
		result->pid = run->launch.pid;
		result->usage = run->launch.usage;
		result->exit_status = launch_exit_status(&run->launch);
		result->killed = result->exit_status > 128 && WIFSIGNALED(run->launch.status);
	}
	if (run->request->progress && run_instructions(run) > 0 && !result->interrupted)
		run->request->progress->expected = run_instructions(run);
	if (run_read_all(run, &result->reading, e))
		return -1;
	if (!run->counted) /* -s, and no signal */
		reading_uncounted(&result->reading, "SIGUSR1, which starts counting, never came");
	return 0;
}

/* Signals that came while we were finishing must not kill us when the mask is restored: take them
 * out. Returns one of those that end a run, 0 if there was none. */
static int drain_signals(const sigset_t *signals)
{
	static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	const struct timespec none = {0, 0};
	int taken, found = 0;

	while ((taken = sigtimedwait(signals, NULL, &none)) > 0)
		for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
			if (taken == ending[i])
				found = taken;
	return found;
}

static void sessions_close(struct run *run)
{
	for (size_t i = 0; i < run->session_count; i++) {
		if (run->sessions[i].handle)
			run->sessions[i].ops->close(run->sessions[i].handle);
		free(run->sessions[i].specs);
		free(run->sessions[i].place);
	}
}

int run_pass(const struct run_request *request, const struct plan *p, unsigned pass,
	const struct source_options *options, struct event_spec *specs, struct run_result *result,
	struct error *e)
{
	static const int handled[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct run run = {.request = request,
		.result = result,
		.plan_count = p->count,
		.per_thread = options->per_thread,
		.pidfd = -1};
	sigset_t signals, before;
	int rc = -1, late;

	memset(result, 0, sizeof(*result));
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&signals, handled[i]);
	sigprocmask(SIG_BLOCK, NULL, &before);
	for (const struct source_ops *const *s = sources; *s; s++)
		if (session_open(&run, *s, p, pass, options, specs, e))
			goto out;
	add_stops(&run, &signals);
	if (run_start(&run, &signals, e) == 0 && run_loop(&run, &signals, e) == 0)
		rc = run_finish(&run, e);
	if (request->progress)
		progress_end(&request->progress->line);
	if (run.tracing)
		threads_trace_end(&run.trace);
	if (rc != 0 && run.launched && launch_was_released(&run.launch))
		run_outlast(&run, &signals);
	late = drain_signals(&signals);
	if (late)
		result->signal = late;
	/* As it was: the command of the next run is to inherit what we were given. */
	if (run.sigchld_saved)
		sigaction(SIGCHLD, &run.sigchld, NULL);
	if (run.pidfd >= 0)
		close(run.pidfd);
	sigprocmask(SIG_SETMASK, &before, NULL);
out:
	sessions_close(&run);
	if (run.launched)
		launch_fini(&run.launch);
	return rc;
}

void run_result_fini(struct run_result *r)
{
	reading_fini(&r->reading);
}
