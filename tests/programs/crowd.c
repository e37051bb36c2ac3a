/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Much of something, for tests/load; each works a little in between, so that there are samples.
 *   crowd threads N    N threads at a time
 *   crowd forks N      N processes one after the other, ten at a time
 *   crowd maps N       N times memory is mapped, also as code, and unmapped
 *   crowd opens N FILE N times a library is loaded and unloaded
 *   crowd space N      N GB of addresses, of which one page in each GB is touched
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all_there;

__attribute__((noinline)) static unsigned long work(unsigned long rounds)
{
	unsigned long sum = 1;

	for (unsigned long i = 0; i < rounds; i++)
		sum = sum * 6364136223846793005u + (sum >> 60);
	return sum;
}

static void *thread(void *sum)
{
	pthread_barrier_wait(&all_there);
	*(unsigned long *)sum = work(100000);
	return NULL;
}

static unsigned long threads(unsigned n)
{
	unsigned long *sums = calloc(n, sizeof(*sums)), sum = 0;
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&all_there, NULL, n);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&t[i], &small, thread, &sums[i])) {
			fprintf(stderr, "crowd: only %u threads\n", i);
			exit(2);
		}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += sums[i];
	}
	free(sums);
	free(t);
	return sum;
}

static unsigned long forks(unsigned n)
{
	unsigned long sum = 0;
	int status;

	for (unsigned i = 0, running = 0; i < n || running; running--) {
		for (; i < n && running < 10; i++, running++) {
			pid_t pid = fork();

			if (pid < 0) {
				perror("crowd: fork");
				exit(2);
			}
			if (pid == 0)
				_exit((int)(work(20000 + i % 7) & 127));
		}
		if (wait(&status) < 0 || !WIFEXITED(status)) {
			fprintf(stderr, "crowd: a process ended by a signal\n");
			exit(2);
		}
		sum += (unsigned)WEXITSTATUS(status);
	}
	return sum;
}

static unsigned long maps(unsigned n)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < n; i++) {
		void *at = mmap(NULL, 4096, PROT_READ | (i & 1 ? PROT_EXEC : PROT_WRITE),
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED || munmap(at, 4096)) {
			perror("crowd: mmap");
			exit(2);
		}
		sum += work(10);
	}
	return sum;
}

static unsigned long opens(unsigned n, const char *file)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < n; i++) {
		void *library = dlopen(file, RTLD_NOW);

		if (!library || dlclose(library)) {
			fprintf(stderr, "crowd: %s\n", dlerror());
			exit(2);
		}
		sum += work(10);
	}
	return sum;
}

static unsigned long space(unsigned gigabytes)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < gigabytes; i++) {
		char *at = mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED) {
			perror("crowd: mmap");
			exit(2);
		}
		at[(size_t)i << 12] = 1;
		sum += work(2000000);
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (strcmp(what, "threads") == 0)
		printf("%lu\n", threads(n));
	else if (strcmp(what, "forks") == 0)
		printf("%lu\n", forks(n));
	else if (strcmp(what, "maps") == 0)
		printf("%lu\n", maps(n));
	else if (strcmp(what, "opens") == 0 && argc > 3)
		printf("%lu\n", opens(n, argv[3]));
	else if (strcmp(what, "space") == 0)
		printf("%lu\n", space(n));
	else
		return 125;
	return 0;
}
