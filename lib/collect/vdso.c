/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/vdso.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

char *vdso_file(void)
{
	const ElfW(Ehdr) *h = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	char *path;
	size_t size;
	int fd;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	/* Section headers are the last thing in it. */
	size = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, h, size) != (ssize_t)size || asprintf(&path, "/proc/self/fd/%d", fd) < 0) {
		close(fd);
		return NULL;
	}
	return path;
}
