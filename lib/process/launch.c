/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The child waits on the gate, a pipe that only the parent can write to; end of file there means
 * that the parent has exited, and then the child exits too. Through a second pipe, closed by a
 * successful exec, it reports first its resource usage so far (so that usage begins with the
 * command, not with us) and then, if exec failed, its errno.
 */
#include "process/launch.h"
#include "process/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct exec_note {
	int errnum; /* 0: about to exec */
	struct rusage usage;
};

static size_t words_count(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* The words of a and then those of b, copied.  NULL when memory is out. */
static char **words_join(char *const *a, char *const *b)
{
	size_t na = words_count(a), nb = words_count(b);
	char **all = calloc(na + nb + 1, sizeof(*all));

	if (!all)
		return NULL;
	for (size_t i = 0; i < na + nb; i++) {
		all[i] = strdup(i < na ? a[i] : b[i - na]);
		if (!all[i]) {
			words_free(all);
			return NULL;
		}
	}
	return all;
}

int launch_init(struct launch *l, char *const *argv, struct error *e)
{
	struct sigaction action;

	memset(l, 0, sizeof(*l));
	l->gate = l->exec_error = -1;
	if (!argv || !argv[0])
		return error_set(e, ERR_RANGE, "no command to run");
	l->argv = words_join(argv, NULL);
	if (!l->argv)
		return error_nomem(e);
	sigprocmask(SIG_SETMASK, NULL, &l->mask);
	sigemptyset(&l->ignored);
	for (int s = 1; s < NSIG; s++)
		if (sigaction(s, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&l->ignored, s);
	return 0;
}

int launch_wrap(struct launch *l, char *const *prefix, struct error *e)
{
	char **all;

	if (l->pid)
		return error_set(e, ERR_CONFLICT, "the command was started already");
	all = words_join(prefix, l->argv);
	if (!all)
		return error_nomem(e);
	words_free(l->argv);
	l->argv = all;
	return 0;
}

int launch_setenv(struct launch *l, const char *name, const char *value, struct error *e)
{
	char *one[2] = {NULL, NULL}, **all;

	if (asprintf(&one[0], "%s=%s", name, value) < 0)
		return error_nomem(e);
	all = words_join(l->added_environment, one);
	free(one[0]);
	if (!all)
		return error_nomem(e);
	words_free(l->added_environment);
	l->added_environment = all;
	return 0;
}

/* In the child, all signals blocked: resets handlers and signals that our caller ignores; signals
 * that the user ignored stay ignored. */
static void restore_signals(const struct launch *l)
{
	struct sigaction action, plain;

	memset(&plain, 0, sizeof(plain));
	for (int s = 1; s < NSIG; s++) {
		bool ignored = sigismember(&l->ignored, s) == 1;
		void (*want)(int) = ignored ? SIG_IGN : SIG_DFL;

		if (sigaction(s, NULL, &action) != 0 || action.sa_handler == want)
			continue;
		plain.sa_handler = want;
		sigaction(s, &plain, NULL);
	}
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

static int write_note(int fd, const struct exec_note *note)
{
	ssize_t n;

	/* Shorter than PIPE_BUF: whole or not at all. */
	do
		n = write(fd, note, sizeof(*note));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

/* Whether a directory of PATH has the name. execvp fails with EACCES also if it could not search a
 * directory. */
static bool on_path(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];

	for (; path; path = *end ? end + 1 : NULL) {
		end = path + strcspn(path, ":");
		if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, name) <
				sizeof(file) &&
			access(file, F_OK) == 0)
			return true;
	}
	return false;
}

/* Its standard files, where they are not ours. Programs that find /dev/null there do less work
 * (grep stops at the first match); what is written to /dev/zero goes nowhere as well. Descriptors
 * that our caller closed stay so (file_hold_standard). */
static void redirect(const struct launch *l)
{
	int nowhere = l->silent ? open("/dev/zero", O_WRONLY | O_CLOEXEC) : -1;

	if (l->input > 0)
		dup2(l->input, STDIN_FILENO);
	for (int fd = STDOUT_FILENO; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
		if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			dup2(nowhere, fd);
}

__attribute__((noreturn)) static void child(const struct launch *l, int gate, int notes)
{
	struct exec_note note;
	char go;
	ssize_t n;

	for (char **v = l->added_environment; v && *v; v++)
		putenv(*v);
	/* Yama allows ptrace to ancestors only, and the tracer of lib/branches is not one. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125);
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	redirect(l);
	restore_signals(l);
	memset(&note, 0, sizeof(note));
	getrusage(RUSAGE_SELF, &note.usage);
	if (write_note(notes, &note))
		_exit(125); /* our caller would take it for ended */
	execvp(l->argv[0], l->argv);
	note.errnum = errno;
	if (errno == EACCES && !strchr(l->argv[0], '/') && !on_path(l->argv[0]))
		note.errnum = ENOENT;
	write_note(notes, &note);
	_exit(note.errnum == ENOENT ? 127 : 126);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int launch_start(struct launch *l, struct error *e)
{
	int gate[2], notes[2], errnum;
	sigset_t all, old;

	if (l->pid)
		return error_set(e, ERR_CONFLICT, "the command was started already");
	if (pipe2(gate, O_CLOEXEC) != 0)
		return error_sys(e, errno, "cannot create a pipe");
	if (pipe2(notes, O_CLOEXEC) != 0) {
		errnum = errno;
		close(gate[0]);
		close(gate[1]);
		return error_sys(e, errnum, "cannot create a pipe");
	}
	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	l->pid = fork();
	errnum = errno;
	if (l->pid == 0) {
		close(gate[1]);
		close(notes[0]);
		child(l, gate[0], notes[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(gate[0]);
	close(notes[1]);
	l->gate = gate[1];
	l->exec_error = notes[0];
	if (l->pid > 0)
		return 0;
	l->pid = 0;
	close_fd(&l->gate);
	close_fd(&l->exec_error);
	return error_sys(e, errnum, "cannot start a process for %s", l->argv[0]);
}

static void launch_take_off(struct rusage *usage, const struct rusage *before)
{
	struct timeval t;

	/* The kernel rounds the clocks separately; no difference may be negative. */
	if (timercmp(&usage->ru_utime, &before->ru_utime, <))
		timerclear(&usage->ru_utime);
	else {
		timersub(&usage->ru_utime, &before->ru_utime, &t);
		usage->ru_utime = t;
	}
	if (timercmp(&usage->ru_stime, &before->ru_stime, <))
		timerclear(&usage->ru_stime);
	else {
		timersub(&usage->ru_stime, &before->ru_stime, &t);
		usage->ru_stime = t;
	}
	usage->ru_minflt -= before->ru_minflt;
	usage->ru_majflt -= before->ru_majflt;
	usage->ru_nvcsw -= before->ru_nvcsw;
	usage->ru_nivcsw -= before->ru_nivcsw;
	usage->ru_inblock -= before->ru_inblock;
	usage->ru_oublock -= before->ru_oublock;
}

void launch_open_gate(struct launch *l)
{
	const struct timespec none = {0, 0};
	sigset_t pipe_set, old;

	/* The child holds the only reading end; were it dead, SIGPIPE must not take us along. */
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_set, &old);
	if (write(l->gate, "g", 1) < 0 && errno == EPIPE && !sigismember(&old, SIGPIPE))
		sigtimedwait(&pipe_set, NULL, &none);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close_fd(&l->gate);
}

int launch_began(struct launch *l, int milliseconds, struct error *e)
{
	struct pollfd notes = {.fd = l->exec_error, .events = POLLIN};
	struct exec_note note;
	ssize_t n;

	for (;;) {
		int ready = poll(&notes, 1, milliseconds);

		if (ready < 0 && errno == EINTR && milliseconds < 0)
			continue;
		if (ready <= 0)
			return 0;
		n = read(l->exec_error, &note, sizeof(note));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(note))
			break;
		if (note.errnum) {
			close_fd(&l->exec_error);
			return executable_not_run(l->argv[0], note.errnum, e);
		}
		l->before = note.usage;
		l->began = true;
		if (l->reaped) /* it was quick, or unlucky */
			launch_take_off(&l->usage, &l->before);
	}
	close_fd(&l->exec_error);
	if (!l->began)
		return error_set(e, ERR_SYSTEM, "the process for %s ended before it could run it",
			l->argv[0]);
	return 1;
}

int launch_release(struct launch *l, struct error *e)
{
	if (l->gate < 0)
		return error_set(e, ERR_CONFLICT, "the command is not waiting to be started");
	launch_open_gate(l);
	if (launch_began(l, -1, e) > 0)
		return 0;
	while (!l->reaped && launch_poll(l, true, NULL) >= 0)
		;
	return -1;
}

bool launch_was_released(const struct launch *l)
{
	return l->pid > 0 && l->gate < 0 && !l->reaped;
}

int launch_poll(struct launch *l, bool block, struct error *e)
{
	pid_t got;

	if (l->reaped)
		return 1;
	if (!l->pid)
		return error_set(e, ERR_CONFLICT, "the command was not started");
	got = wait4(l->pid, &l->status, block ? 0 : WNOHANG, &l->usage);
	if (got == l->pid && (WIFEXITED(l->status) || WIFSIGNALED(l->status))) {
		l->reaped = true;
		launch_take_off(&l->usage, &l->before);
		return 1;
	}
	if (got >= 0 || errno == EINTR)
		return 0;
	return error_sys(e, errno, "cannot wait for %s", l->argv[0]);
}

void launch_reaped(struct launch *l, int status, const struct rusage *usage)
{
	l->status = status;
	l->usage = *usage;
	l->reaped = true;
	launch_take_off(&l->usage, &l->before);
}

int launch_exit_status(const struct launch *l)
{
	if (WIFSIGNALED(l->status))
		return 128 + WTERMSIG(l->status);
	return WEXITSTATUS(l->status);
}

void launch_fini(struct launch *l)
{
	bool waits = l->gate >= 0;

	close_fd(&l->gate); /* the child reads end of file and ends */
	close_fd(&l->exec_error);
	while (waits && l->pid && !l->reaped && launch_poll(l, true, NULL) >= 0)
		;
	words_free(l->argv);
	words_free(l->added_environment);
	memset(l, 0, sizeof(*l));
	l->gate = l->exec_error = -1;
}
