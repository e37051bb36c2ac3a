/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as users write them: the whole of a text, in decimal, and within bounds. */
#ifndef BASE_NUMERAL_H
#define BASE_NUMERAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* False, with *value unchanged, for all else: no number, a sign, something after it. */
bool numeral_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* Likewise a real number, which `unit`, such as "%", may follow (NULL: nothing may). */
bool numeral_real(const char *text, const char *unit, double least, double most, double *value);
/* Likewise the number of a process. */
bool numeral_pid(const char *text, pid_t *pid);

#endif
