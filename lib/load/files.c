/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of ours and of perf record, and what comes through pipes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "load/load.h"
#include "perfdata/perfdata.h"

#define SPOOL "/proc/self/fd/"

ssize_t load_beginning(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, bytes, size);
	close(fd);
	return n;
}

bool load_knows(const char *bytes, ssize_t length)
{
	return length > 0 && (experiment_is_file(bytes, (size_t)length) ||
				     perfdata_is_file(bytes, (size_t)length));
}

bool load_is_perfdata(const char *path)
{
	char bytes[64];
	ssize_t length = load_beginning(path, bytes, sizeof(bytes));

	return length > 0 && perfdata_is_file(bytes, (size_t)length);
}

int load_file(struct experiment *x, const struct load_request *r, const char *path,
	struct experiment_damage *damage, struct error *e)
{
	struct progress progress;
	int rc;

	if (!load_is_perfdata(path))
		return experiment_read(x, path, damage, e);
	progress_begin(&progress, !r->quiet);
	rc = perfdata_read(x, path, &r->search, &progress, damage, e);
	progress_end(&progress);
	return rc;
}

bool load_is_pipe(const char *word)
{
	struct stat st;

	return strcmp(word, "-") == 0 || (stat(word, &st) == 0 && S_ISFIFO(st.st_mode));
}

static int copy(int from, int to)
{
	char buffer[65536];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write(to, buffer, (size_t)n) != n)
			return -1;
	}
	return 0;
}

char *load_spool(const char *word, struct error *e)
{
	bool standard = strcmp(word, "-") == 0;
	int from = standard ? STDIN_FILENO : open(word, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("prof", MFD_CLOEXEC);
	char *path = NULL;

	if (from < 0 || to < 0 || copy(from, to))
		error_sys(e, errno, "cannot read %s", standard ? "standard input" : word);
	else if (asprintf(&path, SPOOL "%d", to) < 0) {
		path = NULL;
		error_nomem(e);
	}
	if (!path && to >= 0)
		close(to);
	if (from >= 0 && !standard)
		close(from);
	return path;
}

const char *load_name(const char *path)
{
	return strncmp(path, SPOOL, strlen(SPOOL)) == 0 ? "standard input" : path;
}
