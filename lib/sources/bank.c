/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/bank.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vec.h"
#include "sources/perf_open.h"

static int list_tasks(struct bank *b, struct error *e)
{
	VEC(pid_t) tasks = {0};
	char path[64];
	struct dirent *entry;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->pid);
	d = opendir(path);
	if (!d)
		return error_set(e, ERR_NOT_FOUND, "there is no process %d", (int)b->pid);
	while ((entry = readdir(d))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10), *slot;

		if (tid <= 0)
			continue;
		slot = vec_push(&tasks);
		if (!slot) {
			closedir(d);
			vec_fini(&tasks);
			return error_nomem(e);
		}
		*slot = tid;
	}
	closedir(d);
	b->tasks = tasks.data;
	b->task_count = tasks.count;
	if (!tasks.count)
		return error_set(e, ERR_NOT_FOUND, "process %d has ended", (int)b->pid);
	return 0;
}

static int one_task(struct bank *b, struct error *e)
{
	b->tasks = malloc(sizeof(*b->tasks));
	if (!b->tasks)
		return error_nomem(e);
	b->tasks[0] = b->pid;
	b->task_count = 1;
	return 0;
}

/* "0-3,5" of /sys/devices/system/cpu/online */
static int list_cpus(struct bank *b, struct error *e)
{
	VEC(int) cpus = {0};
	char text[4096] = "0", *at = text, *end;
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	bool lost = false;

	if (f) {
		if (!fgets(text, sizeof(text), f))
			strcpy(text, "0");
		fclose(f);
	}
	for (;;) {
		long first = strtol(at, &end, 10), last = first;

		if (end == at)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long cpu = first; cpu <= last; cpu++) {
			int *slot = vec_push(&cpus);

			if (slot)
				*slot = (int)cpu;
			lost |= !slot;
		}
		at = *end == ',' ? end + 1 : end;
	}
	b->cpus = cpus.data;
	b->cpu_count = cpus.count;
	return lost || !cpus.count ? error_nomem(e) : 0;
}

static int any_cpu(struct bank *b, struct error *e)
{
	b->cpus = malloc(sizeof(*b->cpus));
	if (!b->cpus)
		return error_nomem(e);
	b->cpus[0] = -1;
	b->cpu_count = 1;
	return 0;
}

int bank_begin(struct bank *b, pid_t pid, bool running, unsigned flags, struct error *e)
{
	memset(b, 0, sizeof(*b));
	b->pid = pid;
	b->running = running;
	b->flags = running ? flags & ~(unsigned)BANK_FROM_EXEC : flags;
	if ((running ? list_tasks(b, e) : one_task(b, e)) != 0 ||
		(flags & BANK_PER_CPU ? list_cpus(b, e) : any_cpu(b, e)) != 0) {
		bank_close(b);
		return -1;
	}
	return 0;
}

static void close_fds(struct bank_event *event, size_t places)
{
	for (size_t i = 0; i < places; i++)
		if (event->fds[i] >= 0)
			close(event->fds[i]);
	free(event->fds);
}

static void fill_attr(const struct bank *b, struct perf_event_attr *attr, bool leads, bool out)
{
	attr->disabled = leads;
	attr->enable_on_exec = leads && !out && (b->flags & BANK_FROM_EXEC);
	attr->inherit = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (b->flags & BANK_PER_THREAD) {
		attr->inherit_stat = 1;
		attr->read_format |= PERF_FORMAT_ID;
		attr->sample_id_all = 1;
		attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	} else {
		attr->read_format |= PERF_FORMAT_GROUP;
	}
}

/* Opens event at all places; -1 with errno. */
static int open_places(struct bank *b, struct bank_event *event, const struct bank_event *leader)
{
	size_t places = bank_places(b), opened = 0;
	int errnum = ESRCH;

	for (size_t i = 0; i < places; i++)
		event->fds[i] = -1;
	for (size_t i = 0; i < places; i++) {
		pid_t task = b->tasks[i / b->cpu_count];
		int cpu = b->cpus[i % b->cpu_count];

		if (leader && leader->fds[i] < 0)
			continue;
		event->fds[i] = perf_open(&event->attr, task, cpu, leader ? leader->fds[i] : -1);
		if (event->fds[i] >= 0)
			opened++;
		else if (errno != ESRCH ||
			 !b->running) { /* of a running process, threads may end */
			errnum = errno;
			opened = 0;
			break;
		}
	}
	if (opened)
		return 0;
	close_fds(event, places);
	errno = errnum;
	return -1;
}

