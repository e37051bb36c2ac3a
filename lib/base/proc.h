/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel has in /proc of processes and threads. A number of a thread serves wherever that
 * of a process does. Nothing here sets an error: what has ended has no text.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The beginning of /proc/PID/NAME, NUL-terminated; its length, 0 if it cannot be read. */
size_t proc_read(pid_t pid, const char *name, char *text, size_t size);
/* All of it, or its first `limit` bytes; to be freed by the caller. NULL: it cannot be read. */
char *proc_text(pid_t pid, const char *name, size_t limit);
/* A descriptor of such a file, which can be read again and again: to open it takes longer. -1. */
int proc_keep(pid_t pid, const char *name);
/* What it has now, as proc_read and proc_text have it; 0 and NULL also if that is nothing. */
size_t proc_kept_read(int fd, char *text, size_t size);
char *proc_kept_text(int fd, size_t limit);

/* The name of a thread; false, and "", if there is none. */
bool proc_name(pid_t tid, char *name, size_t size);
/* The value after "key:" in /proc/PID/status, without leading blanks; "" if there is none. */
void proc_status(pid_t pid, const char *key, char *value, size_t size);
/* Likewise as a decimal number; `other` if there is none. */
long proc_status_number(pid_t pid, const char *key, long other);
/* Where a link of /proc/PID, such as "exe", leads to. False with errno set. */
bool proc_link(pid_t pid, const char *name, char *target, size_t size);
/* The user whose process it is; false if it has ended. */
bool proc_owner(pid_t pid, uid_t *owner);
/* A field of /proc/self/statm, in bytes: 0 is the size, 1 what is resident. 0 if it is not known.
 */
uint64_t proc_own_memory(unsigned field);

/* Fields of /proc/PID/stat by their numbers in proc(5), from 3 on; the state as the code of its
 * letter; -1 for one that is missing. -1: it has ended. */
enum { PROC_STAT_STATE = 3, PROC_STAT_BEGAN = 22, PROC_STAT_PROCESSOR = 39 };
int proc_stats(pid_t pid, const int *fields, size_t count, long *values);
/* One of them; -1. */
long proc_stat(pid_t pid, int field);
/* When a process began, in the kernel's ticks since the machine did; with its number, it
 * distinguishes the process from all others. 0: there is none. */
uint64_t proc_began(pid_t pid);

/* The threads of a process; pid 0: all processes. NULL with errno set. For closedir(3). */
DIR *proc_list(pid_t pid);
/* A thread of the process that has not ended: pid itself, if its main thread has not. Only of such
 * a one are there "maps" and "mem". */
pid_t proc_living(pid_t pid);
/* Whether all its threads have ended; its parent may not have waited for it yet. */
bool proc_has_ended(pid_t pid);
/* Its memory from address on, also after its main thread has ended: how many bytes were read. */
size_t proc_peek(pid_t pid, uint64_t address, void *to, size_t size);
/* The next number of a list, which may be NULL; 0 at its end. */
pid_t proc_next(DIR *list);

/* A line of /proc/PID/maps. */
struct proc_mapping {
	uint64_t begin, end;
	uint64_t offset; /* of begin in the file */
	uint64_t device; /* as st_dev has it */
	uint64_t inode;  /* 0: no file */
	char mode[8];    /* such as "r-xp" */
	char *path;      /* within the line, up to its end; "" if there is none */
};
/* False if it is no such line. */
bool proc_mapping(char *line, struct proc_mapping *m);

/* The processor's name in /proc/cpuinfo; false, and "", on machines without one. */
bool proc_cpu_name(char *name, size_t size);

/* waitpid(2), again after each signal that interrupts it. */
pid_t proc_wait(pid_t pid, int *status, int flags);

#endif
