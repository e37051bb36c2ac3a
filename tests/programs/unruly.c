/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that would notice if they ran from elsewhere than where their code is; each prints a sum
 * that must be the same however they are run.
 *   unruly faults N   faults whose handlers look at where they came from, N thousand rounds of them
 *   unruly code N     its own bytes, return addresses, jumps into instructions, flags over jumps
 * and calls unruly patched N  code that is changed, run, and changed again unruly spawns N   vfork,
 * exec and wait unruly filtered N under a filter of system calls (seccomp), which allows all unruly
 * deep N     recursion, longjmp out of it, long doubles and vectors unruly calls N    system calls
 * that fail, and descriptors that mean a file and then a pipe
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

extern char __executable_start, etext, **environ;
static volatile uint64_t faults, wrong;
static uint64_t rounds;

static void on_fault(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	greg_t *at = &context->uc_mcontext.gregs[REG_RIP];

	wrong += *at < (greg_t)(uintptr_t)&__executable_start || *at >= (greg_t)(uintptr_t)&etext;
	wrong += signal != SIGSEGV && (greg_t)(uintptr_t)info->si_addr != *at;
	faults++;
	*at += signal == SIGSEGV ? 3 : 2; /* behind the instruction */
}

static void on_alarm(int signal)
{
	(void)signal;
}

__attribute__((noinline)) static uint64_t work(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		__asm__ volatile("");
		sum += i * i % 7;
		if (sum & 1)
			sum ^= i;
	}
	return sum;
}

static void handle(int signal, int flags, void (*act)(int, siginfo_t *, void *))
{
	struct sigaction a = {.sa_sigaction = act, .sa_flags = SA_SIGINFO | flags};

	sigaction(signal, &a, NULL);
}

static uint64_t fault(void)
{
	static char stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	uint64_t sum = 0;

	sigaltstack(&other, NULL);
	handle(SIGSEGV, SA_ONSTACK, on_fault);
	handle(SIGFPE, SA_ONSTACK, on_fault);
	handle(SIGILL, 0, on_fault);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < rounds; i++) {
		sum += work(3000);
		__asm__ volatile("xor %%eax, %%eax\n\tmov (%%rax), %%rbx" ::
					 : "rax", "rbx", "memory");
		__asm__ volatile("xor %%ecx, %%ecx\n\tmov $1, %%eax\n\tcltd\n\tidiv %%ecx" ::
					 : "rax", "rcx", "rdx");
		if (i % 4 == 0)
			__asm__ volatile("ud2");
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return sum + faults + 1000000 * wrong;
}

static uint64_t here(void)
{
	uint64_t popped, told;

	__asm__ volatile("sub $128, %%rsp\n\tcall 1f\n1:\tpop %0\n\tadd $128, %%rsp\n\t"
			 "lea 1b(%%rip), %1"
			 : "=&r"(popped), "=r"(told));
	return popped != told;
}

/* A leaf's red zone, with a call's worth of room left alone. */
static uint64_t below(uint64_t i)
{
	uint64_t left;

	__asm__ volatile("mov %1, -16(%%rsp)\n\tmov %1, -128(%%rsp)\n\ttest $1, %b1\n\tje 1f\n\t"
			 "nop\n1:\tjmp 2f\n2:\tmov -128(%%rsp), %0\n\tadd -16(%%rsp), %0"
			 : "=&r"(left)
			 : "r"(i)
			 : "memory", "cc");
	return left;
}

static uint64_t flags(void)
{
	uint64_t sum = 0, turns = 5;
	uint8_t carry, less;

	__asm__ volatile("1:\tinc %1\n\tloop 1b\n\tjrcxz 2f\n\txor %1, %1\n2:"
			 : "+c"(turns), "+r"(sum)
			 :
			 : "cc");
	__asm__ volatile("stc\n\tjmp 1f\n1:\tnop\n\tjmp 2f\n2:\tsetc %0" : "=r"(carry) : : "cc");
	__asm__ volatile("xor %%eax, %%eax\n\tcmp $1, %%eax\n\tjmp 1f\n1:\tjmp 2f\n2:\tsetl %0"
			 : "=r"(less)
			 :
			 : "rax", "cc");
	return sum + carry + less;
}

