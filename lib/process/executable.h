/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind of a command's file, for sources that cannot run every kind. Owns nothing.
 */
#ifndef PROCESS_EXECUTABLE_H
#define PROCESS_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum executable {
	EXECUTABLE_64,         /* an x86-64 program, or a script whose interpreter is one */
	EXECUTABLE_OTHER,      /* an ELF file of another class or machine */
	EXECUTABLE_PRIVILEGED, /* set-user-ID, set-group-ID; file capabilities, except for root */
	EXECUTABLE_UNREADABLE, /* executable, but not to be read */
};

/*
 * The file that execvp would run for command, searched in PATH unless it has a slash: its path is
 * written to path. -1 with errnum ENOENT or EACCES, as execvp would fail, if there is none.
 */
int executable_find(const char *command, char *path, size_t size, struct error *e);
/* The error of a command that execvp did not run, with what to do. Returns -1. */
int executable_not_run(const char *command, int errnum, struct error *e);
/* -1 if the file does not exist. A file that is neither ELF nor begins with #! counts as a script
 * of sh. */
int executable_kind(const char *path, enum executable *kind, struct error *e);
/* An ELF file of 64 bits that ends before its last segment: its size, and the size needed. */
bool executable_cut(const char *path, uint64_t *has, uint64_t *needs);

#endif
