/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command under a filter of system calls as Docker's default profile is one: what that
 * refuses fails with EPERM, and clone3 with ENOSYS.
 *   confined [-pidfd] COMMAND...
 * -pidfd: only pidfd_open is refused, which old profiles do not know.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int refused[] = {SYS_acct, SYS_add_key, SYS_bpf, SYS_clock_adjtime, SYS_clock_settime,
	SYS_delete_module, SYS_fanotify_init, SYS_finit_module, SYS_fsconfig, SYS_fsmount,
	SYS_fsopen, SYS_fspick, SYS_get_mempolicy, SYS_init_module, SYS_io_uring_enter,
	SYS_io_uring_register, SYS_io_uring_setup, SYS_kcmp, SYS_kexec_load, SYS_keyctl,
	SYS_lookup_dcookie, SYS_mbind, SYS_mount, SYS_move_mount, SYS_move_pages,
	SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open,
	SYS_pivot_root, SYS_quotactl, SYS_reboot, SYS_request_key, SYS_set_mempolicy, SYS_setns,
	SYS_settimeofday, SYS_swapon, SYS_swapoff, SYS_syslog, SYS_umount2, SYS_unshare,
	SYS_userfaultfd};

#define REFUSED (sizeof(refused) / sizeof(*refused))

int main(int argc, char **argv)
{
	static struct sock_filter f[2 * REFUSED + 4];
	unsigned short n = 0;
	struct sock_fprog p = {.filter = f};
	bool one = argc > 1 && !strcmp(argv[1], "-pidfd");
	const int *calls = one ? (const int[]){SYS_pidfd_open} : refused;

	argv += one;
	argc -= one;
	f[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < (one ? 1 : REFUSED); i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	p.len = n;
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 99;
	execvp(argv[1], argv + 1);
	return 98;
}
