/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vec.h"
#include "sources/perf_open.h"
#include "sources/ring.h"

#define PAGES_WANTED 8

struct row {
	pid_t pid, tid;
	char command[16];
	bool opened_on;            /* the events were opened on it: counted by what remains */
	size_t begun, ended;       /* times that a thread of this number began and ended */
	size_t reads;              /* records that it left */
	struct bank_value *values; /* NULL before the first */
};

/* A record about a thread's life, kept until those of all processors can be put in order. */
struct news {
	uint64_t time;
	uint32_t type;
	pid_t pid, tid, parent;
	char command[16];
};

struct reader { /* of the ring of one event on one task */
	uint64_t id;
	int companion; /* its descriptor + 1 */
	struct ring ring;
};

struct threads {
	struct bank *bank;
	size_t count, tasks;    /* of the bank */
	struct reader *readers; /* [task][event] */
	struct bank dummies;
	struct ring *news_rings; /* one a place of those */
	VEC(struct news) news;
	VEC(struct row) rows;
	size_t *table; /* open addressing by tid: index of a row + 1 */
	size_t table_size;
	struct bank_value *ended; /* [task][event]: sums of the records */
	size_t task, event;       /* of the ring being drained */
	bool nomem;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static size_t probe(const struct threads *t, pid_t pid, pid_t tid)
{
	size_t at = (size_t)tid * 2654435761u % t->table_size;

	for (; t->table[at]; at = (at + 1) % t->table_size) {
		const struct row *row = &t->rows.data[t->table[at] - 1];

		if (row->tid == tid && row->pid == pid)
			break;
	}
	return at;
}

static bool table_grow(struct threads *t)
{
	size_t *old = t->table, size = t->table_size ? t->table_size * 2 : 64;

	t->table = calloc(size, sizeof(*t->table));
	if (!t->table) {
		t->table = old;
		return false;
	}
	t->table_size = size;
	for (size_t i = 0; i < t->rows.count; i++)
		t->table[probe(t, t->rows.data[i].pid, t->rows.data[i].tid)] = i + 1;
	free(old);
	return true;
}

/* The row of a thread, made if there is none; NULL when memory is out. */
static struct row *row_of(struct threads *t, pid_t pid, pid_t tid)
{
	struct row *row;
	size_t at;

