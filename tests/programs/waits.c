/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waits KIND [milliseconds]: waits for one thing, for a known time, in a function of that name. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static unsigned milliseconds = 300;
pthread_mutex_t planted_lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

KEEP static void rest(void)
{
	struct timespec t = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	nanosleep(&t, NULL);
	__asm__ volatile("");
}

/* The rest is a child's, so that only one thread of this process waits. */
KEEP static pid_t child_writes(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	rest();
	if (write(ends[1], "x", 1) != 1)
		_exit(1);
	_exit(0);
}

KEEP static void unlocker(void)
{
	pthread_mutex_unlock(&planted_lock);
	__asm__ volatile("");
}

static void *holder(void *unused)
{
	pthread_mutex_lock(&planted_lock);
	ends[0] = 1;
	rest();
	unlocker();
	return unused;
}

KEEP static void waits_for_futex(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, holder, NULL);
	while (!*(volatile int *)&ends[0])
		usleep(100);
	pthread_mutex_lock(&planted_lock);
	pthread_mutex_unlock(&planted_lock);
	pthread_join(thread, NULL);
}

static void *late(void *unused)
{
	prctl(PR_SET_NAME, "late");
	rest();
	return unused;
}

KEEP static void waits_for_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, late, NULL);
	pthread_join(thread, NULL);
	__asm__ volatile("");
}

KEEP static void reads_one(void)
{
	char byte;
	pid_t pid = child_writes();

	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	waitpid(pid, NULL, 0);
}

KEEP static void waits_for_pipe(void)
{
	if (pipe(ends))
		exit(1);
	reads_one();
}

KEEP static void waits_for_socket(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	reads_one();
}

KEEP static void waits_for_poll(void)
{
	struct pollfd one;

	if (pipe(ends))
		exit(1);
	child_writes();
	one = (struct pollfd){.fd = ends[0], .events = POLLIN};
	if (poll(&one, 1, -1) != 1)
		exit(1);
	wait(NULL);
}

KEEP static void waits_for_sleep(void)
{
	rest();
	__asm__ volatile("");
}

KEEP static void waits_for_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		rest();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	__asm__ volatile("");
}

static void signal_came(int number)
{
	(void)number;
}

/* For a signal, as shells do: of a child's end, or of a timer while a child runs. */
static void suspends(int number)
{
	struct sigaction action = {.sa_handler = signal_came};
	struct itimerval once = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000}};
	sigset_t block, none;
	pid_t pid;

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, number);
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigaction(number, &action, NULL);
	pid = fork();
	if (!pid) {
		rest();
		_exit(0);
	}
	if (number == SIGALRM) {
		waitpid(pid, NULL, 0);
		setitimer(ITIMER_REAL, &once, NULL);
	}
	sigsuspend(&none);
	waitpid(pid, NULL, 0);
}

KEEP static void waits_for_childs_signal(void)
{
	suspends(SIGCHLD);
}

KEEP static void waits_for_timers_signal(void)
{
	suspends(SIGALRM);
}

/* For a lock of the file that is given. */
KEEP static void waits_for_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	pid_t pid;
	char byte;

	if (fd < 0 || pipe(ends))
		exit(1);
	pid = fork();
	if (!pid) {
		fd = open(path, O_RDWR);
		flock(fd, LOCK_EX);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		rest();
		_exit(0);
	}
	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	flock(fd, LOCK_EX);
	waitpid(pid, NULL, 0);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Many short ones, of which /proc tells too late. */
KEEP static void waits_often(void)
{
	struct rusage used[2];
	double began = seconds();
	int back[2];
	pid_t pid;

	if (pipe(ends) || pipe(back))
		exit(1);
	pid = fork();
	for (unsigned i = 0; i < 20 * milliseconds; i++) {
		char byte = 'x';

		if (pid ? write(ends[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1
			: read(ends[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			exit(1);
	}
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	getrusage(RUSAGE_SELF, &used[0]);
	getrusage(RUSAGE_CHILDREN, &used[1]);
	began = 2 * (seconds() - began);
	for (int i = 0; i < 2; i++)
		began -= (double)(used[i].ru_utime.tv_sec + used[i].ru_stime.tv_sec) +
			 1e-6 * (double)(used[i].ru_utime.tv_usec + used[i].ru_stime.tv_usec);
	printf("%ld %f\n",
		used[0].ru_nvcsw + used[0].ru_nivcsw + used[1].ru_nvcsw + used[1].ru_nivcsw, began);
}

KEEP static double sleeps_short(void)
{
	double began = seconds();

	usleep(100);
	return seconds() - began;
}

KEEP static double sleeps_long(void)
{
	double began = seconds();

	usleep(500);
	return seconds() - began;
}

/* More often than each could be recorded, at two places; it prints the percentage of the second. */
KEEP static void waits_unevenly(void)
{
	double began = seconds(), one = 0, other = 0;

	while (seconds() - began < milliseconds * 1e-3) {
		one += sleeps_short();
		other += sleeps_long();
	}
	printf("%.0f\n", 100 * other / (one + other));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"futex", waits_for_futex}, {"pipe", waits_for_pipe},
		{"socket", waits_for_socket}, {"poll", waits_for_poll}, {"sleep", waits_for_sleep},
		{"child", waits_for_child}, {"suspend", waits_for_childs_signal},
		{"alarm", waits_for_timers_signal}, {"often", waits_often},
		{"join", waits_for_join}, {"uneven", waits_unevenly}};

	if (argc > 2)
		milliseconds = (unsigned)strtoul(argv[2], NULL, 10);
	if (argc > 3 && strcmp(argv[1], "file") == 0) {
		waits_for_file(argv[3]);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			kinds[i].run();
			return 0;
		}
	fprintf(stderr, "usage: waits KIND [MILLISECONDS [FILE]]\n");
	return 2;
}
