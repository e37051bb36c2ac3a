/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tap.h"
#include "process/replay.h"

#define LIMIT ((uint64_t)1 << 20)

/* A file with this text, read up to `from`. */
static int file_with(const char *text, off_t from)
{
	char path[] = "/tmp/perfex-test-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	unlink(path);
	if (write(fd, text, strlen(text)) < 0 || lseek(fd, from, SEEK_SET) != from)
		ok(false, "cannot write %s", path);
	return fd;
}

/* Reads all; static. */
static const char *all_of(int fd)
{
	static char text[256];
	size_t size = 0;
	ssize_t n;

	while ((n = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)n;
	text[size] = '\0';
	return text;
}

static void test_file(void)
{
	int fd = file_with("one two three", 4), input = -1;
	struct replay r;
	struct error e = {0};

	is_int(replay_begin(&r, fd, LIMIT, &e), 0, "a file");
	is_int(r.input, 0, "the first run reads the original");
	is_str(all_of(fd), "two three", "from where it was");
	lseek(fd, 7, SEEK_SET);
	is_int(replay_again(&r, &input, &e), 0, "again");
	is_str(all_of(input), "two three", "the second run likewise");
	replay_end(&r);
	is_int(lseek(fd, 0, SEEK_CUR), 7, "it is left where the first run left it");
	close(fd);
}

struct writing {
	int to;
	size_t size;
	pthread_t thread;
};

static void *write_zeros(void *context)
{
	const struct writing *w = context;
	char zeros[4096] = {0};

	for (size_t n = 0; n < w->size; n += sizeof(zeros))
		if (write(w->to, zeros, sizeof(zeros)) < 0)
			break;
	close(w->to);
	return NULL;
}

static void test_pipe(void)
{
	int ends[2], input = -1;
	struct replay r;
	struct error e = {0};

	is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe");
	is_int(replay_begin(&r, ends[0], LIMIT, &e), 0, "begins before there is input");
	ok(r.input > 0, "the first run reads a pipe of ours");
	is_int(write(ends[1], "what comes late", 15), 15, "input");
	close(ends[1]);
	is_str(all_of(r.input), "what comes late", "the first run reads it");
	is_int(replay_again(&r, &input, &e), 0, "again");
	is_str(all_of(input), "what comes late", "the second run, too");
	replay_end(&r);
	close(ends[0]);
}

/* The runs read nothing, and the other side does not close: neither run waits. */
static void test_unread(void)
{
	int ends[2], input = -1;
	struct replay r;
	struct error e = {0};

	is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe that stays open");
	is_int(replay_begin(&r, ends[0], LIMIT, &e), 0, "begins");
	is_int(replay_again(&r, &input, &e), 0, "the second run begins");
	is_str(all_of(input), "", "its input is empty");
	replay_end(&r);
	close(ends[0]);
	close(ends[1]);
}

static void test_limit(void)
{
	struct writing w = {.size = 2 * LIMIT};
	int ends[2], input = -1;
	size_t total = 0;
	char piece[8192];
	struct replay r;
	struct error e = {0};
	ssize_t n;

	is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe with more than the limit");
	w.to = ends[1];
	pthread_create(&w.thread, NULL, write_zeros, &w);
	is_int(replay_begin(&r, ends[0], LIMIT, &e), 0, "begins");
	while ((n = read(r.input, piece, sizeof(piece))) > 0)
		total += (size_t)n;
	pthread_join(w.thread, NULL);
	is_int((long)total, 2 * (long)LIMIT, "the first run reads all of it");
	is_int(replay_again(&r, &input, &e), -1, "there is no second run");
	ok(strstr(e.message, "1 megabytes"), "it says why: %s", e.message);
	ok(strstr(e.hint, "< FILE"), "and what to do: %s", e.hint);
	replay_end(&r);
	close(ends[0]);
}

static void test_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), input = -1;
	struct replay r;
	struct error e = {0};

	is_int(replay_begin(&r, fd, LIMIT, &e), 0, "neither a file nor a pipe");
	is_int(replay_again(&r, &input, &e), 0, "again");
	is_str(all_of(input), "", "empty");
	replay_end(&r);
	close(fd);
	is_int(replay_begin(&r, fd, LIMIT, &e), 0, "no standard input at all");
	is_int(replay_again(&r, &input, &e), 0, "empty as well");
	replay_end(&r);
}

int main(void)
{
	test_file();
	test_pipe();
	test_unread();
	test_limit();
	test_nothing();
	return done();
}
