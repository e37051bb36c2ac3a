/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/spaces.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/strbuf.h"
#include "collect/collect.h"
#include "collect/mappings.h"
#include "collect/process_arguments.h"
#include "process/rank.h"

#define MAPS_MAX ((size_t)256 << 20)
/* Of an exit, after its record: the kernel frees some GB a second. */
#define EXIT_NS_MOST 1000000000
/* PERF_RECORD_MISC_FORK_EXEC: it existed before; its mappings are reported. */
#define MISC_FORK_EXEC (1 << 13)

struct process_entry {
	struct {
		uint64_t pid;
	} key;
	struct process *process; /* NULL: it has ended */
	uint32_t ended;          /* its row in the experiment then; 0: none, */
	uint64_t at;             /* and when */
};

struct thread_entry {
	struct {
		uint64_t tid;
	} key;
	uint32_t process, index; /* in the experiment; index 0: none */
};

struct on_cpu {
	struct {
		uint32_t thread, cpu;
	} key;
	uint32_t index; /* in the experiment */
};

void spaces_init(struct spaces *s, struct experiment *x, struct collect_images *images)
{
	memset(s, 0, sizeof(*s));
	s->experiment = x;
	s->images = images;
	s->rank = images->past ? -1 : rank_here();
	s->processes = TABLE_OF(struct process_entry);
	s->threads = TABLE_OF(struct thread_entry);
	s->on_cpus = TABLE_OF(struct on_cpu);
}

uint64_t spaces_since(const struct spaces *s, uint64_t time)
{
	return time > s->began ? time - s->began : 0;
}

/* Frees its state; its row in the experiment remains. */
static int space_forget(struct spaces *s, struct process_entry *entry, uint64_t time)
{
	struct process *p = entry->process;
	int rc = 0;

	if (!p)
		return 0;
	if (s->leaving)
		rc = s->leaving(s->context, p);
	if (time && !s->unlisted && !p->exited)
		s->experiment->processes.data[p->index].end = spaces_since(s, time);
	entry->process = NULL;
	entry->ended = p->index;
	entry->at = time;
	if (s->last == p)
		s->last = NULL;
	vec_fini(&p->mappings);
	free(p);
	return rc;
}

static struct thread_entry *thread_entry(struct spaces *s, pid_t tid)
{
	struct thread_entry key = {.key = {(uint64_t)(uint32_t)tid}};

	return table_add(&s->threads, &key.key);
}

static int set_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -1;
	free(*to);
	*to = copy;
	return 0;
}

static int set_command(struct spaces *s, const struct process *p, const char *text)
{
	return s->unlisted ? 0 : set_text(&s->experiment->processes.data[p->index].command, text);
}

static int set_arguments(struct spaces *s, const struct process *p)
{
	if (!s->with_arguments || s->unlisted || s->images->past)
		return 0;
	return process_arguments_read(p->pid, &s->experiment->processes.data[p->index].arguments);
}

/* A new row for a thread: numbers are reused, and mean another thread each time. */
static struct thread_entry *thread_begins(
	struct spaces *s, const struct process *p, pid_t tid, const char *name)
{
	struct experiment_thread row = {.process = p->index, .tid = tid, .name = (char *)name};
	struct thread_entry *t = thread_entry(s, tid);
	long index = t ? experiment_thread(s->experiment, &row, NULL) : -1;

	if (index < 0)
		return NULL;
	t->process = p->index;
	t->index = (uint32_t)index;
	return t;
}

/* ---- existing processes ---------------------------------------------------------------------- */

static int read_mapping(struct spaces *s, struct process *p, char *line)
{
	struct proc_mapping line_of;
	struct record_mapping m;
	char *deleted;

	if (!proc_mapping(line, &line_of) || !strchr(line_of.mode, 'x') ||
		line_of.begin >= line_of.end)
		return 0;
	m = (struct record_mapping){.address = line_of.begin,
		.length = line_of.end - line_of.begin,
		.offset = line_of.offset,
		.inode = line_of.inode,
		.path = line_of.path};
	deleted = strstr(line_of.path, " (deleted)");
	if (deleted)
		*deleted = '\0';
	return spaces_map(s, p, &m);
}

int spaces_read_maps(struct spaces *s, struct process *p, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save))
		if (read_mapping(s, p, line))
			return -1;
	return 0;
}

