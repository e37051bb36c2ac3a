/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dependences between the instructions of a superblock: for the retirement clock. */
#ifndef VALGRIND_DEPEND_H
#define VALGRIND_DEPEND_H

#include "model/trace.h"

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Fills latency, for_address, source and result of the instructions of a superblock: `count` IMarks
 * in their order. Their class_bits and access_count must be set, their bytes readable. top: of
 * the x87 stack when it begins, see x87.h. */
void depend(const IRSB *in, struct model_insn *insns, Int count, UInt top);
/* For each instruction, the key of its address (scan_address); 0: it does not have exactly one
 * access. Valid until the next call. */
const uint32_t *depend_keys(const struct model_block *block);

#endif
