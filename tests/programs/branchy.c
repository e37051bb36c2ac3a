/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs whose branches are followed; each prints a sum that must be the same with and without.
 *   branchy mix N        N thousand rounds of branches of chance, calls, jumps through tables
 *   branchy threads T N  T threads of that
 *   branchy forks P N    P processes of that, which end with their own status
 *   branchy signals N    a timer interrupts it all the time, with all the ways out of a handler
 *   branchy blocked N    with all signals blocked in between, and what is blocked is looked at
 *   branchy calls N      system calls, and the processors that it may run on
 *   branchy files N      calls that neither block nor wait, of which copies do many: files, signals
 *   branchy trap N       has plans of its own for SIGTRAP
 *   branchy places N     N thousand times: two functions that each return to 128 places
 *   branchy loops N      N rounds of short loops, left at any turn, with flags that live across
 * turns branchy until FILE   works until FILE is there, or its directory is not
 *   branchy leaves A B   likewise until A is there, and without its main thread until B is
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct state {
	uint64_t chance, sum;
};

static uint32_t chance(struct state *s)
{
	s->chance ^= s->chance << 13;
	s->chance ^= s->chance >> 7;
	s->chance ^= s->chance << 17;
	return (uint32_t)(s->chance >> 20);
}

__attribute__((noinline)) static void seldom(struct state *s)
{
	for (int i = 0; i < 7; i++)
		s->sum += s->sum % 3 ? (uint64_t)i : s->chance >> 3;
}

__attribute__((noinline)) static uint64_t deep(struct state *s, int depth)
{
	if (depth == 0 || chance(s) % 4 == 0)
		return s->sum & 0xff;
	return deep(s, depth - 1) + (uint64_t)depth;
}

__attribute__((noinline)) static void add(struct state *s)
{
	s->sum += 3;
}

__attribute__((noinline)) static void turn(struct state *s)
{
	s->sum = s->sum << 3 | s->sum >> 61;
}

__attribute__((noinline)) static void mix(struct state *s, long rounds)
{
	static void (*const ways[])(struct state *) = {add, turn, add, seldom};

	for (long i = 0; i < rounds; i++) {
		uint32_t r = chance(s);

		if (r % 8 < 3)
			s->sum += r;
		switch (r >> 8 & 7) {
		case 0:
			s->sum ^= 0x5555;
			break;
		case 1:
			s->sum += deep(s, 5);
			break;
		case 2:
			s->sum *= 3;
			break;
		case 3:
			s->sum -= r;
			break;
		case 4:
			ways[r >> 12 & 3](s);
			break;
		default:
			break;
		}
		if ((r >> 16) % 1000 == 1)
			seldom(s);
		if ((r >> 4) % 2000 == 0)
			s->sum += deep(s, 40) & 1;
	}
}

static uint64_t whole(uint64_t seed, long thousands)
{
	struct state s = {seed * 0x9e3779b97f4a7c15u + 1, 0};

	for (long i = 0; i < thousands; i++)
		mix(&s, 1000);
	return s.sum;
}

#define TWICE(what)  what what
#define PLACES(what) TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(what)))))))

static uint64_t places(long thousands)
{
	struct state s = {1, 0};

	for (long i = 0; i < thousands * 1000; i++) {
		PLACES(add(&s); turn(&s);)
	}
	return s.sum;
}

static long amount;

static void *thread(void *seed)
{
	return (void *)(uintptr_t)whole((uintptr_t)seed, amount);
}

static uint64_t threads(int n)
{
	pthread_t all[64];
	uint64_t sum = 0;
	void *one;

	for (int i = 0; i < n && i < 64; i++)
		if (pthread_create(&all[i], NULL, thread, (void *)(uintptr_t)(i + 1)))
			exit(2);
	for (int i = 0; i < n && i < 64; i++) {
		pthread_join(all[i], &one);
		sum += (uintptr_t)one;
	}
	return sum;
}

