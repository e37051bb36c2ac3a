/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libperfex from within: errors as values, what counts when, threads, the classic calls. */
#include "../tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_data.h"
#include "perfex.h"

int start_counters_(const int *e0, const int *e1);
int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1);
int load_costs_(const char *file, size_t length);

enum { PAGES = 100 };
static struct perfex_error e;

/* So many page faults, none of them forgotten by an allocator. */
static void fault(int pages)
{
	size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	madvise(at, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += (size_t)sysconf(_SC_PAGESIZE))
		((volatile char *)at)[i] = 1;
	munmap(at, size);
}

static void *fault_in_thread(void *argument)
{
	fault(*(int *)argument);
	return NULL;
}

static void in_thread(int pages)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fault_in_thread, &pages) == 0)
		pthread_join(t, NULL);
}

static void order(void)
{
	struct perfex_value v = {.label = -1};
	struct perfex *p;

	ok(!perfex_open(7, &e) && e.code == PERFEX_ERR_RANGE, "no such scope: %s", e.message);
	is_int(perfex_start(NULL, &e), -1, "no handle: %s", e.message);
	is_int(perfex_add(NULL, "69", NULL), -1, "an error that nobody wants");
	p = perfex_open(PERFEX_THREAD, &e);
	ok(p && e.code == PERFEX_OK, "open");
	is_int(perfex_start(p, &e), -1, "nothing to count: %s; %s", e.message, e.hint);
	is_int(perfex_add(p, NULL, &e), -1, "no name: %s", e.message);
	is_int(perfex_add(p, "task-clok", &e), -1, "no such event: %s", e.message);
	ok(e.code == PERFEX_ERR_NOT_FOUND && strstr(e.hint, "Task clock"), "the nearest: %s",
		e.hint);
	is_int(perfex_add(p, "page-faults", &e), 0, "the first event has index 0");
	is_int(perfex_add(p, "69", &e), 1, "the second 1");
	is_str(perfex_event_name(p, 1), "Task clock", "it has its name");
	is_str(perfex_event_source(p, 1), "os", "and its source");
	ok(!perfex_event_name(p, 2) && !perfex_event_name(p, -1) && !perfex_event_source(NULL, 0),
		"others have none");
	is_int(perfex_read(p, &v, 1, &e), -1, "reading before the start: %s", e.message);
	is_int(perfex_stop(p, &e), -1, "stopping before it: %s", e.message);
	is_int(perfex_start(p, &e), 0, "start");
	is_int(perfex_start(p, &e), -1, "starting twice: %s", e.message);
	ok(perfex_add(p, "csw", &e) < 0 && e.code == PERFEX_ERR_CONFLICT, "adding late: %s",
		e.message);
	is_int(perfex_read(p, &v, 1, &e), 1, "reading one of two");
	is_int(perfex_read(p, NULL, 0, &e), 0, "reading none");
	is_int(perfex_stop(p, &e), 0, "stop");
	is_int(perfex_stop(p, &e), -1, "stopping twice: %s", e.message);
	perfex_close(p);
	perfex_close(NULL);
	is_str(perfex_label_name(PERFEX_MEASURED), "measured", "labels have names");
	ok(!*perfex_label_name(PERFEX_NONE) && !*perfex_label_name(99) && !*perfex_label_name(-1),
		"others do not");
}

static void spans(void)
{
	struct perfex *p = perfex_open(PERFEX_THREAD, &e);
	struct perfex_value first[2], second[2], third[2];

	if (!ok(p && perfex_add(p, "pf", &e) == 0 && perfex_add(p, "tclk", &e) == 1,
		    "faults and clock: %s", e.message))
		return;
	fault(PAGES);
	perfex_start(p, &e);
	fault(PAGES);
	perfex_stop(p, &e);
	is_int(perfex_read(p, first, 2, &e), 2, "two values");
	fault(PAGES);
	perfex_read(p, second, 2, &e);
	ok(first[0].label == PERFEX_MEASURED && first[0].low == first[0].value &&
			first[0].high == first[0].value,
		"measured, exact");
	ok(first[0].value >= PAGES && first[0].value < 2 * PAGES,
		"faults between start and stop alone: %g", first[0].value);
	ok(first[1].value > 0, "time passed: %g ns", first[1].value);
	ok(second[0].value == first[0].value && second[1].value == first[1].value,
		"counts stand still once stopped");
	perfex_start(p, &e);
	fault(PAGES);
	perfex_read(p, third, 2, &e);
	ok(third[0].value >= 2 * PAGES && third[0].value < 3 * PAGES,
		"a second span adds to the first: %g", third[0].value);
	perfex_close(p);
}

static void scopes(void)
{
	struct perfex *thread = perfex_open(PERFEX_THREAD, &e),
		      *process = perfex_open(PERFEX_PROCESS, &e);
	struct perfex_value t, p;

	perfex_add(thread, "pf", &e);
	perfex_add(process, "pf", &e);
	perfex_start(thread, &e);
	perfex_start(process, &e);
	in_thread(10 * PAGES);
	perfex_read(thread, &t, 1, &e);
	perfex_read(process, &p, 1, &e);
	ok(t.value < 10 * PAGES, "a thread's count is without other threads' faults: %g", t.value);
	ok(p.value >= 10 * PAGES, "the process's has them: %g", p.value);
	perfex_close(thread);
	perfex_close(process);
}

