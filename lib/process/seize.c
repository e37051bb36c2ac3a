/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/seize.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int seize_thread(const struct seizer *s, pid_t tid, struct error *e)
{
	if (access("/proc/self", F_OK) != 0) {
		error_set(e, ERR_NOT_FOUND, "%s need /proc, which is not mounted here", s->purpose);
		return error_hint(e, "as root: mount -t proc proc /proc");
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)s->options) == 0)
		return s->begins(s->context, tid, e);
	if (errno == ESRCH)
		return 0;
	error_sys(e, errno, "cannot follow process %d", (int)tid);
	return error_hint(e,
		"%s need ptrace: a debugger or strace may have the process already, or "
		"kernel.yama.ptrace_scope or a container forbids it",
		s->purpose);
}

/* One look at the list of threads: how many of them were new, -1. */
static int seize_listed(const struct seizer *s, DIR *list, struct error *e)
{
	struct dirent *entry;
	int fresh = 0;

	while ((entry = readdir(list))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || s->known(s->context, tid))
			continue;
		if (seize_thread(s, tid, e))
			return -1;
		fresh += s->known(s->context, tid);
	}
	return fresh;
}

uint64_t seize_began(pid_t pid)
{
	char path[48], text[1024], *at;
	unsigned long long began = 0;
	size_t length = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f) {
		length = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[length] = '\0';
	at = strrchr(text, ')'); /* its name may contain any character */
	for (int field = 2; at && field < 22; field++)
		if ((at = strchr(at, ' ')))
			at++;
	if (at)
		began = strtoull(at, NULL, 10);
	return began;
}

int seize_process(const struct seizer *s, pid_t pid, struct error *e)
{
	char path[48];
	int fresh;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	/* Threads that others, not yet seized, created meanwhile: repeats until there are none. */
	do {
		DIR *list = opendir(path);

		if (!list)
			return error_set(e, ERR_NOT_FOUND, "process %d does not exist", (int)pid);
		fresh = seize_listed(s, list, e);
		closedir(list);
	} while (fresh > 0);
	/* what is seized keeps its number */
	if (fresh == 0 && s->began && seize_began(pid) != s->began)
		return error_set(e, ERR_NOT_FOUND, "process %d is another one now", (int)pid);
	return fresh;
}

bool seize_stop(pid_t tid, int waited, int *status)
{
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return false;
	while (waitpid(tid, status, waited) < 0)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(*status);
}

void seize_status(pid_t tid, const char *key, char *value, size_t size)
{
	char path[48], line[128];
	size_t length = strlen(key);
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && !value[0] && fgets(line, sizeof(line), f))
		if (strncmp(line, key, length) == 0 && line[length] == ':') {
			line[strcspn(line, "\n")] = '\0';
			snprintf(value, size, "%s",
				line + length + 1 + strspn(line + length + 1, "\t "));
		}
	if (f)
		fclose(f);
}
