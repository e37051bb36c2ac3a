/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked into programs by `make FAULTY=1`: one call that could fail does. Calls are told apart by
 * their site, the last FRAMES return addresses, so that runs whose threads take turns differently
 * have the same sites. tests/faults/all runs these programs.
 *
 *   FAULTS_LOG=FILE   each site that is met, once: its number, what is called, its addresses
 *   FAULTS_SITE=N     the first call at this site fails
 *
 * Seen are calls from the program, not from shared libraries.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FRAMES    5
#define LOG_LEAST 900
#define SITES     65536u /* a power of two */

extern const char __executable_start[];

static _Atomic uint64_t sites[SITES];
static uint64_t fails;
static atomic_bool failed;
static int log_to = -1;

/* Its number is above all that programs give to files of theirs. */
static int open_log(const char *path)
{
	int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int high = fcntl(low, F_DUPFD_CLOEXEC, LOG_LEAST);

	close(low);
	return high;
}

__attribute__((constructor)) static void faults_begin(void)
{
	const char *path = getenv("FAULTS_LOG"), *site = getenv("FAULTS_SITE");

	if (path)
		log_to = open_log(path);
	if (site)
		fails = strtoull(site, NULL, 16);
}

/* The end of this thread's stack. */
static uintptr_t stack_end(void)
{
	static __thread uintptr_t end;
	pthread_attr_t attributes;
	void *begin;
	size_t size;

	if (!end && pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstack(&attributes, &begin, &size);
		pthread_attr_destroy(&attributes);
		end = (uintptr_t)begin + size;
	}
	return end;
}

/* Return addresses, by frame pointers. */
static void find_frames(uintptr_t *frame, uintptr_t *at)
{
	uintptr_t end = stack_end();

	for (int i = 0; i < FRAMES; i++) {
		uintptr_t *next = (uintptr_t *)frame[0];

		at[i] = frame[1] - (uintptr_t)__executable_start;
		if (next <= frame || (uintptr_t)next & 7 || (uintptr_t)(next + 2) > end)
			return;
		frame = next;
	}
}

static bool is_new(uint64_t site)
{
	for (size_t i = site & (SITES - 1);; i = (i + 1) & (SITES - 1)) {
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&sites[i], &there, site))
			return true;
		if (there == site)
			return false;
	}
}

static void tell(uint64_t site, const char *name, const uintptr_t *at)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%llx %s", (unsigned long long)site, name);

	for (int i = 0; i < FRAMES; i++)
		n += snprintf(
			line + n, sizeof(line) - (size_t)n, " %llx", (unsigned long long)at[i]);
	line[n++] = '\n';
	if (write(log_to, line, (size_t)n) < 0)
		return;
}

/* Whether this call is to fail; then errno is set. frame: of the function that stands for it. */
static bool fault(const char *name, int error, void *frame)
{
	uintptr_t at[FRAMES] = {0};
	uint64_t site = 0xcbf29ce484222325u;

	if (!fails && log_to < 0)
		return false;
	find_frames(frame, at);
	for (int i = 0; i < FRAMES; i++)
		site = (site ^ at[i]) * 0x100000001b3u;
	if (log_to >= 0 && is_new(site))
		tell(site, name, at);
	if (site != fails || atomic_exchange(&failed, true))
		return false;
	errno = error;
	return true;
}

#define FAULT(name, error) fault(name, error, __builtin_frame_address(0))

/* A function that returns `none` when it fails. */
#define FAILING(type, name, error, none, parameters, arguments)                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return FAULT(#name, error) ? (none) : __real_##name arguments;                     \
	}

FAILING(void *, malloc, ENOMEM, NULL, (size_t size), (size))
FAILING(void *, calloc, ENOMEM, NULL, (size_t n, size_t size), (n, size))
FAILING(void *, realloc, ENOMEM, NULL, (void *old, size_t size), (old, size))
FAILING(void *, reallocarray, ENOMEM, NULL, (void *old, size_t n, size_t size), (old, n, size))
FAILING(void *, aligned_alloc, ENOMEM, NULL, (size_t align, size_t size), (align, size))
FAILING(char *, strdup, ENOMEM, NULL, (const char *text), (text))
FAILING(char *, strndup, ENOMEM, NULL, (const char *text, size_t n), (text, n))
FAILING(char *, realpath, ENOMEM, NULL, (const char *path, char *to), (path, to))
FAILING(FILE *, fopen, ENOMEM, NULL, (const char *path, const char *mode), (path, mode))
FAILING(FILE *, fdopen, ENOMEM, NULL, (int fd, const char *mode), (fd, mode))
FAILING(FILE *, open_memstream, ENOMEM, NULL, (char **text, size_t *size), (text, size))
FAILING(void *, mmap, ENOMEM, MAP_FAILED,
	(void *at, size_t size, int protection, int flags, int fd, off_t offset),
	(at, size, protection, flags, fd, offset))
FAILING(int, memfd_create, EMFILE, -1, (const char *name, unsigned flags), (name, flags))
FAILING(int, pipe2, EMFILE, -1, (int *fds, int flags), (fds, flags))
FAILING(int, eventfd, EMFILE, -1, (unsigned count, int flags), (count, flags))
FAILING(pid_t, fork, EAGAIN, -1, (void), ())
FAILING(int, pthread_create, EAGAIN, EAGAIN,
	(pthread_t * thread, const pthread_attr_t *a, void *(*run)(void *), void *data),
	(thread, a, run, data))
FAILING(int, timer_create, EAGAIN, -1, (clockid_t clock, struct sigevent *event, timer_t *t),
	(clock, event, t))
FAILING(int, mkdir, ENOSPC, -1, (const char *path, mode_t mode), (path, mode))
FAILING(char *, mkdtemp, ENOSPC, NULL, (char *path), (path))
FAILING(ssize_t, pwrite, EIO, -1, (int fd, const void *data, size_t size, off_t at),
	(fd, data, size, at))
FAILING(int, ftruncate, ENOSPC, -1, (int fd, off_t size), (fd, size))
FAILING(int, posix_fallocate, ENOSPC, ENOSPC, (int fd, off_t at, off_t size), (fd, at, size))
FAILING(int, fsync, EIO, -1, (int fd), (fd))
FAILING(int, fflush, EIO, EOF, (FILE * file), (file))
FAILING(int, rename, ENOSPC, -1, (const char *from, const char *to), (from, to))
FAILING(int, link, ENOSPC, -1, (const char *from, const char *to), (from, to))
FAILING(int, linkat, ENOSPC, -1, (int below, const char *from, int in, const char *to, int flags),
	(below, from, in, to, flags))

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
	bool fault_here = FAULT("fclose", EIO);
	int rc = __real_fclose(file);

	if (!fault_here)
		return rc;
	errno = EIO;
	return EOF;
}

/* Not to the log itself. */
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	return fd != log_to && FAULT("write", ENOSPC) ? -1 : __real_write(fd, data, size);
}

int __real_vasprintf(char **text, const char *format, va_list words);
int __wrap_vasprintf(char **text, const char *format, va_list words);
int __wrap_vasprintf(char **text, const char *format, va_list words)
{
	return FAULT("vasprintf", ENOMEM) ? -1 : __real_vasprintf(text, format, words);
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list words;
	int n;

	if (FAULT("asprintf", ENOMEM))
		return -1;
	va_start(words, format);
	n = __real_vasprintf(text, format, words);
	va_end(words);
	return n;
}