static int look_at_threads(struct spaces *s, struct process *p)
{
	DIR *list = proc_list(p->pid);
	char name[32];
	pid_t tid;
	int rc = 0;

	while (rc == 0 && (tid = proc_next(list))) {
		p->threads++;
		if (s->unlisted)
			continue;
		proc_name(tid, name, sizeof(name));
		rc = thread_begins(s, p, tid, name) ? 0 : -1;
	}
	if (list)
		closedir(list);
	return rc;
}

static int space_look(struct spaces *s, struct process *p)
{
	char name[32], *text;
	int rc;

	proc_name(p->pid, name, sizeof(name));
	if (set_command(s, p, name) || set_arguments(s, p))
		return -1;
	text = proc_text(proc_living(p->pid), "maps", MAPS_MAX);
	rc = text ? spaces_read_maps(s, p, text) : 0;
	free(text);
	return rc ? -1 : look_at_threads(s, p);
}

/* ---- processes and threads ------------------------------------------------------------------- */

struct process *spaces_add(struct spaces *s, pid_t pid, pid_t ppid, bool looking, uint64_t time)
{
	struct process_entry *entry, key = {.key = {(uint64_t)(uint32_t)pid}};
	struct experiment_process row = {.pid = pid,
		.ppid = ppid,
		.rank = s->rank,
		.status = -1,
		.begin = spaces_since(s, time)};
	struct process *p;
	long index;

	entry = table_add(&s->processes, &key.key);
	if (!entry || space_forget(s, entry, time))
		return NULL;
	index = s->unlisted ? 0 : experiment_process(s->experiment, &row, NULL);
	p = index >= 0 ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	p->pid = pid;
	p->index = (uint32_t)index;
	p->space = ++s->numbers;
	entry->process = p;
	return looking && space_look(s, p) ? NULL : p;
}

/* NULL: without a record. */
static struct process *space_find(const struct spaces *s, pid_t pid)
{
	struct process_entry *entry, key = {.key = {(uint64_t)(uint32_t)pid}};

	entry = table_find(&s->processes, &key.key);
	return entry ? entry->process : NULL;
}

/* The kernel reports an exit before it is complete: what soon follows it is the same process's,
 * unless /proc has memory of another of this number. NULL: it is not that, or memory is out. */
static struct process *space_exiting(struct spaces *s, pid_t pid, uint64_t time)
{
	struct process_entry *entry, key = {.key = {(uint64_t)(uint32_t)pid}};
	struct process *p;
	char *maps;

	entry = s->unlisted || s->images->past ? NULL : table_find(&s->processes, &key.key);
	if (!entry || !entry->ended || time - entry->at > EXIT_NS_MOST)
		return NULL;
	maps = proc_text(proc_living(pid), "maps", MAPS_MAX);
	p = maps && maps[0] ? NULL : calloc(1, sizeof(*p));
	free(maps);
	if (!p)
		return NULL;
	*p = (struct process){.pid = pid, .index = entry->ended, .exited = true};
	p->space = ++s->numbers;
	entry->process = p;
	return p;
}

struct process *spaces_process(struct spaces *s, pid_t pid, uint64_t time)
{
	if (s->last && s->last->pid == pid)
		return s->last;
	s->last = space_find(s, pid);
	if (!s->last)
		s->last = space_exiting(s, pid, time);
	if (!s->last)
		s->last = spaces_add(s, pid, 0, !s->images->past, time);
	return s->last;
}

bool spaces_knows(const struct spaces *s, pid_t pid)
{
	return space_find(s, pid) != NULL;
}

bool spaces_has_thread(const struct spaces *s, const struct process *p, pid_t tid)
{
	const struct thread_entry key = {.key = {(uint64_t)(uint32_t)tid}},
				  *t = table_find(&s->threads, &key.key);

	return t && t->index && t->process == p->index;
}

long spaces_thread(struct spaces *s, struct process *p, pid_t tid)
{
	struct thread_entry *t;

	if (s->unlisted)
		return 0;
	t = thread_entry(s, tid);
	if (!t)
		return -1;
	if (!t->index || t->process != p->index) {
		t = thread_begins(s, p, tid, s->experiment->processes.data[p->index].command);
		if (!t)
			return -1;
	}
	return t->index;
}

long spaces_thread_on(struct spaces *s, long thread, uint32_t cpu)
{
	const struct on_cpu key = {.key = {(uint32_t)thread, cpu}};
	struct experiment_thread row;
	struct on_cpu *own;
	long index;

	if (thread < 0 || !cpu)
		return thread;
	own = table_add(&s->on_cpus, &key.key);
	if (!own || own->index)
		return own ? (long)own->index : -1;
	row = s->experiment->threads.data[thread];
	row.cpu = cpu;
	index = experiment_thread(s->experiment, &row, NULL);
	own->index = index < 0 ? 0 : (uint32_t)index;
	return index;
}

