/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vdso, the library that the kernel maps into every process: no file has it, but ours is that
 * of all processes (of our own word size), so it can be looked at as if it were one.
 */
#ifndef COLLECT_VDSO_H
#define COLLECT_VDSO_H

/* A path (below /proc/self/fd) under which this process can read a copy; yours to free, the
 * descriptor stays open.  NULL: there is none. */
char *vdso_file(void);

#endif
