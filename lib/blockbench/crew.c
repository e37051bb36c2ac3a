/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "blockbench/block_states.h"
#include "blockbench/blockbench.h"
#include "blockbench/crew.h"

extern const unsigned char blockbench_worker[], blockbench_worker_end[];

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

/* After this time, a job's worker is considered hung. Its own limit of processor time is far
 * below, but it may be waiting for a neighbour to leave, or for the processor. */
#define HANGS_MS 5000
/* Workers in succession that end before their first job. */
#define DEATHS_MAX 3

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
	crew->channel = calloc(1, sizeof(*crew->channel));
	if (!crew->channel)
		return error_nomem(e);
	crew->program_fd = program_file(e);
	if (crew->program_fd < 0)
		return -1;
	crew->channel_fd = memory_file("block channel", sizeof(struct channel), e);
	if (crew->channel_fd < 0)
		return -1;
	crew->shared = mmap(NULL, sizeof(struct channel), PROT_READ | PROT_WRITE, MAP_SHARED,
		crew->channel_fd, 0);
	if (crew->shared == MAP_FAILED) {
		crew->shared = NULL;
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
	free(crew->channel);
	if (crew->shared)
		munmap(crew->shared, sizeof(struct channel));
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

/* A worker for the jobs from `first` on. The former one is gone before its memory is written. */
static int crew_fresh(struct crew *crew, uint32_t first, struct error *e)
{
	int code = memory_file("block code", CODE_BYTES, e), data = -1, r = -1;

	dismiss(crew);
	memcpy(crew->shared, crew->channel, sizeof(*crew->shared));
	crew->shared->begun = first;
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

enum crew_news { WORKER_SAYS, WORKER_DIED, WORKER_HANGS };

/* Until it says that it is ready, or done. Only going on to a later job shows that it lives. */
static enum crew_news crew_wait_for(struct crew *crew, uint32_t seen)
{
	struct pollfd p = {.fd = crew->socket, .events = POLLIN};
	char byte;

	for (int idle = 0; idle < HANGS_MS; idle += 100) {
		int n = poll(&p, 1, 100);
		uint32_t now = crew->shared->begun;

		if (n > 0)
			return read(crew->socket, &byte, 1) == 1 ? WORKER_SAYS : WORKER_DIED;
		if (n < 0 && errno != EINTR)
			return WORKER_DIED;
		if (now > seen && now <= crew->channel->jobs) {
			seen = now;
			idle = 0;
		}
	}
	return WORKER_HANGS;
}

static bool is_sound(const struct answer *a)
{
	if (a->class >= BLOCK_CLASS_COUNT || a->state >= STATE_COUNT || a->series > SERIES_MAX ||
		(a->class == BLOCK_OK && !a->series) || !isfinite(a->ratio))
		return false;
	for (uint32_t i = 0; i < a->series; i++)
		if (!isfinite(a->cycles[i]))
			return false;
	return true;
}

static void crew_take_answers(struct crew *crew, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct answer *a = &crew->channel->answer[i];

		memcpy(a, &crew->shared->answer[i], sizeof(*a));
		if (!is_sound(a))
			*a = (struct answer){.class = BLOCK_CRASHED};
	}
}

static void crew_take_figures(struct crew *crew)
{
	struct channel *c = crew->channel;
	double best = crew->shared->canary_best, ratio = crew->shared->ratio;
	uint32_t left = crew->shared->wait_left;

	if (isfinite(best) && best > 0)
		c->canary_best = best;
	if (isfinite(ratio) && ratio > 0)
		c->ratio = ratio;
	if (left < c->wait_left)
		c->wait_left = left;
	c->pmu = c->pmu && crew->shared->pmu;
}

/* A worker did not finish: the job after `first` jobs that it was at is over. Returns the number of
 * jobs that are. */
static uint32_t crew_give_up(struct crew *crew, uint32_t first, enum crew_news how)
{
	uint32_t at = crew->shared->begun;

	if (at <= first || at > crew->channel->jobs)
		at = first + 1; /* a block wrote there */
	crew_take_answers(crew, first, at - 1);
	crew->channel->answer[at - 1] =
		(struct answer){.class = how == WORKER_HANGS ? BLOCK_TIMEOUT : BLOCK_CRASHED};
	return at;
}

int crew_work(struct crew *crew, struct error *e)
{
	struct channel *c = crew->channel;
	uint32_t over = 0;
	int deaths = 0;

	while (over < c->jobs) {
		enum crew_news news;

		if (crew_fresh(crew, over, e))
			return -1;
		if (crew_wait_for(crew, over) != WORKER_SAYS) {
			if (++deaths > DEATHS_MAX)
				return error_set(e, ERR_UNSUPPORTED,
					"the block profiler's worker did not start");
			continue;
		}
		deaths = 0;
		news = send(crew->socket, "", 1, MSG_NOSIGNAL) == 1 ? crew_wait_for(crew, over)
								    : WORKER_DIED;
		if (news == WORKER_SAYS) {
			crew_take_answers(crew, over, c->jobs);
			crew_take_figures(crew);
			over = c->jobs;
		} else {
			dismiss(crew);
			over = crew_give_up(crew, over, news);
		}
	}
	return 0;
}
