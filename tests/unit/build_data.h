/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of the build that a unit test belongs to: BUILD/tests/unit/test_x uses
 * BUILD/share/perfex.
 */
#ifndef TESTS_BUILD_DATA_H
#define TESTS_BUILD_DATA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directory of the build, to be kept by the caller. */
static inline void build_directory(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *tests;

	path[n > 0 ? n : 0] = '\0';
	tests = strstr(path, "/tests/unit/");
	for (char *next; tests && (next = strstr(tests + 1, "/tests/unit/"));)
		tests = next;
	if (tests)
		*tests = '\0';
}

static inline void build_data(void)
{
	char build[4096], path[4200];

	build_directory(build, sizeof(build));
	snprintf(path, sizeof(path), "%s/share/perfex", build);
	setenv("PERFEX_DATA", path, 1);
}

#endif
