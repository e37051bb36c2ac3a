/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that was chosen earlier is followed only if its number still is its own. */
#include "../tap.h"

#include <signal.h>
#include <sys/ptrace.h>
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

int main(void)
{
	pid_t seized = 0, child = fork(), gone;
	struct seizer s = {PTRACE_O_EXITKILL, "tests", known_one, begins_one, &seized, 0};
	struct error e = {0};
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
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	gone = fork();
	if (gone == 0)
		_exit(0);
	while (proc_stat(gone, PROC_STAT_STATE) != 'Z')
		usleep(1000);
	s.began = 0;
	ok(seize_process(&s, gone, &e) == -1 && strstr(e.message, "has ended"),
		"one that its parent has not waited for: %s", e.message);
	waitpid(gone, NULL, 0);
	is_int(proc_began(gone), 0, "one that has ended");
	return done();
}
