/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files in and out, and where our own data files are.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/* The whole file, NUL-terminated after *length bytes; to be freed by the caller. NULL with *e set
 * on failure, also for files over `limit` bytes (0: 64 MiB). */
char *file_read(const char *path, size_t limit, size_t *length, struct error *e);
/* Likewise, but what is no regular file is refused. Never waits, as for a FIFO's other end. */
char *file_read_regular(const char *path, size_t limit, size_t *length, struct error *e);
/* The first line of a file, without its newline; false, and "", if it cannot be read or is empty.
 */
bool file_line(const char *path, char *line, size_t size);
#define FILE_BOOT_ID "/proc/sys/kernel/random/boot_id" /* differs after each boot */
/* Likewise one in a directory where others may put files: a regular file, not a link to it, that
 * belongs to this user or to root. Never waits, as for a FIFO's other end. */
char *file_read_owned(const char *path, uid_t owner, size_t limit, size_t *length, struct error *e);

/*
 * Output that appears under its name only when complete: written to a file without a name, where
 * the file system has such (O_TMPFILE), else to a temporary name beside it. file_commit gives it
 * its name. A process that is killed while it writes leaves nothing of the former, also where it
 * replaces a file: then a process of its own, for that moment, gives the name. Where path is
 * not a regular file (a pipe, a device) or names an open descriptor (/dev/stdout) it is written
 * directly; of a symbolic link, the target is replaced.
 */
struct file_out {
	FILE *stream;
	char *path, *temporary; /* temporary is NULL without a temporary name */
	bool unnamed;           /* has no name until file_commit */
};
int file_create(struct file_out *f, const char *path, struct error *e);
/* Only its owner may read it. A file that is written directly keeps its permissions. */
void file_private(const struct file_out *f);
/* Flushes, checks for write errors (ENOSPC ...) and gives the file its name; on failure nothing is
 * left of it. */
int file_commit(struct file_out *f, struct error *e);
void file_abandon(struct file_out *f);

/* The next name in an open directory that begins with prefix, but "." and ".."; valid until the
 * next call. NULL: there are no more, or d is NULL. */
const char *file_next(DIR *d, const char *prefix);
/* Removes the files in a directory; directories in it stay. */
void file_remove_all(DIR *d);

/* Makes a directory NAME.XXXXXX below TMPDIR; below /tmp if TMPDIR is not absolute or has one of
 * the characters `refused`. Its path, to be freed by the caller; NULL with *e set. */
char *file_temporary_directory(const char *name, const char *refused, struct error *e);

/* A whole file of this content. */
int file_write(const char *path, const void *data, size_t size, struct error *e);

/* The result of a command: write() puts it into a file, or on standard output if path is "-", or
 * into `stream` if path is NULL. */
typedef int file_writer(void *what, FILE *out, struct error *e);
int file_output(const char *path, FILE *stream, file_writer *write, void *what, struct error *e);

/* The part after the last slash of path, or path itself. */
const char *file_base_name(const char *path);

/*
 * The path of a data file of ours, such as "machines/zen4.machine": $PERFEX_DATA/NAME if that
 * variable is set, else ../share/perfex/NAME relative to the running executable, else
 * PREFIX/share/perfex/NAME. To be freed by the caller; NULL with *e set if it is not found.
 */
char *file_data_path(const char *name, struct error *e);
/* Likewise for helper programs: $PERFEX_LIBEXEC, ../libexec/perfex, PREFIX/libexec/perfex. */
char *file_libexec_path(const char *name, struct error *e);

/* One of our commands, beside the running one; else its name alone, for a search in PATH. To be
 * freed by the caller; NULL when memory is out. */
char *file_command_path(const char *name);

/* To be called first by commands: a file that is opened must not become the standard error of a
 * caller that closed its own. Closed standard descriptors are held open; child processes find them
 * closed, as they were. */
void file_hold_standard(void);

/* Likewise: what would be larger than files may be (ulimit -f) cannot be written, and is an error
 * as on a full disk, where SIGXFSZ would end the process. Commands that we run have the signal as
 * it was. */
void file_limit_is_error(void);
/* Adds what to do about an errno of a write, if something is known. */
void file_hint_write(struct error *e, int errnum);

/* Whether the file is a program or an executable script, which a result is not to replace. */
bool file_is_program(const char *path);

#endif