	if (2 * (t->rows.count + 1) > t->table_size && !table_grow(t)) {
		t->nomem = true;
		return NULL;
	}
	at = probe(t, pid, tid);
	if (t->table[at])
		return &t->rows.data[t->table[at] - 1];
	row = vec_push(&t->rows);
	if (!row) {
		t->nomem = true;
		return NULL;
	}
	t->table[at] = t->rows.count;
	row->pid = pid;
	row->tid = tid;
	return row;
}

/* ---- records --------------------------------------------------------------------------------- */

/* As the attr in bank.c asks for them: PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING and _ID. */
struct read_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t value, enabled, running, id;
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

static void value_add(struct bank_value *to, const struct read_record *record)
{
	to->value += record->value;
	to->running += record->running;
	to->enabled += record->enabled;
}

static void take_read(void *context, const struct perf_event_header *h)
{
	struct threads *t = context;
	const struct read_record *record = (const void *)h;
	struct row *row;

	if (h->type != PERF_RECORD_READ || h->size < sizeof(*record) ||
		record->id != t->readers[t->task * t->count + t->event].id)
		return;
	row = row_of(t, (pid_t)record->pid, (pid_t)record->tid);
	if (row && !row->values && !(row->values = calloc(t->count, sizeof(*row->values))))
		t->nomem = true;
	if (!row || !row->values)
		return;
	row->reads++;
	value_add(&row->values[t->event], record);
	value_add(&t->ended[t->task * t->count + t->event], record);
}

/* sample_id_all puts PERF_SAMPLE_TID and PERF_SAMPLE_TIME behind each record. */
static uint64_t time_of(const struct perf_event_header *h)
{
	uint64_t time;

	memcpy(&time, (const char *)h + h->size - sizeof(time), sizeof(time));
	return time;
}

static void take_news(void *context, const struct perf_event_header *h)
{
	struct threads *t = context;
	const struct task_record *task = (const void *)h;
	const struct comm_record *comm = (const void *)h;
	struct news *news;

	if (h->type != PERF_RECORD_FORK && h->type != PERF_RECORD_EXIT &&
		h->type != PERF_RECORD_COMM)
		return;
	news = vec_push(&t->news);
	if (!news) {
		t->nomem = true;
		return;
	}
	news->type = h->type;
	news->time = time_of(h);
	if (h->type == PERF_RECORD_COMM) {
		news->pid = (pid_t)comm->pid;
		news->tid = (pid_t)comm->tid;
		snprintf(news->command, sizeof(news->command), "%s", comm->comm);
	} else {
		news->pid = (pid_t)task->pid;
		news->tid = (pid_t)task->tid;
		news->parent = (pid_t)task->ptid;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct news *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Name of the thread with that tid, of whatever process. */
static const char *name_of(const struct threads *t, pid_t tid)
{
	for (size_t i = t->rows.count; i-- > 0;)
		if (t->rows.data[i].tid == tid)
			return t->rows.data[i].command;
	return "";
}

static void apply(struct threads *t, const struct news *news)
{
	char name[16];
	struct row *row;

	if (news->type == PERF_RECORD_FORK)
		snprintf(name, sizeof(name), "%s", name_of(t, news->parent));
	row = row_of(t, news->pid, news->tid);
	if (!row)
		return;
	switch (news->type) {
	case PERF_RECORD_FORK:
		row->begun++;
		memcpy(row->command, name, sizeof(name));
		break;
	case PERF_RECORD_EXIT:
		row->ended++;
		break;
	default:
		memcpy(row->command, news->command, sizeof(row->command));
	}
}

int threads_drain(struct threads *t, struct error *e)
{
	int bad = 0;

	for (size_t i = 0; i < bank_places(&t->dummies); i++)
		bad |= ring_drain(&t->news_rings[i], take_news, t);
	if (t->news.count)
		qsort(t->news.data, t->news.count, sizeof(*t->news.data), by_time);
	for (size_t i = 0; i < t->news.count; i++)
		apply(t, &t->news.data[i]);
	t->news.count = 0;
	for (t->task = 0; t->task < t->tasks; t->task++)
		for (t->event = 0; t->event < t->count; t->event++)
			bad |= ring_drain(
				&t->readers[t->task * t->count + t->event].ring, take_read, t);
	return bad || t->nomem ? error_nomem(e) : 0;
}

/* ---- making and reporting -------------------------------------------------------------------- */

static int map(struct ring *ring, int fd, struct error *e)
{
	for (size_t pages = PAGES_WANTED; pages; pages /= 2)
		if (ring_map(ring, fd, pages) == 0)
			return 0;
	error_sys(e, errno, "cannot map a counter's buffer");
	return error_hint(e, "count fewer events, leave -mp out, or raise the limit: sysctl "
			     "kernel.perf_event_mlock_kb");
}

static int open_dummies(struct threads *t, struct error *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.task = 1,
		.comm = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	struct bank *b = &t->dummies;

	if (bank_begin(b, t->bank->pid, t->bank->running, BANK_PER_CPU, e) != 0)
		return -1;
	/* The same threads, in case some came or went since. */
	b->tasks = realloc(b->tasks, t->bank->task_count * sizeof(*b->tasks));
	if (!b->tasks)
		return error_nomem(e);
	memcpy(b->tasks, t->bank->tasks, t->bank->task_count * sizeof(*b->tasks));
	b->task_count = t->bank->task_count;
	if (bank_add(b, &attr, BANK_LEADER, false) != 0)
		return perf_explain(errno, &attr, b->running ? b->pid : 0, NULL, e);
	t->news_rings = calloc(bank_places(b), sizeof(*t->news_rings));
	if (!t->news_rings)
		return error_nomem(e);
	for (size_t i = 0; i < bank_places(b); i++)
		if (b->events[0].fds[i] >= 0 && map(&t->news_rings[i], b->events[0].fds[i], e) != 0)
			return -1;
	return bank_enable(b, true, e);
}

static int open_reader(
	struct threads *t, struct reader *reader, int fd, pid_t task, struct error *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int companion;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &reader->id) != 0)
		return error_sys(e, errno, "cannot tell counters apart");
	companion = perf_open(&attr, task, -1, -1);
	if (companion < 0)
		return perf_explain(errno, &attr, t->bank->running ? t->bank->pid : 0, NULL, e);
	reader->companion = companion + 1;
	if (map(&reader->ring, companion, e) != 0)
		return -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, companion) != 0)
		return error_sys(e, errno, "cannot direct a counter's records");
	return 0;
}

static int open_readers(struct threads *t, struct error *e)
{
	for (size_t i = 0; i < t->tasks; i++)
		for (size_t k = 0; k < t->count; k++) {
			int fd = t->bank->events[k].fds[i];

			if (fd >= 0 && open_reader(t, &t->readers[i * t->count + k], fd,
					       t->bank->tasks[i], e) != 0)
				return -1;
		}
	return 0;
}

/* Rows of the threads that are there, with their names. */
static int add_opened_on(struct threads *t, struct error *e)
{
	for (size_t i = 0; i < t->bank->task_count; i++) {
		struct row *row = row_of(t, t->bank->pid, t->bank->tasks[i]);
		char path[96];
		FILE *f;

		if (!row)
			return error_nomem(e);
		row->opened_on = true;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)t->bank->pid,
			(int)t->bank->tasks[i]);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(row->command, sizeof(row->command), f))
			row->command[strcspn(row->command, "\n")] = '\0';
		fclose(f);
	}
	return 0;
}

