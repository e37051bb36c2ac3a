/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/threads.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "process/seize.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC)

static bool known(const struct trace *t, pid_t tid)
{
	for (size_t i = t->threads.count; i-- > 0;)
		if (t->threads.data[i] == tid)
			return true;
	return false;
}

static void threads_forget(struct trace *t, pid_t tid)
{
	for (size_t i = t->threads.count; i-- > 0;)
		if (t->threads.data[i] == tid) {
			t->threads.data[i] = t->threads.data[--t->threads.count];
			return;
		}
}

static int threads_begins(struct trace *t, pid_t tid, bool tell, struct error *e)
{
	pid_t *slot = vec_push(&t->threads);

	if (!slot)
		return error_nomem(e);
	*slot = tid;
	return tell ? t->hear(t->context, TRACE_BEGINS, (pid_t)proc_status_number(tid, "Tgid", tid),
			      tid, "", e)
		    : 0;
}

/* Its name is there until it is reaped, which is just about to happen. */
static int threads_ends(struct trace *t, pid_t tid, struct error *e)
{
	char command[32];

	if (!known(t, tid))
		return 0;
	threads_forget(t, tid);
	proc_status(tid, "Name", command, sizeof(command));
	return t->hear(t->context, TRACE_ENDS, (pid_t)proc_status_number(tid, "Tgid", tid), tid,
		command, e);
}

static bool seizer_knows(void *context, pid_t tid)
{
	return known(context, tid);
}

/* The beginning of our own child is not reported. */
static int seizer_begins(void *context, pid_t tid, struct error *e)
{
	struct trace *t = context;

	return threads_begins(t, tid, !t->child, e);
}

int threads_trace_begin(struct trace *t, pid_t pid, bool running, struct error *e)
{
	const struct seizer seizer = {
		OPTIONS, "rows per thread (-mp)", seizer_knows, seizer_begins, t, 0};

	t->child = running ? 0 : pid;
	return running ? seize_process(&seizer, pid, e) : seize_thread(&seizer, pid, e);
}

/* An exec by another thread than the first: the first one ends without a report, and the other
 * takes its number. */
static int execed(struct trace *t, pid_t pid, struct error *e)
{
	unsigned long former = 0;

	if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former) != 0 || (pid_t)former == pid)
		return 0;
	if (known(t, pid) && threads_ends(t, pid, e) != 0)
		return -1;
	threads_forget(t, (pid_t)former);
	if (threads_begins(t, pid, false, e) != 0)
		return -1;
	return t->hear(t->context, TRACE_RENAMED, pid, (pid_t)former, "", e);
}

/* A thread has stopped: finds out why, and continues it as if it were not traced. */
static int stopped(struct trace *t, pid_t tid, int status, struct error *e)
{
	int event = status >> 16, number = WSTOPSIG(status), rc = 0;
	long deliver = 0;

	if (event == PTRACE_EVENT_STOP && number != SIGTRAP) {
		/* The job is stopped (^Z): it stays so until SIGCONT. */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return 0;
	}
	if (event == PTRACE_EVENT_STOP) {
		if (!known(t, tid))
			rc = threads_begins(t, tid, true, e);
	} else if (event == PTRACE_EVENT_EXEC) {
		rc = execed(t, tid, e);
	} else if (event == 0) {
		deliver = number;
	}
	ptrace(PTRACE_CONT, tid, NULL, (void *)deliver);
	return rc;
}

int threads_trace_poll(struct trace *t, int *status, struct rusage *usage, struct error *e)
{
	for (;;) {
		siginfo_t info = {.si_pid = 0};
		struct rusage own;
		int word;

		/* Peeks first: the name of an ended thread must be read before it is reaped. */
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 ||
			!info.si_pid)
			return 0;
		if ((info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			    info.si_code == CLD_DUMPED) &&
			threads_ends(t, info.si_pid, e) != 0)
			return -1;
		if (wait4(info.si_pid, &word, WNOHANG | __WALL, &own) != info.si_pid)
			continue;
		if (WIFSTOPPED(word)) {
			if (stopped(t, info.si_pid, word, e) != 0)
				return -1;
		} else if (info.si_pid == t->child) {
			*status = word;
			*usage = own;
			return 1;
		}
	}
}

/* Stops a thread wherever it is and detaches; a signal that arrives then is passed on. One that has
 * ended must be waited for: until then its process, or its parent's wait for it, does not end. */
static void let_go(const struct trace *t, pid_t tid)
{
	int word;

	if (seize_stop(tid, __WALL, &word))
		ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)(word >> 16 ? 0 : WSTOPSIG(word)));
	else if (tid != t->child)
		waitpid(tid, &word, __WALL | WNOHANG);
}

/* Those that we have not heard of, too; how many. The kernel ends a list early where a thread ends
 * that it is at. */
static int let_go_unheard(const struct trace *t)
{
	DIR *list = proc_list(t->child);
	int found = 0;
	pid_t tid;

	while ((tid = proc_next(list))) {
		if (known(t, tid) || proc_status_number(tid, "TracerPid", 0) != gettid())
			continue;
		let_go(t, tid);
		found++;
	}
	if (list)
		closedir(list);
	return found;
}

void threads_trace_end(struct trace *t)
{
	for (size_t i = 0; i < t->threads.count; i++)
		let_go(t, t->threads.data[i]);
	for (int complete = 0; t->child && complete < 2;)
		complete = let_go_unheard(t) ? 0 : complete + 1;
	vec_fini(&t->threads);
}
