/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { PROC_PATH = 64 };

static int proc_open(pid_t pid, const char *name)
{
	char path[PROC_PATH];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The kernel makes such files while they are read: a read may return less than there is. */
static size_t proc_fill(int fd, char *to, size_t size)
{
	size_t count = 0;
	ssize_t n;

	while (count < size && (n = read(fd, to + count, size - count)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		count += (size_t)n;
	}
	return count;
}

size_t proc_read(pid_t pid, const char *name, char *text, size_t size)
{
	int fd = proc_open(pid, name);
	size_t count = fd < 0 ? 0 : proc_fill(fd, text, size - 1);

	text[count] = '\0';
	if (fd >= 0)
		close(fd);
	return count;
}

static char *proc_text_of(int fd, size_t limit)
{
	size_t count = 0, room = limit < 16384 ? limit : 16384;
	char *text = malloc(room + 1);

	while (text) {
		char *more;

		count += proc_fill(fd, text + count, room - count);
		if (count < room || room >= limit)
			break;
		room = room * 2 < limit ? room * 2 : limit;
		more = realloc(text, room + 1);
		if (!more)
			break;
		text = more;
	}
	if (text)
		text[count] = '\0';
	return text;
}

char *proc_text(pid_t pid, const char *name, size_t limit)
{
	int fd = proc_open(pid, name);
	char *text = fd < 0 ? NULL : proc_text_of(fd, limit);

	if (fd >= 0)
		close(fd);
	return text;
}

int proc_keep(pid_t pid, const char *name)
{
	return proc_open(pid, name);
}

size_t proc_kept_read(int fd, char *text, size_t size)
{
	size_t count = lseek(fd, 0, SEEK_SET) ? 0 : proc_fill(fd, text, size - 1);

	text[count] = '\0';
	return count;
}

char *proc_kept_text(int fd, size_t limit)
{
	char *text = lseek(fd, 0, SEEK_SET) ? NULL : proc_text_of(fd, limit);

	if (text && text[0])
		return text;
	free(text);
	return NULL;
}

bool proc_name(pid_t tid, char *name, size_t size)
{
	proc_read(tid, "comm", name, size);
	name[strcspn(name, "\n")] = '\0';
	return name[0] != '\0';
}

void proc_status(pid_t pid, const char *key, char *value, size_t size)
{
	char text[8192], line[32];
	const char *at;

	value[0] = '\0';
	snprintf(line, sizeof(line), "\n%s:", key);
	text[0] = '\n'; /* the first line begins as others do */
	if (!proc_read(pid, "status", text + 1, sizeof(text) - 1) || !(at = strstr(text, line)))
		return;
	at += strlen(line);
	at += strspn(at, "\t ");
	snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
}

long proc_status_number(pid_t pid, const char *key, long other)
{
	char value[32];

	proc_status(pid, key, value, sizeof(value));
	return value[0] ? strtol(value, NULL, 10) : other;
}

bool proc_link(pid_t pid, const char *name, char *target, size_t size)
{
	char path[PROC_PATH];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	length = readlink(path, target, size - 1);
	target[length < 0 ? 0 : length] = '\0';
	return length >= 0;
}

bool proc_owner(pid_t pid, uid_t *owner)
{
	char path[PROC_PATH];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return false;
	*owner = st.st_uid;
	return true;
}

uint64_t proc_own_memory(unsigned field)
{
	unsigned long long pages[2] = {0};
	char text[64];

	proc_read(getpid(), "statm", text, sizeof(text));
	if (sscanf(text, "%llu %llu", &pages[0], &pages[1]) != 2 || field > 1)
		return 0;
	return pages[field] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- /proc/PID/stat ---- */

static long stat_field(const char *at, int field)
{
	for (; at && field > 2; field--)
		at = strchr(at + 1, ' ');
	if (!at || !at[0])
		return -1;
	return at[1] >= 'A' ? at[1] : strtol(at + 1, NULL, 10);
}

int proc_stats(pid_t pid, const int *fields, size_t count, long *values)
{
	char text[1024], *at;

	proc_read(pid, "stat", text, sizeof(text));
	at = strrchr(text, ')'); /* its name may contain any character */
	for (size_t i = 0; i < count; i++)
		values[i] = stat_field(at, fields[i]);
	return at ? 0 : -1;
}

long proc_stat(pid_t pid, int field)
{
	long value;

	return proc_stats(pid, &field, 1, &value) ? -1 : value;
}

uint64_t proc_began(pid_t pid)
{
	long began = proc_stat(pid, PROC_STAT_BEGAN);

	return began > 0 ? (uint64_t)began : 0;
}

/* ---- lists ---- */

DIR *proc_list(pid_t pid)
{
	char path[PROC_PATH];

	if (!pid)
		return opendir("/proc");
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

pid_t proc_next(DIR *list)
{
	const char *name;

	while ((name = file_next(list, ""))) {
		long number = strtol(name, NULL, 10);

		if (number > 0)
			return (pid_t)number;
	}
	return 0;
}

pid_t proc_living(pid_t pid)
{
	pid_t tid, found = pid;
	DIR *list;

	if (proc_stat(pid, PROC_STAT_STATE) != 'Z')
		return pid;
	list = proc_list(pid);
	while (found == pid && (tid = proc_next(list))) {
		long state = proc_stat(tid, PROC_STAT_STATE);

		if (state > 0 && state != 'Z' && state != 'X')
			found = tid;
	}
	if (list)
		closedir(list);
	return found;
}

bool proc_has_ended(pid_t pid)
{
	long state;

	if (kill(pid, 0) && errno != EPERM)
		return true;
	state = proc_stat(proc_living(pid), PROC_STAT_STATE);
	return state == 'Z' || state == 'X';
}

size_t proc_peek(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	/* Asked for only then, as it costs three more calls. */
	if (n < 0 && errno == ESRCH)
		n = process_vm_readv(proc_living(pid), &local, 1, &remote, 1, 0);
	return n < 0 ? 0 : (size_t)n;
}

bool proc_mapping(char *line, struct proc_mapping *m)
{
	unsigned high, low;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->begin,
		    &m->end, m->mode, &m->offset, &high, &low, &m->inode, &path) < 7)
		return false;
	m->device = makedev(high, low);
	m->path = path ? line + path : line + strlen(line);
	return true;
}

bool proc_cpu_name(char *name, size_t size)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "re");

	name[0] = '\0';
	while (f && !name[0] && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(name, size, "%.*s", (int)strcspn(colon, "\n"), colon);
	}
	if (f)
		fclose(f);
	return name[0] != '\0';
}

pid_t proc_wait(pid_t pid, int *status, int flags)
{
	pid_t ended;

	do
		ended = waitpid(pid, status, flags);
	while (ended < 0 && errno == EINTR);
	return ended;
}
