/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the tool: what Valgrind's own launcher does, for one tool and one platform.  Valgrind's
 * core runs it again for each program that the modelled one executes.  Having our own leaves the
 * program's environment as it was: no VALGRIND_LIB, and none of what a distribution's wrapper
 * script adds.
 *
 * Linked statically, so that the program's LD_PRELOAD and LD_LIBRARY_PATH do not reach it.
 * Installed as "valgrind.bin" beside a link to the distribution's wrapper script, which runs
 * "$0.bin": so the wrapper can be had as well, where a run must see the very environment that
 * `valgrind --tool=cachegrind` would give.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "valgrind/launcher.h"

int main(int argc, char **argv)
{
	char path[4096 + sizeof(TOOL_NAME)];
	ssize_t length = readlink("/proc/self/exe", path, 4096);
	char *slash;

	(void)argc;
	if (length <= 0 || length >= 4096) {
		fprintf(stderr, "perfex: cannot read /proc/self/exe, which the model needs: %s\n",
			strerror(errno));
		return 126;
	}
	path[length] = '\0';
	unsetenv("VALGRIND_LIB");
	setenv("VALGRIND_LAUNCHER", path, 1);
	slash = strrchr(path, '/');
	strcpy(slash + 1, TOOL_NAME);
	execv(path, argv);
	fprintf(stderr, "perfex: cannot run %s: %s\n", path, strerror(errno));
	return 126;
}
