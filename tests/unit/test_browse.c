/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maker of reports for the terminal: what is left of it where its thread does not start. */
#include "../tap.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>

#include "browse/browse.h"

/* In place of the C library's: there are no more threads to be had. */
int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	(void)thread;
	(void)attributes;
	(void)run;
	(void)context;
	return EAGAIN;
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

int main(void)
{
	char *paths[] = {"app.exp"};
	const struct arguments arguments = {.paths = {.data = paths, .count = 1}};
	const struct load_request files = {.quiet = true};
	const struct prof_images_search search = {.executable = NULL};
	const struct prof_request request = {.count = 0};
	const struct browse_request r = {
		.files = &files, .arguments = &arguments, .search = &search, .request = &request};
	struct error e = {0};
	int before = open_files();

	ok(browse_new(&r, &e) == NULL, "without a thread there are no reports");
	ok(strstr(e.message, "cannot start the thread") != NULL, "which is said");
	is_int(open_files(), before, "no file stays open");
	return done();
}
