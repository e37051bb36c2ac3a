/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { FILES_LARGEST = 1 << 30 }; /* bytes */
enum { LOOK_MS = 10 };

static int stopped_by; /* a signal that ended a run */

static int redirect_to(const char *path, int flags, int to)
{
	int fd = open(path ? path : "/dev/null", flags | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		return -1;
	return 0;
}

static int stand_apart(const struct trial *t)
{
	const struct rlimit files = {FILES_LARGEST, FILES_LARGEST};
	int flags = O_WRONLY | O_CREAT | O_TRUNC;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_FSIZE, &files);
	return redirect_to(NULL, O_RDONLY, 0) || redirect_to(t->output, flags, 1) ||
			       redirect_to(t->errors, flags, 2)
		       ? -1
		       : 0;
}

/* In the child. */
static void become(const struct trial *t, int report)
{
	sigset_t none;
	int number;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (char *const *v = t->environment; v && *v; v++)
		putenv(*v);
	if (t->shares || stand_apart(t) == 0)
		execvp(t->argv[0], t->argv);
	number = errno;
	(void)!write(report, &number, sizeof(number));
	_exit(127);
}

enum trial_end { TRIAL_ENDED, TRIAL_LATE, TRIAL_STOPPED };

/* Signals that would end us, while a command runs: read from fd instead. */
struct trial_signals {
	sigset_t before;
	int fd;
};

static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

void trial_signals_hold(sigset_t *before)
{
	const sigset_t set = ending_signals();

	pthread_sigmask(SIG_BLOCK, &set, before);
}

void trial_signals_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void signals_take(struct trial_signals *s)
{
	const sigset_t set = ending_signals();

	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, s->fd < 0 ? NULL : &set, &s->before);
}

static void signals_give_back(const struct trial_signals *s)
{
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	if (s->fd >= 0)
		close(s->fd);
}

/* Its number; 0: there was none. */
static int signals_read(const struct trial_signals *s)
{
	struct signalfd_siginfo info;

	return s->fd >= 0 && read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)
		       ? (int)info.ssi_signo
		       : 0;
}

/* Our child; it is not waited for. */
static bool trial_has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

/* Waits until it has ended, the limit is over, or a signal has come. Without a descriptor of it, as
 * some containers forbid these, it is looked at now and then. */
static enum trial_end trial_wait(
	pid_t pid, double limit, const struct trial_signals *s, int *signal)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = s->fd, .events = POLLIN}};
	double end = clock_seconds() + limit, left = limit;
	enum trial_end how = TRIAL_ENDED;

	for (;;) {
		double most = fd >= 0 ? 1e9 : LOOK_MS;
		int ms = limit > 0 ? (int)fmin(left * 1000 + 1, most) : fd >= 0 ? -1 : LOOK_MS;
		int n = poll(p, 2, ms);

		*signal = n > 0 && p[1].revents ? signals_read(s) : 0;
		left = end - clock_seconds();
		if (*signal)
			how = TRIAL_STOPPED;
		else if (fd >= 0 ? n > 0 && p[0].revents : trial_has_ended(pid))
			how = TRIAL_ENDED;
		else if (limit > 0 && left <= 0)
			how = TRIAL_LATE;
		else if (n >= 0 || errno == EINTR)
			continue;
		break;
	}
	if (fd >= 0)
		close(fd);
	return how;
}

static int trial_stopped(struct error *e)
{
	return error_set(
		e, ERR_SYSTEM, "ended by signal %d (%s)", stopped_by, strsignal(stopped_by));
}

static int collect_trial(
	pid_t pid, double began, const struct trial *t, struct trial_result *r, struct error *e)
{
	struct trial_signals signals;
	struct rusage usage;
	int signal = 0, rc = 0;
	enum trial_end how;

	signals_take(&signals);
	how = trial_wait(pid, t->limit, &signals, &signal);
	r->late = how == TRIAL_LATE;
	if (t->shares && how == TRIAL_STOPPED)
		kill(pid, signal);
	else if (how != TRIAL_ENDED)
		kill(t->shares ? pid : -pid, SIGKILL);
	while (rc == 0 && wait4(pid, &r->status, 0, &usage) < 0)
		if (errno != EINTR)
			rc = error_sys(e, errno, "cannot wait for %s", t->argv[0]);
	if (rc == 0) {
		r->elapsed = clock_seconds() - began;
		r->cpu = clock_used_ns(&usage) * 1e-9;
	}
	if (!t->shares)
		kill(-pid, SIGKILL); /* what it left running */
	signals_give_back(&signals);
	if (rc == 0 && how == TRIAL_STOPPED) {
		stopped_by = signal;
		rc = trial_stopped(e);
	}
	return rc;
}

int trial_run(const struct trial *t, struct trial_result *r, struct error *e)
{
	int report[2], number = 0;
	double began;
	ssize_t n;
	pid_t pid;

	memset(r, 0, sizeof(*r));
	if (stopped_by && !t->cleans)
		return trial_stopped(e);
	if (pipe2(report, O_CLOEXEC))
		return error_sys(e, errno, "cannot run %s", t->argv[0]);
	began = clock_seconds();
	pid = fork();
	if (pid == 0)
		become(t, report[1]);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return error_sys(e, errno, "cannot run %s", t->argv[0]);
	}
	if (!t->shares)
		setpgid(pid, pid); /* also set in the child: one of both is first */
	while ((n = read(report[0], &number, sizeof(number))) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (collect_trial(pid, began, t, r, e))
		return -1;
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
