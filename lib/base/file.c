/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"

#define OWN_PATH        40 /* "/proc/self/fd/" and a number */
#define NAME_TRIES      100
#define REPLACING_STACK 16384

#ifndef PERFEX_PREFIX
#define PERFEX_PREFIX "/usr/local"
#endif

/* -1 with *e set. */
static int read_to_end(int fd, const char *path, size_t limit, struct strbuf *text, struct error *e)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(e, errno, "cannot read %s", path);
		if (text->length + (size_t)n > limit)
			return error_set(e, ERR_RANGE,
				"%s is larger than %zu bytes, the limit for such files", path,
				limit);
		strbuf_add(text, chunk, (size_t)n);
	}
	return 0;
}

bool file_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");

	line[0] = '\0';
	if (f && fgets(line, (int)size, f))
		line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
	return line[0] != '\0';
}

/* Closes fd. */
static char *text_of_file(int fd, const char *path, size_t limit, size_t *length, struct error *e)
{
	struct strbuf text = {0};
	int rc = read_to_end(fd, path, limit ? limit : 64u << 20, &text, e);
	char *data = NULL;

	close(fd);
	if (rc) {
		strbuf_fini(&text);
		return NULL;
	}
	if (length)
		*length = text.length;
	data = strbuf_take(&text);
	if (!data)
		error_nomem(e);
	return data;
}

char *file_read(const char *path, size_t limit, size_t *length, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return text_of_file(fd, path, limit, length, e);
	error_sys(e, errno, "cannot read %s", path);
	return NULL;
}

/* What a FIFO's other end never holds up. */
static int open_regular(const char *path, int flags, struct stat *st, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);

	if (fd < 0)
		return error_sys(e, errno, "cannot read %s", path);
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return error_set(e, ERR_CONFLICT, "%s is not a regular file", path);
}

char *file_read_regular(const char *path, size_t limit, size_t *length, struct error *e)
{
	struct stat st;
	int fd = open_regular(path, 0, &st, e);

	return fd < 0 ? NULL : text_of_file(fd, path, limit, length, e);
}

char *file_read_owned(const char *path, uid_t owner, size_t limit, size_t *length, struct error *e)
{
	struct stat st;
	int fd = open_regular(path, O_NOFOLLOW, &st, e);

	if (fd < 0)
		return NULL;
	if (st.st_uid == owner || st.st_uid == 0)
		return text_of_file(fd, path, limit, length, e);
	close(fd);
	error_set(e, ERR_PERMISSION, "%s is not a file of user %u, or of root", path,
		(unsigned)owner);
	return NULL;
}

const char *file_next(DIR *d, const char *prefix)
{
	const struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;

		if (strncmp(name, prefix, strlen(prefix)) == 0 && strcmp(name, ".") != 0 &&
			strcmp(name, "..") != 0)
			return name;
	}
	return NULL;
}

void file_remove_all(DIR *d)
{
	const char *name;

	while ((name = file_next(d, "")))
		unlinkat(dirfd(d), name, 0);
}

char *file_temporary_directory(const char *name, const char *refused, struct error *e)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (!base || *base != '/' || strpbrk(base, refused))
		base = "/tmp";
	if (asprintf(&path, "%s/%s.XXXXXX", base, name) < 0) {
		error_nomem(e);
		return NULL;
	}
	if (mkdtemp(path))
		return path;
	error_sys(e, errno, "cannot make a directory in %s", base);
	error_hint(e, "TMPDIR names another place");
	free(path);
	return NULL;
}

int file_write(const char *path, const void *data, size_t size, struct error *e)
{
	struct file_out f;

	if (file_create(&f, path, e))
		return -1;
	if (size)
		fwrite(data, 1, size, f.stream);
	return file_commit(&f, e);
}

int file_output(const char *path, FILE *stream, file_writer *write, void *what, struct error *e)
{
	struct file_out f;

	if (path && strcmp(path, "-") != 0) {
		if (file_create(&f, path, e))
			return -1;
		if (write(what, f.stream, e) == 0)
			return file_commit(&f, e);
		file_abandon(&f);
		return -1;
	}
	if (path)
		stream = stdout;
	errno = 0;
	if (write(what, stream, e))
		return -1;
	if (fflush(stream) || ferror(stream)) {
		int failed = errno;

		error_sys(e, failed, "cannot write the report");
		file_hint_write(e, failed);
		return -1;
	}
	return 0;
}

