/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker and the kernel: memory, signals, an empty address space, and the filter that refuses
 * a block's system calls even if it had a syscall instruction. */
#include <asm/prctl.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/seccomp.h>
#include <linux/time.h>

#include "blockbench/worker.h"

#define SYS(n, ...) SYS_(n, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYS_(n, a, b, c, d, e, f, ...)                                                             \
	worker_syscall(__NR_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define failed(r) ((unsigned long)(r) > -4096ul)

void *memset(void *to, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);

typedef uint64_t __attribute__((aligned(1), may_alias)) unaligned_word;

void *memset(void *to, int c, size_t n)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(c) : "memory");
	return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
	void *at = to;

	if (n <= 16) { /* rep has a long start-up */
		uint8_t *t = to;
		const uint8_t *f = from;

		for (; n >= 8; n -= 8, t += 8, f += 8)
			*(unaligned_word *)t = *(const unaligned_word *)f;
		for (; n; n--) {
			*t++ = *f++;
			__asm__ volatile(
				"" ::
					: "memory"); /* prevents the compiler from calling memcpy */
		}
		return to;
	}
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n)::"memory");
	return to;
}

static int map_shared(uint64_t address, size_t size, int protection, int fd)
{
	return failed(SYS(mmap, address, size, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
		       fd, 0))
		       ? -1
		       : 0;
}

struct kernel_action {
	void (*handler)(int signal, void *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static int system_catch_signals(void)
{
	/* Large enough for the registers of all extensions so far. */
	static uint8_t stack[65536] __attribute__((aligned(64)));
	static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPROF};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct kernel_action action = {
		.handler = worker_handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000 /* SA_RESTORER */,
		.restorer = worker_restore,
	};

	if (failed(SYS(sigaltstack, &alternate, 0)))
		return -1;
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		if (failed(SYS(rt_sigaction, caught[i], &action, 0, 8)))
			return -1;
	return 0;
}

/* Only these, only from worker_syscall: mapping pages, timers, waiting, communication with the
 * bench. */
static int filter_calls(void)
{
	uint64_t first = (uint64_t)worker_syscall, last = (uint64_t)worker_syscall_end;
	static const uint16_t allowed[] = {__NR_mmap, __NR_munmap, __NR_read, __NR_write,
		__NR_setitimer, __NR_nanosleep, __NR_getrusage, __NR_rt_sigreturn, __NR_exit_group,
		__NR_madvise};
	enum { COUNT = sizeof(allowed) / sizeof(*allowed) };
	struct sock_filter f[10 + COUNT], *p = f;
	struct sock_fprog program = {.filter = f};

#define WORD(field) offsetof(struct seccomp_data, field)
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(arch));
	*p++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 6 + COUNT);
	*p++ = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, WORD(instruction_pointer) + 4);
	*p++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(first >> 32), 0, 4 + COUNT);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(instruction_pointer));
	*p++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGE | BPF_K, (uint32_t)first, 0, 2 + COUNT);
	*p++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGT | BPF_K, (uint32_t)last, 1 + COUNT, 0);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(nr));
	for (unsigned i = 0; i < COUNT; i++)
		*p++ = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, allowed[i], COUNT - i, 0);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)(p - f);
	if (failed(SYS(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		return -1;
	return failed(SYS(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) ? -1 : 0;
}

/* Stays on the processor that the scheduler chose. */
static void stay(void)
{
	uint64_t set[16] = {0};
	unsigned cpu = 0;

	if (failed(SYS(getcpu, &cpu, 0, 0)) || cpu >= 1024)
		return;
	set[cpu / 64] = 1ull << (cpu % 64);
	SYS(sched_setaffinity, 0, sizeof(set), set);
}

int worker_confine(void)
{
	uint64_t code_end = CODE_ADDRESS + ((CODE_BYTES + PAGE - 1) & -PAGE);

	if (map_shared(
		    CHANNEL_ADDRESS, sizeof(struct channel), PROT_READ | PROT_WRITE, FD_CHANNEL) ||
		map_shared(CODE_WRITABLE, CODE_BYTES, PROT_READ | PROT_WRITE, FD_CODE) ||
		map_shared(CODE_ADDRESS, CODE_BYTES, PROT_READ | PROT_EXEC, FD_CODE))
		return -1;
	stay();
	if (((struct channel *)CHANNEL_ADDRESS)->pmu && pmu_open())
		((struct channel *)CHANNEL_ADDRESS)->pmu = 0;
	if (system_catch_signals())
		return -1;
	/* fs: and gs: operands use an ordinary page. */
	SYS(arch_prctl, ARCH_SET_FS, 0x2f24000, 0);
	SYS(arch_prctl, ARCH_SET_GS, 0x2f34000, 0);
	SYS(munmap, 0, CODE_ADDRESS);
	SYS(munmap, code_end, WORKER_ADDRESS - code_end);
	if (failed(SYS(mmap, COUNTER_ADDRESS, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0)))
		return -1;
	SYS(munmap, WORKER_END, ADDRESS_LIMIT - WORKER_END);
	return filter_calls();
}

void worker_limit(unsigned milliseconds)
{
	struct {
		long seconds, microseconds;
	} timer[2] = {{0, 0}, {0, (long)milliseconds * 1000}};

	SYS(setitimer, 2 /* ITIMER_PROF: processor time */, timer, 0);
}

void worker_sleep(unsigned microseconds)
{
	struct {
		long seconds, nanoseconds;
	} time = {0, (long)microseconds * 1000};

	SYS(nanosleep, &time, 0);
}

long worker_switches(void)
{
	struct rusage usage;

	return SYS(getrusage, 0, &usage) ? 0 : usage.ru_nvcsw + usage.ru_nivcsw;
}

void worker_main(void);
void worker_main(void)
{
	struct channel *c = (struct channel *)CHANNEL_ADDRESS;
	char byte = 0;

	if (worker_confine())
		SYS(exit_group, 3);
	pages_init();
	measure_init(c);
	if (SYS(write, FD_REPLY, &byte, 1) != 1)
		SYS(exit_group, 0);
	while (SYS(read, FD_COMMAND, &byte, 1) == 1) {
		measure_batch(c);
		if (SYS(write, FD_REPLY, &byte, 1) != 1)
			break;
	}
	SYS(exit_group, 0);
}