static void *read_elsewhere(void *p)
{
	struct perfex_value v;

	is_int(perfex_read(p, &v, 1, &e), -1, "no reading in another thread: %s", e.message);
	is_int(perfex_stop(p, &e), -1, "no stopping: %s", e.hint);
	return NULL;
}

static void *read_stopped(void *p)
{
	struct perfex_value v = {.value = -1};

	is_int(perfex_read(p, &v, 1, &e), 1, "but what stands still can be read anywhere");
	ok(v.value >= PAGES && v.value < 2 * PAGES, "and is the first thread's: %g", v.value);
	is_int(perfex_start(p, &e), -1, "no going on in another thread: %s", e.message);
	return NULL;
}

/* What a thread knows of itself is not to be taken for another's. */
static void threads_apart(void)
{
	struct perfex *p = perfex_open(PERFEX_THREAD, &e);
	pthread_t t;

	perfex_add(p, "pf", &e);
	perfex_start(p, &e);
	fault(PAGES);
	if (pthread_create(&t, NULL, read_elsewhere, p) == 0)
		pthread_join(t, NULL);
	is_int(perfex_stop(p, &e), 0, "in its own: %s", e.message);
	if (pthread_create(&t, NULL, read_stopped, p) == 0)
		pthread_join(t, NULL);
	perfex_close(p);
}

/* perf's software events, where the kernel lets us. */
static void kernel_events(void)
{
	struct perfex *p = perfex_open(PERFEX_THREAD, &e);
	struct perfex_value v;

	if (perfex_add(p, "perf::PAGE-FAULTS-MIN", &e) < 0 &&
		perfex_add(p, "perf::MINOR-FAULTS", &e) < 0) {
		printf("# %s\n", e.message);
		skip("the kernel does not let us count its events");
	} else if (perfex_start(p, &e) < 0) {
		printf("# %s\n", e.message);
		skip("the kernel does not let us count its events");
	} else {
		in_thread(10 * PAGES);
		fault(PAGES);
		perfex_stop(p, &e);
		is_int(perfex_read(p, &v, 1, &e), 1, "a perf event is read: %s", e.message);
		if (v.label == PERFEX_NONE)
			ok(v.value != v.value && v.why[0], "not counted, and why: %s", v.why);
		else
			ok(v.value >= PAGES && v.value < 10 * PAGES, "of this thread alone: %g",
				v.value);
	}
	perfex_close(p);
}

/* An event of the processor: counted, or refused with the way out. */
static void hardware(void)
{
	struct perfex *p = perfex_open(PERFEX_THREAD, &e);
	struct perfex_value v = {0};

	if (perfex_add(p, "gi", &e) == 0) {
		perfex_start(p, &e);
		fault(PAGES);
		perfex_read(p, &v, 1, &e);
		ok(v.label == PERFEX_NONE || v.value > 0, "counters count: %g", v.value);
	} else {
		ok(e.code && e.message[0] && strstr(e.hint, "perfex -source model"),
			"refused: %s; %s", e.message, e.hint);
	}
	perfex_close(p);
}

static void classic(void)
{
	long long c0 = 0, c1 = 0;
	int first, second, e0 = 65, e1 = 69;

	unsetenv("T5_EVENT0");
	unsetenv("T5_EVENT1");
	errno = 0;
	is_int(read_counters(65, &c0, 69, &c1), -1, "nothing was started");
	ok(c0 == -1 && c1 == -1 && errno == EINVAL && perfex_last_error()->message[0],
		"no silent zeros: %s", perfex_last_error()->message);
	first = start_counters(65, 69);
	ok(first > 0, "start: %s", perfex_last_error()->message);
	fault(PAGES);
	is_int(read_counters(65, &c0, 69, &c1), first, "reading gives the generation");
	ok(c0 >= PAGES && c0 < 2 * PAGES && c1 > 0, "%lld faults, %lld ns", c0, c1);
	is_int(read_counters(65, &c0, 69, &c1), -1, "reading stops the counters");
	second = start_counters_(&e0, &e1);
	ok(second > first, "a new generation");
	is_int(read_counters_(&e0, &c0, &e1, &c1), second, "Fortran's names do the same");
	ok(c0 < PAGES, "from zero: %lld", c0);
	start_counters(65, 69);
	is_int(read_counters(69, &c0, 65, &c1), -1, "others than were started: %s",
		perfex_last_error()->message);
	is_int(start_counters(65, 12345), -1, "no such event: %s", perfex_last_error()->message);
	is_int(read_counters(65, &c0, 69, &c1), -1, "a failed start leaves nothing running");
}

static void costs(void)
{
	char name[] = "/tmp/test_libperfex.XXXXXX", padded[64], missing[] = "/nowhere/costs";
	int fd = mkstemp(name);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return;
	is_int(load_costs(missing), -1, "no such file: %s", perfex_last_error()->message);
	fputs("pf 1 1 1 parsecs\n", f);
	fflush(f);
	is_int(load_costs(name), -1, "a malformed one: %s", perfex_last_error()->message);
	rewind(f);
	fputs("pf 700 300 3000 ns\n", f);
	fclose(f);
	is_int(load_costs(name), 0, "a good one");
	snprintf(padded, sizeof(padded), "%-60s", name);
	is_int(load_costs_(padded, 60), 0, "Fortran's, with blanks behind it");
	unlink(name);
}

int main(void)
{
	build_data();
	order();
	spans();
	scopes();
	threads_apart();
	kernel_events();
	hardware();
	classic();
	costs();
	return done();
}
