/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What prof tells its user on stderr. */
#ifndef PROF_SAY_H
#define PROF_SAY_H

#include "base/error.h"

/* A report that lacks something (damaged files, images that cannot be read); none at all. */
enum { EXIT_INCOMPLETE = 1, EXIT_OURS = 125 };

/* "prof: MESSAGE" and, indented, the hint. */
void say_error(const struct error *e);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
