/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are followed: their code, memory and CPU time. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"
#include "branches/private.h"

#define SAME_SPACE 1 /* KCMP_VM */
/* With more threads, descriptors would become few. */
#define FILES_KEPT 64
/* Limits of memory may be near that are less than this many times what is ours. */
#define FAR 64

void process_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* What the kernel writes of a thread that is in no system call, or is not blocked in it, takes it a
 * twentieth of the time of stat, and a fifth of that of opening the file. Some kernels lack it. */
bool process_runs(const struct branches *b, struct thread *t)
{
	static const char runs[] = "running";
	char text[64] = "";

	if (t->call_file < 0)
		t->call_file = proc_keep(t->tid, "syscall");
	if (t->call_file < 0 || !proc_kept_read(t->call_file, text, sizeof(text)))
		return proc_stat(t->tid, PROC_STAT_STATE) == 'R';
	if (b->threads.count > FILES_KEPT)
		process_close(&t->call_file);
	return strncmp(text, runs, strlen(runs)) == 0;
}

struct followed *process_find(struct branches *b, pid_t pid)
{
	for (size_t i = b->processes.count; i-- > 0;)
		if (b->processes.data[i]->pid == pid)
			return b->processes.data[i];
	return NULL;
}

bool process_read(int memory, uint64_t from, void *to, size_t size)
{
	return pread(memory, to, size, (off_t)from) == (ssize_t)size;
}

bool process_write(int memory, uint64_t to, const void *from, size_t size)
{
	return !size || pwrite(memory, from, size, (off_t)to) == (ssize_t)size;
}

bool process_shares(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, SAME_SPACE, 0, 0) == 0;
}

static void close_files(struct followed *p)
{
	process_close(&p->memory);
	process_close(&p->maps_file);
	process_close(&p->status_file);
}

static void forget_code(struct followed *p)
{
	p->areas.count = 0;
	p->maps = p->code = 0;
	table_fini(&p->blocks);
	p->blocks = (struct table){.entry_size = sizeof(struct block), .key_size = 8};
}

