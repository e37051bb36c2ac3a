/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases by libspeedshop: a loop of known length in each.  "clear" forgets some; "fork"
 * has a child with phases of its own; "time N" prints what a point costs, in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "speedshop.h"

/* Branches that are taken: times - 1. */
static __attribute__((noinline)) void loop(long times)
{
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(times) : : "cc");
}

static void phases(void)
{
	loop(1000001);
	ssrt_caliper_point("one");
	loop(2000001);
	ssrt_experiment_suspend();
	loop(4000001);
	ssrt_experiment_restart();
	ssrt_caliper_point("two");
	loop(8000001);
	ssrt_experiment_shutdown();
	loop(16000001);
}

static void clears(void)
{
	loop(1000001);
	ssrt_experiment_suspend();
	loop(2000001);
	ssrt_experiment_init();
	loop(4000001);
}

static void forks(void)
{
	ssrt_caliper_point("parent");
	loop(1000001);
	if (fork() == 0) {
		ssrt_caliper_point("child");
		loop(2000001);
		_exit(0);
	}
	wait(NULL);
}

static void measure(long times)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < times; i++)
		ssrt_caliper_point("a point");
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.1f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
				 (double)times);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "clear"))
		clears();
	else if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "time"))
		measure(argc > 2 ? atol(argv[2]) : 1000000);
	else if (!strcmp(what, "listening"))
		printf("%ld\n", ssrt_interface_routine(SSRT_LISTENING, NULL));
	else
		phases();
	return 0;
}