int bank_add(struct bank *b, const struct perf_event_attr *attr, size_t leader, bool out)
{
	struct bank_event *event =
		vec_grow((void **)&b->events, &b->count, &b->capacity, sizeof(*b->events));

	if (!event) {
		errno = ENOMEM;
		return -1;
	}
	event->attr = *attr;
	event->leader = leader == BANK_LEADER ? b->count - 1 : leader;
	event->out = out;
	fill_attr(b, &event->attr, leader == BANK_LEADER, out);
	event->fds = malloc(bank_places(b) * sizeof(*event->fds));
	if (!event->fds) {
		b->count--;
		errno = ENOMEM;
		return -1;
	}
	if (open_places(b, event, leader == BANK_LEADER ? NULL : &b->events[leader]) != 0) {
		b->count--;
		return -1;
	}
	return 0;
}

static int order(const struct bank *b, size_t leader, bool on, struct error *e)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	const int *fds = b->events[leader].fds;

	for (size_t i = 0; i < bank_places(b); i++)
		if (fds[i] >= 0 && ioctl(fds[i], request, 0) != 0)
			return error_sys(e, errno, "cannot %s a counter", on ? "start" : "stop");
	return 0;
}

int bank_enable(struct bank *b, bool on, struct error *e)
{
	bool by_exec = on && (b->flags & BANK_FROM_EXEC) && !b->started;

	b->started |= on;
	b->on = on;
	for (size_t k = 0; k < b->count && !by_exec; k++)
		if (b->events[k].leader == k && !b->events[k].out && order(b, k, on, e) != 0)
			return -1;
	return 0;
}

int bank_switch(struct bank *b, size_t leader, bool in, struct error *e)
{
	b->events[leader].out = !in;
	return b->on ? order(b, leader, in, e) : 0;
}

static int read_fd(struct bank *b, int fd, size_t words, struct error *e)
{
	ssize_t n;

	if (words > b->scratch_size) {
		uint64_t *grown = realloc(b->scratch, words * sizeof(*grown));

		if (!grown)
			return error_nomem(e);
		b->scratch = grown;
		b->scratch_size = words;
	}
	n = read(fd, b->scratch, words * sizeof(*b->scratch));
	if (n < 0)
		return error_sys(e, errno, "cannot read a counter");
	/* An event in the error state (its group never fitted) reads as end of file: nothing was
	 * counted. */
	if ((size_t)n < words * sizeof(*b->scratch))
		memset((char *)b->scratch + n, 0, words * sizeof(*b->scratch) - (size_t)n);
	return 0;
}

/* One event of its own at one place: value, enabled, running. */
static int read_single(
	struct bank *b, size_t k, size_t place, struct bank_value *v, struct error *e)
{
	if (read_fd(b, b->events[k].fds[place], 4, e) != 0)
		return -1;
	v->value += b->scratch[0];
	v->enabled += b->scratch[1];
	v->running += b->scratch[2];
	return 0;
}

/* A group at one place: number, enabled, running, and the values in the order of opening. */
static int read_group(
	struct bank *b, size_t leader, size_t place, struct bank_value *values, struct error *e)
{
	size_t members = 0, at = 3;

	for (size_t k = leader; k < b->count; k++)
		members += b->events[k].leader == leader && b->events[k].fds[place] >= 0;
	if (read_fd(b, b->events[leader].fds[place], 3 + members, e) != 0)
		return -1;
	for (size_t k = leader; k < b->count; k++) {
		if (b->events[k].leader != leader || b->events[k].fds[place] < 0)
			continue;
		values[k].value += b->scratch[at++];
		values[k].enabled += b->scratch[1];
		values[k].running += b->scratch[2];
	}
	return 0;
}

static int add_task(struct bank *b, size_t task, struct bank_value *values, struct error *e)
{
	for (size_t k = 0; k < b->count; k++) {
		bool each = b->flags & BANK_PER_THREAD, leads = b->events[k].leader == k;

		for (size_t i = task * b->cpu_count; i < (task + 1) * b->cpu_count; i++) {
			if (b->events[k].fds[i] < 0 || (!each && !leads))
				continue;
			if ((each ? read_single(b, k, i, &values[k], e)
				  : read_group(b, k, i, values, e)) != 0)
				return -1;
		}
	}
	return 0;
}

int bank_read_task(struct bank *b, size_t task, struct bank_value *values, struct error *e)
{
	memset(values, 0, b->count * sizeof(*values));
	return add_task(b, task, values, e);
}

int bank_read(struct bank *b, struct bank_value *values, struct error *e)
{
	memset(values, 0, b->count * sizeof(*values));
	for (size_t task = 0; task < b->task_count; task++)
		if (add_task(b, task, values, e) != 0)
			return -1;
	return 0;
}

void bank_close(struct bank *b)
{
	while (b->count)
		close_fds(&b->events[--b->count], bank_places(b));
	free(b->tasks);
	free(b->cpus);
	free(b->events);
	free(b->scratch);
	memset(b, 0, sizeof(*b));
}
