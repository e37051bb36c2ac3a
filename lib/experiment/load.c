/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of experiment files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/private.h"

#define LARGEST_FILE ((size_t)4 << 30) /* bytes */

static int read_all(
	int fd, struct experiment_bytes *bytes, size_t size, const char *path, struct error *e)
{
	bytes->count = 0;
	for (;;) {
		ssize_t n;

		/* One byte more, to find the end. */
		if (bytes->count + 1 >= bytes->capacity) {
			size_t more =
				2 * bytes->capacity > size + 2 ? 2 * bytes->capacity : size + 2;
			char *data = more > LARGEST_FILE ? NULL : realloc(bytes->data, more);

			if (!data)
				return more > LARGEST_FILE
					       ? error_set(e, ERR_RANGE,
							 "%s is larger than experiments are", path)
					       : error_nomem(e);
			bytes->data = data;
			bytes->capacity = more;
		}
		n = read(fd, bytes->data + bytes->count, bytes->capacity - bytes->count);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(e, errno, "cannot read %s", path);
		if (n == 0)
			return 0;
		bytes->count += (size_t)n;
	}
}

int experiment_load(const char *path, struct experiment_bytes *bytes, struct error *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;

	if (fd < 0)
		return error_sys(e, errno, "cannot read %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		status =
			(uint64_t)st.st_size + 2 > LARGEST_FILE
				? error_set(e, ERR_RANGE, "%s is larger than experiments are", path)
				: read_all(fd, bytes, (size_t)st.st_size, path, e);
	else
		status = read_all(fd, bytes, 16384, path, e);
	close(fd);
	return status;
}

/* The message of *e, after the file's name. */
void experiment_name_error(struct error *e, const char *path)
{
	char message[sizeof(e->message)];

	if (!e)
		return;
	memcpy(message, e->message, sizeof(message));
	if (snprintf(e->message, sizeof(e->message), "%s: %s", path, message) < 0)
		memcpy(e->message, message, sizeof(message));
}

int experiment_read(
	struct experiment *x, const char *path, struct experiment_damage *damage, struct error *e)
{
	struct experiment_bytes bytes = {0};
	int status = experiment_load(path, &bytes, e);

	if (status == 0) {
		status = experiment_parse(x, bytes.data, bytes.count, damage, e);
		if (status)
			experiment_name_error(e, path);
	}
	free(bytes.data);
	return status;
}
