/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A held thread: it is stopped and controlled by the tracer for some time. */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "branches/private.h"

#define QUIET_THREADS 64 /* with more threads, pinning takes longer than it saves */

#define WAIT_OTHERS (5 * (uint64_t)MILLISECOND)

#define USER_64 0x33 /* code segment */

static const struct sched_param plain;

/*
 * A stop is cheap if both threads are on one processor, but the scheduler would move the thread to
 * an idle one each time. And where it continues, it would run for its whole slice before we get the
 * processor to wait for it: as a batch job it does not. Only system calls could show this, or pass
 * it to a child: none of these is executed meanwhile.
 *
 * The C library's own idea of the current processor is that of another thread (apart.c).
 */
void hold_pin(struct held *f)
{
	unsigned number;
	int processor = syscall(SYS_getcpu, &number, NULL, NULL) == 0 ? (int)number : -1;
	cpu_set_t set;

	if (f->pinned || processor < 0 || processor >= CPU_SETSIZE ||
		sched_getaffinity(f->tid, sizeof(f->allowed), &f->allowed) ||
		!CPU_ISSET(processor, &f->allowed))
		return;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	f->pinned = sched_setaffinity(f->tid, sizeof(set), &set) == 0;
	f->batch = f->pinned && sched_getscheduler(f->tid) == SCHED_OTHER &&
		   sched_setscheduler(f->tid, SCHED_BATCH, &plain) == 0;
}

void hold_unpin(struct held *f)
{
	if (f->pinned)
		sched_setaffinity(f->tid, sizeof(f->allowed), &f->allowed);
	if (f->batch)
		sched_setscheduler(f->tid, SCHED_OTHER, &plain);
	f->pinned = f->batch = false;
}

/* Stops it anywhere. */
int hold_stop(struct held *f)
{
	struct branches *b = f->b;
	int status;

	if (ptrace(PTRACE_INTERRUPT, f->tid, NULL, NULL) != 0)
		return -1;
	for (;;) {
		if (tracer_wait(b, f->until, f->tid, &status) <= 0)
			return -1;
		if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP) {
			if (!trap_waits(f->tid))
				break;
			/* It has executed a breakpoint or a step: that comes first. */
			if (!trap_take(f->tid, &status))
				return -1;
			ptrace(PTRACE_INTERRUPT, f->tid, NULL, NULL);
		}
		tracer_deal(b, f->tid, status);
		if (!tracer_find(b, f->tid))
			return -1;
	}
	f->held = true;
	b->counts[TALLY_STOPS]++;
	b->elsewhere += (uint64_t)b->costs.interrupted;
	if (ptrace(PTRACE_GETREGS, f->tid, NULL, &f->registers) != 0)
		return -1;
	tracer_mend_call(f->tid, &f->registers);
	f->before = f->registers;
	f->stale = (long)f->registers.orig_rax >= 0;
	return (f->registers.cs & 0xffff) == USER_64 ? 0 : -1;
}

/* Stops one more thread for hold_others. */
static bool hold_one(struct branches *b, pid_t tid, uint64_t until)
{
	struct held other = {.b = b, .tid = tid, .until = until};

	if (hold_stop(&other) == 0 || other.held)
		return true;
	return false;
}

bool hold_others(struct held *f, hold_list *list)
{
	struct branches *b = f->b;
	uint64_t until = branches_now(CLOCK_MONOTONIC) + WAIT_OTHERS;
	hold_list wanted = {0};
	bool all = f->process->threads <= QUIET_THREADS;

	for (size_t i = 0; i < b->threads.count && all; i++)
		if (b->threads.data[i].process == f->process && b->threads.data[i].tid != f->tid)
			all = vec_add(&wanted, b->threads.data[i].tid) == 0;
	for (size_t i = 0; i < wanted.count && all; i++) {
		if (!tracer_find(b, wanted.data[i]))
			continue;
		all = hold_one(b, wanted.data[i], until) && vec_add(list, wanted.data[i]) == 0;
	}
	vec_fini(&wanted);
	return all;
}

void hold_release(struct held *f, hold_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (tracer_find(f->b, list->data[i]))
			tracer_go(f->b, list->data[i], 0);
	vec_fini(list);
}

/* Samples of that time are left out anyway, and their timer would be set at each stop. */
void hold_quiet(struct branches *b, bool on)
{
	if (b->request.quiet && b->threads.count <= QUIET_THREADS)
		b->request.quiet(b->request.context, on);
}

/* CPU time of a thread that is stopped. */
uint64_t hold_time(const struct followed *p, pid_t tid)
{
	char text[64];

	if (p->threads == 1)
		return branches_now(p->clock);
	return proc_read(tid, "schedstat", text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

uint64_t hold_spent(const struct held *f)
{
	return branches_now(CLOCK_THREAD_CPUTIME_ID) + hold_time(f->process, f->tid);
}
