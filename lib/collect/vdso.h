/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vdso, the library that the kernel maps into every process. It is in no file, but our own is
 * the same as that of all processes (of our word size), so a copy of it is examined like a file.
 */
#ifndef COLLECT_VDSO_H
#define COLLECT_VDSO_H

/* A path (below /proc/self/fd) of a copy that this process can read; to be freed by the caller,
 * the descriptor remains open. NULL: there is none. */
char *vdso_file(void);

#endif
