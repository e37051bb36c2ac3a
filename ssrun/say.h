/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ssrun tells its user on stderr. */
#ifndef SSRUN_SAY_H
#define SSRUN_SAY_H

#include "base/error.h"

/* Exit statuses of our own, as env(1) and timeout(1) have them. */
enum { EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* "ssrun: MESSAGE" and, indented, the hint. */
void say_error(const struct error *e);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
