/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "process/threads.h"

static unsigned begun;

/* Fails at the third thread, when the first has ended without our having waited for it. */
static int fail_late(void *context, enum trace_news news, pid_t pid, pid_t tid, const char *command,
	struct error *e)
{
	(void)context, (void)pid, (void)tid, (void)command;
	if (news != TRACE_BEGINS || ++begun < 3)
		return 0;
	usleep(200000);
	return error_set(e, ERR_SYSTEM, "enough");
}

static pid_t start(char *const *argv, int *gate)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		exit(1);
	pid = fork();
	if (pid == 0) {
		if (read(ends[0], &byte, 1) == 1)
			execv(argv[0], argv);
		_exit(127);
	}
	close(ends[0]);
	*gate = ends[1];
	return pid;
}

/* The kernel reports a thread's end to its tracer, and waits for that, before the process's. */
static void test_fails_on_the_way(void)
{
	char path[4096], *argv[] = {path, "8", NULL};
	struct trace t = {.hear = fail_late};
	struct rusage usage;
	struct error e = {.code = ERR_NONE};
	int gate, status = -1, rc = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/tests/programs/threads", getenv("BUILD"));
	pid = start(argv, &gate);
	is_int(threads_trace_begin(&t, pid, false, &e), 0, "it is followed: %s", e.message);
	ok(write(gate, "g", 1) == 1, "it goes on");
	alarm(60); /* rather than hang */
	while (rc == 0) {
		usleep(1000);
		rc = threads_trace_poll(&t, &status, &usage, &e);
	}
	is_int(rc, -1, "following ends at the third thread");
	is_str(e.message, "enough", "by our error");
	threads_trace_end(&t);
	is_int(waitpid(pid, &status, 0), pid, "the program comes to its end");
	is_int(status, 0, "as by itself");
}

int main(void)
{
	test_fails_on_the_way();
	return done();
}
