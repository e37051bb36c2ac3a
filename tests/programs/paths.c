/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known call chains: recursion, longjmp, a signal's handler (on the same stack and on one of its
 * own), callbacks, coroutines, threads, a library, a fork.  What counts is where `leaf` spends its
 * iterations of three instructions: each caller has a number of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile long sum;
static sigjmp_buf back;

APART void leaf(long times)
{
	__asm__ volatile("1: nop\n dec %0\n jnz 1b" : "+r"(times) : : "cc");
}

APART void recursion(int depth)
{
	if (depth)
		recursion(depth - 1);
	else
		leaf(10000);
	sum++;
}

APART void thrower(int depth)
{
	if (depth)
		thrower(depth - 1);
	else
		siglongjmp(back, 1);
	sum++;
}

APART void catcher(void)
{
	if (!sigsetjmp(back, 1))
		thrower(10);
	leaf(20000);
	sum++;
}

APART void handler(int number)
{
	leaf(30000);
	sum += number;
}

APART void leaving_handler(int number)
{
	leaf(40000);
	sum += number;
	siglongjmp(back, 1);
}

APART void signals(void)
{
	static char stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&other, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_handler = leaving_handler;
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	leaf(50000);
	sum++;
}

APART int compare(const void *a, const void *b)
{
	leaf(1000);
	sum++;
	return *(const int *)a - *(const int *)b;
}

APART void callbacks(void)
{
	int values[] = {3, 2, 1};

	qsort(values, 3, sizeof(values[0]), compare);
}

static ucontext_t outside, inside;

APART void inner(void)
{
	leaf(5000);
	swapcontext(&inside, &outside);
	leaf(7000);
	sum++;
}

static void coroutine(void)
{
	for (int i = 0; i < 4; i++)
		inner();
}

APART void coroutines(void)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 5; i++) {
		swapcontext(&outside, &inside);
		leaf(500);
	}
}

static void *thread(void *times)
{
	leaf((long)times);
	sum++;
	return NULL;
}

APART void threads(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, (void *)(60000L * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

APART void forks(void)
{
	if (fork() == 0) {
		leaf(80000);
		_exit(0);
	}
	wait(NULL);
}

APART void library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*function)(void (*)(long)) =
		handle ? (void (*)(void (*)(long)))dlsym(handle, "work") : NULL;

	if (!function)
		exit(3);
	function(leaf);
	dlclose(handle);
}

int main(int argc, char **argv)
{
	recursion(5);
	catcher();
	signals();
	callbacks();
	coroutines();
	threads();
	forks();
	if (argc > 1)
		library(argv[1]);
	return 0;
}
