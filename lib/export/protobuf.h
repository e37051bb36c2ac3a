/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the wire format of protocol buffers that profile.proto needs. Readers treat a
 * missing field as 0, so a value of 0 is left out. */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include <stdint.h>

#include "base/strbuf.h"

void protobuf_integer(struct strbuf *s, unsigned field, uint64_t value);
/* A text, also an empty one; bytes that are not UTF-8 become U+FFFD. */
void protobuf_string(struct strbuf *s, unsigned field, const char *text);
/* A message within. */
void protobuf_message(struct strbuf *s, unsigned field, const struct strbuf *message);
/* Integers, packed. */
void protobuf_packed(struct strbuf *s, unsigned field, const uint64_t *values, size_t count);

#endif
