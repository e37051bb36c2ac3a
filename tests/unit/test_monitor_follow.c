/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes and images the Monitor follows, and when it has enough of one. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "base/proc.h"
#include "monitor/monitor_follow.h"
#include "monitor/monitor_session.h"

static char why[256];

static bool may(pid_t pid, const char *spared)
{
	const char *const globs[] = {spared, NULL};

	why[0] = '\0';
	return monitor_follow_may(pid, spared ? globs : NULL, why, sizeof(why));
}

/* A process that waits, traced by us or not. */
static pid_t begin_child(bool traced)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (traced)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* By patterns of its own name and path; under Valgrind these are not ours. */
static void check_spared(pid_t child)
{
	char name[32] = "", path[PATH_MAX] = "", glob[PATH_MAX + 2];

	ok(proc_name(child, name, sizeof(name)) && strlen(name) > 1 &&
			proc_link(child, "exe", path, sizeof(path)) && strrchr(path, '/'),
		"a process has a name and a path");
	name[strlen(name) - 1] = '*';
	ok(!may(child, name) && strstr(why, "spared"), "not what is spared by name");
	snprintf(glob, sizeof(glob), "*%s", strrchr(path, '/'));
	ok(!may(child, glob), "or by path");
	ok(may(child, "*other*"), "what is spared is no other");
}

static void check_processes(void)
{
	pid_t child = begin_child(false), traced = begin_child(true);
	struct sched_param lowest = {.sched_priority = 1};

	ok(may(child, NULL), "a process of ours may be followed: %s", why);
	check_spared(child);
	ok(!may(traced, NULL) && strstr(why, "debugger"), "not what is traced: %s", why);
	ok(!may(getpid(), NULL), "not ourselves");
	ok(!may(1, NULL), "not the first process");
	if (sched_setscheduler(child, SCHED_FIFO, &lowest) == 0)
		ok(!may(child, NULL) && strstr(why, "real time"), "not what runs in real time");
	else
		ok(true, "not what runs in real time # SKIP this needs rights");
	end_child(child);
	end_child(traced);
	ok(!may(child, NULL) && why[0], "not what has ended: %s", why);
}

static void check_images(void)
{
	ok(monitor_follow_fits("/proc/self/exe", why, sizeof(why)), "this program has lines");
	ok(!monitor_follow_fits("/dev/null", why, sizeof(why)) && why[0], "nothing has none");
	ok(!monitor_follow_fits("/nonexistent", why, sizeof(why)) && why[0], "nor what is gone");
}

static void check_enough(void)
{
	ok(!monitor_session_enough(0, 0, 0), "nothing is not enough");
	ok(monitor_session_enough(FOLLOW_BURSTS, 0, FOLLOW_SESSIONS), "bursts are");
	ok(monitor_session_enough(1, FOLLOW_BRANCHES, FOLLOW_SESSIONS), "so are branches");
	ok(!monitor_session_enough(FOLLOW_BURSTS, FOLLOW_BRANCHES, FOLLOW_SESSIONS - 1),
		"one phase is not");
	ok(!monitor_session_enough(FOLLOW_BURSTS - 1, FOLLOW_BRANCHES - 1, 10 * FOLLOW_SESSIONS),
		"few are not");
}

/* Without samples there is nothing to follow, whatever may be spent. */
static void check_idle(void)
{
	const struct watch_clock clock = {.period = 4000000, .tick = true};
	const struct store store = {.directory = (char *)"/nonexistent"};
	const struct monitor_follow_request r = {.store = &store, .ssrun = "/nonexistent"};
	struct monitor_status status = {0};
	struct monitor_follow *f;
	struct error e = {0};
	struct watch w;
	double own;

	f = monitor_follow_new(&r, &e);
	if (!f) {
		ok(e.code == ERR_UNSUPPORTED, "not on this machine: %s", e.message);
		return;
	}
	ok(monitor_watch_init(&w, &clock, 0) == 0, "a watch");
	for (unsigned i = 1; i < 100; i++)
		if (monitor_follow_round(f, &w, 1e9 * i, i * (uint64_t)1000000000))
			ok(false, "a round");
	monitor_follow_settle(f, &status);
	ok(status.sessions == 0 && status.session_failures == 0, "no session without samples");
	ok(monitor_follow_spent(f, &own) == 0 && own == 0, "nothing is spent");
	ok(monitor_follow_wait(f, 1000) == 1000, "nothing is awaited");
	monitor_follow_free(f);
	monitor_watch_fini(&w);
}

int main(void)
{
	check_processes();
	check_images();
	check_enough();
	check_idle();
	return done();
}