int process_memory(struct followed *p)
{
	char path[64];

	if (p->memory >= 0)
		return p->memory;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)proc_living(p->pid));
	p->memory = open(path, (p->unwritten ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	return p->memory;
}

struct followed *process_add(struct branches *b, pid_t pid)
{
	struct followed *p = process_find(b, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	if (vec_add(&b->processes, p)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->memory = p->maps_file = p->status_file = -1;
	p->unwritten = b->request.visit != NULL || b->request.only_samples;
	forget_code(p);
	if (clock_getcpuclockid(pid, &p->clock))
		p->refused = true;
	else
		p->used = p->since = b->request.running ? branches_now(p->clock) : 0;
	return p;
}

/* A burst frees the process that it works with. */
static void forget_cache(struct branches *b, struct cache **own)
{
	if (b->caching && b->caching == *own) {
		native_pause(*own); /* while there is a process */
		b->orphaned = true;
	} else {
		cache_free(*own);
	}
	*own = NULL;
}

static void forget_caches(struct branches *b, struct followed *p)
{
	forget_cache(b, &p->cache);
	forget_cache(b, &p->logging);
}

void process_renew(struct branches *b, struct followed *p)
{
	sites_forget(b, p);
	forget_caches(b, p);
	close_files(p);
	forget_code(p);
	p->refused = p->uncached = false;
	if (b->request.visit && b->request.renewed)
		b->request.renewed(b->request.context, p->pid);
	p->since = branches_now(p->clock);
}

void process_remove(struct branches *b, struct followed *p)
{
	sites_forget(b, p);
	forget_caches(b, p);
	close_files(p);
	forget_code(p);
	vec_fini(&p->areas);
	vec_fini(&p->told.code);
	for (size_t i = 0; i < b->processes.count; i++)
		if (b->processes.data[i] == p) {
			b->processes.data[i] = b->processes.data[--b->processes.count];
			break;
		}
	free(p);
}

void process_clock(struct branches *b, struct followed *p)
{
	uint64_t now = branches_now(p->clock);

	if (now <= p->used)
		return;
	b->used += now - p->used;
	p->used = now;
	if (b->request.period)
		stopped_modes(b, p);
}

/* ---- mappings ---- */

static int take_line(struct followed *p, char *line)
{
	struct proc_mapping m;

	if (!proc_mapping(line, &m))
		return 0;
	if (m.mode[1] == 'w' || m.mode[2] != 'x' || m.mode[3] != 'p' ||
		(m.inode == 0 && strncmp(m.path, "[vdso]", 6) != 0))
		return 0;
	return vec_add(&p->areas,
		((struct area){m.begin, m.end, m.offset, m.inode ? m.device : 0, m.inode}));
}

uint64_t process_hash_of(const char *text)
{
	return table_hash(text, strlen(text)) | 1;
}

/* Whether all mappings are unchanged. */
static bool still_there(const struct followed *p, const struct area *areas, size_t count)
{
	for (size_t i = 0, at = 0; i < count; i++, at++) {
		while (at < p->areas.count && p->areas.data[at].begin < areas[i].begin)
			at++;
		if (at == p->areas.count || memcmp(&p->areas.data[at], &areas[i], sizeof(areas[i])))
			return false;
	}
	return true;
}

/* The thread that a descriptor is of may have ended. */
static char *text_again(int *fd, const struct followed *p, const char *name)
{
	char *text = *fd < 0 ? NULL : proc_kept_text(*fd, PROCESS_TEXT);

	if (text)
		return text;
	process_close(fd);
	*fd = proc_keep(proc_living(p->pid), name);
	return *fd < 0 ? NULL : proc_kept_text(*fd, PROCESS_TEXT);
}

/* As the kernel has it (Linux 6.11 and later). */
struct mapping_query {
	uint64_t size, flags, address, begin, end, mode, page, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};

#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)
#define OF_CODE       (4u | 16u) /* executable; the next one, if the address is in none */

/* A hash of all executable mappings: to have the text of hundreds of others takes a tenth of a
 * burst. 0: the kernel does not say. */
static uint64_t code_hash(int fd)
{
	uint64_t all[8] = {0};
	struct mapping_query q = {.size = sizeof(q), .flags = OF_CODE};

	while (ioctl(fd, MAPPING_QUERY, &q) == 0) {
		const uint64_t own[] = {
			all[0], q.begin, q.end, q.mode, q.offset, q.inode, q.major, q.minor};

		all[0] = table_hash(own, sizeof(own));
		q = (struct mapping_query){.size = sizeof(q), .flags = OF_CODE, .address = q.end};
	}
	return errno == ENOENT ? all[0] : 0;
}

static int look_at_maps(struct branches *b, struct followed *p)
{
	/* Before the text is read, so that later changes are seen the next time. Samples by stops
	 * need all mappings (stopped.c). */
	uint64_t code = p->maps_file < 0 || b->request.period ? 0 : code_hash(p->maps_file), hash;
	char *text, *rest;
	int rc;

	if (code && code == p->code)
		return 0;
	text = rest = text_again(&p->maps_file, p, "maps");
	hash = text ? process_hash_of(text) : 0;
	rc = text ? 0 : -1;
	if (text && hash != p->maps) {
		__typeof__(p->areas) before = p->areas;
		char *whole = b->request.period ? strdup(text) : NULL;
		bool there;

		memset(&p->areas, 0, sizeof(p->areas));
		forget_code(p);
		p->maps = hash;
		for (char *line; rc == 0 && (line = strsep(&rest, "\n"));)
			rc = take_line(p, line);
		there = still_there(p, before.data, before.count);
		if (whole && (!p->told.hash || !there || before.count != p->areas.count))
			stopped_maps(b, p, whole);
		else
			free(whole);
		if (!there && p->cache)
			cache_renew(p->cache);
		if (!there && p->logging)
			cache_renew(p->logging);
		vec_fini(&before);
	}
	p->code = rc ? 0 : code;
	free(text);
	return rc;
}

/* The mask of signals after a word of /proc/PID/status. */
static bool has_trap(const char *status, const char *word)
{
	const char *at = strstr(status, word);

	return at && strtoull(at + strlen(word), NULL, 16) >> (SIGTRAP - 1) & 1;
}

static long filters(const char *status)
{
	static const char word[] = "\nSeccomp_filters:";
	const char *at = strstr(status, word);

	return at ? strtol(at + sizeof(word) - 1, NULL, 10) : -1;
}

/* A filter of system calls may end a program that maps memory for us. Those that a command has from
 * us, as in a container, allow us the same calls. */
static bool has_filters(const struct branches *b, const char *status)
{
	char *own = b->request.running ? NULL : proc_text(b->owner, "status", PROCESS_TEXT);
	bool more = !own || filters(own) < 0 || filters(own) != filters(status);
	free(own);
	return more;
}

/* In the strict mode there are no filters, and all calls but four end the thread. */
static void look_at_filters(const struct branches *b, struct followed *p, const char *status)
{
	p->filtered = !strstr(status, "\nSeccomp:\t0\n");
	p->uncached |= p->filtered && (strstr(status, "\nSeccomp:\t1\n") || has_filters(b, status));
}

bool process_filtered(const struct branches *b, struct followed *p, pid_t tid)
{
	char *status = proc_text(tid, "status", PROCESS_TEXT);

	if (status)
		look_at_filters(b, p, status);
	free(status);
	return !status || p->uncached;
}

static bool is_far(pid_t pid, int which, uint64_t size)
{
	struct rlimit limit;

	return prlimit(pid, which, NULL, &limit) == 0 && limit.rlim_cur / FAR >= size;
}

bool process_has_room(const struct followed *p, uint64_t size)
{
	char locked[32];

	proc_status(p->pid, "VmLck", locked, sizeof(locked));
	return strtoull(locked, NULL, 10) == 0 && is_far(p->pid, RLIMIT_AS, size) &&
	       is_far(p->pid, RLIMIT_DATA, size);
}

/* A program that uses SIGTRAP itself would see our traps, and calls that we carry out for a thread
 * leave nothing on a shadow stack. */
static const char *objection(const struct branches *b, struct followed *p)
{
	char *status = text_again(&p->status_file, p, "status"), *features;
	const char *why = NULL;

	if (!status)
		return "it has ended";
	look_at_filters(b, p, status);
	features = strstr(status, "\nx86_Thread_features:");
	if (has_trap(status, "\nSigIgn:") || has_trap(status, "\nSigCgt:"))
		why = "it handles or ignores SIGTRAP";
	else if (features) {
		features[1 + strcspn(features + 1, "\n")] = '\0';
		if (strstr(features, "shstk"))
			why = "it has a shadow stack";
	}
	free(status);
	return why;
}

int process_look(struct branches *b, struct followed *p)
{
	const char *why;

	if (p->refused)
		return -1;
	why = objection(b, p);
	if (why) {
		if (!b->warned && proc_stat(p->pid, PROC_STAT_STATE) != 'Z')
			branches_say(b, "process %d: no branch records: %s", (int)p->pid, why);
		b->warned = true;
		return -1;
	}
	return process_memory(p) < 0 ? -1 : look_at_maps(b, p);
}

const struct area *process_area(const struct followed *p, uint64_t address)
{
	for (size_t i = 0; i < p->areas.count; i++)
		if (address - p->areas.data[i].begin <
			p->areas.data[i].end - p->areas.data[i].begin)
			return &p->areas.data[i];
	return NULL;
}

uint64_t process_address(const struct followed *p, uint64_t device, uint64_t inode, uint64_t offset)
{
	for (size_t i = 0; i < p->areas.count; i++) {
		const struct area *a = &p->areas.data[i];

		if (a->device == device && a->inode == inode && offset >= a->offset &&
			offset - a->offset < a->end - a->begin)
			return a->begin + (offset - a->offset);
	}
	return 0;
}