struct threads *threads_new(struct bank *b, struct error *e)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (!t) {
		error_nomem(e);
		return NULL;
	}
	t->bank = b;
	t->count = b->count;
	t->tasks = b->task_count;
	t->readers = calloc(t->tasks * t->count + 1, sizeof(*t->readers));
	t->ended = calloc(b->task_count * t->count + 1, sizeof(*t->ended));
	if (!t->readers || !t->ended)
		error_nomem(e);
	else if (open_dummies(t, e) == 0 && open_readers(t, e) == 0 && add_opened_on(t, e) == 0)
		return t;
	threads_free(t);
	return NULL;
}

static void no_counts(struct thread_reading *row, size_t count, const char *why)
{
	for (size_t i = 0; i < count; i++) {
		memset(&row->counts[i], 0, sizeof(row->counts[i]));
		snprintf(row->counts[i].why, sizeof(row->counts[i].why), "%s", why);
	}
}

/* What task number `task` itself counted: all that its events did, less the threads and processes
 * that came of it. */
static int remainder_of(struct threads *t, size_t task, struct bank_value *values, struct error *e)
{
	if (bank_read_task(t->bank, task, values, e) != 0)
		return -1;
	for (size_t k = 0; k < t->count; k++) {
		const struct bank_value *ended = &t->ended[task * t->count + k];
		struct bank_value *v = &values[k];

		/* A thread may end between two reads: no less than nothing. */
		v->value -= ended->value < v->value ? ended->value : v->value;
		v->enabled -= ended->enabled < v->enabled ? ended->enabled : v->enabled;
		v->running -= ended->running < v->running ? ended->running : v->running;
	}
	return 0;
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_reading *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* How many threads run on whose counts are still in those of the thread that began them. */
static size_t still_running(const struct threads *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->rows.count; i++)
		n += !t->rows.data[i].opened_on && t->rows.data[i].begun > t->rows.data[i].ended;
	return n;
}

static bool has_lost(const struct threads *t, const struct row *row)
{
	return !row->opened_on && row->reads < row->ended * t->count;
}

int threads_report(struct threads *t, bool ended, struct reading *r,
	void (*count)(void *context, const struct bank_value *values, struct count *counts),
	void *context, struct error *e)
{
	struct bank_value *values = calloc(t->count + 1, sizeof(*values));
	size_t running, lost = 0;
	int rc = -1;

	if (!values)
		return error_nomem(e);
	if (threads_drain(t, e) != 0)
		goto out;
	running = still_running(t);
	for (size_t i = 0; ended && i < t->rows.count; i++)
		lost += has_lost(t, &t->rows.data[i]);
	for (size_t i = 0; i < t->rows.count; i++) {
		const struct row *row = &t->rows.data[i];
		struct thread_reading *out;
		size_t task = 0;

		if (!row->opened_on && !row->values && !(ended && has_lost(t, row)))
			continue; /* it runs */
		out = reading_add_thread(r);
		if (!out) {
			error_nomem(e);
			goto out;
		}
		out->pid = row->pid;
		out->tid = row->tid;
		memcpy(out->command, row->command, sizeof(out->command));
		if (lost && (row->opened_on || has_lost(t, row))) {
			no_counts(out, r->count,
				row->opened_on
					? "records of other threads were lost"
					: "its record was lost: too many threads ended at once");
			continue;
		}
		if (!row->opened_on) {
			count(context, row->values, out->counts);
			continue;
		}
		while (t->bank->tasks[task] != row->tid)
			task++;
		if (remainder_of(t, task, values, e) != 0)
			goto out;
		count(context, values, out->counts);
		for (size_t k = 0; running && k < r->count; k++)
			if (!out->counts[k].why[0])
				snprintf(out->counts[k].why, sizeof(out->counts[k].why),
					"with those of the %zu threads that still run", running);
	}
	qsort(r->threads, r->thread_count, sizeof(*r->threads), by_thread);
	rc = 0;
out:
	free(values);
	return rc;
}

void threads_free(struct threads *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->readers && i < t->tasks * t->count; i++) {
		ring_unmap(&t->readers[i].ring);
		if (t->readers[i].companion)
			close(t->readers[i].companion - 1);
	}
	for (size_t i = 0; t->news_rings && i < bank_places(&t->dummies); i++)
		ring_unmap(&t->news_rings[i]);
	for (size_t i = 0; i < t->rows.count; i++)
		free(t->rows.data[i].values);
	bank_close(&t->dummies);
	vec_fini(&t->news);
	vec_fini(&t->rows);
	free(t->table);
	free(t->readers);
	free(t->news_rings);
	free(t->ended);
	free(t);
}
