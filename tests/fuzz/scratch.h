/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An input as a file, for what takes a path: it is in memory only. */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct scratch {
	int fd;
	char path[40];
};

/* -1: there is none. */
__attribute__((unused)) static int scratch_open(struct scratch *s, const uint8_t *data, size_t size)
{
	s->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (s->fd < 0)
		return -1;
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
	if (write(s->fd, data, size) == (ssize_t)size)
		return 0;
	close(s->fd);
	return -1;
}

__attribute__((unused)) static void scratch_close(const struct scratch *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

#endif
