/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is hard to sample:
 *   sampled threads N     N threads at once, each with some work
 *   sampled forks N       N processes, each with some work
 *   sampled execs N       a process that becomes another N times
 *   sampled reuse A B     library A, and when that is gone B, perhaps where A was; each has work()
 *   sampled jit           code of its own making, named in /tmp/perf-PID.map
 *   sampled jitdump       likewise, in jit-PID.dump here
 *   sampled sleep         is blocked for most of half a second, in rest()
 *   sampled loop N        N million turns of a loop, so that runs can be compared
 *   sampled until FILE    works until FILE is there, or its directory is not
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

/* So many milliseconds of CPU time. */
__attribute__((noinline)) static void work(int ms)
{
	struct timespec t;
	long long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000000000ll + t.tv_nsec + ms * 1000000ll;
	do {
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

static void *thread(void *barrier)
{
	work(1);
	pthread_barrier_wait(barrier);
	return NULL;
}

static int threads(int n)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));
	pthread_barrier_t barrier;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&all[i], &small, thread, &barrier))
			return 2;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(all[i], NULL);
	free(all);
	return 0;
}

static int forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work(1);
			_exit(0);
		}
		if (pid < 0)
			return 2;
		if (i % 50 == 49)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int execs(const char *self, int n)
{
	char left[16];

	work(2);
	if (n == 0)
		return 0;
	snprintf(left, sizeof(left), "%d", n - 1);
	execl(self, self, "execs", left, (char *)NULL);
	return 2;
}

static void *call(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *at;
	void (*function)(int);

	if (!library)
		exit(2);
	at = dlsym(library, "work");
	memcpy(&function, &at, sizeof(at));
	function(100);
	dlclose(library);
	return at;
}

static int reuse(const char *a, const char *b)
{
	void *first = call(a), *second = call(b);

	printf("%s\n", first == second ? "same" : "different");
	return 0;
}

/* A loop that counts its argument down. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6
#endif
};

/* A header, code that is loaded elsewhere, and moved to where it is. */
static int write_dump(const void *at)
{
	static const char name[] = "dumped_here(int)";
	uint64_t to = (uint64_t)(uintptr_t)at, size = sizeof(code);
	uint32_t load_size = 56 + sizeof(name) + sizeof(code);
	uint64_t load[5] = {0, 0x1000, 0x1000, size, 7}, move[6] = {0, 0x1000, 0x1000, to, size, 7};
	uint32_t head[10] = {0x4a695444, 1, 40}, prefix[4] = {0, load_size}, moved[4] = {1, 64};
	char path[48];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+");
	if (!f)
		return -1;
	fwrite(head, sizeof(head), 1, f);
	fwrite(prefix, sizeof(prefix), 1, f);
	fwrite(load, sizeof(load), 1, f);
	fwrite(name, sizeof(name), 1, f);
	fwrite(code, sizeof(code), 1, f);
	fwrite(moved, sizeof(moved), 1, f);
	fwrite(move, sizeof(move), 1, f);
	fflush(f);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED ? -1
												: 0;
}

static int jit(int dump)
{
	void *at = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(unsigned long);
	char path[48];
	FILE *map;

	if (at == MAP_FAILED)
		return 2;
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	if (dump)
		return write_dump(at)
			       ? 2
			       : (memcpy(&function, &at, sizeof(at)), function(300000000), 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 2;
	fprintf(map, "%lx %zx made_here(int)\n", (unsigned long)(uintptr_t)at, sizeof(code));
	fclose(map);
	memcpy(&function, &at, sizeof(at));
	function(300000000);
	puts(path);
	return 0;
}

__attribute__((noinline)) static void rest(void)
{
	usleep(400000);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "threads") == 0 && argc > 2)
		return threads(atoi(argv[2]));
	if (strcmp(what, "forks") == 0 && argc > 2)
		return forks(atoi(argv[2]));
	if (strcmp(what, "execs") == 0 && argc > 2)
		return execs(argv[0], atoi(argv[2]));
	if (strcmp(what, "reuse") == 0 && argc > 3)
		return reuse(argv[2], argv[3]);
	if (strcmp(what, "jit") == 0)
		return jit(0);
	if (strcmp(what, "jitdump") == 0)
		return jit(1);
	if (strcmp(what, "sleep") == 0) {
		rest();
		work(50);
		return 0;
	}
	if (strcmp(what, "loop") == 0 && argc > 2) {
		for (long i = atol(argv[2]) * 1000000; i > 0; i--)
			sink += (unsigned long)i;
		return 0;
	}
	if (strcmp(what, "until") == 0 && argc > 2) {
		char here[4096];

		while (access(argv[2], F_OK) != 0 && getcwd(here, sizeof(here)))
			work(5);
		return 0;
	}
	return 2;
}
