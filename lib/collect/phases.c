/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void phases_init(struct phases *p, struct experiment *x, struct spaces *spaces)
{
	memset(p, 0, sizeof(*p));
	p->experiment = x;
	p->spaces = spaces;
	p->fd = -1;
}

#define FILE_PREFIX "ssrun-points."

/* Files of processes that were killed: their lock is free. */
static void remove_stale(const char *directory)
{
	DIR *d = opendir(directory);
	const char *name;

	while ((name = file_next(d, FILE_PREFIX))) {
		int fd = openat(dirfd(d), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(d), name, 0);
		close(fd);
	}
	if (d)
		closedir(d);
}

/*
 * Memory without a name, which ends with us and the program, also if we are killed. Processes of
 * the program find it among our descriptors in /proc: the kernel allows that, unless we have more
 * capabilities than they (PR_GET_DUMPABLE).
 */
static int make_nameless(struct phases *p)
{
	int fd = prctl(PR_GET_DUMPABLE) == 1 ? memfd_create("ssrun-points", MFD_CLOEXEC) : -1;

	if (fd < 0)
		return -1;
	if (asprintf(&p->path, "/proc/%d/fd/%d", (int)getpid(), fd) < 0)
		p->path = NULL;
	if (p->path && fchmod(fd, 0600) == 0 && access(p->path, R_OK | W_OK) == 0) {
		p->fd = fd;
		return 0;
	}
	free(p->path);
	p->path = NULL;
	close(fd);
	return -1;
}

static int make_file(struct phases *p)
{
	const char *directories[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};

	if (make_nameless(p) == 0)
		return 0;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (!directories[i])
			continue;
		remove_stale(directories[i]);
		if (asprintf(&p->path, "%s/" FILE_PREFIX "XXXXXX", directories[i]) < 0) {
			p->path = NULL;
			return -1;
		}
		p->fd = mkostemp(p->path, O_CLOEXEC);
		p->named = p->fd >= 0;
		if (p->named)
			return flock(p->fd, LOCK_SH);
		free(p->path);
		p->path = NULL;
	}
	return -1;
}

int phases_listen(struct phases *p, struct error *e)
{
	size_t size = sizeof(struct points) + POINTS_ROOM * sizeof(struct point);
	void *map = MAP_FAILED;

	if (make_file(p))
		return error_sys(e, errno, "cannot create a file for caliper points");
	if (ftruncate(p->fd, (off_t)size) == 0)
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (map == MAP_FAILED)
		return error_sys(e, errno, "cannot map a file for caliper points");
	p->points = map;
	p->size = size;
	p->points->room = POINTS_ROOM;
	p->points->listening = 1;
	p->points->magic = POINTS_MAGIC;
	return 0;
}

static int phases_insert(struct phases *p, const struct phase_point *point)
{
	struct phase_point *list, *last = vec_push(&p->pending);
	size_t at;

	if (!last)
		return -1;
	list = p->pending.data;
	for (at = p->pending.count - 1; at > p->next && list[at - 1].time > point->time; at--)
		list[at] = list[at - 1];
	list[at] = *point;
	return 0;
}

int phases_read(struct phases *p)
{
	uint64_t taken, room;

	if (!p->points)
		return 0;
	room = POINTS_ROOM;
	taken = __atomic_load_n(&p->points->taken, __ATOMIC_ACQUIRE);
	if (taken - p->seen > room) {
		p->lost += taken - p->seen - room;
		p->seen = taken - room;
	}
	for (; p->seen < taken; p->seen++) {
		const struct point *slot = &p->points->point[p->seen % room];
		struct phase_point point = {0};
		uint64_t ready = __atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE);

		if (ready < p->seen + 1)
			break; /* taken, but not yet filled */
		point.time = slot->time;
		point.kind = slot->kind;
		point.pid = (pid_t)slot->pid;
		point.tid = (pid_t)slot->tid;
		memcpy(point.name, slot->name, sizeof(point.name) - 1);
		if (ready > p->seen + 1 || point.kind == POINT_VOID ||
			__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) != ready) {
			p->lost++; /* it was written over, or never written */
			continue;
		}
		if (phases_insert(p, &point))
			return -1;
	}
	return 0;
}

int phases_point(struct phases *p, uint64_t time)
{
	struct phase_point point = {.time = time, .kind = POINT_CALIPER};

	snprintf(point.name, sizeof(point.name), "%u", ++p->outside);
	return phases_insert(p, &point);
}

static int begin_phase(struct phases *p, const struct phase_point *point)
{
	uint64_t began = p->spaces->began;
	struct experiment_phase phase = {
		.time = point->time > began ? point->time - began : 0, .name = (char *)point->name};
	long index;

	if (point->pid) {
		struct process *process = spaces_process(p->spaces, point->pid, point->time);
		long thread = process ? spaces_thread(p->spaces, process, point->tid) : -1;

		if (thread < 0)
			return -1;
		phase.thread = (uint32_t)thread;
	}
	index = experiment_phase(p->experiment, &phase, NULL);
	if (index < 0)
		return -1;
	p->current = (uint32_t)index;
	return 0;
}

static int phases_pass(struct phases *p, const struct phase_point *point)
{
	if (p->ended || (p->changing && p->changing(p->context, point)))
		return p->ended ? 0 : -1;
	p->cut |= point->kind == POINT_SUSPEND || point->kind == POINT_CLEAR ||
		  point->kind == POINT_END;
	switch (point->kind) {
	case POINT_CALIPER:
		return begin_phase(p, point);
	case POINT_SUSPEND:
		p->suspended = true;
		return 0;
	case POINT_RESTART:
		p->suspended = false;
		return 0;
	case POINT_END:
		p->ended = true;
		return 0;
	default:
		return 0;
	}
}

int phases_advance(struct phases *p, uint64_t time)
{
	while (p->next < p->pending.count && p->pending.data[p->next].time <= time) {
		struct phase_point point = p->pending.data[p->next++];

		if (phases_pass(p, &point))
			return -1;
	}
	if (p->next && p->next == p->pending.count)
		p->next = p->pending.count = 0;
	return 0;
}

void phases_fini(struct phases *p)
{
	if (p->points) {
		p->points->listening = 0;
		munmap(p->points, p->size);
	}
	if (p->named)
		unlink(p->path);
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	vec_fini(&p->pending);
	memset(p, 0, sizeof(*p));
	p->fd = -1;
}
