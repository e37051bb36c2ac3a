/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libspeedshop's points, from the listener's side: the test makes the ring, runs itself again, and
 * looks at what arrives, from threads, signals and the child of a fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "collect/points.h"
#include "model/wire/requests.h"
#include "speedshop.h"
#include "speedshop/request.h"

#define THREADS 4
#define EACH    (3 * POINTS_ROOM / THREADS)

static struct points *ring;

static struct points *map_ring(const char *path)
{
	size_t size = sizeof(struct points) + POINTS_ROOM * sizeof(struct point);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct points *p = NULL;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static const struct point *last(void)
{
	const struct point *p = &ring->point[(ring->taken - 1) % POINTS_ROOM];

	return p->ready == ring->taken ? p : NULL;
}

static void check_kinds(void)
{
	static const struct {
		void (*call)(void);
		enum point_kind kind;
	} kinds[] = {
		{ssrt_experiment_suspend, POINT_SUSPEND},
		{ssrt_experiment_restart, POINT_RESTART},
		{ssrt_buffer_clear, POINT_CLEAR},
		{ssrt_experiment_init, POINT_RESTART},
		{ssrt_experiment_shutdown, POINT_END},
		{ssrt_experiment_stop, POINT_END},
	};
	char name[300];
	const struct point *p;

	is_int(ssrt_interface_routine(SSRT_LISTENING, NULL), 1, "somebody listens");
	is_int(ssrt_interface_routine(12345, NULL), -1, "no such question");
	errno = 77;
	is_int(ssrt_caliper_point("one"), 1, "a point is taken");
	is_int(errno, 77, "and errno left alone");
	p = last();
	ok(p && p->kind == POINT_CALIPER && !strcmp(p->name, "one") &&
			p->pid == (uint32_t)getpid() && p->tid == (uint32_t)syscall(SYS_gettid) &&
			p->time,
		"its name, process, thread and time");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ssrt_caliper_point(name);
	is_int(last() ? strlen(last()->name) : 0, POINT_NAME - 1, "a long name is cut");
	ssrt_caliper_point("short");
	ssrt_caliper_point(NULL);
	is_str(last() ? last()->name : NULL, "", "no name");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kinds[i].call();
		is_int(last() ? last()->kind : 99, kinds[i].kind, "a point of kind %u",
			kinds[i].kind);
	}
}

static void *pass_many(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < EACH; i++)
		ssrt_caliper_point("thread");
	return NULL;
}

static void handler(int number)
{
	(void)number;
	ssrt_caliper_point("handler");
}

/* All numbers are taken once, and the ring holds the last of them. */
static void check_threads(void)
{
	uint64_t before = ring->taken, bad = 0, tids[THREADS] = {0};
	unsigned known = 0;
	pthread_t t[THREADS];

	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, pass_many, NULL);
	for (unsigned i = 0; i < 50; i++)
		raise(SIGUSR1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	is_int(ring->taken - before, THREADS * EACH + 50, "points of threads and handlers");
	for (uint64_t n = ring->taken - POINTS_ROOM; n < ring->taken; n++) {
		const struct point *p = &ring->point[n % POINTS_ROOM];
		unsigned k = 0;

		bad += p->ready != n + 1 ||
		       (strcmp(p->name, "thread") != 0 && strcmp(p->name, "handler") != 0);
		if (strcmp(p->name, "handler") == 0)
			continue;
		while (k < known && tids[k] != p->tid)
			k++;
		if (k == known && known < THREADS)
			tids[known++] = p->tid;
		else
			bad += k == known;
	}
	/* A writer that is put off for a whole round of the ring leaves a void point behind. */
	ok(bad <= THREADS, "each is whole, and of one of the threads (%llu are not)",
		(unsigned long long)bad);
}

/* A writer that was put off for one round of the ring still has the slot. */
static void check_claims(void)
{
	uint64_t number = ring->taken;
	struct point *p = &ring->point[number % POINTS_ROOM];
	struct point before = *p;

	p->claim = before.claim = (uint32_t)(number + 1 - POINTS_ROOM);
	is_int(ssrt_caliper_point("too early"), 1, "a point whose slot another has");
	is_int(p->claim, (uint32_t)(number + 1), "its number is left there");
	before.claim = p->claim;
	ok(memcmp(&before, p, sizeof(before)) == 0, "and nothing else is touched");
	p->claim = 0;
	p->ready = number + 1 + POINTS_ROOM;
	ring->taken = number;
	ssrt_caliper_point("too late");
	ok(p->claim == 0 && p->ready == number + 1 + POINTS_ROOM && strcmp(p->name, "too late"),
		"a point that is a round late is not written over a newer one");
	p->ready = number + 1;
}

static void check_fork(void)
{
	pid_t pid;
	const struct point *p;

	ssrt_caliper_point("before");
	pid = fork();
	if (pid == 0) {
		ssrt_caliper_point("child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	p = last();
	ok(p && p->pid == (uint32_t)pid && p->tid == (uint32_t)pid && !strcmp(p->name, "child"),
		"the child of a fork is another process");
	ring->listening = 0;
	is_int(ssrt_caliper_point("late"), 0, "the listener has gone");
	is_int(ssrt_interface_routine(SSRT_LISTENING, NULL), 0, "which can be asked");
}

/* The library looks at the environment when it is loaded; so the test goes on as another image. Its
 * path is read first: under Valgrind only this call says what is meant. */
static void run_again(char **argv)
{
	char path[] = "/tmp/test_speedshop.XXXXXX", count[16], self[PATH_MAX] = "";

	close(mkstemp(path));
	ring = map_ring(path);
	if (!ok(ring != NULL, "a ring"))
		return;
	ring->magic = POINTS_MAGIC;
	ring->room = POINTS_ROOM;
	ring->listening = 1;
	snprintf(count, sizeof(count), "%d", tap_count);
	setenv("TAP_COUNT", count, 1);
	setenv(POINTS_ENVIRONMENT, path, 1);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		execv(self, argv);
	ok(false, "the test goes on");
}

int main(int argc, char **argv)
{
	const char *path = getenv(POINTS_ENVIRONMENT);

	(void)argc;
	if (path) {
		ring = map_ring(path);
		unlink(path);
		tap_count = atoi(getenv("TAP_COUNT"));
		check_kinds();
		check_threads();
		check_claims();
		check_fork();
		return done();
	}
	is_int(ssrt_caliper_point("one"), 0, "nobody listens");
	ssrt_experiment_suspend();
	is_int(ssrt_interface_routine(SSRT_LISTENING, NULL), 0, "which can be asked");
	is_int(SPEEDSHOP_REQUEST_VERSION, MODEL_REQUEST_VERSION, "requests to the model: version");
	is_int(SPEEDSHOP_REQUEST_CALIPER, MODEL_REQUEST_CALIPER, "a point");
	is_int(SPEEDSHOP_REQUEST_SAMPLING, MODEL_REQUEST_SAMPLING, "suspending and the like");
	ok((int)POINT_SUSPEND == MODEL_SAMPLING_SUSPEND &&
			(int)POINT_RESTART == MODEL_SAMPLING_RESTART &&
			(int)POINT_CLEAR == MODEL_SAMPLING_CLEAR &&
			(int)POINT_END == MODEL_SAMPLING_END,
		"whose kinds are the points'");
	run_again(argv);
	return done();
}
