/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modes WHAT ROUNDS: some 100,000 instructions a round that do what is hard to count: code that is
 * written at run time and changes (jit), handlers of signals (signals), faults that handlers leave
 * (faults), repeated string instructions (strings), processes (forks), threads one after another
 * (threads).  Prints a sum that says whether all of it was executed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sum;
static sigjmp_buf back;

static void work(unsigned long n)
{
	unsigned long x = sum;

	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005u + (x >> 33) % 1000 + i;
	sum = x;
}

/* mov eax, edi; add eax, VALUE; ret */
static void jit(unsigned long round)
{
	static unsigned char *code;
	uint32_t value = (uint32_t)round;

	if (!code)
		code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, "\x89\xf8\x05", 3);
	memcpy(code + 3, &value, sizeof(value));
	code[7] = 0xc3;
	for (unsigned i = 0; i < 100; i++)
		sum = sum + (unsigned long)((int (*)(int))(uintptr_t)code)((int)i);
	work(10000);
}

static void handler(int number)
{
	sum = sum + (unsigned long)number;
}

static void signals(unsigned long round)
{
	(void)round;
	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < 10; i++) {
		raise(SIGUSR1);
		work(1000);
	}
}

static void leave(int number)
{
	siglongjmp(back, number);
}

static void faults(unsigned long round)
{
	static char *nowhere;

	signal(SIGSEGV, leave);
	if (!nowhere)
		nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!sigsetjmp(back, 1))
		nowhere[round % 4096] = 1;
	else
		sum = sum + 1;
	work(10000);
}

static void strings(unsigned long round)
{
	static char from[4096], to[4096];
	unsigned long n = 1 + round % 4096;
	void *source = from, *target = to;

	from[round % sizeof(from)] = (char)round;
	__asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(n) : : "memory");
	sum = sum + (unsigned long)to[round % sizeof(to)];
	work(5000);
}

static void forks(unsigned long round)
{
	int status = 0;
	pid_t pid = round % 50 ? 0 : fork();

	if (round % 50 == 0 && pid == 0) {
		work(20000);
		_exit(7);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	sum = sum + (unsigned long)WEXITSTATUS(status);
	work(10000);
}

static void *thread(void *n)
{
	work((unsigned long)(uintptr_t)n);
	return NULL;
}

static void threads(unsigned long round)
{
	pthread_t id;

	if (round % 20 == 0 && pthread_create(&id, NULL, thread, (void *)(uintptr_t)20000) == 0)
		pthread_join(id, NULL);
	work(10000);
}

static const struct {
	const char *name;
	void (*run)(unsigned long round);
} whats[] = {{"jit", jit}, {"signals", signals}, {"faults", faults}, {"strings", strings},
	{"forks", forks}, {"threads", threads}};

int main(int argc, char **argv)
{
	unsigned long rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; argc == 3 && i < sizeof(whats) / sizeof(whats[0]); i++)
		if (strcmp(argv[1], whats[i].name) == 0)
			for (unsigned long r = 0; r < rounds; r++)
				whats[i].run(r);
	printf("%lu\n", sum);
	return 0;
}
