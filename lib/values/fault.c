/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/fault.h"

#include <signal.h>
#include <ucontext.h>

#define STACK_BYTES 65536u

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FAULTS (sizeof(fault_signals) / sizeof(fault_signals[0]))

static struct sigaction fault_before[FAULTS];
static struct faulting handled;

/* A fault elsewhere: the instruction is executed again, with the former handler. */
static void on_fault(int number, siginfo_t *info, void *data)
{
	ucontext_t *c = data;
	uint64_t at = (uint64_t)c->uc_mcontext.gregs[REG_RIP] - handled.code;

	(void)info;
	if (at < handled.size) {
		*handled.flag = 1;
		c->uc_mcontext.gregs[REG_RIP] = (greg_t)handled.failed;
		/* Some hypervisors (PVM) return to no stack pointer that is not canonical. */
		c->uc_mcontext.gregs[REG_RSP] = (greg_t)*handled.stack;
		return;
	}
	for (size_t i = 0; i < FAULTS; i++)
		if (fault_signals[i] == number)
			sigaction(number, &fault_before[i], NULL);
}

void faults_handle(const struct faulting *f)
{
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	sigemptyset(&action.sa_mask);
	handled = *f;
	for (size_t i = 0; i < FAULTS; i++)
		sigaction(fault_signals[i], &action, &fault_before[i]);
}

void faults_leave(void)
{
	for (size_t i = 0; i < FAULTS; i++)
		sigaction(fault_signals[i], &fault_before[i], NULL);
}

void faults_take_stack(void)
{
	static _Thread_local uint8_t stack[STACK_BYTES] __attribute__((aligned(16)));
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)}, now;

	if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
		sigaltstack(&alternate, NULL);
}
