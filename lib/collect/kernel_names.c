/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel_names.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "base/mapping.h"
#include "base/strbuf.h"

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

/* ---- a part of the list ---- */

/* The line that this byte is in. */
static size_t kallsyms_begin(const char *text, size_t at)
{
	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

static size_t kallsyms_after(const char *text, size_t at, size_t size)
{
	const char *end = memchr(text + at, '\n', size - at);

	return end ? (size_t)(end - text) + 1 : size;
}

/* Of a line that is complete, in a text that ends with a line's end. */
static uint64_t kallsyms_address(const char *line)
{
	uint64_t address = 0;

	for (; isxdigit((unsigned char)*line); line++)
		address = address << 4 | (((unsigned char)*line & 15u) + (*line > '9' ? 9u : 0));
	return address;
}

static bool is_function(const char *line)
{
	line += strcspn(line, " \n");
	return *line == ' ' && line[1] != '\n' && strchr("tTwW", line[1]);
}

/* The first line at a greater address: *after; and the first of the last function up to it. */
static size_t kallsyms_around(const char *text, size_t size, uint64_t address, size_t *after)
{
	size_t low = 0, high = size, at;

	while (low < high) {
		at = kallsyms_begin(text, low + (high - low) / 2);
		if (kallsyms_address(text + at) <= address)
			low = kallsyms_after(text, at, size);
		else
			high = at;
	}
	*after = low;
	address = 0;
	for (at = low; at;) {
		size_t before = kallsyms_begin(text, at - 1);

		if (address && kallsyms_address(text + before) != address)
			break;
		at = before;
		if (!address && is_function(text + at))
			address = kallsyms_address(text + at);
	}
	return at;
}

size_t kernel_names_sorted(const char *text)
{
	uint64_t last = 0, etext = kernel_names_find(text, "_etext");
	const char *line = text;

	for (; etext && *line; line = modules_next(line)) {
		uint64_t address = kallsyms_address(line);

		if (address > etext)
			return (size_t)(line - text);
		if (address < last)
			break;
		last = address;
	}
	return 0;
}

char *kernel_names_some(const char *text, size_t size, const uint64_t *addresses, size_t count)
{
	struct strbuf some = {0};
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		size_t end, begin = kallsyms_around(text, size, addresses[i], &end);
		bool next = false;

		while (end < size && !next) {
			next = is_function(text + end);
			end = kallsyms_after(text, end, size);
		}
		if (begin < done)
			begin = done;
		if (end > begin)
			strbuf_add(&some, text + begin, end - begin);
		done = end > done ? end : done;
	}
	return strbuf_take(&some);
}

/* ---- the copy ---- */

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
	snprintf(heading, HEADING_SIZE, "boot %.64s modules %016" PRIx64 " sorted ", boot, hash);
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

/* The user's copy, if it is theirs alone: *text is what follows the heading, of which *sorted bytes
 * are sorted. NULL: there is none. */
static struct mapping *names_kept(const char *heading, const char **text, size_t *sorted)
{
	char *path = home_path(HOME_CACHE, NAME, NULL), line[HEADING_SIZE + 32] = "";
	struct mapping *m = NULL;
	struct stat st;
	size_t skip;

	if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		!(st.st_mode & 077))
		m = mapping_open(path, NULL);
	free(path);
	if (!m || !m->data) {
		mapping_close(m);
		return NULL;
	}
	memcpy(line, m->data, m->size < sizeof(line) - 1 ? m->size : sizeof(line) - 1);
	skip = strcspn(line, "\n");
	if (line[skip] != '\n' || strncmp(line, heading, strlen(heading)) != 0) {
		mapping_close(m);
		return NULL;
	}
	*text = (const char *)m->data + skip + 1;
	*sorted = strtoul(line + strlen(heading), NULL, 10);
	if (*sorted >= m->size - skip || (*sorted && (*text)[*sorted - 1] != '\n'))
		*sorted = 0;
	return m;
}

/* What cannot be written is not kept. */
static void names_keep(const char *heading, const char *text)
{
	char *path = home_path_make(HOME_CACHE, NAME, NULL);
	struct file_out out;

	if (path && file_create(&out, path, NULL) == 0) {
		file_private(&out);
		fprintf(out.stream, "%s%zu\n", heading, kernel_names_sorted(text));
		fputs(text, out.stream);
		(void)file_commit(&out, NULL);
	}
	free(path);
}

/* Of the copy: a few lines, if all addresses are in the kernel's own code, and else all of it. */
static char *names_from(const struct mapping *m, const char *text, size_t sorted,
	const char *modules, const uint64_t *addresses, size_t count)
{
	char *all;

	if (sorted && addresses[0] >= kallsyms_address(text) &&
		addresses[count - 1] < kallsyms_address(text + kallsyms_begin(text, sorted - 1)))
		return kernel_names_some(text, sorted, addresses, count);
	all = strndup(text, m->size - (size_t)(text - (const char *)m->data));
	if (all && all_last(all, modules, addresses, count))
		return all;
	free(all);
	return NULL;
}

char *kernel_names(const uint64_t *addresses, size_t count)
{
	char *modules = file_read("/proc/modules", 0, NULL, NULL), *text = NULL;
	char heading[HEADING_SIZE];
	const char *kept = NULL;
	struct mapping *m = NULL;
	size_t sorted = 0;
	bool known = names_heading(modules ? modules : "", heading) == 0;

	if (known)
		m = names_kept(heading, &kept, &sorted);
	if (m)
		text = names_from(m, kept, sorted, modules ? modules : "", addresses, count);
	if (!text) {
		text = file_read(LIST, LIST_MAX, NULL, NULL);
		if (text && known && !m && kernel_names_find(text, "_etext"))
			names_keep(heading, text);
	}
	mapping_close(m);
	free(modules);
	return text;
}
