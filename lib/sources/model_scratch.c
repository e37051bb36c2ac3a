/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/model_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "model/wire/shared.h"

#define NAME          "perfex-model."
#define VALGRIND_FILE "valgrind_proc_"
#define PROCESS       "process."   /* an empty file says that this process is of the run */
#define UNLOCKED      "config.new" /* it is renamed when it is locked */
#define STALE_AFTER                                                                                \
	30 /* seconds: between the making of a directory and its lock there is a moment */

/* *fd: the new file, locked, for the caller to close. */
static int write_locked(const char *path, const void *data, size_t size, int *result)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc = 0;

	*result = fd;
	if (fd < 0)
		return errno;
	flock(fd, LOCK_EX | LOCK_NB);
	/* Over the limit on the size of files, an error will do. */
	sigaction(SIGXFSZ, &ignore, &before);
	/* Room for the counts of a few processes besides. */
	rc = posix_fallocate(fd, 0, 1 << 16);
	if (ftruncate(fd, 0) != 0 && rc == 0)
		rc = errno;
	if (rc == 0 && write(fd, data, size) != (ssize_t)size)
		rc = errno ? errno : ENOSPC;
	sigaction(SIGXFSZ, &before, NULL);
	return rc;
}

static void scratch_empty(int directory)
{
	int copy = dup(directory);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;

	if (!d) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(d); /* the copy shares its position with the directory's */
	file_remove_all(d);
	closedir(d);
}

/* Where Valgrind makes its files. */
static const char *valgrind_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

/* Is this a file of Valgrind's for a process of this run that has ended? */
static bool is_leftover(int directory, int below, const char *name)
{
	char process[40], log[40];
	struct stat st;
	int pid;

	if (sscanf(name, VALGRIND_FILE "%d_", &pid) != 1 || pid <= 0)
		return false;
	snprintf(process, sizeof(process), PROCESS "%d", pid);
	snprintf(log, sizeof(log), MODEL_LOG_PREFIX "%d", pid);
	if (fstatat(directory, process, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
		fstatat(directory, log, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	return kill(pid, 0) != 0 && errno == ESRCH &&
	       fstatat(below, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid();
}

/* Valgrind gives each process files in the place of those in /proc and removes their names at once.
 * A process that is killed in between leaves them. */
static void remove_leftovers(int directory)
{
	DIR *d = opendir(valgrind_directory());
	const char *name;

	while ((name = file_next(d, "")))
		if (is_leftover(directory, dirfd(d), name))
			unlinkat(dirfd(d), name, 0);
	if (d)
		closedir(d);
}

/* A program that outlives its run can make a file after the emptying: then again. */
static void scratch_delete(int directory, int below, const char *name)
{
	remove_leftovers(directory);
	for (int tries = 0; tries < 20; tries++) {
		scratch_empty(directory);
		if (unlinkat(below, name, AT_REMOVEDIR) == 0 ||
			(errno != ENOTEMPTY && errno != EEXIST))
			return;
	}
}

static bool old(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       time(NULL) - st.st_mtime >= STALE_AFTER;
}

/* The file that its run holds locked, also before it has its name; -1 with errno. */
static int open_lock(int directory)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int lock = openat(directory, "config", flags);

	if (lock >= 0 || errno != ENOENT)
		return lock;
	lock = openat(directory, UNLOCKED, flags);
	if (lock < 0 || old(lock))
		return lock;
	close(lock);
	errno = EAGAIN;
	return -1;
}

static bool is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

/* Removes it if no run uses it any more. One without a configuration may belong to another program,
 * and is removed only if it is empty. */
static void clean_one(int below, const char *name)
{
	int directory = openat(below, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), lock;

	if (directory < 0)
		return;
	lock = open_lock(directory);
	if (lock < 0 && errno == ENOENT && old(directory))
		unlinkat(below, name, AT_REMOVEDIR);
	if (lock >= 0 && is_ours(lock) && flock(lock, LOCK_EX | LOCK_NB) == 0)
		scratch_delete(directory, below, name);
	if (lock >= 0)
		close(lock);
	close(directory);
}

/* Removes what runs have left there that were killed. */
static void scratch_clean(const char *below)
{
	DIR *d = opendir(below);
	const char *name;

	while ((name = file_next(d, NAME)))
		clean_one(dirfd(d), name);
	if (d)
		closedir(d);
}

/* 0 or errno. */
static int try_below(struct model_scratch *s, const char *below, const struct model_config *config)
{
	char file[600], final[600];
	int rc;

	scratch_clean(below);
	if (snprintf(s->path, sizeof(s->path), "%s/" NAME "XXXXXX", below) >= (int)sizeof(s->path))
		return ENAMETOOLONG;
	if (!mkdtemp(s->path))
		return errno;
	snprintf(file, sizeof(file), "%s/" UNLOCKED, s->path);
	snprintf(final, sizeof(final), "%s/config", s->path);
	rc = write_locked(file, config, sizeof(*config), &s->lock);
	if (rc == 0 && rename(file, final) != 0)
		rc = errno;
	if (rc) {
		unlink(file);
		rmdir(s->path);
		if (s->lock >= 0)
			close(s->lock);
	}
	return rc;
}

void model_scratch_sweep(void)
{
	const char *directory = getenv("TMPDIR");

	scratch_clean("/dev/shm");
	if (directory && directory[0] == '/')
		scratch_clean(directory);
}

int model_scratch_make(struct model_scratch *s, const struct model_config *config, struct error *e)
{
	const char *places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp", "/var/tmp"};
	const char *valgrinds = valgrind_directory();
	int errnum = ENOENT;

	/* Valgrind has no second choice. */
	if (access(valgrinds, W_OK | X_OK) != 0) {
		s->path[0] = '\0';
		error_sys(
			e, errno, "Valgrind, and with it the model, cannot write in %s", valgrinds);
		return error_hint(e, "set TMPDIR to a writable directory");
	}

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int rc =
			places[i] && places[i][0] == '/' ? try_below(s, places[i], config) : ENOENT;

		if (rc == 0)
			return 0;
		if (rc != ENOENT)
			errnum = rc;
	}
	s->path[0] = '\0';
	error_sys(
		e, errnum, "no room for the model's counts in TMPDIR, /dev/shm, /tmp or /var/tmp");
	return error_hint(e, "set TMPDIR to a writable directory");
}

void model_scratch_note(const struct model_scratch *s, pid_t pid)
{
	char path[sizeof(s->path) + 40];
	int fd;

	snprintf(path, sizeof(path), "%s/" PROCESS "%d", s->path, (int)pid);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

void model_scratch_remove(struct model_scratch *s)
{
	int fd = s->path[0] ? open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	scratch_delete(fd, AT_FDCWD, s->path);
	close(fd);
	close(s->lock);
	s->path[0] = '\0';
}
