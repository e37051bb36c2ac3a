/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for sampled addresses that are in no file: the kernel's from /proc/kallsyms, those of
 * generated code from its perf-PID.map or jitdump, the vdso's from itself. Only functions with
 * samples are added to the experiment.
 */
#ifndef COLLECT_COLLECT_SYMBOLS_H
#define COLLECT_COLLECT_SYMBOLS_H

#include "collect/collect_images.h"

/* "ADDRESS TYPE NAME [MODULE]" lines, as in /proc/kallsyms; with all addresses zero (hidden),
 * nothing is named. text is modified. The kernel was `shift` higher when it was sampled; if that
 * is not 0, places of modules are unknown. -1: memory is out. */
int symbols_kallsyms(struct experiment *x, uint32_t image, char *text, uint64_t shift);
/* "BEGIN SIZE NAME" lines, as JIT compilers write them; the last one for an address counts. */
int symbols_perf_map(struct experiment *x, uint32_t image, char *text);

/* The same of the bytes of a jitdump file (jitdump.h). */
int symbols_jitdump(struct experiment *x, uint32_t image, const void *data, size_t size);

/* The same from their usual files. Unreadable files name nothing. */
int symbols_kernel(struct experiment *x, uint32_t image);
/* pid is the process's number here or, of the past, its number then. */
int symbols_jit(struct experiment *x, uint32_t image, pid_t pid);
/* The jitdump file that process pid saw under this path. */
int symbols_jitdump_file(struct experiment *x, uint32_t image, pid_t pid, const char *path);
int symbols_vdso(struct experiment *x, uint32_t image, struct image *vdso);

#endif
