/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the terminal that output goes to. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>

/* The locale says that text is UTF-8. */
bool terminal_utf8(void);
/* Columns of the terminal that standard output is, or that COLUMNS says; 0: not known. */
unsigned terminal_columns(void);

#endif