/* The carry lives over all of it, so nothing may change flags. Each block has another first use of
 * registers that later ones read. */
static uint64_t carried(uint64_t i)
{
	uint64_t sum;

	__asm__ volatile(
		"sub $256, %%rsp\n\tlea 4f(%%rip), %%r9\n\tmov $2, %%r13d\n\tmov %1, %%rcx\n\t"
		"mov %1, %%rdx\n\tmov %1, %%r12\n\tmov %1, %%rax\n\tstc\n\t"
		"jmp 1f\n1:\tmov %%rcx, %%rsi\n\tlea 1(%%rax), %%rax\n\tcall 2f\n\t"
		"lea (%%rax,%%rsi), %%rax\n\tjmp 5f\n"
		"2:\tlea (%%rax,%%rdx), %%rax\n\tjmp 3f\n"
		"3:\tlea 3(%%r12), %%r12\n\tmov %%r12, %%r11\n\tcall *%%r9\n\t"
		"movzbl %%dl, %%edx\n\tret\n"
		"4:\tmov %%r11d, %%ebx\n\tlea (%%rbx,%%r12), %%r12\n\tret\n"
		"5:\tjnc 6f\n\tmov %%r13d, %%ecx\n6:\tadc %%r12, %%rax\n\t"
		"lea (%%rax,%%rcx), %0\n\tadd %%rdx, %0\n\tadd $256, %%rsp"
		: "=&r"(sum)
		: "D"(i & 127)
		: "rax", "rbx", "rcx", "rdx", "rsi", "r9", "r11", "r12", "r13", "memory", "cc");
	return sum;
}

static uint64_t jumps(void)
{
	uint64_t got;

	/* Into an instruction: inc %eax within inc %rax. */
	__asm__ volatile("xor %%eax, %%eax\n\tjmp 1f+1\n1:\t.byte 0x48, 0xff, 0xc0\n\tmov %%rax, %0"
			 : "=r"(got)
			 :
			 : "rax", "cc");
	__asm__ volatile("sub $256, %%rsp\n\tlea 1f(%%rip), %%rax\n\tpush %%rax\n\tjmp *(%%rsp)\n"
			 "1:\tadd $264, %%rsp" ::
				 : "rax", "memory", "cc");
	__asm__ volatile("sub $256, %%rsp\n\tlea 2f(%%rip), %%rcx\n\tcall *%%rcx\n\tjmp 3f\n"
			 "2:\tret $8\n3:\tadd $248, %%rsp" ::
				 : "rcx", "memory", "cc");
	__asm__ volatile("sub $256, %%rsp\n\tlea 2f(%%rip), %%rdx\n\tmov %%rdx, 16(%%rsp)\n\t"
			 "call *16(%%rsp)\n\tjmp 3f\n2:\tret\n3:\tadd $256, %%rsp" ::
				 : "rdx", "memory", "cc");
	return got;
}

static uint64_t code(void)
{
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)&work;
	char from[300], to[300];
	uint64_t sum = 0, before = 0;

	for (int i = 0; i < 32; i++)
		before += bytes[i];
	for (uint64_t i = 0; i < rounds * 100; i++) {
		char *a = from, *b = to;
		uint64_t n = sizeof(to), now = 0;

		memset(from, (int)i, sizeof(from));
		__asm__ volatile("rep movsb" : "+S"(a), "+D"(b), "+c"(n) : : "memory");
		sum += here() * 1000000 + below(i) + flags() + carried(i) + jumps() +
		       (uint8_t)to[299];
		for (int k = 0; k < 32; k++)
			now += bytes[k];
		sum += (now != before) * 1000000;
	}
	return sum;
}

/* mov $imm32, %eax; ret, on a page of its own. */
__attribute__((aligned(4096), naked, noinline)) static uint32_t constant(void)
{
	__asm__ volatile("mov $1, %eax\n\tret\n\t.balign 4096, 0xcc");
}