const char *file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The descriptor that /dev/stdout, /dev/fd/5 or /proc/self/fd/5 names; -1: none. */
static int descriptor_named(const char *path)
{
	static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const directories[] = {"/dev/fd/", "/proc/self/fd/"};

	for (int i = 0; i < 3; i++)
		if (strcmp(path, streams[i]) == 0)
			return i;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		size_t n = strlen(directories[i]);
		char *end;
		long fd;

		if (strncmp(path, directories[i], n) != 0)
			continue;
		fd = strtol(path + n, &end, 10);
		return end != path + n && !*end && fd >= 0 && fd < INT_MAX ? (int)fd : -1;
	}
	return -1;
}

/* An open descriptor that path names is written directly, from its current position, because other
 * processes may write to it as well. */
static FILE *open_directly(const char *path)
{
	int named = descriptor_named(path), fd = named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, 3) : -1;

	FILE *stream = named < 0 ? fopen(path, "we") : fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

/* A file without a name in the directory of path, which is gone if we are killed. -1: the file
 * system has none, or nothing could name it later. */
static int open_unnamed(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char own[OWN_PATH], *directory;
	struct stat st;
	int fd = -1;

	if (lstat(path, &st) && errno == ENAMETOOLONG)
		return -1;
	directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (directory)
		fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	free(directory);
	if (fd >= 0) {
		snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
		if (stat(own, &st)) {
			close(fd);
			return -1;
		}
	}
	return fd;
}

static int open_temporary(struct file_out *f)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	fd = open_unnamed(f->path, 0666);
	f->unnamed = fd >= 0;
	if (fd >= 0)
		return fd;
	if (asprintf(&f->temporary, "%s.XXXXXX", f->path) < 0) {
		f->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(f->temporary, O_CLOEXEC);
	if (fd < 0) {
		int saved = errno;

		free(f->temporary);
		f->temporary = NULL;
		errno = saved;
		return -1;
	}
	fchmod(fd, 0666 & ~mask);
	return fd;
}

