/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A visit: a thread is stopped and looked at. */
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "branches/private.h"

#define STOP_MOST (100 * (uint64_t)MICROSECOND)

/* What the owner wants to know of it. */
static void visit_look(struct held *f, uint64_t time)
{
	struct branches *b = f->b;
	_Alignas(64) static uint8_t state[BRANCHES_STATE];
	struct iovec io = {state, sizeof(state)};
	struct branches_visit visit = {.pid = f->process->pid,
		.tid = f->tid,
		.time = time,
		.memory = f->process->memory,
		.state = state};

	if (!f->stale && ptrace(PTRACE_GETREGSET, f->tid, (void *)NT_X86_XSTATE, &io) == 0) {
		visit.registers = &f->registers;
		visit.size = io.iov_len;
	}
	branches_charge(b, b->request.visit(b->request.context, &visit));
}

/*
 * Where we have taken the processor from the thread, it is where the scheduler let us have it:
 * at a tick or at the end of a system call, which is no random moment. So it is stopped from
 * another one, and has gone on meanwhile.
 */
static void leave_processor(const struct branches *b, long processor)
{
	cpu_set_t others = b->processors;
	unsigned own;

	if (processor < 0 || syscall(SYS_getcpu, &own, NULL, NULL) ||
		own != (unsigned long)processor)
		return;
	CPU_CLR(own, &others);
	if (CPU_COUNT(&others))
		sched_setaffinity(0, sizeof(others), &others);
}

/*
 * On the thread's processor it cannot run while we do: its CPU time from before the stop until it
 * goes on is what the stop costs it, some 30 us. More is work of its own, if it has moved to
 * another processor meanwhile.
 */
void visit_stop(
	struct branches *b, pid_t tid, long processor, void (*look)(struct held *f, uint64_t time))
{
	struct thread *t = tracer_find(b, tid);
	struct held f = {.b = b, .tid = tid, .process = t->process};
	uint64_t began, used, now;
	pid_t pid = t->process->pid;

	if (process_memory(f.process) < 0)
		return;
	leave_processor(b, processor);
	began = branches_now(CLOCK_MONOTONIC);
	f.until = began + WAIT_STOP;
	branches_set_horizon(b, began);
	used = hold_time(f.process, tid);
	if (hold_stop(&f) == 0) {
		if (processor >= 0)
			branches_pin(processor);
		look(&f, branches_now(CLOCK_MONOTONIC));
	}
	if (f.held)
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	if (process_find(b, pid) == f.process && tracer_find(b, tid)) {
		now = hold_time(f.process, tid);
		used = now > used ? now - used : 0;
		b->counts[TALLY_STOP_NS] += used < STOP_MOST ? used : STOP_MOST;
	}
	branches_set_horizon(b, 0);
}

void branches_visit(struct branches *b, pid_t tid, long processor)
{
	visit_stop(b, tid, processor, visit_look);
	branches_pin_free(b);
}
