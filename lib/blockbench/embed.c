/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's program, as bytes; none where there is no such. */
#ifdef WORKER_FILE
__asm__(".section .rodata\n"
	".globl blockbench_worker, blockbench_worker_end\n"
	".balign 16\n"
	"blockbench_worker: .incbin \"" WORKER_FILE "\"\n"
	"blockbench_worker_end: .byte 0\n"
	".previous\n");
#else
extern const unsigned char blockbench_worker[1];
extern const unsigned char *const blockbench_worker_end;
#endif
