/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things that a profile must get right: a loop of known length, string instructions, threads,
 * forks, execs, faults that are caught, code that is loaded, removed and loaded again, code that is
 * made at run time.  Each is named on the command line, with what it needs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/wire/requests.h"

static char memory[1 << 20];
static volatile long sum;

/* 3 instructions, `times` times: an addition, a decrement, a branch. */
static void loop(long times)
{
	long total = 0;

	__asm__ volatile("1: add %1, %0\n dec %1\n jnz 1b" : "+r"(total), "+r"(times) : : "cc");
	sum += total;
}

static void strings(void)
{
	for (int i = 0; i < 100; i++) {
		void *to = memory + 4096 * (i % 7), *from = memory + 65536;
		unsigned long n = (unsigned long)i;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	}
}

static void *thread(void *argument)
{
	loop((long)argument);
	return NULL;
}

static void threads(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, (void *)(10000 * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static sigjmp_buf back;

static void caught(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void faults(void)
{
	signal(SIGSEGV, caught);
	for (volatile int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1)) {
			loop(10);
			*(volatile int *)8 = 1;
		}
}

static void libraries(int count, char **paths)
{
	for (int i = 0; i < 30; i++) {
		void *library = dlopen(paths[i % count], RTLD_NOW);
		long (*function)(long) = library ? (long (*)(long))dlsym(library, "work") : NULL;

		if (!function)
			exit(3);
		sum += function(100);
		dlclose(library);
	}
}

/* mov $n, %eax; ret: made, run and changed.  map: names it, as JIT compilers do. */
static void made(FILE *map)
{
	unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};
	unsigned char *at = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	if (map) {
		fprintf(map, "%lx 6 made_at_run_time\n", (unsigned long)at);
		fclose(map);
	}
	for (int i = 0; i < 10; i++) {
		code[1] = (unsigned char)i;
		memcpy(at, code, sizeof(code));
		for (int k = 0; k < 5; k++)
			sum += ((int (*)(void))at)();
	}
}

static void forks(char *self)
{
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			loop(1000);
			if (i == 2)
				execl(self, self, "loop", "2000", (char *)NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void phases(void)
{
	loop(1000);
	model_request_caliper("one");
	loop(3000);
	model_request_caliper("two");
	loop(5000);
}

/* By another process: of that, nobody hears. */
static void killed(void)
{
	int ready[2];
	char byte = 0;

	if (pipe(ready))
		exit(3);
	if (fork() == 0) {
		if (read(ready[0], &byte, 1) == 1)
			kill(getppid(), SIGKILL);
		_exit(0);
	}
	loop(80000000);
	if (write(ready[1], &byte, 1) == 1)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "loop"))
		loop(atol(argv[2]));
	else if (!strcmp(what, "strings"))
		strings();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "faults"))
		faults();
	else if (!strcmp(what, "libraries"))
		libraries(argc - 2, argv + 2);
	else if (!strcmp(what, "made")) {
		char path[64];

		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		made(argc > 2 ? fopen(path, "w") : NULL);
	} else if (!strcmp(what, "forks"))
		forks(argv[0]);
	else if (!strcmp(what, "phases"))
		phases();
	else if (!strcmp(what, "killed"))
		killed();
	else
		return 2;
	return 0;
}
