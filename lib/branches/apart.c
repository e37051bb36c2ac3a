/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer as a process of its own. When a tracer is killed, its program dies of SIGTRAP at the
 * next breakpoint, at the end of copies or after a single step. SIGKILL to our process must not
 * cause that. So the tracer is not in it: it goes on, puts everything back, and ends.
 *
 * It shares our memory and files, as a thread does. Its stack and its thread-local memory are those
 * of the thread that begins it, which waits meanwhile.
 */
#include <errno.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branches/private.h"

/* killall and pkill look at names. */
#define NAME "branches"

__attribute__((noreturn, noinline)) static void apart_begin(
	void (*run)(struct branches *b), struct branches *b)
{
	sigset_t all;

	/* Not even for a moment can it be stopped by the terminal, or killed with us by ^\. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, NAME);
	prctl(PR_SET_PDEATHSIG, APART_SIGNAL);
	run(b);
	_exit(0);
}

/*
 * 0: this is the new process. 1: it has ended. Negative: there is none. The thread must not use the
 * stack before the new process has ended, so it waits inside the assembly.
 */
static inline __attribute__((always_inline)) long apart_split(void)
{
	register long rax __asm__("rax") = SYS_clone;
	register long rdi __asm__("rdi") = CLONE_VM | CLONE_FS | CLONE_FILES;
	register long rsi __asm__("rsi") = 0; /* the same stack */
	register long rdx __asm__("rdx") = 0;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jle 2f\n\t"
			 "mov %%rax, %%r12\n"
			 "1:\n\t"
			 "mov %[wait], %%eax\n\t"
			 "mov %[by_pid], %%edi\n\t"
			 "mov %%r12, %%rsi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "mov %[ended], %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "syscall\n\t"
			 "cmp %[again], %%rax\n\t"
			 "je 1b\n\t"
			 "mov $1, %%eax\n"
			 "2:"
			 : "+r"(rax), "+r"(rdi), "+r"(rsi), "+r"(rdx), "+r"(r10), "+r"(r8)
			 : [wait] "i"(SYS_waitid), [by_pid] "i"(P_PID),
			 [ended] "i"(WEXITED | __WALL), [again] "i"(-EINTR)
			 : "rcx", "r11", "r12", "memory", "cc");
	return rax;
}

__attribute__((noinline)) bool apart_run(void (*run)(struct branches *b), struct branches *b)
{
	long rc = apart_split();

	if (rc == 0)
		apart_begin(run, b);
#ifdef __SANITIZE_ADDRESS__
	/* If it was killed, marks of its functions are left on this stack. */
	__asan_handle_no_return();
#endif
	return rc > 0;
}
