/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The depth to which the kernel follows scripts whose interpreters are scripts. */
#define SCRIPT_DEPTH 5

static int usable(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (S_ISDIR(st.st_mode) || access(path, X_OK) != 0)
		return EACCES;
	return 0;
}

int executable_not_run(const char *command, int errnum, struct error *e)
{
	struct stat st;

	if (!*command) {
		error_set(e, ERR_CANNOT_RUN, "the name of the command is empty");
		if (e)
			e->errnum = errnum;
		return error_hint(e, "give a program; perhaps a variable of the shell is not set");
	}
	error_sys(e, errnum, errnum == ENOENT ? "cannot find %s" : "cannot run %s", command);
	if (e)
		e->code = ERR_CANNOT_RUN;
	if (errnum == ENOENT && strchr(command, '/') && access(command, F_OK) == 0)
		error_hint(e,
			"the file exists, but not the interpreter that its first line names (or "
			"its loader)");
	else if (errnum == ENOENT && !strchr(command, '/'))
		error_hint(e, "it is in no directory of PATH%s",
			access(command, F_OK) == 0
				? ", but in the current directory: put ./ before the name"
				: "");
	else if (errnum == EACCES)
		error_hint(e, "%s",
			stat(command, &st) == 0 && S_ISDIR(st.st_mode)
				? "it is a directory: name a program in it"
				: "make it an executable file: chmod +x");
	return -1;
}

int executable_find(const char *command, char *path, size_t size, struct error *e)
{
	const char *at = getenv("PATH");
	int errnum = ENOENT, one;

	if (strchr(command, '/')) {
		if (snprintf(path, size, "%s", command) >= (int)size)
			return executable_not_run(command, ENAMETOOLONG, e);
		errnum = usable(path);
		return errnum ? executable_not_run(command, errnum, e) : 0;
	}
	for (at = at ? at : "/bin:/usr/bin"; *command; at++) {
		size_t length = strcspn(at, ":");

		if (snprintf(path, size, "%.*s%s%s", (int)length, at, length ? "/" : "./",
			    command) < (int)size) {
			one = usable(path);
			if (one == 0)
				return 0;
			if (one == EACCES)
				errnum = EACCES;
		}
		at += length;
		if (!*at)
			break;
	}
	return executable_not_run(command, errnum, e);
}

/* The path after #!, NUL-terminated in place; NULL if there is none. */
static char *interpreter(char *head, ssize_t length)
{
	char *at = head + 2;

	head[length] = '\0';
	at += strspn(at, " \t");
	at[strcspn(at, " \t\r\n")] = '\0';
	return *at ? at : NULL;
}

/* A missing file: the command, or the interpreter in its first line. */
static int not_there(const char *path, unsigned depth, struct error *e)
{
	int errnum = errno;

	if (depth == SCRIPT_DEPTH)
		return error_sys(e, errnum, "cannot run %s", path);
	error_sys(e, errnum, "cannot run its interpreter %s", path);
	if (e)
		e->code = ERR_CANNOT_RUN;
	return error_hint(e, "check the first line of the script, after #!");
}

static int kind_of(const char *path, unsigned depth, enum executable *kind, struct error *e)
{
	char head[256 + 1], *next;
	struct stat st;
	ssize_t n;
	int fd;

	*kind = EXECUTABLE_64;
	if (stat(path, &st) != 0)
		return not_there(path, depth, e);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, head, sizeof(head) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n >= 2 && memcmp(head, "#!", 2) == 0) { /* the kernel ignores set-user-ID on scripts */
		next = interpreter(head, n);
		return next && depth ? kind_of(next, depth - 1, kind, e) : 0;
	}
	if ((st.st_mode & (S_ISUID | S_ISGID)) ||
		(geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0))
		*kind = EXECUTABLE_PRIVILEGED;
	else if (n < 0)
		*kind = EXECUTABLE_UNREADABLE;
	else if (n > EI_CLASS && memcmp(head, ELFMAG, SELFMAG) == 0 &&
		 (head[EI_CLASS] != ELFCLASS64 || n <= 19 || head[18] != EM_X86_64))
		*kind = EXECUTABLE_OTHER;
	return 0;
}

int executable_kind(const char *path, enum executable *kind, struct error *e)
{
	return kind_of(path, SCRIPT_DEPTH, kind, e);
}

static uint64_t end_of_segments(int fd, const Elf64_Ehdr *h)
{
	uint64_t end = sizeof(*h);
	Elf64_Phdr p;

	for (unsigned i = 0; i < h->e_phnum; i++) {
		off_t at = (off_t)(h->e_phoff + (uint64_t)i * sizeof(p));

		if (h->e_phoff > INT64_MAX / 2 || pread(fd, &p, sizeof(p), at) != sizeof(p))
			return (uint64_t)at + sizeof(p);
		if (p.p_type == PT_LOAD && p.p_offset <= UINT64_MAX - p.p_filesz &&
			p.p_offset + p.p_filesz > end)
			end = p.p_offset + p.p_filesz;
	}
	return end;
}

bool executable_cut(const char *path, uint64_t *has, uint64_t *needs)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	Elf64_Ehdr h;
	bool cut = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && pread(fd, &h, sizeof(h), 0) == sizeof(h) &&
		memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
		h.e_phentsize == sizeof(Elf64_Phdr)) {
		*has = (uint64_t)st.st_size;
		*needs = end_of_segments(fd, &h);
		cut = *needs > *has;
	}
	close(fd);
	return cut;
}
