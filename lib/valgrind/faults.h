/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a fault was. VEX stores the program counter before each memory access, and it is needed
 * only after a fault. These stores are left out. What each would have stored is kept beside the
 * translation; when the host's code faults, the program counter is looked up there, before
 * Valgrind's core sees the fault.
 */
#ifndef VALGRIND_FAULTS_H
#define VALGRIND_FAULTS_H

#include "pub_tool_basics.h"

/* The key of the superblock whose code faulted last; 0: it was none of those kept here, or a
 * function that is called. */
extern Addr faults_superblock;

/* A translation begins. */
void faults_translate(void);
/* What was translated last can be found by this key from now on. */
void faults_keep(Addr key);
/* It was discarded. */
void faults_discard(Addr key);

#endif
