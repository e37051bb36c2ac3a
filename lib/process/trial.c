/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES_LARGEST = 1 << 30 }; /* bytes */

static double trial_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int redirect_to(const char *path, int flags, int to)
{
	int fd = open(path ? path : "/dev/null", flags | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		return -1;
	return 0;
}

/* In the child. */
static void become(const struct trial *t, int report)
{
	const struct rlimit files = {FILES_LARGEST, FILES_LARGEST};
	int flags = O_WRONLY | O_CREAT | O_TRUNC, number;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_FSIZE, &files);
	if (redirect_to(NULL, O_RDONLY, 0) == 0 && redirect_to(t->output, flags, 1) == 0 &&
		redirect_to(t->errors, flags, 2) == 0)
		execvp(t->argv[0], t->argv);
	number = errno;
	(void)!write(report, &number, sizeof(number));
	_exit(127);
}

/* Whether it ended within the limit. */
static bool ended_within(pid_t pid, double limit)
{
	int fd = limit > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	double end = trial_now() + limit, left = limit;
	int n = 1;

	while (fd >= 0 && left > 0) {
		n = poll(&p, 1, (int)(left * 1000) + 1);
		if (n > 0 || (n < 0 && errno != EINTR))
			break;
		left = end - trial_now();
	}
	if (fd >= 0)
		close(fd);
	return n != 0 && (fd < 0 || left > 0);
}

static int collect_trial(pid_t pid, double began, const struct trial *t, struct trial_result *r)
{
	struct rusage usage;

	r->late = !ended_within(pid, t->limit);
	if (r->late)
		kill(-pid, SIGKILL);
	while (wait4(pid, &r->status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	r->elapsed = trial_now() - began;
	r->cpu = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	kill(-pid, SIGKILL); /* what it left running */
	return 0;
}

int trial_run(const struct trial *t, struct trial_result *r, struct error *e)
{
	int report[2], number = 0;
	double began;
	ssize_t n;
	pid_t pid;

	memset(r, 0, sizeof(*r));
	if (pipe2(report, O_CLOEXEC))
		return error_sys(e, errno, "cannot run %s", t->argv[0]);
	began = trial_now();
	pid = fork();
	if (pid == 0)
		become(t, report[1]);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return error_sys(e, errno, "cannot run %s", t->argv[0]);
	}
	setpgid(pid, pid); /* also set in the child: one of both is first */
	while ((n = read(report[0], &number, sizeof(number))) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (collect_trial(pid, began, t, r))
		return error_sys(e, errno, "cannot wait for %s", t->argv[0]);
	if (n == (ssize_t)sizeof(number)) {
		error_sys(e, number, "cannot run %s", t->argv[0]);
		if (e)
			e->code = ERR_CANNOT_RUN;
		return -1;
	}
	return 0;
}

void trial_status_text(const struct trial_result *r, char *text, int size)
{
	if (r->late)
		snprintf(text, (size_t)size, "no end within the limit");
	else if (WIFSIGNALED(r->status))
		snprintf(text, (size_t)size, "killed by signal %d (%s)", WTERMSIG(r->status),
			strsignal(WTERMSIG(r->status)));
	else
		snprintf(text, (size_t)size, "exit status %d", WEXITSTATUS(r->status));
}
