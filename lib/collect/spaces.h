/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process and thread of a sample, and the meaning of its addresses: the address space of every
 * process, built from the kernel's records of fork, exec and mappings that replace others.
 */
#ifndef COLLECT_SPACES_H
#define COLLECT_SPACES_H

#include "collect/collect_images.h"

struct mapping {
	uint64_t begin, end, offset; /* offset in the file of begin */
	uint32_t image;              /* in struct collect_images */
};

struct process {
	pid_t pid;
	uint32_t index;               /* in the experiment */
	uint32_t space;               /* changes with mappings */
	unsigned threads;             /* that run */
	bool jitted;                  /* it has samples in generated code */
	bool exited;                  /* by its record; the kernel is at its end */
	bool absent;                  /* was not there when spaces were trimmed */
	VEC(struct mapping) mappings; /* in order of address, without overlaps */
};

struct spaces {
	struct experiment *experiment; /* borrowed */
	struct collect_images *images; /* borrowed */
	struct table processes, threads;
	struct table on_cpus; /* threads on a CPU, where these are recorded */
	struct process *last; /* found at last */
	uint32_t numbers;     /* of address spaces, given so far */
	int rank;             /* in MPI, of all processes seen; -1: none */
	uint64_t began;       /* time of the records at which the experiment began */
	bool unlisted;        /* processes and threads have no rows in the experiment */
	bool with_arguments;  /* rows of processes have those of their commands */
	/* Called before the state of a process is freed; may be NULL. */
	int (*leaving)(void *context, struct process *p);
	void *context;
};

void spaces_init(struct spaces *s, struct experiment *x, struct collect_images *images);
/* A process that is about to be run or exists already; with look, its mappings and threads are
 * read from /proc. NULL: memory is out. */
struct process *spaces_add(struct spaces *s, pid_t pid, pid_t ppid, bool look, uint64_t time);
/* The process; without a record it is made up (from /proc, unless it is past). NULL: memory is
 * out. */
struct process *spaces_process(struct spaces *s, pid_t pid, uint64_t time);
/* The thread's number in the experiment; -1: memory is out. */
long spaces_thread(struct spaces *s, struct process *p, pid_t tid);
/* Is tid a thread of p that has been seen? */
bool spaces_has_thread(const struct spaces *s, const struct process *p, pid_t tid);
/* The number of its samples on a CPU (+ 1; 0: unknown, and then it is the same). */
long spaces_thread_on(struct spaces *s, long thread, uint32_t cpu);
/* FORK, EXIT, COMM, MMAP, MMAP2. -1: memory is out. Others are ignored: 0. */
int spaces_record(struct spaces *s, const struct record *r);
/* A mapping that replaces earlier ones at its addresses. -1: memory is out. */
int spaces_map(struct spaces *s, struct process *p, const struct record_mapping *m);
/* The mapping that contains pc; NULL: unknown. */
const struct mapping *spaces_find(const struct process *p, uint64_t pc);
/* The same; *begin and *end: all addresses between them have this answer. */
const struct mapping *spaces_find_around(
	const struct process *p, uint64_t pc, uint64_t *begin, uint64_t *end);
/* Adds the mappings in text, the contents of /proc/PID/maps. */
int spaces_read_maps(struct spaces *s, struct process *p, char *text);
/* The address in image i of pc, which is in a mapping of it. */
uint64_t spaces_address(const struct spaces *s, const struct mapping *m, uint64_t pc);
/* ns from the beginning of the experiment to the time of a record; 0 before it. */
uint64_t spaces_since(const struct spaces *s, uint64_t time);
/* For use without end (unlisted): frees what is kept of processes that have ended, and images that
 * no process has mapped. -1 when memory is out. */
int spaces_trim(struct spaces *s);
/* Is there a record of it, or was it read from /proc? */
bool spaces_knows(const struct spaces *s, pid_t pid);
/* Processes that run. */
size_t spaces_count(const struct spaces *s);
/* Ends all processes that are left. */
int spaces_end(struct spaces *s);
void spaces_fini(struct spaces *s);

#endif
