/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a block by a trap: the handler records the reason and makes the kernel continue at
 * worker_abort, which restores the worker's stack. The handler does not trust the block's
 * registers, and uses no thread-local storage. */
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>

#include "blockbench/worker.h"

struct worker_image image;
volatile struct trap trap;
volatile bool expired;

#define PAGE_FAULT 14

void worker_handler(int signal, void *information, void *context)
{
	struct sigcontext *at = (struct sigcontext *)&((struct ucontext *)context)->uc_mcontext;

	(void)information;
	if (signal == SIGPROF)
		expired = true;
	if (!image.running && signal == SIGPROF)
		return;
	/* The worker itself faults only if a block has overwritten its memory. */
	if (signal != SIGPROF && at->rip - CODE_ADDRESS >= CODE_BYTES)
		worker_syscall(__NR_exit_group, 4, 0, 0, 0, 0, 0);
	trap.number = signal == SIGPROF ? TRAP_TIMEOUT : (uint32_t)at->trapno;
	trap.address = trap.number == PAGE_FAULT ? at->cr2 : 0;
	trap.write = at->err & 2;
	at->rip = (uint64_t)worker_abort;
	at->eflags = 2;
}

static const struct {
	uint32_t trap;
	enum block_class class;
} classes[] = {
	{0, BLOCK_DIVIDE_ERROR},
	{1, BLOCK_TRAP_FLAG},
	{3, BLOCK_TRAP_FLAG},
	{4, BLOCK_ARITHMETIC},
	{5, BLOCK_PROTECTION},
	{6, BLOCK_UNSUPPORTED},
	{7, BLOCK_UNSUPPORTED},
	{12, BLOCK_PROTECTION},
	{13, BLOCK_PROTECTION},
	{16, BLOCK_ARITHMETIC},
	{17, BLOCK_ALIGNMENT},
	{19, BLOCK_ARITHMETIC},
	{TRAP_TIMEOUT, BLOCK_TIMEOUT},
};

enum block_class trap_class(uint32_t number)
{
	for (unsigned i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (classes[i].trap == number)
			return classes[i].class;
	return BLOCK_CRASHED;
}
