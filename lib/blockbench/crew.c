/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "blockbench/blockbench.h"
#include "blockbench/crew.h"

extern const unsigned char blockbench_worker[], blockbench_worker_end[];

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

/* After this time, a job's worker is considered hung. Its own limit of processor time is far
 * below, but it may be waiting for a neighbour to leave, or for the processor. */
#define HANGS_MS 5000

static int memory_file(const char *name, size_t size, struct error *e)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		error_sys(e, errno, "cannot create memory for the block profiler's worker");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static int program_file(struct error *e)
{
	size_t size = (uintptr_t)blockbench_worker_end - (uintptr_t)blockbench_worker;
	int fd = memfd_create("block worker", MFD_CLOEXEC | MFD_EXEC);

	if (!size)
		return error_set(e, ERR_UNSUPPORTED, "blocks can be measured on x86-64 only");
	if (fd < 0) /* Linux before 6.3 */
		fd = memfd_create("block worker", MFD_CLOEXEC);
	if (fd < 0 || write(fd, blockbench_worker, size) != (ssize_t)size) {
		error_sys(e, errno, "cannot write the block profiler's worker to memory");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int crew_init(struct crew *crew, struct error *e)
{
	*crew = (struct crew){.channel_fd = -1, .program_fd = -1, .socket = -1};
	crew->program_fd = program_file(e);
	if (crew->program_fd < 0)
		return -1;
	crew->channel_fd = memory_file("block channel", sizeof(struct channel), e);
	if (crew->channel_fd < 0)
		return -1;
	crew->channel = mmap(NULL, sizeof(struct channel), PROT_READ | PROT_WRITE, MAP_SHARED,
		crew->channel_fd, 0);
	if (crew->channel == MAP_FAILED) {
		crew->channel = NULL;
		return error_sys(e, errno, "cannot map the block profiler's memory");
	}
	return 0;
}

static void dismiss(struct crew *crew)
{
	if (crew->pid) {
		kill(crew->pid, SIGKILL);
		proc_wait(crew->pid, NULL, 0);
	}
	crew->pid = 0;
	if (crew->socket >= 0)
		close(crew->socket);
	crew->socket = -1;
}

void crew_fini(struct crew *crew)
{
	dismiss(crew);
	if (crew->channel)
		munmap(crew->channel, sizeof(struct channel));
	if (crew->channel_fd >= 0)
		close(crew->channel_fd);
	if (crew->program_fd >= 0)
		close(crew->program_fd);
}

static void limit(int resource, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(resource, &r);
}

/* In the child: descriptors to their places, limits, exec.  Only calls that are safe after fork. */
static void become_worker(int program, const int *descriptors, pid_t parent)
{
	static char *const nothing[] = {NULL};
	int high[FD_END + 1];
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (int i = FD_CHANNEL; i < FD_END; i++)
		high[i] = fcntl(descriptors[i], F_DUPFD, 32);
	high[FD_END] = fcntl(program, F_DUPFD, 32);
	for (int i = FD_CHANNEL; i < FD_END; i++)
		if (dup2(high[i], i) < 0)
			_exit(127);
	if (dup3(high[FD_END], FD_END, O_CLOEXEC) < 0)
		_exit(127);
	syscall(SYS_close_range, FD_END + 1, ~0u, 0);
	for (int i = 0; i < FD_CHANNEL; i++)
		close(i);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, 120);
	limit(RLIMIT_AS, 64 << 20);
	limit(RLIMIT_FSIZE, 0);
	syscall(SYS_execveat, FD_END, "", nothing, nothing, AT_EMPTY_PATH);
	_exit(127);
}

static int crew_start(struct crew *crew, int code, int data, struct error *e)
{
	int pair[2];
	pid_t parent = getpid(), pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return error_sys(
			e, errno, "cannot create a socket for the block profiler's worker");
	pid = fork();
	if (pid == 0)
		become_worker(crew->program_fd,
			(const int[]){[FD_CHANNEL] = crew->channel_fd,
				[FD_CODE] = code,
				[FD_DATA] = data,
				[FD_COMMAND] = pair[1],
				[FD_REPLY] = pair[1]},
			parent);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return error_sys(e, errno, "cannot start the block profiler's worker");
	}
	crew->pid = pid;
	crew->socket = pair[0];
	return 0;
}

int crew_fresh(struct crew *crew, struct error *e)
{
	int code = memory_file("block code", CODE_BYTES, e), data = -1, r = -1;

	dismiss(crew);
	if (code >= 0)
		data = memory_file("block data", DATA_PAGES * 4096, e);
	if (data >= 0)
		r = crew_start(crew, code, data, e);
	if (code >= 0)
		close(code);
	if (data >= 0)
		close(data);
	return r;
}

/* 0: done; 1: it died or hangs. */
static int crew_wait_for(struct crew *crew)
{
	struct pollfd p = {.fd = crew->socket, .events = POLLIN};
	uint32_t seen = crew->channel->begun;
	int idle = 0;
	char byte;

	while (idle < HANGS_MS) {
		int n = poll(&p, 1, 100);

		if (n > 0)
			return read(crew->socket, &byte, 1) == 1 ? 0 : 1;
		if (n < 0 && errno != EINTR)
			return 1;
		idle = crew->channel->begun == seen ? idle + 100 : 0;
		seen = crew->channel->begun;
	}
	crew->channel->answer[seen ? seen - 1 : 0].class = BLOCK_TIMEOUT;
	return 1;
}

int crew_work(struct crew *crew, struct error *e)
{
	struct channel *c = crew->channel;
	int deaths_at_start = 0;

	c->begun = 0;
	memset(c->answer, 0, sizeof(c->answer[0]) * c->jobs);
	for (;;) {
		uint32_t at;

		if (!crew->pid && crew_fresh(crew, e))
			return -1;
		if (send(crew->socket, "", 1, MSG_NOSIGNAL) == 1 && crew_wait_for(crew) == 0)
			return 0;
		dismiss(crew);
		at = c->begun;
		if (!at && ++deaths_at_start > 3)
			return error_set(
				e, ERR_UNSUPPORTED, "the block profiler's worker did not start");
		if (at && c->answer[at - 1].class != BLOCK_TIMEOUT)
			c->answer[at - 1].class = BLOCK_CRASHED;
		if (at >= c->jobs && at) {
			c->begun = 0;
			return 0;
		}
	}
}
