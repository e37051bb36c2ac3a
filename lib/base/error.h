/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values.  Library functions never print and never exit: they return 0 or -1 (or NULL)
 * and fill a struct error that the caller owns.  The message says what happened and to what; the
 * hint, where there is one, says what to do about it.  Nothing here allocates.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

enum error_code {
	ERR_NONE = 0,
	ERR_NOMEM,       /* out of memory */
	ERR_SYSTEM,      /* a system call failed; errnum says how */
	ERR_PARSE,       /* a file or an argument is malformed */
	ERR_NOT_FOUND,   /* no such event, machine, file ... */
	ERR_UNSUPPORTED, /* this machine, kernel or source cannot do it */
	ERR_PERMISSION,  /* it could, but we are not allowed to */
	ERR_BUSY,        /* in use by another process (counters ...) */
	ERR_CONFLICT,    /* arguments that exclude each other */
	ERR_RANGE,       /* a number out of its range */
	ERR_CANNOT_RUN,  /* the user's command does not start; errnum ENOENT: not found */
};

struct error {
	enum error_code code;
	int errnum;        /* errno for ERR_SYSTEM and codes derived from one; else 0 */
	char message[512]; /* one line, no full stop, no newline; never empty when code != ERR_NONE
			    */
	char hint[512];    /* what to do next; may be empty */
};

/* All of these accept e == NULL and return -1, so that `return error_set(...)` reads well. */
int error_set(struct error *e, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set, with ": " and the text of errnum appended.  ENOMEM becomes ERR_NOMEM, EACCES and
 * EPERM ERR_PERMISSION, ENOENT ERR_NOT_FOUND, all others ERR_SYSTEM. */
int error_sys(struct error *e, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the hint of an error that is already set. */
int error_hint(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ERR_NOMEM, "out of memory". e may be NULL: it is remembered that memory was out. */
int error_nomem(struct error *e);
/* Whether memory was out since the program began. Where an allocation failed and nothing was said,
 * the output may lack something. */
bool error_memory_was_out(void);

#endif
