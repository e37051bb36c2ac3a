/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latency and execution units of an instruction, from its bytes. As decode.h. */
#ifndef VALGRIND_LATENCY_H
#define VALGRIND_LATENCY_H

#include <stdint.h>

/* An enum model_latency; class_bits: what decode made of it. */
unsigned latency_of(const uint8_t *code, unsigned length, unsigned class_bits);

#endif
