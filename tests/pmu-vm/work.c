/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work of known size.  Each argument is one piece:
 *   loop:N          4 N instructions of user mode (and a few around them)
 *   call:N          N system calls
 *   sleep:MS
 *   threads:K:N     K threads; thread i, from 1, does loop:iN
 *   forks:K:N       K processes one after the other, likewise
 *   start, stop     SIGUSR1, SIGUSR2 to the parent, and time for it to act
 *   await:FILE      until there is such a file
 *   exec:...        the rest of the arguments as a command
 *   phases:SEED:MS:MEAN   for about MS milliseconds in all, loops and the kernel's random numbers
 * in turn, each as long as a pseudo-random number with an exponential distribution of mean MEAN
 *                   microseconds says; counted in work, not by the clock, so that it is always the
 * same blend:SEED:MS:MEAN    likewise, but each phase has some of both, the loops a share between
 * 1/4 and 1 user:ID         gives up being root hog:K           takes K counters of every processor
 * for itself, until killed
 */
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void loop(unsigned long n)
{
	if (!n)
		return;
	__asm__ volatile("1:	add x9, x9, #1\n"
			 "	nop\n"
			 "	subs %0, %0, #1\n"
			 "	b.ne 1b"
			 : "+r"(n)
			 :
			 : "x9", "cc");
}

static void call(unsigned long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void kernel(unsigned long kib)
{
	static char bytes[4096];

	for (; kib > 0; kib -= kib < 4 ? kib : 4)
		if (getrandom(bytes, kib < 4 ? kib * 1024 : 4096, GRND_NONBLOCK) < 0)
			exit(112);
}

static void *thread(void *n)
{
	loop((unsigned long)n);
	return NULL;
}

static void threads(unsigned long k, unsigned long n)
{
	pthread_t t[64];

	for (unsigned long i = 0; i < k && i < 64; i++)
		pthread_create(&t[i], NULL, thread, (void *)((i + 1) * n));
	for (unsigned long i = 0; i < k && i < 64; i++)
		pthread_join(t[i], NULL);
}

static void forks(unsigned long k, unsigned long n)
{
	for (unsigned long i = 1; i <= k; i++) {
		if (fork() == 0) {
			loop(i * n);
			_exit(0);
		}
		wait(NULL);
	}
}

static unsigned long state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

#define KIB                                                                                        \
	45 /* microseconds for a KiB of random numbers, all in the kernel: few system calls, which \
	      are what the emulator is slow at */

/* An instruction takes 2 ns. */
static void user(double us)
{
	loop((unsigned long)(us * 1000 / 8));
}

/* One phase: us microseconds of which the loops have that share. */
static void phase(double us, double share)
{
	if (share > 0.95)
		user(us);
	else if (share < 0.05)
		kernel((unsigned long)(us / KIB));
	else
		for (double step = KIB / (1 - share); us > 0; us -= step) {
			user(step * share);
			kernel(1);
		}
}

static void phases(bool blend, unsigned long seed, unsigned long ms, unsigned long mean)
{
	double left = (double)ms * 1000;

	state = seed * 2654435761u + 88172645463325252u;
	for (int i = 0; left > 0; i++) {
		double length = fmin(-(double)mean * log(uniform()), left);

		left -= length;
		phase(length, blend ? 0.25 + 0.75 * uniform() : !(i & 1));
	}
}

static void hog(unsigned long k)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_RAW;
	attr.pinned = 1;
	for (unsigned long i = 0; i < k; i++) {
		attr.config = i ? 8 : 0x11;
		if (syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) < 0)
			perror("hog");
	}
	puts("hog has them");
	fflush(stdout);
	pause();
}

static void tell(int number)
{
	kill(getppid(), number);
	usleep(20000);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *word = argv[i], *rest = strchr(word, ':');
		unsigned long a = 0, b = 0, c = 0;

		if (rest)
			sscanf(rest + 1, "%lu:%lu:%lu", &a, &b, &c);
		if (!strncmp(word, "loop:", 5))
			loop(a);
		else if (!strncmp(word, "call:", 5))
			call(a);
		else if (!strncmp(word, "sleep:", 6))
			usleep((useconds_t)a * 1000);
		else if (!strncmp(word, "threads:", 8))
			threads(a, b);
		else if (!strncmp(word, "forks:", 6))
			forks(a, b);
		else if (!strncmp(word, "phases:", 7))
			phases(false, a, b, c);
		else if (!strncmp(word, "blend:", 6))
			phases(true, a, b, c);
		else if (!strncmp(word, "hog:", 4))
			hog(a);
		else if (!strcmp(word, "start"))
			tell(SIGUSR1);
		else if (!strcmp(word, "stop"))
			tell(SIGUSR2);
		else if (!strncmp(word, "user:", 5) && setuid((uid_t)a) != 0)
			return 111;
		else if (!strncmp(word, "await:", 6))
			while (access(rest + 1, F_OK) != 0)
				usleep(10000);
		else if (!strncmp(word, "exec:", 5)) {
			argv[i] = rest + 1;
			execvp(argv[i], argv + i);
			return 127;
		}
	}
	return 0;
}
