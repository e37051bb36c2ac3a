/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's list of functions, /proc/kallsyms. The kernel takes 40 ms or more to write it, so
 * the user's cache has a copy, valid until the next boot, or until other modules are there.
 */
#ifndef COLLECT_KERNEL_NAMES_H
#define COLLECT_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The list, with all functions that are at these addresses now; to be freed by the caller. NULL:
 * it cannot be read. */
char *kernel_names(const uint64_t *addresses, size_t count);
/* The address of a function in such a list; 0: not there, or hidden. */
uint64_t kernel_names_find(const char *text, const char *name);

#endif