static uint64_t forks(int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			/* Some have one more, by the other way to have one. */
			if (i % 4 == 0 && vfork() == 0)
				_exit(0);
			_exit((int)(whole((uint64_t)i, amount) % 251));
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			exit(3);
		sum = sum * 31 + (uint64_t)WEXITSTATUS(status);
	}
	return sum;
}

static sigjmp_buf out;
static volatile sig_atomic_t may_jump, heard;

static void hear(int number)
{
	(void)number;
	heard++;
	if (may_jump && heard % 3 == 0) {
		may_jump = 0;
		siglongjmp(out, 1);
	}
}

static uint64_t signals(void)
{
	const struct itimerval often = {{0, 700}, {0, 700}};
	struct sigaction action = {.sa_handler = hear};
	volatile uint64_t sum = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (volatile long i = 0; i < amount; i++) {
		if (sigsetjmp(out, 1) == 0) {
			may_jump = 1;
			whole((uint64_t)i, 3);
			may_jump = 0;
		}
		sum += whole((uint64_t)i, 7);
	}
	return sum;
}

static uint64_t blocked(void)
{
	sigset_t all, before, now;
	uint64_t sum = 0;

	sigfillset(&all);
	for (long i = 0; i < amount; i++) {
		sigprocmask(SIG_SETMASK, &all, &before);
		sum += whole((uint64_t)i, 5);
		sigprocmask(SIG_SETMASK, &before, &now);
		if (sigismember(&before, SIGTRAP) || !sigismember(&now, SIGTRAP) ||
			!sigismember(&now, SIGSEGV))
			exit(4);
		sum += whole((uint64_t)i, 5);
	}
	return sum;
}

static uint64_t calls(void)
{
	cpu_set_t first, now;
	uint64_t sum = 0;
	int ends[2];
	char byte;

	sched_getaffinity(0, sizeof(first), &first);
	if (pipe(ends))
		exit(5);
	for (long i = 0; i < amount; i++) {
		sum += whole((uint64_t)i, 1);
		sched_getaffinity(0, sizeof(now), &now);
		if (!CPU_EQUAL(&first, &now))
			exit(6);
		byte = (char)i;
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			exit(7);
		sum += (unsigned char)byte;
		if (open("/does/not/exist", O_RDONLY) >= 0 || errno != ENOENT)
			exit(8);
		if (usleep(1))
			exit(9);
	}
	return sum;
}

/* A call, and what it leaves in rcx: the address after it. */
static long direct_call(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	uint64_t after, rcx;
	long result;

	__asm__ volatile("lea 1f(%%rip), %1\n\t"
			 "syscall\n"
			 "1:\n\t"
			 "cmp %%rcx, %1"
			 : "=a"(result), "=&r"(after), "=&c"(rcx)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "r11", "memory", "cc");
	return rcx == after ? result : -EPROTO;
#else
	return syscall(number, a, b, c, d);
#endif
}

/* Of a file, a pipe, and those of signals; all are blocked now and then. */
static uint64_t files(void)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ends[2];
	sigset_t some, every, was;
	uint64_t sum = 0;

	if (file < 0 || pipe(ends))
		exit(9);
	sigfillset(&every);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	for (long i = 0; i < amount; i++) {
		bool all = i % 200 == 0;
		unsigned char bytes[32] = {0};
		long got = direct_call(SYS_pread64, file, (long)bytes, sizeof(bytes), i % 4096);

		sum = sum * 31 + (uint64_t)got + bytes[0] + bytes[31];
		sigprocmask(SIG_BLOCK, all ? &every : &some, &was);
		sum += (uint64_t)sigismember(&was, SIGTRAP) + (uint64_t)sigismember(&was, SIGUSR1);
		sigprocmask(SIG_SETMASK, NULL, &was);
		sum += (uint64_t)sigismember(&was, SIGTRAP) * 2;
		if (direct_call(SYS_getppid, 0, 0, 0, 0) <= 0)
			exit(9);
		if (i % 50 == 1 &&
			(write(ends[1], bytes, 8) != 8 || read(ends[0], bytes + 8, 8) != 8))
			exit(9);
		sum += bytes[15];
		sigprocmask(SIG_UNBLOCK, all ? &every : &some, NULL);
		if (i % 1000 == 999) { /* another kind of file by that number */
			if (dup2(ends[0], file) != file || write(ends[1], "12345678", 8) != 8 ||
				read(file, bytes, 8) != 8)
				exit(9);
			close(file);
			if (open("/proc/self/exe", O_RDONLY | O_CLOEXEC) != file)
				exit(9);
			sum += bytes[3];
		}
	}
	return sum;
}

