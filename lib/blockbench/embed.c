/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's program, as bytes; none for other processors. */
#ifdef WORKER_FILE
#define BYTES ".incbin \"" WORKER_FILE "\"\n"
#else
#define BYTES ""
#endif

__asm__(".section .rodata\n"
	".globl blockbench_worker, blockbench_worker_end\n"
	".balign 16\n"
	"blockbench_worker:\n" BYTES "blockbench_worker_end: .byte 0\n"
	".previous\n");