static uint64_t patched(void)
{
	uint8_t *page = (uint8_t *)(uintptr_t)&constant;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		memcpy(page + 1, &i, sizeof(i));
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		for (int k = 0; k < 3000; k++)
			sum += constant() != i;
		sum += work(20);
	}
	return sum;
}

static uint64_t spawns(void)
{
	char *arguments[] = {"true", NULL};
	uint64_t sum = 0;
	int status;
	pid_t pid;

	for (uint64_t i = 0; i < rounds; i++) {
		sum += work(500);
		if (posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) ||
			waitpid(pid, &status, 0) != pid || status)
			exit(3);
	}
	return sum;
}

static uint64_t filtered(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = {1, &all};
	uint64_t sum = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter))
		exit(4);
	for (uint64_t i = 0; i < rounds; i++)
		sum += work(3000);
	return sum;
}

static jmp_buf back;

__attribute__((noinline)) static long double dive(int depth, long double x)
{
	if (depth == 0) {
		if (x > 0)
			longjmp(back, 1);
		return x;
	}
	return dive(depth - 1, x * 1.0000001L) + 1;
}

static uint64_t deep(void)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		double vector[16], total = 0;

		for (int k = 0; k < 16; k++)
			vector[k] = (double)(i + (uint64_t)k) * 1.5;
		for (int k = 0; k < 16; k++)
			total += vector[k];
		sum += (uint64_t)total;
		if (setjmp(back) == 0)
			sum += (uint64_t)dive(200, i % 2 ? 3.0L : -3.0L);
		else
			sum += 7;
	}
	return sum;
}

/* 0 to 4095 for errors; the C library changes none of the arguments. */
static uint64_t call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	uint64_t result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory", "cc");
	return result > -4096ull ? -result : 5000;
}

/* A byte of what the descriptor is now. */
static uint64_t byte_of(uint64_t descriptor)
{
	unsigned char byte = 0;

	return call(SYS_read, descriptor, (uintptr_t)&byte, 1, 0) + byte;
}

/* Sets of signals that are not there, or only in part. */
static uint64_t bad_sets(char *last)
{
	static const uint64_t blocked = 1ull << (SIGUSR1 - 1), trap = 1ull << (SIGTRAP - 1);
	uint64_t sum = 0;

	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_BLOCK, 8, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_BLOCK, 1ull << 62, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)last, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)last, 0, 16);
	sum = sum * 3 + call(SYS_rt_sigprocmask, 77, (uintptr_t)&blocked, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&blocked, 16, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_UNBLOCK, (uintptr_t)&blocked, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)&trap, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigprocmask, SIG_UNBLOCK, (uintptr_t)&trap, 0, 8);
	sum = sum * 3 + call(SYS_rt_sigaction, SIGUSR1, 8, 0, 8);
	return sum * 3 + call(SYS_futex, 1, FUTEX_WAKE, 1, 0);
}

static uint64_t calls(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t sum = 0;
	int ends[2], file;

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		exit(5);
	for (uint64_t i = 0; i < rounds; i++) {
		sum += work(20);
		sum += bad_sets(page + 4095);
		file = open("/proc/self/exe", O_RDONLY);
		for (int k = 0; k < 4; k++)
			sum = sum * 3 + byte_of((uint64_t)file | (uint64_t)k << 32);
		sum = sum * 3 + byte_of((uint64_t)file | 64) + byte_of(-1ull) + byte_of(900);
		if (close(file) || pipe(ends) || write(ends[1], "ab", 2) != 2)
			exit(6);
		sum = sum * 3 + byte_of((uint64_t)file) + byte_of((uint64_t)file);
		close(ends[0]);
		close(ends[1]);
		sum = sum * 3 + byte_of((uint64_t)file);
		sum = sum * 3 + call(SYS_mmap, 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
	}
	return sum;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} ways[] = {{"faults", fault}, {"code", code}, {"patched", patched}, {"spawns", spawns},
		{"filtered", filtered}, {"deep", deep}, {"calls", calls}};

	rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			printf("%llu\n", (unsigned long long)ways[i].run());
			return 0;
		}
	return 1;
}

#else

int main(void)
{
	return 1;
}

#endif
