/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/thread_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/proc.h"
#include "sources/perf_open.h"

static struct row *thread_row_add(struct rows *rows, pid_t pid, pid_t tid)
{
	struct row *row = vec_push(&rows->list);

	if (row) {
		row->pid = pid;
		row->tid = tid;
	}
	return row;
}

/* Of the thread that has that number now. */
static struct row *thread_row_find(struct rows *rows, pid_t tid)
{
	for (size_t i = rows->list.count; i-- > 0;)
		if (rows->list.data[i].tid == tid && !rows->list.data[i].ended)
			return &rows->list.data[i];
	return NULL;
}

static int thread_row_begins(
	struct rows *rows, struct bank *b, pid_t pid, pid_t tid, struct error *e)
{
	struct row *row = thread_row_add(rows, pid, tid);
	struct error why;

	if (!row)
		return error_nomem(e);
	if (bank_join(b, tid) == 0)
		return 0;
	if (errno == ESRCH)
		return 0;
	perf_explain(errno, &b->events.data[0].attr, tid, NULL, &why);
	if (!b->tasks.count) { /* not even the first */
		if (e)
			*e = why;
		return -1;
	}
	/* Its row has the reason, and the others continue. */
	rows->missed++;
	snprintf(row->why, sizeof(row->why), "%.*s", (int)sizeof(row->why) - 1, why.message);
	return 0;
}

static int thread_row_ends(struct rows *rows, struct bank *b, pid_t pid, pid_t tid,
	const char *command, struct error *e)
{
	struct row *row = thread_row_find(rows, tid);

	if (!row)
		row = thread_row_add(rows, pid, tid);
	if (!row || !(row->values = calloc(b->events.count + 1, sizeof(*row->values))))
		return error_nomem(e);
	row->ended = true;
	snprintf(row->command, sizeof(row->command), "%s", command);
	return bank_leave(b, tid, row->values, e);
}

int thread_rows_hear(struct rows *rows, struct bank *b, enum trace_news news, pid_t pid, pid_t tid,
	const char *command, struct error *e)
{
	struct row *row;

	switch (news) {
	case TRACE_BEGINS:
		return thread_row_begins(rows, b, pid, tid, e);
	case TRACE_ENDS:
		return thread_row_ends(rows, b, pid, tid, command, e);
	case TRACE_RENAMED:
		bank_rename(b, tid, pid);
		row = thread_row_find(rows, tid);
		if (row)
			row->tid = pid;
		return 0;
	}
	return 0;
}

/* Rows for threads that run and were not announced: the command itself. */
static int thread_add_running(struct rows *rows, struct bank *b, struct error *e)
{
	for (size_t i = 0; i < b->tasks.count; i++)
		if (!thread_row_find(rows, b->tasks.data[i].tid) &&
			!thread_row_add(rows, b->pid, b->tasks.data[i].tid))
			return error_nomem(e);
	return 0;
}

static int thread_read_row(
	struct bank *b, const struct row *row, struct bank_value *values, struct error *e)
{
	if (row->ended) {
		memcpy(values, row->values, b->events.count * sizeof(*values));
		return 0;
	}
	for (size_t i = 0; i < b->tasks.count; i++)
		if (b->tasks.data[i].tid == row->tid)
			return bank_read_task(b, i, values, e);
	memset(values, 0, b->events.count * sizeof(*values));
	return 0;
}

int thread_rows_report(struct rows *rows, struct bank *b, struct reading *r,
	void (*count)(void *session, const struct bank_value *values, struct count *counts),
	void *session, struct error *e)
{
	struct bank_value *values = calloc(b->events.count + 1, sizeof(*values));
	int rc = -1;

	if (!values)
		return error_nomem(e);
	if (thread_add_running(rows, b, e) != 0)
		goto out;
	for (size_t i = 0; i < rows->list.count; i++) {
		struct row *row = &rows->list.data[i];
		struct thread_reading *out = reading_add_thread(r);
		char name[sizeof(row->command)];

		if (!out) {
			error_nomem(e);
			goto out;
		}
		if (!row->ended && proc_name(row->tid, name, sizeof(name)))
			memcpy(row->command, name, sizeof(name));
		out->pid = row->pid;
		out->tid = row->tid;
		memcpy(out->command, row->command, sizeof(out->command));
		if (row->why[0]) {
			for (size_t k = 0; k < r->count; k++)
				snprintf(out->counts[k].why, sizeof(out->counts[k].why), "%s",
					row->why);
			continue;
		}
		if (thread_read_row(b, row, values, e) != 0)
			goto out;
		count(session, values, out->counts);
	}
	reading_sort_threads(r);
	rc = 0;
out:
	free(values);
	return rc;
}

void thread_rows_judge(const struct rows *rows, struct count *counts, size_t count)
{
	for (size_t i = 0; rows->missed && i < count; i++) {
		memset(&counts[i], 0, sizeof(counts[i]));
		snprintf(counts[i].why, sizeof(counts[i].why),
			"%zu thread%s could not be counted (see their rows)", rows->missed,
			plural(rows->missed));
	}
}

void thread_rows_fini(struct rows *rows)
{
	for (size_t i = 0; i < rows->list.count; i++)
		free(rows->list.data[i].values);
	vec_fini(&rows->list);
}