static FILE *open_incomplete(struct file_out *f)
{
	int fd = open_temporary(f);
	FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

/* Files without a name that replace another take a second name first, as only rename replaces. */
struct replacing {
	char own[OWN_PATH];
	const char *name, *path;
	int failed; /* 0 or an errno; -1: not known */
};

static int replace_by_second_name(const struct replacing *r)
{
	int failed;

	if (linkat(AT_FDCWD, r->own, AT_FDCWD, r->name, AT_SYMLINK_FOLLOW))
		return errno;
	failed = rename(r->name, r->path) ? errno : 0;
	unlink(r->name); /* also if path was this file already: then rename does nothing */
	return failed;
}

static int replace_in_child(void *argument)
{
	struct replacing *r = argument;

	setsid(); /* it is not of the group that a signal may end */
	r->failed = replace_by_second_name(r);
	return 0;
}

#ifdef __SANITIZE_THREAD__
/* The sanitizer's clone ends in each process what it began once. Where they share memory, it sees
 * neither locks nor races of this thread from then on. */
extern __typeof__(clone) __clone;
#define clone __clone
#endif

/* 0 or an errno. A process of its own does it: if this one is killed in between, the second name
 * does not stay. */
static int replace_at_once(struct replacing *r)
{
	char stack[REPLACING_STACK] __attribute__((aligned(16)));
	int pid = clone(replace_in_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, r);

	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	/* There may be no process, or none with this memory, as under Valgrind. */
	return r->failed < 0 ? replace_by_second_name(r) : r->failed;
}

/* Gives a file without a name its name; 0 or an errno. */
static int name_complete(struct file_out *f, int fd)
{
	struct replacing r = {.path = f->path};
	int failed;

	snprintf(r.own, sizeof(r.own), "/proc/self/fd/%d", fd);
	failed = linkat(AT_FDCWD, r.own, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) ? errno : 0;
	for (int i = 0; failed == EEXIST && i < NAME_TRIES; i++) {
		char *name;

		if (asprintf(&name, "%s.%d-%d", f->path, (int)getpid(), i) < 0)
			return ENOMEM;
		r.name = name;
		r.failed = -1;
		failed = replace_at_once(&r);
		free(name);
	}
	return failed;
}

/* Gives the file its name; 0 or an errno. A signal that ends us waits until none has another. */
static int name_at_once(struct file_out *f, int fd)
{
	sigset_t all, before;
	int failed = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (f->unnamed)
		failed = name_complete(f, fd);
	else if (f->temporary && rename(f->temporary, f->path))
		failed = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

int file_create(struct file_out *f, const char *path, struct error *e)
{
	struct stat st, target;
	bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode), there = stat(path, &target) == 0;

	memset(f, 0, sizeof(*f));
	/* A symbolic link is kept; its target is replaced. */
	f->path = link && there && descriptor_named(path) < 0 ? realpath(path, NULL) : strdup(path);
	if (!f->path)
		return error_nomem(e);
	if (descriptor_named(path) >= 0 || (link && !there) || (there && !S_ISREG(target.st_mode)))
		f->stream = open_directly(path);
	else
		f->stream = open_incomplete(f);
	if (!f->stream) {
		error_sys(e, errno, "cannot write %s", path);
		error_hint(e, there && S_ISDIR(target.st_mode)
				      ? "give the name of a file in it"
				      : "check that its directory exists and is writable");
		file_abandon(f);
		return -1;
	}
	return 0;
}

void file_private(const struct file_out *f)
{
	if (f->temporary || f->unnamed)
		fchmod(fileno(f->stream), 0600);
}

int file_commit(struct file_out *f, struct error *e)
{
	int failed = 0, fd = -1;

	if (f->unnamed) {
		fd = fcntl(fileno(f->stream), F_DUPFD_CLOEXEC, 3);
		failed = fd < 0 ? errno : 0;
	}
	if (ferror(f->stream) | fflush(f->stream))
		failed = errno ? errno : EIO;
	if (fclose(f->stream) && !failed)
		failed = errno;
	f->stream = NULL;
	if (!failed)
		failed = name_at_once(f, fd);
	if (fd >= 0)
		close(fd);
	if (failed) {
		error_sys(e, failed, "cannot write %s", f->path);
		file_hint_write(e, failed);
		file_abandon(f);
		return -1;
	}
	free(f->temporary);
	f->temporary = NULL;
	file_abandon(f);
	return 0;
}

void file_abandon(struct file_out *f)
{
	if (f->stream)
		fclose(f->stream);
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	memset(f, 0, sizeof(*f));
}

/* The directory above that of the executable; NULL: not known. Without /proc, it is the file that
 * was executed, whose name may be relative. */
static const char *executable_prefix(char self[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
	const char *executed = (const char *)getauxval(AT_EXECFN); /* NOLINT */

	self[n > 0 ? n : 0] = '\0';
	if (n <= 0 && (!executed || !realpath(executed, self)))
		return NULL;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return self;
}

char *file_command_path(const char *name)
{
	char self[PATH_MAX], *path;
	const char *prefix = executable_prefix(self);

	if (prefix) {
		if (asprintf(&path, "%s/bin/%s", prefix, name) < 0)
			return NULL;
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return strdup(name);
}

static char *find_ours(
	const char *variable, const char *directory, const char *name, struct error *e)
{
	char self[PATH_MAX], below[64];
	const char *root = getenv(variable);
	const struct {
		const char *prefix, *below;
	} places[] = {{root && *root ? root : NULL, ""}, {executable_prefix(self), below},
		{PERFEX_PREFIX, below}};

	snprintf(below, sizeof(below), "/%s/perfex", directory);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path;

		if (!places[i].prefix)
			continue;
		if (asprintf(&path, "%s%s/%s", places[i].prefix, places[i].below, name) < 0) {
			error_nomem(e);
			return NULL;
		}
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	error_set(e, ERR_NOT_FOUND, "cannot find %s, a file of this toolkit", name);
	error_hint(e,
		"install the toolkit completely (make install), or set %s to the directory of the "
		"file",
		variable);
	return NULL;
}

char *file_data_path(const char *name, struct error *e)
{
	return find_ours("PERFEX_DATA", "share", name, e);
}

char *file_libexec_path(const char *name, struct error *e)
{
	return find_ours("PERFEX_LIBEXEC", "libexec", name, e);
}

void file_hold_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return;
}

static void over_limit(int number)
{
	(void)number;
}

void file_limit_is_error(void)
{
	struct sigaction action;

	/* A handler, as an ignored signal would be ignored by commands that we execute, too. */
	if (sigaction(SIGXFSZ, NULL, &action) || action.sa_handler != SIG_DFL)
		return;
	memset(&action, 0, sizeof(action));
	action.sa_handler = over_limit;
	action.sa_flags = SA_RESTART;
	sigaction(SIGXFSZ, &action, NULL);
}

void file_hint_write(struct error *e, int errnum)
{
	if (errnum == EFBIG)
		error_hint(e, "files may not be larger than ulimit -f says: raise that");
}

bool file_is_program(const char *path)
{
	char head[4] = {0};
	struct stat st;
	ssize_t size;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	if (fd >= 0)
		close(fd);
	if (size < 0) /* it may be executed, and not be read */
		return access(path, X_OK) == 0;
	return (size == sizeof(head) && memcmp(head, "\177ELF", 4) == 0) ||
	       (size > 1 && head[0] == '#' && head[1] == '!' && (st.st_mode & 0111));
}
