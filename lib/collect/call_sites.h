/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls by the code before them. */
#ifndef COLLECT_CALL_SITES_H
#define COLLECT_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for the arguments that are set after the number. */
#define CALL_SITE_BYTES 40

/* Does this code end with the instruction of a system call? *number: of the call, or -1 where the
 * code does not say it. */
bool call_site(const uint8_t *code, size_t size, long *number);

#endif
