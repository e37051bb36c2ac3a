/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"

#define LIST         "/proc/kallsyms"
#define LIST_MAX     ((size_t)512 << 20)
#define NAME         "kernel-names"
#define HEADING_SIZE 128

struct range {
	uint64_t begin, end;
};

/* A line of /proc/modules: name, size, number and names of users, state, address. */
static bool module_of(const char *line, char name[64], struct range *range)
{
	uint64_t size;

	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &range->begin) != 3)
		return false;
	range->end = range->begin + size;
	return true;
}

static const char *modules_next(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

uint64_t kernel_names_find(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; length && (at = strstr(at, name)); at += length) {
		const char *line = at;

		if (at[length] != '\n' || at - text < 3 || at[-1] != ' ')
			continue;
		while (line > text && line[-1] != '\n')
			line--;
		if (at - line > 4)
			return strtoull(line, NULL, 16);
	}
	return 0;
}

/* The boot and the modules. -1: not known. */
static int names_heading(const char *modules, char heading[HEADING_SIZE])
{
	char boot[64], name[64];
	uint64_t hash = 0xcbf29ce484222325u;
	struct range range;

	if (!file_line(FILE_BOOT_ID, boot, sizeof(boot)))
		return -1;
	for (const char *line = modules; *line; line = modules_next(line)) {
		if (!module_of(line, name, &range))
			continue;
		for (const char *c = name; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
		hash = (hash ^ range.begin) * 0x100000001b3u;
		hash = (hash ^ range.end) * 0x100000001b3u;
	}
	snprintf(heading, HEADING_SIZE, "boot %.64s modules %016" PRIx64 "\n", boot, hash);
	return 0;
}

/* Whether it is the kernel's own code, or a module's. Programs of BPF come and go. */
static bool lasts(uint64_t address, const struct range *kernel, const char *modules)
{
	struct range range;
	char name[64];

	if (address >= kernel->begin && address < kernel->end)
		return true;
	for (const char *line = modules; *line; line = modules_next(line))
		if (module_of(line, name, &range) && address >= range.begin && address < range.end)
			return true;
	return false;
}

static bool all_last(const char *text, const char *modules, const uint64_t *addresses, size_t count)
{
	struct range kernel = {
		kernel_names_find(text, "_stext"), kernel_names_find(text, "_etext")};

	for (size_t i = 0; i < count; i++)
		if (!lasts(addresses[i], &kernel, modules))
			return false;
	return true;
}

/* The user's copy, if it is theirs alone. */
static char *names_kept(const char *heading)
{
	char *path = home_path(HOME_CACHE, NAME, NULL), *text = NULL;
	size_t length, skip = strlen(heading);
	struct stat st;

	if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		!(st.st_mode & 077))
		text = file_read(path, LIST_MAX, &length, NULL);
	free(path);
	if (!text)
		return NULL;
	if (strncmp(text, heading, skip) != 0) {
		free(text);
		return NULL;
	}
	memmove(text, text + skip, length - skip + 1);
	return text;
}

/* What cannot be written is not kept. */
static void names_keep(const char *heading, const char *text)
{
	char *path = home_path_make(HOME_CACHE, NAME, NULL);
	struct file_out out;

	if (path && file_create(&out, path, NULL) == 0) {
		file_private(&out);
		fputs(heading, out.stream);
		fputs(text, out.stream);
		(void)file_commit(&out, NULL);
	}
	free(path);
}

char *kernel_names(const uint64_t *addresses, size_t count)
{
	char *modules = file_read("/proc/modules", 0, NULL, NULL), *text = NULL;
	char heading[HEADING_SIZE];
	bool known = names_heading(modules ? modules : "", heading) == 0;

	if (known)
		text = names_kept(heading);
	if (text && !all_last(text, modules ? modules : "", addresses, count)) {
		free(text);
		text = NULL;
		known = false;
	}
	if (!text) {
		text = file_read(LIST, LIST_MAX, NULL, NULL);
		if (text && known && kernel_names_find(text, "_etext"))
			names_keep(heading, text);
	}
	free(modules);
	return text;
}
