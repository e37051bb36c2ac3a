/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traps that another stop has overtaken. A stop of the job, its end, and PTRACE_INTERRUPT are
 * reported before a signal that the thread has already caused itself. The trap of a single step or
 * a breakpoint then comes when the thread continues: perhaps elsewhere, where it would be taken for
 * the trap of other code. So it is taken before anything is done with the thread.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/proc.h"
#include "branches/private.h"

#define PENDING_MAX 16

static bool trap_pending(pid_t tid, bool (*wanted)(const siginfo_t *info))
{
	struct __ptrace_peeksiginfo_args all = {.nr = PENDING_MAX};
	siginfo_t infos[PENDING_MAX];
	long n = ptrace(PTRACE_PEEKSIGINFO, tid, &all, infos);

	for (long i = 0; i < n; i++)
		if (wanted(&infos[i]))
			return true;
	return false;
}

static bool of_trap(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP && info->si_code > 0;
}

bool trap_waits(pid_t tid)
{
	return trap_pending(tid, of_trap);
}

static bool of_fault(const siginfo_t *info)
{
	int signal = info->si_signo;

	return (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL) &&
	       info->si_code > 0;
}

bool trap_fault_waits(pid_t tid)
{
	return trap_pending(tid, of_fault);
}

bool trap_is_fault(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && of_fault(&info);
}

bool trap_is_breakpoint(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_signo == SIGTRAP &&
	       info.si_code == SI_KERNEL;
}

bool trap_take(pid_t tid, int *status)
{
	bool job = WSTOPSIG(*status) != SIGTRAP;

	/* The trap has precedence over other signals: this stop comes at once. */
	if (ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
		return false;
	if (proc_wait(tid, status, __WALL | __WNOTHREAD) < 0)
		return false;
	/* The thread has left the stop of its job: it gets there again when it continues. */
	if (job && WIFSTOPPED(*status) && *status >> 16 == 0)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return true;
}
