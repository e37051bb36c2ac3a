/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads N [wait FILE]: N threads, eight at a time, each writing some fresh pages; with wait, only
 * once FILE exists. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 20

static void *work(void *unused)
{
	char *p = mmap(
		NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, PAGES * 4096);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[8];

	if (argc > 3)
		while (access(argv[3], F_OK) != 0)
			usleep(10000);
	while (n > 0) {
		int k = n < 8 ? n : 8;

		for (int i = 0; i < k; i++)
			if (pthread_create(&threads[i], NULL, work, NULL))
				return 1;
		for (int i = 0; i < k; i++)
			pthread_join(threads[i], NULL);
		n -= k;
	}
	return 0;
}
