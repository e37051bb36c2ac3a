/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/grouping.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "sources/perf_open.h"

/* The members of group g, followed by candidate. Returns their number. */
static size_t grouping_collect(const size_t *group_of, size_t candidate, size_t g, size_t *members)
{
	size_t n = 0;

	for (size_t i = 0; i < candidate; i++)
		if (group_of[i] == g)
			members[n++] = i;
	members[n++] = candidate;
	return n;
}

size_t grouping_make(
	size_t count, grouping_fits *fits, void *context, size_t *group_of, struct error *e)
{
	size_t *members = calloc(count + 1, sizeof(*members)), groups = 0;

	if (!members) {
		error_nomem(e);
		return GROUP_NONE;
	}
	for (size_t i = 0; i < count; i++) {
		group_of[i] = GROUP_NONE;
		for (size_t g = 0; g <= groups && group_of[i] == GROUP_NONE; g++) {
			size_t n = grouping_collect(group_of, i, g, members);

			if (fits(context, members, n))
				group_of[i] = g;
		}
		if (group_of[i] == groups)
			groups++;
	}
	free(members);
	return groups;
}

/* Nanoseconds that the group of fd was on the counters; patient for 2 ms, as other users take turns
 * too. */
static uint64_t got_on(int fd)
{
	uint64_t words[3] = {0, 0, 0};
	double begin = clock_seconds();

	ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	do {
		if (read(fd, words, sizeof(words)) != (ssize_t)sizeof(words))
			return 0;
	} while (words[2] == 0 && clock_seconds() - begin < 2e-3);
	return words[2];
}

bool grouping_try(struct perf_event_attr *const *attrs, size_t count)
{
	int *fds = calloc(count ? count : 1, sizeof(*fds));
	size_t opened = 0;
	bool fits = fds != NULL;
	int errnum = EBUSY;

	for (; fits && opened < count; opened++) {
		struct perf_event_attr attr = *attrs[opened];

		attr.disabled = opened == 0;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		fds[opened] = perf_open(&attr, 0, -1, opened ? fds[0] : -1);
		if (fds[opened] < 0) {
			errnum = errno;
			fits = false;
			break;
		}
	}
	fits = fits && count && got_on(fds[0]) > 0;
	while (opened)
		close(fds[--opened]);
	free(fds);
	errno = errnum;
	return fits;
}
