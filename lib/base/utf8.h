/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for invalid bytes */

/* Bytes of the valid sequence that NUL-terminated text begins with, 0 if there is none. */
int utf8_length(const char *text);
/* Bytes of the character that NUL-terminated text begins with, if a terminal shows it as it is: a
 * valid one that is no control character, does not turn the direction of text, and has a form. 0:
 * another, or the end. */
int utf8_plain(const char *text);
/* The number of a valid character, which has this many bytes. */
uint32_t utf8_number(const char *text, int bytes);

#endif
