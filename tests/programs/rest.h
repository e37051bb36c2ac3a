/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reference that shows whether a program has its core for itself. */
#ifndef PROGRAMS_REST_H
#define PROGRAMS_REST_H

/* REST_COUNT instructions without effect: dispatch takes as many in a cycle as it can, but about
 * half as many while another thread runs on the core. A chain of additions takes as long as before.
 * Processors other than x86-64: none. */
enum { REST_TURNS = 1000, REST_COUNT = 256 * REST_TURNS };

static inline void rest(void)
{
#if defined(__x86_64__)
	for (int i = 0; i < REST_TURNS; i++)
		__asm__ volatile(".rept 256\n\tnopl 0(%rax)\n\t.endr");
#endif
}

#endif
