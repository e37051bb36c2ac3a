/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's list of functions, /proc/kallsyms. The kernel takes 40 ms or more to write it, so
 * the user's cache has a copy, valid until the next boot, or until other modules are there. Reading
 * all of that takes 7 ms, so only the lines around some addresses are.
 */
#ifndef COLLECT_KERNEL_NAMES_H
#define COLLECT_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Lines of the list, with all functions that are at these addresses now (ascending, at least one);
 * to be freed by the caller. NULL: it cannot be read. */
char *kernel_names(const uint64_t *addresses, size_t count);
/* The address of a function in such a list; 0: not there, or hidden. */
uint64_t kernel_names_find(const char *text, const char *name);

/* Bytes at the list's beginning, up to the end of the kernel's own code, whose lines are in order
 * of their addresses; 0: it is not so. */
size_t kernel_names_sorted(const char *text);
/* The lines of them that decide which functions are at these addresses (ascending). */
char *kernel_names_some(const char *text, size_t size, const uint64_t *addresses, size_t count);

#endif
