/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's software events, which need no PMU: at user level they open almost anywhere. */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tap.h"
#include "process/launch.h"
#include "sources/source.h"

static const struct event table[] = {
	{.number = EV_TASK_CLOCK, .name = "Task clock"},
	{.number = EV_PAGE_FAULTS, .name = "Page faults"},
	{.number = EV_MAJOR_FAULTS, .name = "Major faults"},
	{.number = EV_CONTEXT_SWITCHES, .name = "Context switches"},
	{.number = EV_CPU_MIGRATIONS, .name = "Migrations"},
	{.number = EV_L1D_MISSES, .name = "Primary data cache misses"},
};
#define EVENTS 5

static struct event_spec specs[EVENTS];
static const struct source_options defaults = {.user = true, .from_exec = true};

/* Runs argv under the source; r is the caller's to release. */
static bool count(char *const *argv, const struct source_options *options, struct reading *r)
{
	struct launch l;
	struct error e;
	void *s = source_os.open(options, specs, EVENTS, &e);
	bool good = s && launch_init(&l, argv, &e) == 0 && launch_start(&l, &e) == 0 &&
		    source_os.attach(s, l.pid, false, &e) == 0 &&
		    source_os.enable(s, true, &e) == 0 && launch_release(&l, &e) == 0;

	while (good && launch_poll(&l, true, &e) == 0)
		;
	good = good && reading_init(r, EVENTS, &e) == 0 && source_os.finish(s, &l.usage, &e) == 0 &&
	       source_os.read(s, r, &e) == 0;
	if (!good)
		printf("# %s\n", e.message);
	launch_fini(&l);
	source_os.close(s);
	return good;
}

/* A number with a reason to believe it, or none with a reason for that; never a silent zero. */
static void check_honest(const struct reading *r)
{
	for (size_t i = 0; i < EVENTS; i++) {
		const struct count *c = &r->counts[i];

		if (c->quantity.label == LABEL_NONE)
			ok(c->why[0], "%s: none, because %s", table[i].name, c->why);
		else
			ok(c->quantity.label == LABEL_MEASURED &&
					c->quantity.low == c->quantity.value &&
					c->quantity.high == c->quantity.value,
				"%s: %.0f, exact%s%s", table[i].name, c->quantity.value,
				c->why[0] ? ", " : "", c->why);
	}
}

static void test_command(void)
{
	/* 400 pages written by read(2): faults that happen in the kernel */
	char *argv[] = {
		"dd", "if=/dev/zero", "of=/dev/null", "bs=1638400", "count=1", "status=none", NULL};
	struct reading r;

	if (!ok(count(argv, &defaults, &r), "a command"))
		return;
	check_honest(&r);
	ok(r.counts[0].quantity.value > 1e5, "task-clock is not nothing");
	ok(r.counts[1].quantity.label == LABEL_MEASURED && r.counts[1].quantity.value > 400,
		"page faults in the kernel are counted, whatever perf_event_paranoid says");
	reading_fini(&r);
}

static void test_descendants(void)
{
	char *one[] = {"sh", "-c", "true", NULL};
	char *many[] = {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done", NULL};
	struct reading a, b;

	if (!ok(count(one, &defaults, &a), "a shell") ||
		!ok(count(many, &defaults, &b), "a shell with 8 children"))
		return;
	ok(b.counts[1].quantity.value > a.counts[1].quantity.value + 8 * 40,
		"faults of descendants are in the sum: %.0f and %.0f", a.counts[1].quantity.value,
		b.counts[1].quantity.value);
	reading_fini(&a);
	reading_fini(&b);
}

static void touch(char *pages, size_t count_)
{
	for (size_t i = 0; i < count_; i++)
		((volatile char *)pages)[i * 4096] = 1;
}

/* A child of ours that faults on 300 pages at each byte it gets, and answers. */
static pid_t faulter(int *to, int *from)
{
	int in[2], out[2];
	char c;
	pid_t pid;

	if (pipe(in) || pipe(out))
		return -1;
	pid = fork();
	if (pid == 0) {
		while (read(in[0], &c, 1) == 1) {
			char *p = mmap(NULL, 300 * 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			madvise(p, 300 * 4096, MADV_NOHUGEPAGE);
			touch(p, 300);
			if (write(out[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	*to = in[1];
	*from = out[0];
	return pid;
}

static void round_trip(int to, int from)
{
	char c = 'x';

	if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
		printf("# round trip failed\n");
}

static void test_running(void)
{
	struct source_options options = {.user = true};
	struct reading r;
	struct error e;
	int to = -1, from = -1;
	pid_t pid = faulter(&to, &from);
	void *s = source_os.open(&options, specs, EVENTS, &e);

	ok(pid > 0 && s, "a process that runs already");
	round_trip(to, from);
	is_int(source_os.attach(s, pid, true, &e), 0, "attach");
	reading_init(&r, EVENTS, &e);
	round_trip(to, from);
	source_os.enable(s, true, &e);
	round_trip(to, from);
	source_os.enable(s, false, &e);
	round_trip(to, from);
	source_os.finish(s, NULL, &e);
	is_int(source_os.read(s, &r, &e), 0, "read");
	check_honest(&r);
	if (r.counts[1].quantity.label == LABEL_NONE)
		skip("faults of a running process: not allowed here");
	else
		ok(r.counts[1].quantity.value >= 300 && r.counts[1].quantity.value < 400,
			"only what happened between enable and disable: %.0f",
			r.counts[1].quantity.value);
	source_os.close(s);
	reading_fini(&r);

	s = source_os.open(&options, specs, EVENTS, &e);
	is_int(source_os.attach(s, 0x3ffffff, true, &e), -1, "attach to nobody: %s", e.message);
	source_os.close(s);
	kill(pid, SIGKILL);
}

static void test_refusals(void)
{
	struct event_spec cache = {.origin = EVENT_ORIGIN_TABLE, .event = &table[5], .name = "dc"};
	struct error e;

	is_int(source_os.probe(&defaults, &e), 0, "always there");
	is_int(source_os.accepts(&defaults, &specs[0], &e), 0, "accepts task-clock");
	is_int(source_os.accepts(&defaults, &cache, &e), -1, "not a cache miss: %s", e.message);
	is_int(e.code, ERR_UNSUPPORTED, "unsupported");
	ok(!source_os.open(&defaults, &cache, 1, &e), "nor opens it");
}

int main(void)
{
	struct reading r;
	struct error e;

	for (size_t i = 0; i < EVENTS; i++)
		specs[i] = (struct event_spec){.origin = EVENT_ORIGIN_TABLE, .event = &table[i]};
	reading_init(&r, 3, &e);
	for (int i = 0; i < 5; i++)
		reading_add_thread(&r)->tid = i;
	ok(r.thread_count == 5 && r.threads[3].tid == 3 &&
			r.threads[4].counts[2].quantity.label == LABEL_NONE,
		"readings grow rows");
	reading_fini(&r);
	test_refusals();
	test_command();
	test_descendants();
	test_running();
	return done();
}