static void ring(int number)
{
	(void)number;
}

/* Adds a number of many words to another; the carry is in a flag from turn to turn. */
static void add_words(uint64_t *to, const uint64_t *from, uint64_t words)
{
#ifdef __x86_64__
	uint64_t word;

	__asm__ volatile("clc\n"
			 "1: mov (%1), %3\n"
			 "adc %3, (%0)\n"
			 "lea 8(%0), %0\n"
			 "lea 8(%1), %1\n"
			 "dec %2\n"
			 "jnz 1b\n"
			 : "+r"(to), "+r"(from), "+r"(words), "=&r"(word)
			 :
			 : "memory", "cc");
#else
	for (uint64_t i = 0; i < words; i++)
		to[i] += from[i];
#endif
}

static uint64_t loops(long rounds)
{
	struct state state = {88172645463325252u, 1}, *s = &state;
	static uint64_t a[256], b[256];
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, ring);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long r = 0; r < rounds; r++) {
		uint64_t words = 1 + chance(s) % 256, odd = 0, i;

		for (i = 0; i < words; i++) {
			s->sum = s->sum * 31 + i;
			if (s->sum % 16 == 3)
				odd += s->sum >> 7;
			b[i] ^= s->sum;
		}
		add_words(a, b, words);
		for (i = 0; i < words && a[i] % 64 != 5; i++)
			odd ^= a[i];
		for (uint64_t k = 0; k < 40 * words; k++)
			odd = odd * 5 + k;
		s->sum += odd + i;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return s->sum;
}

static void count_trap(int number)
{
	(void)number;
	heard++;
}

static uint64_t trap(void)
{
	struct sigaction action = {.sa_handler = count_trap};
	uint64_t sum = 0;

	sigaction(SIGTRAP, &action, NULL);
	for (long i = 0; i < amount; i++) {
		sum += whole((uint64_t)i, 5);
#ifdef __x86_64__
		__asm__ volatile("int3");
#else
		raise(SIGTRAP);
#endif
	}
	return sum + (uint64_t)heard;
}

static void *until(void *file)
{
	uint64_t sum = 0;

	while (access(file, F_OK) != 0 && access(".", F_OK) == 0)
		sum += whole(1, 10);
	return sum ? NULL : file;
}

static void *last(void *file)
{
	until(file);
	exit(0);
}

static void leaves(char *first, char *then)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, last, then) != 0)
		exit(1);
	until(first);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	uint64_t sum = 0;

	amount = argc > 2 ? strtol(argv[argc - 1], NULL, 10) : 0;
	if (strcmp(what, "mix") == 0)
		sum = whole(1, amount);
	else if (strcmp(what, "threads") == 0)
		sum = threads((int)strtol(argv[2], NULL, 10));
	else if (strcmp(what, "forks") == 0)
		sum = forks((int)strtol(argv[2], NULL, 10));
	else if (strcmp(what, "signals") == 0)
		sum = signals();
	else if (strcmp(what, "blocked") == 0)
		sum = blocked();
	else if (strcmp(what, "calls") == 0)
		sum = calls();
	else if (strcmp(what, "files") == 0)
		sum = files();
	else if (strcmp(what, "loops") == 0)
		sum = loops(amount);
	else if (strcmp(what, "trap") == 0)
		sum = trap();
	else if (strcmp(what, "places") == 0)
		sum = places(amount);
	else if (strcmp(what, "until") == 0)
		until(argv[2]);
	else if (strcmp(what, "leaves") == 0 && argc > 3)
		leaves(argv[2], argv[3]);
	else
		return 1;
	if (strcmp(what, "until") != 0)
		printf("%llu\n", (unsigned long long)sum);
	return 0;
}
