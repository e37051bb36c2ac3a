/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *e, enum error_code code, const char *format, ...)
{
	va_list ap;

	if (!e)
		return -1;
	memset(e, 0, sizeof(*e));
	e->code = code;
	va_start(ap, format);
	vsnprintf(e->message, sizeof(e->message), format, ap);
	va_end(ap);
	return -1;
}

static enum error_code code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOMEM:
		return ERR_NOMEM;
	case EACCES:
	case EPERM:
		return ERR_PERMISSION;
	case ENOENT:
		return ERR_NOT_FOUND;
	default:
		return ERR_SYSTEM;
	}
}

int error_sys(struct error *e, int errnum, const char *format, ...)
{
	va_list ap;
	size_t n;

	if (!e)
		return -1;
	memset(e, 0, sizeof(*e));
	e->code = code_of_errno(errnum);
	e->errnum = errnum;
	va_start(ap, format);
	vsnprintf(e->message, sizeof(e->message), format, ap);
	va_end(ap);
	n = strlen(e->message);
	snprintf(e->message + n, sizeof(e->message) - n, ": %s", strerror(errnum));
	return -1;
}

int error_hint(struct error *e, const char *format, ...)
{
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, format);
	vsnprintf(e->hint, sizeof(e->hint), format, ap);
	va_end(ap);
	return -1;
}

static atomic_bool memory_out;

int error_nomem(struct error *e)
{
	atomic_store(&memory_out, true);
	return error_set(e, ERR_NOMEM, "out of memory");
}

bool error_memory_was_out(void)
{
	return atomic_load(&memory_out);
}
