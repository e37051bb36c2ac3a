/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that share lines in known ways, for tests of data space:
 *
 *     sharing static|heap|member|true|lock|apart|read [TURNS]
 *
 * static, heap, member: each thread counts in its own word, next to the others', in a static array,
 * a block of the heap, an array in a structure; apart: the same a line apart; true: all count in
 * one word, atomically; lock: under a lock beside the word; read: all read what nobody writes.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, APART = 16 };

struct board {
	long long title[8];
	long long count[THREADS];
};

static volatile long long packed[THREADS] __attribute__((aligned(64)));
static volatile long long spaced[THREADS * APART] __attribute__((aligned(64)));
static struct board board __attribute__((aligned(64)));
static volatile long long one __attribute__((aligned(64)));
static struct {
	pthread_mutex_t lock;
	volatile long long sum;
} guarded __attribute__((aligned(64))) = {.lock = PTHREAD_MUTEX_INITIALIZER};
static volatile long long table[8] __attribute__((aligned(64)));
static volatile long long *heap;
static const char *how;
static long turns = 2000;

static __attribute__((noinline)) void add(volatile long long *to)
{
	for (long i = 0; i < turns; i++)
		*to += 1;
}

static __attribute__((noinline)) void add_together(void)
{
	for (long i = 0; i < turns; i++)
		__atomic_fetch_add(&one, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void add_locked(void)
{
	for (long i = 0; i < turns; i++) {
		pthread_mutex_lock(&guarded.lock);
		guarded.sum++;
		pthread_mutex_unlock(&guarded.lock);
	}
}

static __attribute__((noinline)) long long look(void)
{
	long long sum = 0;

	for (long i = 0; i < turns; i++)
		sum += table[i % 8];
	return sum;
}

static void *run(void *argument)
{
	long i = (long)argument;

	if (strcmp(how, "static") == 0)
		add(&packed[i]);
	else if (strcmp(how, "heap") == 0)
		add(&heap[i]);
	else if (strcmp(how, "member") == 0)
		add(&board.count[i]);
	else if (strcmp(how, "apart") == 0)
		add(&spaced[i * APART]);
	else if (strcmp(how, "true") == 0)
		add_together();
	else if (strcmp(how, "lock") == 0)
		add_locked();
	else
		look();
	return NULL;
}

static __attribute__((noinline)) volatile long long *make_counters(void)
{
	return aligned_alloc(64, 64);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	how = argc > 1 ? argv[1] : "static";
	if (argc > 2)
		turns = strtol(argv[2], NULL, 10);
	heap = make_counters();
	if (!heap)
		return 1;
	memset((void *)heap, 0, 64);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	for (long i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	free((void *)heap);
	return 0;
}
