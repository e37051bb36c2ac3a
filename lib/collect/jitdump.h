/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jitdump: the file in which a JIT compiler writes its functions (the kernel's
 * tools/perf/Documentation/jitdump-specification.txt). The process maps it, so that its path is
 * recorded: jit-PID.dump.
 */
#ifndef COLLECT_JITDUMP_H
#define COLLECT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this the path of such a file? */
bool jitdump_is_path(const char *path);

struct jitdump_function {
	uint64_t address, size;
	const char *name; /* borrowed from the bytes */
};

/* Calls for each function, in the order in which they were compiled or moved: a later one is in the
 * place of an earlier one. Stops when call returns non-zero, and returns that; -1: memory is out;
 * 1: these are not the bytes of such a file of this host's byte order. What was cut short or makes
 * no sense ends it. */
int jitdump_parse(const void *data, size_t size,
	int (*call)(void *context, const struct jitdump_function *f), void *context);

#endif
