/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of a stop, measured on a child that executes breakpoints; and the choice of our
 * processor: on the processor of the thread, a stop costs a few microseconds, across processors
 * many times that. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stats.h"
#include "branches/private.h"

#define ROUNDS 7
#define STOPS  8 /* per round */

void branches_pin_to(pid_t tid)
{
	branches_pin(process_stat(tid, STAT_PROCESSOR));
}

void branches_pin(long processor)
{
	cpu_set_t set;

	if (processor < 0 || processor >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void branches_pin_free(struct branches *b)
{
	sched_setaffinity(0, sizeof(b->processors), &b->processors);
}

__attribute__((noreturn)) static void meet_breakpoints(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	for (;;)
		__asm__ volatile("int3");
}

static int next_stop(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL | __WNOTHREAD) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSTOPPED(status) ? 0 : -1;
}

/* As in a burst. */
static int stop_once(pid_t pid)
{
	struct user_regs_struct before, registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &before) != 0)
		return -1;
	registers = before;
	if (step_apply(pid, &before, &registers) || ptrace(PTRACE_CONT, pid, NULL, NULL) != 0)
		return -1;
	return next_stop(pid);
}

static int calibrate_measure(pid_t pid, clockid_t clock, double *elapsed, double *stopped)
{
	uint64_t began, used;

	began = branches_now(CLOCK_MONOTONIC);
	used = branches_now(clock);
	for (int i = 0; i < STOPS; i++)
		if (stop_once(pid))
			return -1;
	*stopped = (double)(branches_now(clock) - used) / STOPS;
	*elapsed = (double)(branches_now(CLOCK_MONOTONIC) - began) / STOPS;
	return 0;
}

int branches_calibrate(struct branches *b)
{
	double elapsed[ROUNDS], stopped[ROUNDS];
	int status, rc = -1;
	clockid_t clock;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		meet_breakpoints();
	if (pid < 0)
		return -1;
	if (next_stop(pid) == 0 && clock_getcpuclockid(pid, &clock) == 0) {
		branches_pin_to(pid);
		rc = stop_once(pid);
		for (int i = 0; i < ROUNDS && rc == 0; i++)
			rc = calibrate_measure(pid, clock, &elapsed[i], &stopped[i]);
		branches_pin_free(b);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL | __WNOTHREAD) == pid && WIFSTOPPED(status))
		;
	if (rc)
		return -1;
	b->costs.elapsed = stats_median(elapsed, ROUNDS);
	b->costs.stopped = stats_median(stopped, ROUNDS);
	return 0;
}
