/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/seize.h"

#include <errno.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"

/* Of one whose parent has not waited for it, or of a main thread before all others have ended, the
 * kernel says that it may not be followed. */
static bool seize_ended(pid_t tid)
{
	long state = proc_stat(tid, PROC_STAT_STATE);

	return state < 0 || state == 'Z' || state == 'X';
}

/* The kernel refuses a thread that another process follows as it refuses what is forbidden. */
static int seize_refused(const struct seizer *s, pid_t tid, int why, struct error *e)
{
	long holder = proc_status_number(tid, "TracerPid", 0);
	char name[32];

	if (holder == gettid()) /* a thread of ours began it; its first stop says so */
		return 0;
	if (why != EPERM || holder <= 0) {
		error_sys(e, why, "cannot follow process %d", (int)tid);
		return error_hint(e,
			"%s need ptrace: kernel.yama.ptrace_scope, a container, or a debugger "
			"outside of it forbids it",
			s->purpose);
	}
	proc_name((pid_t)holder, name, sizeof(name));
	error_set(e, ERR_BUSY, "cannot follow process %d: process %ld (%s) follows it already",
		(int)tid, holder, name);
	return error_hint(e,
		"%s need ptrace, which one process at a time may have: end process %ld, or let it "
		"detach",
		s->purpose, holder);
}

int seize_thread(const struct seizer *s, pid_t tid, struct error *e)
{
	int why;

	if (access("/proc/self", F_OK) != 0) {
		error_set(e, ERR_NOT_FOUND, "%s need /proc, which is not mounted here", s->purpose);
		return error_hint(e, "as root: mount -t proc proc /proc");
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)s->options) == 0)
		return s->begins(s->context, tid, e);
	why = errno;
	if (why == ESRCH || (why == EPERM && seize_ended(tid)))
		return 0;
	return seize_refused(s, tid, why, e);
}

/* One look at the list of threads: how many of them were new, -1. *any: some are followed. */
static int seize_listed(const struct seizer *s, DIR *list, bool *any, struct error *e)
{
	int fresh = 0;
	pid_t tid;

	while ((tid = proc_next(list))) {
		if (s->known(s->context, tid)) {
			*any = true;
			continue;
		}
		if (seize_thread(s, tid, e))
			return -1;
		fresh += s->known(s->context, tid);
	}
	return fresh;
}

int seize_process(const struct seizer *s, pid_t pid, struct error *e)
{
	bool any;
	int fresh;

	/* Threads that others, not yet seized, created meanwhile: repeats until there are none. */
	do {
		DIR *list = proc_list(pid);

		if (!list)
			return error_set(e, ERR_NOT_FOUND, "process %d does not exist", (int)pid);
		any = false;
		fresh = seize_listed(s, list, &any, e);
		closedir(list);
	} while (fresh > 0);
	if (fresh == 0 && !any)
		return error_set(e, ERR_NOT_FOUND, "process %d has ended", (int)pid);
	/* what is seized keeps its number */
	if (fresh == 0 && s->began && proc_began(pid) != s->began)
		return error_set(e, ERR_NOT_FOUND, "process %d is another one now", (int)pid);
	return fresh;
}

bool seize_stop(pid_t tid, int waited, int *status)
{
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return false;
	return proc_wait(tid, status, waited) == tid && WIFSTOPPED(*status);
}