/* Threads may have been renamed since. */
static int name_on_cpus(struct spaces *s)
{
	const struct experiment_thread *rows = s->experiment->threads.data;

	for (size_t i = 0; i < s->on_cpus.count; i++) {
		const struct on_cpu *own = table_at(&s->on_cpus, i);

		if (own->index && set_text(&s->experiment->threads.data[own->index].name,
					  rows[own->key.thread].name))
			return -1;
	}
	return 0;
}

static int inherit(struct spaces *s, struct process *p, const struct process *parent, bool mappings)
{
	struct experiment_process *rows;

	for (size_t i = 0; mappings && i < parent->mappings.count; i++) {
		struct mapping *m = vec_push(&p->mappings);

		if (!m)
			return -1;
		*m = parent->mappings.data[i];
	}
	if (s->unlisted)
		return 0;
	rows = s->experiment->processes.data;
	return set_command(s, p, rows[parent->index].command) ||
			       set_text(&rows[p->index].arguments, rows[parent->index].arguments)
		       ? -1
		       : 0;
}

static int on_fork(struct spaces *s, const struct record *r)
{
	struct process *parent = space_find(s, r->fork.ppid), *p = parent;
	const struct thread_entry *creator;
	const char *name = "";

	/* Of the past, some parents were never watched. */
	if (!parent && (!s->images->past || r->pid == r->fork.ppid))
		p = parent = spaces_process(s, r->fork.ppid, r->time);
	creator = s->unlisted ? NULL : thread_entry(s, r->fork.ptid);
	if (creator && creator->index)
		name = s->experiment->threads.data[creator->index].name;
	if (r->pid != r->fork.ppid) {
		p = spaces_add(s, r->pid, r->fork.ppid, false, r->time);
		if (p && parent && inherit(s, p, parent, !(r->misc & MISC_FORK_EXEC)))
			return -1;
	}
	if (!p)
		return -1;
	p->threads++;
	if (s->unlisted)
		return 0;
	{
		char copy[32];

		snprintf(copy, sizeof(copy), "%s", name);
		return thread_begins(s, p, r->tid, copy) ? 0 : -1;
	}
}

static int on_exit_of(struct spaces *s, const struct record *r)
{
	struct process_entry *entry, key = {.key = {(uint64_t)(uint32_t)r->pid}};

	entry = table_find(&s->processes, &key.key);
	if (!entry || !entry->process)
		return 0;
	if (!s->unlisted)
		s->experiment->processes.data[entry->process->index].end = spaces_since(s, r->time);
	if (entry->process->threads > 1) {
		entry->process->threads--;
		return 0;
	}
	/* It is unknown whether all threads of the past were recorded: the process is kept until
	 * its number is reused. */
	return s->images->past ? 0 : space_forget(s, entry, r->time);
}

static int on_comm(struct spaces *s, const struct record *r)
{
	struct process *p = spaces_process(s, r->pid, r->time);
	long thread = p ? spaces_thread(s, p, r->tid) : -1;

	if (thread < 0)
		return -1;
	if (r->comm.exec) {
		if (s->leaving && s->leaving(s->context, p))
			return -1;
		p->mappings.count = 0;
		p->threads = 1;
		p->space = ++s->numbers;
		if (set_arguments(s, p))
			return -1;
	}
	if (s->unlisted)
		return 0;
	if ((r->comm.exec || r->pid == r->tid) && set_command(s, p, r->comm.name))
		return -1;
	return set_text(&s->experiment->threads.data[thread].name, r->comm.name);
}

int spaces_record(struct spaces *s, const struct record *r)
{
	struct process *p;

	switch (r->type) {
	case PERF_RECORD_FORK:
		return on_fork(s, r);
	case PERF_RECORD_EXIT:
		return on_exit_of(s, r);
	case PERF_RECORD_COMM:
		return on_comm(s, r);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
			return 0;
		p = spaces_process(s, r->pid, r->time);
		return p ? spaces_map(s, p, &r->mapping) : -1;
	default:
		return 0;
	}
}

/* ---- mappings -------------------------------------------------------------------------------- */

