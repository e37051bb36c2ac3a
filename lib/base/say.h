/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of commands on standard error, after their names, and their exit status. For commands
 * only: libraries fill a struct error.
 */
#ifndef BASE_SAY_H
#define BASE_SAY_H

#include "base/error.h"

enum {
	EXIT_INCOMPLETE = 1, /* the report is incomplete */
	/* Our own failures, as env(1) and timeout(1) number them. */
	EXIT_OURS = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
};

/* "PROGRAM: MESSAGE" and, indented, the hint. */
void say_error(const struct error *e);
/* The same; returns EXIT_OURS, for a command to exit with. */
int say_failure(const struct error *e);
/* -version, on standard output: "PROGRAM VERSION", for scripts; then the libraries in use and the
 * features built in, comma-separated. For main to return. */
int say_version(const char *libraries, const char *features);
/* For main to return: status, or EXIT_OURS with a message if standard output could not be written,
 * or memory was out, or a file was cut while it was read, and no failure was reported. */
int say_end(int status);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
