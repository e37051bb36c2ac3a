/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for invalid bytes */

/* Bytes of the valid sequence that NUL-terminated text begins with, 0 if there is none. */
int utf8_length(const char *text);

#endif
