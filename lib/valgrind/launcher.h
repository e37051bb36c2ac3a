/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the tool's files in libexec/perfex.
 */
#ifndef VALGRIND_LAUNCHER_H
#define VALGRIND_LAUNCHER_H

#define TOOL_NAME "perfexmodel-amd64-linux"

#endif
