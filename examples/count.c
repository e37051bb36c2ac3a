/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modern calls of libperfex: any number of events around a piece of a program, twice.
 *
 *     count [EVENT ...]       as for `perfex -e`; default: task-clock and page-faults
 */
#include <stdio.h>
#include <stdlib.h>

#include "perfex.h"

enum { EVENTS_MAX = 32 };

/* Reads (or writes) four bytes of each page. */
static void touch(volatile char *memory, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = (char)i;
}

static int failed(const char *what, const struct perfex_error *e)
{
	fprintf(stderr, "count: %s: %s\n", what, e->message);
	if (e->hint[0])
		fprintf(stderr, "count: %s\n", e->hint);
	return 1;
}

static int report(struct perfex *p, const char *what, int events)
{
	struct perfex_value value[EVENTS_MAX];
	struct perfex_error error;
	int n = perfex_read(p, value, events, &error);

	if (n < 0)
		return failed("read", &error);
	printf("%s\n", what);
	for (int i = 0; i < n; i++) {
		if (value[i].label == PERFEX_NONE)
			printf("  %-40s not counted: %s\n", perfex_event_name(p, i), value[i].why);
		else
			printf("  %-40s %16.0f %s (%s)\n", perfex_event_name(p, i), value[i].value,
				perfex_label_name(value[i].label), perfex_event_source(p, i));
	}
	return 0;
}

static int count(struct perfex *p, int argc, char **argv, volatile char *memory, size_t size)
{
	static char *usual[] = {"task-clock", "page-faults"};
	struct perfex_error error;
	char **event = argc > 1 ? argv + 1 : usual;
	int events = argc > 1 ? argc - 1 : 2;

	for (int i = 0; i < events && i < EVENTS_MAX; i++)
		if (perfex_add(p, event[i], &error) < 0)
			return failed(event[i], &error);
	if (events > EVENTS_MAX)
		events = EVENTS_MAX;
	if (perfex_start(p, &error) < 0)
		return failed("start", &error);
	touch(memory, size);
	if (perfex_stop(p, &error) < 0)
		return failed("stop", &error);
	if (report(p, "first touch of 4 MiB", events))
		return 1;
	/* Going on: the second pass adds to the first. */
	if (perfex_start(p, &error) < 0)
		return failed("start", &error);
	touch(memory, size);
	if (perfex_stop(p, &error) < 0)
		return failed("stop", &error);
	return report(p, "and the second on top", events);
}

int main(int argc, char **argv)
{
	size_t size = 4 << 20;
	char *memory = malloc(size);
	struct perfex_error error;
	struct perfex *p = perfex_open(PERFEX_THREAD, &error);
	int status;

	if (!p)
		return failed("open", &error);
	if (!memory) {
		fprintf(stderr, "count: out of memory\n");
		return 1;
	}
	status = count(p, argc, argv, memory, size);
	perfex_close(p);
	free(memory);
	return status;
}
