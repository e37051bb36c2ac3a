/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/blocking_calls.h"

#include <string.h>
#include <sys/syscall.h>

#define ROW(name, reason, object, at)                                                              \
	{                                                                                          \
		SYS_##name, #name, reason, object, at                                              \
	}

/* Those that not all machines have are between #ifdef. */
static const struct blocking_call calls[] = {
	ROW(read, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(write, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(readv, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(writev, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(pread64, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(pwrite64, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(preadv, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(pwritev, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(preadv2, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(pwritev2, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(splice, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(vmsplice, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(tee, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(copy_file_range, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(fsync, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(fdatasync, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(sync_file_range, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(ftruncate, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(fallocate, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(flock, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(fcntl, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(ioctl, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(getdents64, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(close, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(syncfs, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
	ROW(readahead, PAUSE_FILE, BLOCKING_DESCRIPTOR, 0),
#ifdef SYS_sendfile
	ROW(sendfile, PAUSE_FILE, BLOCKING_DESCRIPTOR, 1),
#endif
	ROW(recvfrom, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(sendto, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(recvmsg, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(sendmsg, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(recvmmsg, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(sendmmsg, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(accept, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(accept4, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(connect, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
	ROW(shutdown, PAUSE_SOCKET, BLOCKING_DESCRIPTOR, 0),
#ifdef SYS_epoll_wait
	ROW(epoll_wait, PAUSE_POLL, BLOCKING_DESCRIPTOR, 0),
#endif
	ROW(epoll_pwait, PAUSE_POLL, BLOCKING_DESCRIPTOR, 0),
#ifdef SYS_epoll_pwait2
	ROW(epoll_pwait2, PAUSE_POLL, BLOCKING_DESCRIPTOR, 0),
#endif
	ROW(io_uring_enter, PAUSE_EVENT, BLOCKING_DESCRIPTOR, 0),
#ifdef SYS_poll
	ROW(poll, PAUSE_POLL, BLOCKING_POLL, 0),
#endif
	ROW(ppoll, PAUSE_POLL, BLOCKING_POLL, 0),
#ifdef SYS_select
	ROW(select, PAUSE_POLL, BLOCKING_NOTHING, 0),
#endif
	ROW(pselect6, PAUSE_POLL, BLOCKING_NOTHING, 0),
	ROW(io_getevents, PAUSE_EVENT, BLOCKING_NOTHING, 0),
#ifdef SYS_io_pgetevents
	ROW(io_pgetevents, PAUSE_EVENT, BLOCKING_NOTHING, 0),
#endif
	ROW(nanosleep, PAUSE_SLEEP, BLOCKING_NOTHING, 0),
	ROW(clock_nanosleep, PAUSE_SLEEP, BLOCKING_NOTHING, 0),
	ROW(futex, PAUSE_FUTEX, BLOCKING_FUTEX, 0),
#ifdef SYS_futex_wait
	ROW(futex_wait, PAUSE_FUTEX, BLOCKING_FUTEX, 0),
#endif
#ifdef SYS_futex_waitv
	ROW(futex_waitv, PAUSE_FUTEX, BLOCKING_FUTEX, 0),
#endif
	ROW(wait4, PAUSE_CHILD, BLOCKING_CHILD, 0),
	ROW(waitid, PAUSE_CHILD, BLOCKING_CHILD, 1),
#ifdef SYS_vfork
	ROW(vfork, PAUSE_CHILD, BLOCKING_NOTHING, 0),
#endif
	ROW(clone, PAUSE_CHILD, BLOCKING_NOTHING, 0),
#ifdef SYS_clone3
	ROW(clone3, PAUSE_CHILD, BLOCKING_NOTHING, 0),
#endif
#ifdef SYS_pause
	ROW(pause, PAUSE_SIGNAL, BLOCKING_NOTHING, 0),
#endif
	ROW(rt_sigsuspend, PAUSE_SIGNAL, BLOCKING_NOTHING, 0),
	ROW(rt_sigtimedwait, PAUSE_SIGNAL, BLOCKING_NOTHING, 0),
	ROW(msgrcv, PAUSE_IPC, BLOCKING_NOTHING, 0),
	ROW(msgsnd, PAUSE_IPC, BLOCKING_NOTHING, 0),
	ROW(semop, PAUSE_IPC, BLOCKING_NOTHING, 0),
	ROW(semtimedop, PAUSE_IPC, BLOCKING_NOTHING, 0),
	ROW(mq_timedreceive, PAUSE_IPC, BLOCKING_DESCRIPTOR, 0),
	ROW(mq_timedsend, PAUSE_IPC, BLOCKING_DESCRIPTOR, 0),
#ifdef SYS_open
	ROW(open, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_stat
	ROW(stat, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_lstat
	ROW(lstat, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_access
	ROW(access, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_unlink
	ROW(unlink, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_mkdir
	ROW(mkdir, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_rmdir
	ROW(rmdir, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
#ifdef SYS_rename
	ROW(rename, PAUSE_FILE, BLOCKING_PATH, 0),
#endif
	ROW(truncate, PAUSE_FILE, BLOCKING_PATH, 0),
	ROW(execve, PAUSE_FILE, BLOCKING_PATH, 0),
	ROW(chdir, PAUSE_FILE, BLOCKING_PATH, 0),
	ROW(openat, PAUSE_FILE, BLOCKING_PATH, 1),
#ifdef SYS_openat2
	ROW(openat2, PAUSE_FILE, BLOCKING_PATH, 1),
#endif
#ifdef SYS_newfstatat
	ROW(newfstatat, PAUSE_FILE, BLOCKING_PATH, 1),
#endif
	ROW(statx, PAUSE_FILE, BLOCKING_PATH, 1),
	ROW(faccessat, PAUSE_FILE, BLOCKING_PATH, 1),
#ifdef SYS_faccessat2
	ROW(faccessat2, PAUSE_FILE, BLOCKING_PATH, 1),
#endif
	ROW(unlinkat, PAUSE_FILE, BLOCKING_PATH, 1),
	ROW(mkdirat, PAUSE_FILE, BLOCKING_PATH, 1),
	ROW(execveat, PAUSE_FILE, BLOCKING_PATH, 1),
	ROW(sync, PAUSE_FILE, BLOCKING_NOTHING, 0),
	ROW(mount, PAUSE_FILE, BLOCKING_NOTHING, 0),
	ROW(umount2, PAUSE_FILE, BLOCKING_NOTHING, 0),
	ROW(renameat2, PAUSE_FILE, BLOCKING_NOTHING, 0),
	ROW(mmap, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(munmap, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(mprotect, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(madvise, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(mremap, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(brk, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(msync, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(mlock, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(exit, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(exit_group, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(getrandom, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(membarrier, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(sched_yield, PAUSE_CALL, BLOCKING_NOTHING, 0),
	ROW(ptrace, PAUSE_CALL, BLOCKING_NOTHING, 0),
};

#define COUNT (sizeof(calls) / sizeof(calls[0]))

const struct blocking_call *blocking_call_find(long number)
{
	for (size_t i = 0; i < COUNT; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

const struct blocking_call *blocking_call_named(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strlen(calls[i].name) == length && memcmp(calls[i].name, name, length) == 0)
			return &calls[i];
	return NULL;
}
