/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "process/trial.h"

/* Some containers forbid descriptors of processes. */
static void forbid_descriptors(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {.len = sizeof(f) / sizeof(*f), .filter = f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &p))
		printf("# there are no filters of system calls\n");
}

static void test_ends(const char *where)
{
	char *endless[] = {"sleep", "1000", NULL}, *seven[] = {"sh", "-c", "exit 7", NULL},
	     *stops[] = {"sh", "-c", "kill -TERM $PPID; sleep 1000", NULL};
	struct trial t = {.argv = seven};
	struct trial_result r;
	sigset_t before;
	struct error e;

	is_int(trial_run(&t, &r, &e), 0, "%s: a command", where);
	is_int(WEXITSTATUS(r.status), 7, "its status");
	ok(!r.late, "it is not late");
	t = (struct trial){.argv = endless, .limit = 0.1};
	is_int(trial_run(&t, &r, &e), 0, "%s: one that does not end", where);
	ok(r.late, "is killed at its limit");
	trial_signals_hold(&before);
	t = (struct trial){.argv = stops};
	is_int(trial_run(&t, &r, &e), -1, "%s: a signal to us ends it", where);
	ok(strstr(e.message, "ended by signal 15"), "which is said: %s", e.message);
}

int main(void)
{
	alarm(60); /* rather than hang */
	forbid_descriptors();
	test_ends("without descriptors of processes");
	return done();
}
