/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory that lib/machine keeps its files in, for a test. */
#ifndef TESTS_UNIT_KEPT_FILES_H
#define TESTS_UNIT_KEPT_FILES_H

#include <glob.h>
#include <stdio.h>
#include <unistd.h>

/* Removes the directory and what was kept there. */
static inline void kept_files_remove(const char *dir)
{
	char files[200];
	glob_t found;

	snprintf(files, sizeof(files), "%s/perfex-*", dir);
	if (glob(files, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
	rmdir(dir);
}

#endif