int spaces_map(struct spaces *s, struct process *p, const struct record_mapping *r)
{
	struct mapping m = {
		.begin = r->address, .end = r->address + r->length, .offset = r->offset};
	long image, at;

	if (m.end <= m.begin)
		return 0;
	image = images_find(s->images, p->pid, r);
	if (image < 0)
		return -1;
	m.image = (uint32_t)image;
	p->space = ++s->numbers;
	at = p->mappings.count ? mappings_clear(p, m.begin, m.end) : 0;
	if (r->data) /* it is no longer executable */
		return at < 0 ? -1 : 0;
	return at < 0 ? -1 : mappings_insert(p, (size_t)at, &m);
}

const struct mapping *spaces_find(const struct process *p, uint64_t pc)
{
	size_t i = mappings_after(p, pc);

	return i < p->mappings.count && p->mappings.data[i].begin <= pc ? &p->mappings.data[i]
									: NULL;
}

const struct mapping *spaces_find_around(
	const struct process *p, uint64_t pc, uint64_t *begin, uint64_t *end)
{
	size_t i = mappings_after(p, pc), count = p->mappings.count;
	const struct mapping *m = i < count ? &p->mappings.data[i] : NULL;
	bool within = m && m->begin <= pc;

	*begin = within ? m->begin : i ? p->mappings.data[i - 1].end : 0;
	*end = within ? m->end : m ? m->begin : UINT64_MAX;
	return within ? m : NULL;
}

uint64_t spaces_address(const struct spaces *s, const struct mapping *m, uint64_t pc)
{
	const struct collect_image *image = &s->images->list.data[m->image];
	uint64_t offset = pc - m->begin + m->offset;

	switch (image->identity.kind) {
	case EXPERIMENT_IMAGE_ELF:
		return segments_address(&image->segments, offset);
	case EXPERIMENT_IMAGE_VDSO:
		return pc - m->begin;
	case EXPERIMENT_IMAGE_FILE:
		return offset;
	default:
		return pc;
	}
}

/* Without a record of its end, a process is missed twice before it is taken for ended: records of
 * its last moments may still be to come. */
static bool space_ended(struct process *p)
{
	bool was = p->absent;

	p->absent = kill(p->pid, 0) != 0 && errno == ESRCH;
	return p->absent && was;
}

static int trim_processes(struct spaces *s)
{
	struct table kept = TABLE_OF(struct process_entry);

	for (size_t i = 0; i < s->processes.count; i++) {
		struct process_entry *entry = table_at(&s->processes, i), *copy;

		if (entry->process && space_ended(entry->process))
			space_forget(s, entry, 0);
		if (!entry->process)
			continue;
		copy = table_add(&kept, &entry->key);
		if (!copy) {
			table_fini(&kept);
			return -1;
		}
		copy->process = entry->process;
	}
	table_fini(&s->processes);
	s->processes = kept;
	return 0;
}

int spaces_trim(struct spaces *s)
{
	size_t images = s->images->list.count;
	bool *used = calloc(images + 1, sizeof(*used));
	uint32_t *to = calloc(images + 1, sizeof(*to));
	int rc = used && to ? trim_processes(s) : -1;

	for (size_t i = 0; rc == 0 && i < s->processes.count; i++) {
		const struct process_entry *entry = table_at(&s->processes, i);

		for (size_t k = 0; k < entry->process->mappings.count; k++)
			used[entry->process->mappings.data[k].image] = true;
	}
	if (rc == 0)
		rc = images_trim(s->images, used, to);
	for (size_t i = 0; rc == 0 && i < s->processes.count; i++) {
		struct process_entry *entry = table_at(&s->processes, i);

		for (size_t k = 0; k < entry->process->mappings.count; k++) {
			uint32_t *image = &entry->process->mappings.data[k].image;

			*image = to[*image];
		}
	}
	free(used);
	free(to);
	return rc;
}

size_t spaces_count(const struct spaces *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->processes.count; i++)
		n += ((const struct process_entry *)table_at(&s->processes, i))->process != NULL;
	return n;
}

int spaces_end(struct spaces *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->processes.count; i++) {
		struct process_entry *entry = table_at(&s->processes, i);

		if (entry->process && space_forget(s, entry, 0))
			rc = -1;
	}
	return name_on_cpus(s) || process_arguments_limit(s->experiment) ? -1 : rc;
}

void spaces_fini(struct spaces *s)
{
	s->leaving = NULL;
	table_fini(&s->on_cpus); /* these have their names */
	spaces_end(s);
	table_fini(&s->processes);
	table_fini(&s->threads);
}
