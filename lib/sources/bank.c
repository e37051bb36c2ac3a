/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/bank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/proc.h"
#include "sources/perf_open.h"

static struct bank_task *task_new(struct bank *b, pid_t tid)
{
	struct bank_task *task = vec_push(&b->tasks);

	if (task)
		task->tid = tid;
	return task;
}

static int list_tasks(struct bank *b, struct error *e)
{
	DIR *list = proc_list(b->pid);
	int rc = 0;
	pid_t tid;

	if (!list)
		return error_set(e, ERR_NOT_FOUND, "process %d does not exist", (int)b->pid);
	while (rc == 0 && (tid = proc_next(list)))
		rc = task_new(b, tid) ? 0 : error_nomem(e);
	closedir(list);
	if (rc)
		return rc;
	if (!b->tasks.count)
		return error_set(e, ERR_NOT_FOUND, "process %d has ended", (int)b->pid);
	return 0;
}

int bank_begin(struct bank *b, pid_t pid, bool running, const struct source_options *options,
	struct error *e)
{
	memset(b, 0, sizeof(*b));
	b->pid = pid;
	b->running = running;
	b->from_exec = options->from_exec && !running;
	b->alone = options->alone;
	b->each = options->per_thread;
	/* With per_thread the threads of a running process are given to bank_join as well. */
	if (running && !b->each) {
		if (list_tasks(b, e) == 0)
			return 0;
	} else if (running || task_new(b, pid)) {
		return 0;
	} else {
		error_nomem(e);
	}
	bank_close(b);
	return -1;
}

static void bank_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void fill_attr(const struct bank *b, struct perf_event_attr *attr, bool leads)
{
	attr->disabled = leads;
	attr->enable_on_exec = leads && b->from_exec;
	attr->inherit = !b->alone && !b->each;
	attr->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
}

/* Opens event k on a task. 1: done, 0: the thread has ended, which is allowed; -1 with errno. */
static int open_on(struct bank *b, struct bank_task *task, size_t k)
{
	struct bank_event *event = &b->events.data[k];
	int group = event->leader == k ? -1 : task->fds[event->leader];

	task->fds[k] = -1;
	if (event->leader != k && group < 0)
		return 0;
	task->fds[k] = perf_open(&event->attr, task->tid, -1, group);
	if (task->fds[k] >= 0)
		return 1;
	return errno == ESRCH && b->running ? 0 : -1;
}

static bool bank_make_room(struct bank_task *task, size_t count)
{
	size_t bigger = count < 8 ? 8 : count * 2;
	int *moved;

	if (count <= task->capacity)
		return true;
	moved = realloc(task->fds, bigger * sizeof(*moved));
	if (!moved)
		return false;
	task->fds = moved;
	task->capacity = bigger;
	return true;
}

