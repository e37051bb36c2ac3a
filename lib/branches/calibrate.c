/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The costs of stops, measured on a child that executes breakpoints, and one that is interrupted;
 * and the choice of our processor: on the processor of the thread, a stop costs a few microseconds,
 * across processors many times that. */
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/stats.h"
#include "branches/private.h"

#define ROUNDS 7
#define STOPS  8 /* per round */
#define SHORT  (20L * MICROSECOND)
#define LONG   (200L * MICROSECOND)
#define APART  0.25 /* of the most counts: runs that differ by more show what one takes */

/* What the child shares with us. */
struct counting {
	volatile uint64_t count;
	volatile uint64_t over; /* no bool: the sanitizer of these would read it once */
};

void branches_pin_to(pid_t tid)
{
	branches_pin(proc_stat(tid, PROC_STAT_PROCESSOR));
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

/* Counts, then executes breakpoints. */
__attribute__((noreturn)) static void be_measured(struct counting *shared, pid_t parent)
{
	const struct sched_param none = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setscheduler(0, SCHED_BATCH, &none);
	if (getppid() != parent)
		_exit(1);
	while (!shared->over)
		shared->count++;
	for (;;)
		__asm__ volatile("int3");
}

static int next_stop(pid_t pid)
{
	int status;

	return proc_wait(pid, &status, __WALL | __WNOTHREAD) == pid && WIFSTOPPED(status) ? 0 : -1;
}

/* As in a burst. */
static int go_on(pid_t pid)
{
	struct user_regs_struct before, registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &before) != 0)
		return -1;
	registers = before;
	return step_apply(pid, &before, &registers) || ptrace(PTRACE_CONT, pid, NULL, NULL) != 0
		       ? -1
		       : 0;
}

static int stop_once(pid_t pid)
{
	return go_on(pid) ? -1 : next_stop(pid);
}

static int measure_stops(pid_t pid, clockid_t clock, double *elapsed, double *stopped)
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

/* It runs for a time, and is interrupted. */
static int measure_run(pid_t pid, clockid_t clock, const struct counting *shared, long length,
	double *used, double *count)
{
	struct timespec time = {.tv_nsec = length};

	*count = (double)shared->count;
	*used = (double)branches_now(clock);
	if (go_on(pid))
		return -1;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 || next_stop(pid))
		return -1;
	*used = (double)branches_now(clock) - *used;
	*count = (double)shared->count - *count;
	return 0;
}

/* The time of a count: the median of slopes between runs (Theil and Sen). On a busy machine, the
 * child may run for a short time in a long run, or the reverse. */
static double slope_of(const double *used, const double *count, size_t runs)
{
	double slopes[2 * ROUNDS * ROUNDS], most = 1;
	size_t found = 0;

	for (size_t i = 0; i < runs; i++)
		most = fmax(most, count[i]);
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 0; k < i; k++)
			if (fabs(count[i] - count[k]) > APART * most)
				slopes[found++] = (used[i] - used[k]) / (count[i] - count[k]);
	return found ? stats_median(slopes, found) : 0;
}

/* What a run of length 0 would take. */
static int measure_interrupts(
	pid_t pid, clockid_t clock, const struct counting *shared, double *interrupted)
{
	double used[2 * ROUNDS], count[2 * ROUNDS], each;

	for (int i = 0; i < 2 * ROUNDS; i++)
		if (measure_run(pid, clock, shared, i % 2 ? SHORT : LONG, &used[i], &count[i]))
			return -1;
	each = slope_of(used, count, (size_t)2 * ROUNDS);
	for (int i = 0; i < 2 * ROUNDS; i++)
		used[i] -= each * count[i];
	*interrupted = stats_median(used, (size_t)2 * ROUNDS);
	return 0;
}

static int measure_all(struct branches *b, pid_t pid, struct counting *shared)
{
	double elapsed[ROUNDS], stopped[ROUNDS];
	clockid_t clock;
	int rc = 0;

	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 || next_stop(pid) ||
		clock_getcpuclockid(pid, &clock) != 0 ||
		measure_interrupts(pid, clock, shared, &b->costs.interrupted))
		return -1;
	shared->over = true;
	rc = stop_once(pid);
	for (int i = 0; i < ROUNDS && rc == 0; i++)
		rc = measure_stops(pid, clock, &elapsed[i], &stopped[i]);
	if (rc)
		return -1;
	b->costs.elapsed = stats_median(elapsed, ROUNDS);
	b->costs.stopped = stats_median(stopped, ROUNDS);
	return 0;
}

int branches_calibrate(struct branches *b)
{
	struct counting *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid, own = getpid();
	struct rusage usage = {0};
	int status, rc = -1;

	if (shared == MAP_FAILED)
		return -1;
	branches_pin(sched_getcpu());
	pid = fork();
	if (pid == 0)
		be_measured(shared, own);
	if (pid > 0) {
		if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
			rc = measure_all(b, pid, shared);
		kill(pid, SIGKILL);
		while (wait4(pid, &status, __WALL | __WNOTHREAD, &usage) == pid &&
			WIFSTOPPED(status))
			;
		b->elsewhere += (uint64_t)clock_used_ns(&usage);
	}
	branches_pin_free(b);
	munmap(shared, sizeof(*shared));
	return rc;
}
