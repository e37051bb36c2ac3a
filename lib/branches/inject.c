/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that a thread does for us, between two of its own instructions. */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branches/cache.h"

#define SYSCALL    "\x0f\x05"
#define LOOK_BYTES 65536u
#define WAIT_CALL  (200 * (uint64_t)MILLISECOND)

/* Any two bytes of code that are a system call. */
static uint64_t find_call(const struct followed *p)
{
	uint8_t *bytes = malloc(LOOK_BYTES);
	uint64_t found = 0;

	for (size_t i = p->areas.count; bytes && !found && i-- > 0;) {
		const struct area *a = &p->areas.data[i];

		for (uint64_t at = a->begin; !found && at < a->end; at += LOOK_BYTES - 1) {
			size_t size = a->end - at < LOOK_BYTES ? a->end - at : LOOK_BYTES;
			ssize_t n = pread(p->memory, bytes, size, (off_t)at);
			const uint8_t *call = n > 0 ? memmem(bytes, (size_t)n, SYSCALL, 2) : NULL;

			if (call)
				found = at + (uint64_t)(call - bytes);
		}
	}
	free(bytes);
	return found;
}

/* The thread's next stop; -1: it has ended. */
static int inject_stop(struct held *f, int *status)
{
	int rc;

	/* Also when a stop is requested: it must not go on from here. */
	do
		rc = tracer_wait(f->b, branches_now(CLOCK_MONOTONIC) + WAIT_CALL, f->tid, status);
	while (rc == 0);
	if (rc < 0)
		return -1;
	f->b->counts[TALLY_STOPS]++;
	while (*status >> 16 == PTRACE_EVENT_STOP && trap_waits(f->tid)) {
		if (!trap_take(f->tid, status))
			return -1;
		if (!WIFSTOPPED(*status)) {
			tracer_deal(f->b, f->tid, *status);
			return -1;
		}
	}
	return 0;
}

/* Waits for the end of the call, or for a stop that prevents it. -1: the thread has ended. */
static int inject_await(struct cache *c, struct held *f, struct user_regs_struct *registers)
{
	for (;;) {
		int status, signal;
		bool stop, pause;

		if (inject_stop(f, &status) || ptrace(PTRACE_GETREGS, f->tid, NULL, registers) != 0)
			return -1;
		signal = WSTOPSIG(status);
		stop = status >> 16 == PTRACE_EVENT_STOP;
		pause = status >> 16 == 0 && signal == SIGSTOP;
		/* The job is stopped: the thread gets there again from where it was. */
		if (stop && signal != SIGTRAP)
			ptrace(PTRACE_INTERRUPT, f->tid, NULL, NULL);
		if (registers->rip != c->call || !(pause || (stop && signal == SIGTRAP)))
			return 0;
		if (ptrace(PTRACE_SINGLESTEP, f->tid, NULL, (void *)(long)(pause ? signal : 0)))
			return -1;
	}
}

long inject_call(struct cache *c, struct held *f, long number, const uint64_t arguments[6])
{
	const uint64_t all = ~0ull;
	struct user_regs_struct registers;
	long result = -EINTR;
	uint64_t mask;

	if (!c->call)
		c->call = find_call(f->process);
	if (!c->call || ptrace(PTRACE_GETREGS, f->tid, NULL, &registers) != 0 ||
		ptrace(PTRACE_GETSIGMASK, f->tid, (void *)sizeof(mask), &mask) != 0)
		return -ENOSYS;
	f->before = registers;
	registers.rip = c->call;
	registers.orig_rax = (unsigned long long)-1;
	registers.rax = (unsigned long long)number;
	registers.rdi = arguments[0];
	registers.rsi = arguments[1];
	registers.rdx = arguments[2];
	registers.r10 = arguments[3];
	registers.r8 = arguments[4];
	registers.r9 = arguments[5];
	if (ptrace(PTRACE_SETREGS, f->tid, NULL, &registers) != 0)
		return -ENOSYS;
	ptrace(PTRACE_SETSIGMASK, f->tid, (void *)sizeof(all), &all);
	if (ptrace(PTRACE_SINGLESTEP, f->tid, NULL, NULL) != 0)
		return -ENOSYS;
	f->held = false;
	if (inject_await(c, f, &registers))
		return -EINTR;
	f->held = true;
	if (registers.rip == c->call + sizeof(SYSCALL) - 1)
		result = (long)registers.rax;
	ptrace(PTRACE_SETREGS, f->tid, NULL, &f->before);
	ptrace(PTRACE_SETSIGMASK, f->tid, (void *)sizeof(mask), &mask);
	return result;
}
