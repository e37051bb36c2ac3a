/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

#ifndef PERFEX_PREFIX
#define PERFEX_PREFIX "/usr/local"
#endif

char *file_read(const char *path, size_t limit, size_t *length, struct error *e)
{
	struct strbuf text = {0};
	char chunk[16384];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (limit == 0)
		limit = 64u << 20;
	if (fd < 0) {
		error_sys(e, errno, "cannot read %s", path);
		return NULL;
	}
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_sys(e, errno, "cannot read %s", path);
			goto fail;
		}
		if (text.length + (size_t)n > limit) {
			error_set(e, ERR_RANGE,
				"%s is larger than the %zu bytes such a file may have", path,
				limit);
			goto fail;
		}
		strbuf_add(&text, chunk, (size_t)n);
	}
	close(fd);
	if (length)
		*length = text.length;
	char *data = strbuf_take(&text);
	if (!data)
		error_nomem(e);
	return data;
fail:
	close(fd);
	strbuf_fini(&text);
	return NULL;
}

int file_create(struct file_out *f, const char *path, struct error *e)
{
	struct stat st;
	int fd;

	memset(f, 0, sizeof(*f));
	f->path = strdup(path);
	if (!f->path)
		return error_nomem(e);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		f->stream = fopen(path, "we");
	} else {
		mode_t mask = umask(0);

		umask(mask);
		if (asprintf(&f->temporary, "%s.XXXXXX", path) < 0) {
			f->temporary = NULL;
			file_abandon(f);
			return error_nomem(e);
		}
		fd = mkostemp(f->temporary, O_CLOEXEC);
		if (fd >= 0) {
			fchmod(fd, 0666 & ~mask);
			f->stream = fdopen(fd, "w");
		} else {
			int saved = errno;

			free(f->temporary);
			f->temporary = NULL;
			errno = saved;
		}
	}
	if (!f->stream) {
		error_sys(e, errno, "cannot write %s", path);
		error_hint(e, "check that its directory exists and that you may write there");
		file_abandon(f);
		return -1;
	}
	return 0;
}

int file_commit(struct file_out *f, struct error *e)
{
	int failed = 0;

	if (ferror(f->stream) | fflush(f->stream))
		failed = errno ? errno : EIO;
	if (fclose(f->stream) && !failed)
		failed = errno;
	f->stream = NULL;
	if (!failed && f->temporary && rename(f->temporary, f->path))
		failed = errno;
	if (failed) {
		error_sys(e, failed, "cannot write %s", f->path);
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

static char *beside_executable(const char *directory, const char *name)
{
	char self[PATH_MAX], *path, *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(self, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	if (asprintf(&path, "%s/%s/perfex/%s", self, directory, name) < 0)
		return NULL;
	return path;
}

static char *find_ours(
	const char *variable, const char *directory, const char *name, struct error *e)
{
	const char *root = getenv(variable);
	char *path = NULL;

	if (root && *root) {
		if (asprintf(&path, "%s/%s", root, name) < 0)
			path = NULL;
		if (path && access(path, R_OK) == 0)
			return path;
		free(path);
	}
	path = beside_executable(directory, name);
	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	if (asprintf(&path, "%s/%s/perfex/%s", PERFEX_PREFIX, directory, name) < 0)
		path = NULL;
	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	error_set(e, ERR_NOT_FOUND, "cannot find %s, a file of this toolkit", name);
	error_hint(e,
		"install the toolkit whole (make install), or set %s to the directory that holds "
		"it",
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
