/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the tool, like Valgrind's own launcher, for one tool and one platform. Valgrind's core
 * runs it again for each program that the modelled one executes. With a launcher of our own the
 * program's environment is unchanged: no VALGRIND_LIB, and no variables of a distribution's wrapper
 * script.
 *
 * The tool is installed twice, the second time for newer processors; both count the same.
 *
 * Linked statically, so that the program's LD_PRELOAD and LD_LIBRARY_PATH do not affect it.
 * Installed as "valgrind.bin" beside a link to the distribution's wrapper script, which runs
 * "$0.bin": so the wrapper can be used as well, if a run needs exactly the environment that
 * `valgrind --tool=cachegrind` gives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "valgrind/launcher.h"

/* The value of an option before the program's name; NULL if it is not there, or empty. */
static const char *launcher_option(char **argv, const char *name)
{
	size_t length = strlen(name);

	for (char **word = argv + 1; *word && (*word)[0] == '-' && strcmp(*word, "--") != 0; word++)
		if (strncmp(*word, name, length) == 0)
			return (*word)[length] ? *word + length : NULL;
	return NULL;
}

/* The program's name: the first argument that is not an option. */
static char **launcher_program(char **argv)
{
	char **word = argv + 1;

	while (*word && (*word)[0] == '-' && strcmp(*word, "--") != 0)
		word++;
	if (*word && strcmp(*word, "--") == 0)
		word++;
	return word;
}

int main(int argc, char **argv)
{
	char path[4096 + sizeof(TOOL_NAME_V3)];
	ssize_t length = readlink("/proc/self/exe", path, 4096);
	const char *counts = launcher_option(argv, OPTION_COUNTS),
		   *real = launcher_option(argv, OPTION_PATH);
	char **command = launcher_program(argv);

	(void)argc;
	if (length <= 0 || length >= 4096) {
		fprintf(stderr, "perfex: cannot read /proc/self/exe, which the model needs: %s\n",
			strerror(errno));
		return 126;
	}
	path[length] = '\0';
	unsetenv("VALGRIND_LIB");
	if (real && *command)
		*command = (char *)real;
	if (counts && *command && access(counts, F_OK) != 0 && errno == ENOENT) {
		/* The run that counted is over, and this program outlives it: as it would without
		 * us. */
		const char *argv0 = launcher_option(argv, OPTION_ARGV0), *file = *command;

		if (argv0)
			*command = (char *)argv0;
		execv(file, command);
		return errno == ENOENT ? 127 : 126;
	}
	setenv("VALGRIND_LAUNCHER", path, 1);
	if (__builtin_cpu_supports("x86-64-v3")) {
		strcpy(strrchr(path, '/') + 1, TOOL_NAME_V3);
		execv(path, argv);
	}
	strcpy(strrchr(path, '/') + 1, TOOL_NAME);
	execv(path, argv);
	fprintf(stderr, "perfex: cannot run %s: %s\n", path, strerror(errno));
	return 126;
}
