/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of the terminal that output goes to. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>

/* The locale's encoding is UTF-8. */
bool terminal_utf8(void);
/* Columns of the terminal on standard output, or COLUMNS; 0: unknown. */
unsigned terminal_columns(void);
/* The same of the terminal on a descriptor. */
unsigned terminal_columns_of(int fd);

#endif
