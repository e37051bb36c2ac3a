/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tap.h"
#include "process/launch.h"

/* Runs the words to their end; the exit status, or -1 with *e when launch_release failed. */
static int run(struct launch *l, char *const *argv, struct error *e)
{
	memset(e, 0, sizeof(*e));
	if (launch_init(l, argv, e) != 0 || launch_start(l, e) != 0)
		return -2;
	if (launch_release(l, e) != 0)
		return -1;
	while (launch_poll(l, true, e) == 0)
		;
	return launch_exit_status(l);
}

static int shell(struct launch *l, const char *script)
{
	struct error e;
	char *argv[] = {"sh", "-c", (char *)script, NULL};

	return run(l, argv, &e);
}

static void test_statuses(void)
{
	struct launch l;

	is_int(shell(&l, "exit 7"), 7, "the command's own exit status");
	ok(l.reaped, "reaped");
	launch_fini(&l);
	is_int(shell(&l, "kill -TERM $$"), 128 + SIGTERM, "a signal as 128 + its number");
	launch_fini(&l);
}

static void test_files(void)
{
	char *argv[] = {
		"sh", "-c", "read word; echo heard >&2; echo $word; [ \"$word\" = told ]", NULL};
	struct launch l;
	struct error e;
	int ends[2];

	ok(pipe(ends) == 0 && write(ends[1], "told\n", 5) == 5, "input");
	is_int(launch_init(&l, argv, &e), 0, "a command with other files");
	l.input = ends[0];
	l.silent = true;
	is_int(launch_start(&l, &e) || launch_release(&l, &e), 0, "started");
	while (launch_poll(&l, true, &e) == 0)
		;
	is_int(launch_exit_status(&l), 0, "it reads what it was given");
	launch_fini(&l);
	close(ends[0]);
	close(ends[1]);
}

static void test_exec_errors(void)
{
	char *nowhere[] = {"no-such-command-anywhere", NULL};
	char *directory[] = {"/", NULL};
	char path[] = "/tmp/perfex-test-XXXXXX";
	char *script[] = {path, NULL};
	struct launch l;
	struct error e;
	int fd;

	is_int(run(&l, nowhere, &e), -1, "a command that is nowhere");
	is_int(e.errnum, ENOENT, "ENOENT, for 127");
	ok(strstr(e.message, "no-such-command-anywhere"), "message names it: %s", e.message);
	ok(e.hint[0], "hint: %s", e.hint);
	is_int(launch_exit_status(&l), 127, "and the child itself ended with 127");
	launch_fini(&l);
	is_int(run(&l, directory, &e), -1, "a directory");
	is_int(e.errnum, EACCES, "EACCES, for 126: %s", e.message);
	is_int(launch_exit_status(&l), 126, "and the child itself ended with 126");
	launch_fini(&l);

	fd = mkstemp(path);
	ok(fd >= 0 && write(fd, "#!/no/such/interpreter\n", 23) == 23 && fchmod(fd, 0755) == 0,
		"a script");
	close(fd);
	is_int(run(&l, script, &e), -1, "a script without its interpreter");
	ok(strstr(e.hint, "interpreter"), "hint speaks of it: %s", e.hint);
	launch_fini(&l);
	unlink(path);
}

static void test_wrap_and_environment(void)
{
	char *prefix[] = {"sh", "-c", "test \"$0 $1 $ADDED $LATER\" = 'a b c yes no'", NULL};
	char *argv[] = {"a", "b c", NULL};
	struct launch l;
	struct error e;

	launch_init(&l, argv, &e);
	is_int(launch_wrap(&l, prefix, &e), 0, "wrap");
	is_int(launch_setenv(&l, "ADDED", "yes", &e), 0, "setenv");
	is_int(launch_setenv(&l, "LATER", "no", &e), 0, "setenv again");
	launch_start(&l, &e);
	ok(!getenv("ADDED"), "our own environment is untouched");
	is_int(launch_release(&l, &e), 0, "release");
	while (launch_poll(&l, true, &e) == 0)
		;
	is_int(launch_exit_status(&l), 0,
		"wrapped words, then the command's, with the added variables");
	is_int(launch_wrap(&l, prefix, &e), -1, "no wrapping after the start");
	launch_fini(&l);
	ok(l.argv == NULL, "fini");
}

static void test_gate(void)
{
	char *argv[] = {"true", NULL};
	struct launch l;
	struct error e;
	pid_t pid;

	launch_init(&l, argv, &e);
	launch_start(&l, &e);
	pid = l.pid;
	is_int(launch_poll(&l, false, &e), 0, "a child at the gate has not ended");
	launch_fini(&l);
	ok(kill(pid, 0) != 0 && errno == ESRCH,
		"a child that was never released is gone after fini");
}

static void ignore(int s)
{
	(void)s;
}

/* SigBlk, SigIgn and SigCgt of the command, whatever we do with signals after launch_init. */
static void test_signals(void)
{
	char *argv[] = {"sh", "-c", "exec grep -E '^Sig(Blk|Ign)' /proc/self/status >&9", NULL};
	char text[256] = "";
	unsigned long long blocked = 0, ignored = 0;
	struct launch l;
	struct error e;
	sigset_t set;
	int fds[2];

	signal(SIGUSR2, SIG_IGN); /* the user's wish: must arrive */
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	launch_init(&l, argv, &e);
	signal(SIGINT, SIG_IGN); /* ours: must not */
	signal(SIGUSR1, ignore);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ok(pipe(fds) == 0 && dup2(fds[1], 9) == 9, "a pipe");
	launch_start(&l, &e);
	is_int(launch_release(&l, &e), 0, "release");
	while (launch_poll(&l, true, &e) == 0)
		;
	ok(read(fds[0], text, sizeof(text) - 1) > 0, "the command told");
	ok(sscanf(text, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) == 2, "both lines");
	is_int(blocked, 1ULL << (SIGWINCH - 1), "blocked: what was at launch_init");
	is_int(ignored & (1ULL << (SIGINT - 1) | 1ULL << (SIGUSR2 - 1)), 1ULL << (SIGUSR2 - 1),
		"ignored: what was at launch_init");
	launch_fini(&l);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
}

static void test_usage(void)
{
	char *argv[] = {"true", NULL};
	struct launch l;
	struct error e;
	char *waste = malloc(8 << 20);

	memset(waste, 1, 8 << 20); /* 2048 faults of ours, none of which may be the command's */
	run(&l, argv, &e);
	ok(l.usage.ru_minflt > 20 && l.usage.ru_minflt < 1500, "faults of true alone: %ld",
		l.usage.ru_minflt);
	ok(l.before.ru_minflt >= 0 && l.usage.ru_utime.tv_sec == 0, "before: %ld",
		l.before.ru_minflt);
	launch_fini(&l);
	free(waste);
}

int main(void)
{
	struct launch l;
	struct error e;
	char *none[] = {NULL};

	is_int(launch_init(&l, none, &e), -1, "no command");
	test_statuses();
	test_files();
	test_exec_errors();
	test_wrap_and_environment();
	test_gate();
	test_signals();
	test_usage();
	return done();
}
