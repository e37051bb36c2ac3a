/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 65536 };

struct replay_pump {
	pthread_t thread;
	int from, to;   /* the original; the writing end of the command's pipe */
	int kept;       /* the temporary file */
	uint64_t limit; /* bytes to be kept */
	uint64_t bytes;
	bool over;  /* there were more */
	int failed; /* errno of writing to the file; 0 */
	char piece[PIECE];
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* 0, or errno. */
static int write_whole(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* What is not kept any more still passes through: the first run is not to notice. */
static void replay_keep(struct replay_pump *p, size_t size)
{
	p->bytes += size;
	if (p->over || p->failed)
		return;
	p->over = p->bytes > p->limit;
	p->failed = p->over ? 0 : write_whole(p->kept, p->piece, size);
}

/* Waits until there is input; false: the command does not read any more. */
static bool wait_for_input(const struct replay_pump *p)
{
	struct pollfd ends[] = {{.fd = p->from, .events = POLLIN}, {.fd = p->to}};

	while (poll(ends, 2, -1) < 0 && errno == EINTR)
		;
	return !(ends[1].revents & (POLLERR | POLLNVAL));
}

/* All signals are blocked here: a closed pipe is an error of write. */
static void *pump(void *context)
{
	struct replay_pump *p = context;

	while (wait_for_input(p)) {
		ssize_t n = read(p->from, p->piece, sizeof(p->piece));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		replay_keep(p, (size_t)n);
		if (write_whole(p->to, p->piece, (size_t)n))
			break;
	}
	close(p->to);
	return NULL;
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* A file without a name; -1 with errno. */
static int replay_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd = open(
		directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/ssrun-XXXXXX",
		directory && *directory ? directory : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int start_thread(struct replay_pump *p)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&p->thread, NULL, pump, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static int begin_stream(struct replay *r, uint64_t limit, struct error *e)
{
	struct replay_pump *p = calloc(1, sizeof(*p));
	int ends[2], rc;

	if (!p)
		return error_nomem(e);
	*p = (struct replay_pump){.from = r->from, .limit = limit, .kept = replay_file()};
	if (p->kept < 0) {
		error_sys(e, errno, "cannot keep standard input for a second run");
		free(p);
		return error_hint(e, "set TMPDIR to a directory that can be written, or give the "
				     "input as a file");
	}
	if (pipe2(ends, O_CLOEXEC) != 0) {
		error_sys(e, errno, "cannot create a pipe");
		close(p->kept);
		free(p);
		return -1;
	}
	p->to = ends[1];
	rc = start_thread(p);
	if (rc) {
		error_sys(e, rc, "cannot create a thread");
		close(ends[0]);
		close(ends[1]);
		close(p->kept);
		free(p);
		return -1;
	}
	r->input = ends[0];
	r->pump = p;
	return 0;
}

int replay_begin(struct replay *r, int from, uint64_t limit, struct error *e)
{
	struct stat st;

	*r = (struct replay){.from = from, .second = -1};
	if (fstat(from, &st) != 0 || isatty(from))
		return 0;
	r->begin = lseek(from, 0, SEEK_CUR);
	if ((S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) && r->begin >= 0) {
		r->kind = REPLAY_FILE;
		return 0;
	}
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return 0;
	r->kind = REPLAY_STREAM;
	return begin_stream(r, limit, e);
}

/* ---- the second run -------------------------------------------------------------------------- */

/* Without a reader, the thread ends. */
static void stop_pump(struct replay *r)
{
	if (r->input <= 0)
		return;
	close(r->input);
	r->input = 0;
	pthread_join(r->pump->thread, NULL);
}

static int again_stream(struct replay *r, struct error *e)
{
	const struct replay_pump *p = r->pump;

	stop_pump(r);
	if (p->over) {
		error_set(e, ERR_RANGE,
			"standard input is a pipe that gave more than the %llu megabytes that are "
			"kept for a second run",
			(unsigned long long)(p->limit >> 20));
		return error_hint(e, "give the input as a file: command < FILE");
	}
	if (p->failed || lseek(p->kept, 0, SEEK_SET) != 0) {
		error_sys(e, p->failed ? p->failed : errno,
			"cannot keep standard input for a second run");
		return error_hint(e, "set TMPDIR to a directory with more space, or give the input "
				     "as a file: command < FILE");
	}
	r->second = p->kept;
	return 0;
}

int replay_again(struct replay *r, int *input, struct error *e)
{
	if (r->kind == REPLAY_STREAM) {
		if (again_stream(r, e))
			return -1;
	} else if (r->kind == REPLAY_FILE) {
		if (r->second < 0)
			r->end = lseek(r->from, 0, SEEK_CUR);
		if (lseek(r->from, r->begin, SEEK_SET) != r->begin)
			return error_sys(e, errno, "cannot read standard input again");
		r->second = r->from;
	} else if (r->second < 0) {
		r->second = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (r->second < 0)
			return error_sys(e, errno, "cannot open /dev/null");
	}
	*input = r->second;
	return 0;
}

void replay_end(struct replay *r)
{
	if (r->kind == REPLAY_FILE && r->second >= 0)
		lseek(r->from, r->end, SEEK_SET);
	if (r->kind == REPLAY_EMPTY && r->second >= 0)
		close(r->second);
	if (r->pump) {
		stop_pump(r);
		close(r->pump->kept);
		free(r->pump);
	}
	r->pump = NULL;
	r->second = -1;
}
