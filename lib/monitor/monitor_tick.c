/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of tracepoints, which tracefs has. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/monitor_clock.h"

/* Of linux/mount.h, which some distributions' headers do not have. */
#define CREATE            6 /* FSCONFIG_CMD_CREATE */
#define ATTRIBUTES_RDONLY 1 /* MOUNT_ATTR_RDONLY */

static int read_number(int directory, const char *event, uint64_t *number)
{
	char text[32], path[96], *end;
	ssize_t n;
	int fd, why;

	snprintf(path, sizeof(path), "events/%s/id", event);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	if (n <= 0)
		return -1;
	text[n] = '\0';
	*number = strtoull(text, &end, 10);
	return end > text ? 0 : -1;
}

/* Where it is usually mounted. */
static int find_mounted(const char *event, uint64_t *number)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int why = ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int d = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (d < 0)
			continue;
		if (read_number(d, event, number) == 0) {
			close(d);
			return 0;
		}
		why = errno == ENOENT ? why : errno;
		close(d);
	}
	errno = why;
	return -1;
}

/* A mount that is nowhere in the tree of files: other processes do not see it. */
static int find_unmounted(const char *event, uint64_t *number)
{
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
	int fs = (int)syscall(SYS_fsopen, "tracefs", 1), mount = -1, rc = -1;

	if (fs >= 0 && syscall(SYS_fsconfig, fs, CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, 1, ATTRIBUTES_RDONLY);
	if (mount >= 0) {
		rc = read_number(mount, event, number);
		close(mount);
	}
	if (fs >= 0)
		close(fs);
	return rc;
#else
	(void)event;
	(void)number;
	return -1;
#endif
}

int monitor_tick_number(const char *event, uint64_t *number, struct error *e)
{
	int why;

#if !defined(__x86_64__)
	(void)event;
	(void)number;
	return error_set(e, ERR_UNSUPPORTED, "this processor's timer has no tracepoint");
#endif
	if (find_mounted(event, number) == 0)
		return 0;
	why = errno;
	if (find_unmounted(event, number) == 0)
		return 0;
	if (why == EACCES || why == EPERM) {
		error_set(e, ERR_PERMISSION, "tracefs may not be read");
		return error_hint(e, "run it as root, or mount tracefs with a gid of yours");
	}
	error_set(e, ERR_UNSUPPORTED, "there is no tracefs with events/%s", event);
	return error_hint(e, "mount -t tracefs tracefs /sys/kernel/tracing");
}
