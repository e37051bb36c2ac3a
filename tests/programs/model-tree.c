/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways for processes and threads to live and die, each with a loop of known length: `spin N`
 * executes 2 * N instructions and some.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG 2000000 /* iterations: four million instructions */

static char **words;

static void spin(long n)
{
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n)::"cc");
}

static int status_of(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			spin(10000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static int killed(int n)
{
	pid_t pid = fork();

	(void)n;
	if (pid == 0) {
		spin(LONG);
		raise(SIGKILL);
	}
	return status_of(pid);
}

static int crash(int n)
{
	(void)n;
	spin(LONG);
	*(volatile int *)8 = 1;
	return 0;
}

static int close_all(int n)
{
	(void)n;
	for (int fd = 0; fd < 5000; fd++)
		close(fd);
	syscall(436 /* close_range */, 0, ~0U, 0);
	spin(LONG);
	return 4;
}

static int chain(int n)
{
	char left[20];

	spin(LONG);
	snprintf(left, sizeof(left), "%d", n - 1);
	if (n)
		execl(words[0], words[0], "chain", left, (char *)NULL);
	return 6;
}

static int vforked(int n)
{
	pid_t pid = vfork();

	(void)n;
	if (pid == 0) {
		execl(words[0], words[0], "chain", "0", (char *)NULL);
		_exit(1);
	}
	return status_of(pid);
}

static int exec_fails(int n)
{
	(void)n;
	execl("/nonexistent", "x", (char *)NULL);
	spin(LONG);
	return 3;
}

static void *thread(void *unused)
{
	spin(LONG);
	return unused;
}

static int threads(int n)
{
	pthread_t ids[64];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static int threads_in_turn(int n)
{
	pthread_t id;

	for (int i = 0; i < n; i++) {
		pthread_create(&id, NULL, thread, NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived, round_number;

/* Locks held over a while, so that others wait; now and then all wait for all, and one forks. */
static void *contender(void *threads)
{
	for (int i = 0; i < 60; i++) {
		int now;

		pthread_mutex_lock(&lock);
		spin(3000);
		if (i % 20 == 7 && arrived == 0 && fork() == 0)
			_exit(0);
		now = round_number;
		if (i % 10 == 0 && ++arrived == *(int *)threads) {
			arrived = 0;
			round_number++;
			pthread_cond_broadcast(&changed);
		}
		while (i % 10 == 0 && now == round_number)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int contend(int n)
{
	pthread_t ids[64];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, contender, &n);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* The order in which threads get a lock, while children end at times of their own. */
static unsigned order;

static void *forker(void *number)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		order = order * 31 + *(unsigned char *)number;
		spin(2000);
		if (*(unsigned char *)number % 2 == 0 && i % 3 == 0 && fork() == 0) {
			spin(3000 + 1000 * (i % 7));
			_exit(0);
		}
		pthread_mutex_unlock(&lock);
		spin(100);
	}
	return NULL;
}

static int contend_and_fork(int n)
{
	static unsigned char numbers[64];
	pthread_t ids[64];

	for (int i = 0; i < n; i++) {
		numbers[i] = (unsigned char)i;
		pthread_create(&ids[i], NULL, forker, &numbers[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	while (wait(NULL) > 0)
		;
	printf("%u\n", order);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	spin(LONG);
	_exit(7);
}

static int exit_in_handler(int n)
{
	(void)n;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int n);
	} ways[] = {
		{"forks", forks},
		{"killed", killed},
		{"crash", crash},
		{"close-all", close_all},
		{"chain", chain},
		{"vfork", vforked},
		{"exec-fails", exec_fails},
		{"threads", threads},
		{"threads-in-turn", threads_in_turn},
		{"contend", contend},
		{"contend-and-fork", contend_and_fork},
		{"exit-in-handler", exit_in_handler},
	};

	words = argv;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run(argc > 2 ? atoi(argv[2]) : 0);
	return 99;
}
