/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/debuginfod.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const calls[] = {
	[DEBUGINFOD_DEBUG] = "debuginfod_find_debuginfo",
	[DEBUGINFOD_EXECUTABLE] = "debuginfod_find_executable",
};

typedef void *begin_call(void);
typedef int find_call(void *client, const unsigned char *id, int length, char **path);
typedef void end_call(void *client);

/* dlsym returns object pointers; POSIX permits their conversion to functions. */
static void *symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

char *debuginfod_fetch(
	const uint8_t *build_id, size_t length, enum debuginfod_kind kind, char *why, size_t room)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *path = NULL;
	void *library, *client;
	begin_call *begin;
	find_call *find;
	end_call *end;
	int fd;

	if (!urls || !*urls) {
		snprintf(why, room, "DEBUGINFOD_URLS names none");
		return NULL;
	}
	/* It is never unloaded: libcurl does not support that. */
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	begin = library ? (begin_call *)symbol(library, "debuginfod_begin") : NULL;
	find = library ? (find_call *)symbol(library, calls[kind]) : NULL;
	end = library ? (end_call *)symbol(library, "debuginfod_end") : NULL;
	if (!begin || !find || !end) {
		snprintf(why, room, "libdebuginfod.so.1 is not installed");
		return NULL;
	}
	client = begin();
	if (!client) {
		snprintf(why, room, "libdebuginfod does not start");
		return NULL;
	}
	fd = find(client, build_id, (int)length, &path);
	end(client);
	if (fd < 0) {
		snprintf(why, room, "%s", strerror(-fd));
		return NULL;
	}
	close(fd);
	return path;
}