/* Before the first thread has joined: whether the event could be opened at all. */
static int try_on_process(struct bank *b, struct bank_event *event)
{
	int fd = perf_open(&event->attr, b->pid, -1, -1);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

/* The event with the highest index, on all tasks; -1 with errno. */
static int open_on_all(struct bank *b)
{
	size_t k = b->events.count - 1, opened = 0;
	int errnum = ESRCH;

	if (!b->tasks.count)
		return try_on_process(b, &b->events.data[k]);
	for (size_t i = 0; i < b->tasks.count; i++) {
		struct bank_task *task = &b->tasks.data[i];
		int rc = -1;

		errno = ENOMEM;
		if (bank_make_room(task, k + 1))
			rc = open_on(b, task, k);
		if (rc < 0) {
			errnum = errno;
			for (size_t j = 0; j < i; j++)
				bank_close_fd(&b->tasks.data[j].fds[k]);
			errno = errnum;
			return -1;
		}
		opened += (size_t)rc;
	}
	errno = errnum;
	return opened ? 0 : -1;
}

int bank_add(struct bank *b, const struct perf_event_attr *attr, size_t leader)
{
	struct bank_event *event = vec_push(&b->events);

	if (!event || !vec_push(&b->past)) {
		if (event)
			b->events.count--;
		errno = ENOMEM;
		return -1;
	}
	event->attr = *attr;
	event->leader = leader == BANK_LEADER ? b->events.count - 1 : leader;
	fill_attr(b, &event->attr, leader == BANK_LEADER);
	if (open_on_all(b) == 0)
		return 0;
	b->events.count--;
	b->past.count--;
	return -1;
}

int bank_enable(struct bank *b, bool on, struct error *e)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	bool by_exec = on && b->from_exec && !b->started;

	b->started |= on;
	b->on = on;
	for (size_t k = 0; k < b->events.count && !by_exec; k++) {
		if (b->events.data[k].leader != k)
			continue;
		for (size_t i = 0; i < b->tasks.count; i++) {
			int fd = b->tasks.data[i].fds[k];

			if (fd >= 0 && ioctl(fd, request, 0) != 0)
				return error_sys(
					e, errno, "cannot %s a counter", on ? "start" : "stop");
		}
	}
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

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

/* A group on one task: number, enabled, running, and the values in the order of opening. */
static int bank_add_group(struct bank *b, const struct bank_task *task, size_t leader,
	struct bank_value *values, struct error *e)
{
	size_t members = 0, at = 3;

	for (size_t k = leader; k < b->events.count; k++)
		members += b->events.data[k].leader == leader && task->fds[k] >= 0;
	if (read_fd(b, task->fds[leader], 3 + members, e) != 0)
		return -1;
	for (size_t k = leader; k < b->events.count; k++) {
		if (b->events.data[k].leader != leader || task->fds[k] < 0)
			continue;
		values[k].value += b->scratch[at++];
		values[k].enabled += b->scratch[1];
		values[k].running += b->scratch[2];
	}
	return 0;
}

static int add_task(
	struct bank *b, const struct bank_task *task, struct bank_value *values, struct error *e)
{
	for (size_t k = 0; k < b->events.count; k++)
		if (b->events.data[k].leader == k && task->fds[k] >= 0 &&
			bank_add_group(b, task, k, values, e) != 0)
			return -1;
	return 0;
}

int bank_read_task(struct bank *b, size_t task, struct bank_value *values, struct error *e)
{
	memset(values, 0, b->events.count * sizeof(*values));
	return add_task(b, &b->tasks.data[task], values, e);
}

int bank_read(struct bank *b, struct bank_value *values, struct error *e)
{
	if (b->events.count)
		memcpy(values, b->past.data, b->events.count * sizeof(*values));
	for (size_t i = 0; i < b->tasks.count; i++)
		if (add_task(b, &b->tasks.data[i], values, e) != 0)
			return -1;
	return 0;
}

/* ---- threads that begin and end -------------------------------------------------------------- */

static void task_close(struct bank *b, struct bank_task *task, size_t opened)
{
	for (size_t k = 0; k < opened && k < b->events.count; k++)
		bank_close_fd(&task->fds[k]);
	free(task->fds);
	task->fds = NULL;
}

int bank_join(struct bank *b, pid_t tid)
{
	struct bank_task *task = task_new(b, tid);
	size_t k = 0;
	int rc = 0;

	errno = ENOMEM;
	if (!task || !bank_make_room(task, b->events.count))
		rc = -1;
	for (; rc >= 0 && k < b->events.count; k++) {
		struct perf_event_attr *attr = &b->events.data[k].attr, asked = *attr;

		/* The process is past its exec. */
		attr->enable_on_exec = 0;
		attr->disabled = asked.disabled && !b->on;
		rc = open_on(b, task, k);
		*attr = asked;
	}
	if (rc >= 0)
		return 0;
	rc = errno;
	if (task) {
		task_close(b, task, k);
		b->tasks.count--;
	}
	errno = rc;
	return -1;
}

static struct bank_task *task_find(struct bank *b, pid_t tid)
{
	for (size_t i = b->tasks.count; i-- > 0;)
		if (b->tasks.data[i].tid == tid)
			return &b->tasks.data[i];
	return NULL;
}

int bank_leave(struct bank *b, pid_t tid, struct bank_value *values, struct error *e)
{
	struct bank_task *task = task_find(b, tid);

	memset(values, 0, b->events.count * sizeof(*values));
	if (!task)
		return 0;
	if (add_task(b, task, values, e) != 0)
		return -1;
	for (size_t k = 0; k < b->events.count; k++) {
		b->past.data[k].value += values[k].value;
		b->past.data[k].enabled += values[k].enabled;
		b->past.data[k].running += values[k].running;
	}
	task_close(b, task, b->events.count);
	*task = b->tasks.data[--b->tasks.count];
	return 0;
}

void bank_rename(struct bank *b, pid_t former, pid_t tid)
{
	struct bank_task *task = task_find(b, former);

	if (task)
		task->tid = tid;
}

void bank_close(struct bank *b)
{
	for (size_t i = 0; i < b->tasks.count; i++)
		task_close(b, &b->tasks.data[i], b->tasks.data[i].capacity);
	vec_fini(&b->events);
	vec_fini(&b->tasks);
	vec_fini(&b->past);
	free(b->scratch);
	memset(b, 0, sizeof(*b));
}
