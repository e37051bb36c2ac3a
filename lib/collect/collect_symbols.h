/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for sampled addresses that no file can name later: the kernel's from /proc/kallsyms, those
 * of code that a process made from its perf-PID.map, the vdso's from itself.  Only functions that
 * have samples are put into the experiment.
 */
#ifndef COLLECT_COLLECT_SYMBOLS_H
#define COLLECT_COLLECT_SYMBOLS_H

#include "collect/collect_images.h"

/* "ADDRESS TYPE NAME [MODULE]" lines, as in /proc/kallsyms; addresses that are all zero (we may not
 * know them) name nothing.  text is cut up.  The kernel lay `shift` further up when it was sampled;
 * where that is not 0, nobody knows where modules lay.  -1: memory is out. */
int symbols_kallsyms(struct experiment *x, uint32_t image, char *text, uint64_t shift);
/* The address of a symbol in such text; 0: there is none, or we may not know it. */
uint64_t symbols_kallsyms_find(const char *text, const char *name);
/* "BEGIN SIZE NAME" lines, as JIT compilers write them; the last one for an address counts. */
int symbols_perf_map(struct experiment *x, uint32_t image, char *text);

/* The same from where they are.  What cannot be read names nothing. */
int symbols_kernel(struct experiment *x, uint32_t image);
/* pid is the process' number here or, of the past, that which it had. */
int symbols_jit(struct experiment *x, uint32_t image, pid_t pid);
int symbols_vdso(struct experiment *x, uint32_t image, struct image *vdso);

#endif
