/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that was chosen earlier is followed only if its number still is its own. */
#include "../tap.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "process/seize.h"

static bool known_one(void *context, pid_t tid)
{
	return *(pid_t *)context == tid;
}

static int begins_one(void *context, pid_t tid, struct error *e)
{
	(void)e;
	*(pid_t *)context = tid;
	return 0;
}

/* The last child, all of whose threads are followed: a main thread is reaped after the others, of
 * which sanitizers have one. */
static void reap(pid_t child)
{
	kill(child, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
}

/* Another process follows it: who, and what to do. */
static void test_held(void)
{
	int pipes[2];
	pid_t held = fork(), holder, seized = 0;
	struct seizer s = {PTRACE_O_EXITKILL, "tests", known_one, begins_one, &seized, 0};
	struct error e = {0};
	char byte = 0, wanted[80];

	if (held == 0) {
		pause();
		_exit(0);
	}
	ok(pipe(pipes) == 0, "a pipe");
	holder = fork();
	if (holder == 0) {
		prctl(PR_SET_NAME, "holder");
		byte = ptrace(PTRACE_SEIZE, held, NULL, NULL) == 0;
		(void)!write(pipes[1], &byte, 1);
		pause();
		_exit(0);
	}
	ok(read(pipes[0], &byte, 1) == 1 && byte == 1, "another process follows it");
	snprintf(wanted, sizeof(wanted),
		"cannot follow process %d: process %d (holder) follows it already", held, holder);
	is_int(seize_process(&s, held, &e), -1, "so it cannot be followed");
	is_str(e.message, wanted, "who has it");
	snprintf(wanted, sizeof(wanted), "end process %d, or let it detach", holder);
	ok(strstr(e.hint, wanted), "what to do: %s", e.hint);
	is_int(e.code, ERR_BUSY, "... is busy");
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	is_int(seize_process(&s, held, &e), 0, "afterwards it can be followed");
	reap(held);
	close(pipes[0]);
	close(pipes[1]);
}

static void *nothing(void *unused)
{
	return unused;
}

static void begin_threads(void)
{
	pthread_t thread;

	for (;;) {
		usleep(1000);
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
	}
}

/* Until this has returned, the thread begins another one, which is ours, too. */
static int begins_late(void *context, pid_t tid, struct error *e)
{
	char path[64];
	struct stat directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tid);
	do {
		usleep(1000);
	} while (stat(path, &directory) == 0 && directory.st_nlink < 4);
	return begins_one(context, tid, e);
}

static void test_begun(void)
{
	pid_t seized = 0, child = fork();
	struct seizer s = {PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE, "tests", known_one, begins_late,
		&seized, 0};
	struct error e = {0};

	if (child == 0)
		begin_threads();
	ok(seize_process(&s, child, &e) == 0 && seized == child,
		"a thread that a followed one began is followed already: %s", e.message);
	reap(child);
}

int main(void)
{
	pid_t seized = 0, child = fork(), gone;
	struct seizer s = {PTRACE_O_EXITKILL, "tests", known_one, begins_one, &seized, 0};
	struct error e = {0};
	siginfo_t ended;
	uint64_t began;

	if (child == 0) {
		pause();
		_exit(0);
	}
	began = proc_began(child);
	ok(began > 0 && began == proc_began(child), "when it began: tick %llu",
		(unsigned long long)began);
	s.began = began + 1;
	ok(seize_process(&s, child, &e) == -1 && strstr(e.message, "is another one now"),
		"its number is another's: %s", e.message);
	s.began = began;
	ok(seize_process(&s, child, &e) == 0 && seized == child, "it is the one");
	reap(child);
	gone = fork();
	if (gone == 0)
		_exit(0);
	/* With all of its threads: sanitizers have one that may end last. */
	waitid(P_PID, (id_t)gone, &ended, WEXITED | WNOWAIT);
	s.began = 0;
	ok(seize_process(&s, gone, &e) == -1 && strstr(e.message, "has ended"),
		"one that its parent has not waited for: %s", e.message);
	waitpid(gone, NULL, 0);
	is_int(proc_began(gone), 0, "one that has ended");
	test_held();
	test_begun();
	return done();
}
