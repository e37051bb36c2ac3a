/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/model_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "model/wire/shared.h"
#include "sources/clock_sums.h"
#include "sources/windows.h"

#define READ_TRIES 100

/* ---- sums ---- */

void model_sums_fini(struct model_sums *s)
{
	vec_fini(&s->rows);
	memset(s, 0, sizeof(*s));
}

static struct model_row *row_find(struct model_sums *s, pid_t pid, pid_t tid)
{
	for (size_t i = s->rows.count; i-- > 0;)
		if (s->rows.data[i].pid == pid && s->rows.data[i].tid == tid)
			return &s->rows.data[i];
	return NULL;
}

static int row_add(struct model_sums *s, pid_t pid, pid_t tid, const char *command,
	const uint64_t *counts, struct error *e)
{
	struct model_row *row = row_find(s, pid, tid);

	if (!row) {
		row = vec_push(&s->rows);
		if (!row)
			return error_nomem(e);
		row->pid = pid;
		row->tid = tid;
	}
	memcpy(row->command, command, sizeof(row->command)); /* of the last program executed */
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		row->counts[i] += counts[i];
	return 0;
}

static void add_others(struct model_sums *to, const struct model_sums *from)
{
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		to->total[i] += from->total[i];
	if (!to->native)
		memcpy(to->native_program, from->native_program, sizeof(to->native_program));
	windows_add(&to->windows, &from->windows);
	clock_sums_add(&to->clock, &from->clock);
	to->native += from->native;
	to->lost += from->lost;
	to->unprofiled += from->unprofiled;
	to->images += from->images;
}

int model_sums_add(struct model_sums *to, const struct model_sums *from, struct error *e)
{
	add_others(to, from);
	for (size_t i = 0; i < from->rows.count; i++) {
		const struct model_row *row = &from->rows.data[i];

		if (row_add(to, row->pid, row->tid, row->command, row->counts, e))
			return -1;
	}
	return 0;
}

void model_sums_subtract(struct model_sums *to, const struct model_sums *from)
{
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		to->total[i] -= from->total[i];
	windows_subtract(&to->windows, &from->windows);
	clock_sums_subtract(&to->clock, &from->clock);
	for (size_t r = 0; r < from->rows.count; r++) {
		const struct model_row *less = &from->rows.data[r];
		struct model_row *row = row_find(to, less->pid, less->tid);

		for (size_t i = 0; row && i < EVENT_LIMIT; i++)
			row->counts[i] -= less->counts[i];
	}
}

/* ---- files ---- */

static bool model_counts_read_whole(int fd, struct model_shared *into, size_t size)
{
	return pread(fd, into, size, 0) == (ssize_t)size;
}

/* Completes an addition to the sum of ended threads that a process began before it died. */
static void end_folding(struct model_shared *f, size_t slots)
{
	if (f->folding && f->folding < slots) {
		memcpy(f->slots[0].counts, f->slots[1].counts, sizeof(f->slots[0].counts));
		memset(f->slots[f->folding].counts, 0, sizeof(f->slots[0].counts));
	}
}

/* A copy of the file, taken while no threads were being folded (of a process that ended: however it
 * is); NULL if there is nothing in it yet. */
static struct model_shared *copy_file(int fd, bool ended, size_t *slots, struct error *e)
{
	struct model_shared *copy = NULL, after;
	struct stat st;

	for (int i = 0; i < READ_TRIES; i++) {
		struct model_shared *bigger;

		if (fstat(fd, &st) != 0 || (size_t)st.st_size < sizeof(*copy))
			break;
		bigger = realloc(copy, (size_t)st.st_size);
		if (!bigger) {
			error_nomem(e);
			break;
		}
		copy = bigger;
		if (!model_counts_read_whole(fd, copy, (size_t)st.st_size) ||
			copy->magic != MODEL_SHARED_MAGIC || copy->version != MODEL_SHARED_VERSION)
			break;
		if (!model_counts_read_whole(fd, &after, sizeof(after)))
			break;
		*slots = ((size_t)st.st_size - sizeof(*copy)) / sizeof(copy->slots[0]);
		if (ended || (!(copy->folds & 1) && copy->folds == after.folds)) {
			end_folding(copy, *slots);
			return copy;
		}
		usleep(100);
	}
	free(copy);
	return NULL;
}

static bool any(const uint64_t *counts)
{
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		if (counts[i])
			return true;
	return false;
}

/* The thread whose row gets a slot's counts. Counts that belong to none (lines that a fork left in
 * the caches of the parent's other threads) are added to the first thread's; 0 is the slot of
 * threads that ended and were added up. */
static pid_t model_counts_thread_of(
	const struct model_shared *f, const struct model_shared_slot *slot)
{
	if (slot->state != MODEL_SLOT_FREE && slot->tid)
		return slot->tid;
	return f->folds ? 0 : f->pid;
}

static int model_counts_add_file(struct model_sums *to, const struct model_shared *f, size_t slots,
	bool rows, struct error *e)
{
	struct model_sums one = {.images = 1,
		.lost = f->lost_children,
		.native = f->native_programs,
		.unprofiled = f->lost_profiles,
		.windows = f->windows,
		.clock = f->clock};

	memcpy(one.native_program, f->native_program, sizeof(one.native_program));
	one.native_program[sizeof(one.native_program) - 1] = '\0';
	for (size_t s = 0; s < slots; s++) {
		const struct model_shared_slot *slot = &f->slots[s];

		if (slot->state == MODEL_SLOT_JOURNAL)
			continue;
		for (size_t i = 0; i < EVENT_LIMIT; i++)
			one.total[i] += slot->counts[i];
		if (rows && any(slot->counts) &&
			row_add(to, f->pid, model_counts_thread_of(f, slot), f->command,
				slot->counts, e))
			return -1;
	}
	add_others(to, &one);
	return 0;
}

/* One file: to the sum of what ended if its process image did, else to *now. */
static int model_counts_take_file(struct model_counts *c, int directory, const char *name,
	struct model_sums *now, struct error *e)
{
	struct error why = {0};
	struct model_shared *f;
	size_t slots = 0;
	bool ended;
	int rc = 0, fd = openat(directory, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : error_sys(e, errno, "cannot open %s/%s", c->directory, name);
	ended = flock(fd, LOCK_EX | LOCK_NB) == 0;
	f = copy_file(fd, ended, &slots, &why);
	if (!f && why.code)
		rc = error_nomem(e);
	if (f)
		rc = model_counts_add_file(ended ? &c->ended : now, f, slots, c->per_thread, e);
	if (f && ended && rc == 0)
		unlinkat(directory, name, 0);
	free(f);
	close(fd);
	return rc;
}

int model_counts_read(struct model_counts *c, struct model_sums *now, struct error *e)
{
	DIR *d = opendir(c->directory);
	const char *name;
	int rc = 0;

	memset(now, 0, sizeof(*now));
	if (!d)
		return error_sys(e, errno, "cannot read %s", c->directory);
	while (rc == 0 && (name = file_next(d, MODEL_SHARED_PREFIX)))
		rc = model_counts_take_file(c, dirfd(d), name, now, e);
	closedir(d);
	if (rc == 0)
		rc = model_sums_add(now, &c->ended, e);
	if (rc)
		model_sums_fini(now);
	return rc;
}

void model_counts_fini(struct model_counts *c)
{
	model_sums_fini(&c->ended);
}
