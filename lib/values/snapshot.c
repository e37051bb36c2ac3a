/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a stopped process, page by page as a window needs it. What the window stores goes to
 * these copies only.
 *
 * Reading a device may have effects, so only areas are read that are anonymous or of files. The
 * kernel is asked where an address is in none that is known; an area that became a device meanwhile
 * and was memory before would not be noticed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/proc.h"
#include "values/private.h"

#define MULTIPLIER 0x9e3779b97f4a7c15u

void snapshot_init(struct snapshot *s)
{
	s->spaces = TABLE_OF(struct snapshot_space);
}

static void maps_close(struct snapshot *s)
{
	if (s->maps > 0)
		close(s->maps);
	s->maps = 0;
}

void snapshot_fini(struct snapshot *s)
{
	for (size_t i = 0; i < s->spaces.count; i++) {
		struct snapshot_space *space = table_at(&s->spaces, i);

		vec_fini(&space->areas);
	}
	table_fini(&s->spaces);
	maps_close(s);
}

void snapshot_begin(struct snapshot *s, pid_t pid, int memory)
{
	s->epoch++;
	s->used = 0;
	s->last = s->code = NULL;
	s->pid = pid;
	s->memory = memory;
	s->full = false;
	maps_close(s);
}

void snapshot_forget(struct snapshot *s, pid_t pid)
{
	const uint64_t key = (uint64_t)pid;
	struct snapshot_space *space = table_find(&s->spaces, &key);

	if (space) {
		space->areas.count = 0;
		space->looked = 0;
	}
}

static bool snapshot_may_read(const char *mode, uint64_t inode, const char *name)
{
	static const char *const refused[] = {"[v", "anon_inode:", "socket:", "/dev/"};

	if (mode[0] != 'r')
		return false;
	if (strncmp(name, "[vdso]", 6) == 0 || strncmp(name, "/dev/zero", 9) == 0 ||
		strncmp(name, "/dev/shm/", 9) == 0)
		return true;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (strncmp(name, refused[i], strlen(refused[i])) == 0)
			return false;
	return mode[3] == 'p' || inode != 0;
}

static void read_areas(struct snapshot *s, struct snapshot_space *space)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	space->looked = s->epoch;
	space->areas.count = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_living(s->pid));
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		struct snapshot_area area;
		struct proc_mapping m;

		if (!proc_mapping(line, &m) || !snapshot_may_read(m.mode, m.inode, m.path))
			continue;
		area = (struct snapshot_area){
			.begin = m.begin, .end = m.end, .writable = m.mode[1] == 'w'};
		if (space->areas.count &&
			space->areas.data[space->areas.count - 1].end == area.begin &&
			space->areas.data[space->areas.count - 1].writable == area.writable)
			space->areas.data[space->areas.count - 1].end = area.end;
		else if (vec_add(&space->areas, area))
			break;
	}
	free(line);
	if (file)
		fclose(file);
}

/* ---- one area, without the others (Linux 6.11 and later) ---- */

/* As the kernel has it (procfs, PROCMAP_QUERY). */
struct map_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define MAP_QUERY     _IOWR('f', 17, struct map_query)
#define MAP_READABLE  1u
#define MAP_WRITABLE  2u
#define MAP_IS_SHARED 8u

static int maps_of(struct snapshot *s)
{
	char path[64];

	if (s->maps > 0)
		return s->maps;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_living(s->pid));
	s->maps = open(path, O_RDONLY | O_CLOEXEC);
	return s->maps;
}

/* In place of those that were where it is. */
static void put_area(struct snapshot_space *space, struct snapshot_area area)
{
	size_t at = vec_search(i, space->areas.count, space->areas.data[i].end <= area.begin);
	size_t over = at, rest;

	while (over < space->areas.count && space->areas.data[over].begin < area.end)
		over++;
	rest = space->areas.count - over;
	if (at == over && !vec_push(&space->areas))
		return;
	memmove(&space->areas.data[at + 1], &space->areas.data[over],
		rest * sizeof(*space->areas.data));
	space->areas.data[at] = area;
	space->areas.count = at + 1 + rest;
}

/* False: the kernel cannot be asked. */
static bool ask_area(struct snapshot *s, struct snapshot_space *space, uint64_t address)
{
	char name[PATH_MAX], mode[5] = "---p";
	struct map_query q = {.size = sizeof(q),
		.query_addr = address,
		.vma_name_size = sizeof(name),
		.vma_name_addr = (uint64_t)(uintptr_t)name};
	int maps = s->unasked ? -1 : maps_of(s);

	name[0] = '\0';
	if (maps < 0)
		return false;
	if (ioctl(maps, MAP_QUERY, &q)) {
		s->unasked = errno == ENOTTY || errno == EINVAL;
		return !s->unasked;
	}
	mode[0] = q.vma_flags & MAP_READABLE ? 'r' : '-';
	mode[1] = q.vma_flags & MAP_WRITABLE ? 'w' : '-';
	mode[3] = q.vma_flags & MAP_IS_SHARED ? 's' : 'p';
	if (snapshot_may_read(mode, q.inode, name))
		put_area(space, (struct snapshot_area){q.vma_start, q.vma_end, mode[1] == 'w'});
	return true;
}

/* What is at an address now. */
static void find_area(struct snapshot *s, struct snapshot_space *space, uint64_t address)
{
	if (!ask_area(s, space, address) && space->looked != s->epoch)
		read_areas(s, space);
}

static const struct snapshot_area *area_of(const struct snapshot_space *space, uint64_t address)
{
	size_t at = vec_search(i, space->areas.count, space->areas.data[i].end <= address);

	return at < space->areas.count && space->areas.data[at].begin <= address
		       ? &space->areas.data[at]
		       : NULL;
}

/* NULL: it is no memory, or none that may be read. */
static const struct snapshot_area *memory_at(struct snapshot *s, uint64_t address)
{
	const struct snapshot_area *area;
	const uint64_t key = (uint64_t)s->pid;
	struct snapshot_space *space = table_add(&s->spaces, &key);

	if (!space)
		return NULL;
	area = area_of(space, address);
	if (area)
		return area;
	find_area(s, space, address);
	return area_of(space, address);
}

static struct snapshot_page *new_page(struct snapshot *s, uint64_t number)
{
	const struct snapshot_area *area;
	struct snapshot_page *p;

	if (s->used == SNAPSHOT_PAGES) {
		s->full = true;
		return NULL;
	}
	p = &s->pages[s->used++];
	p->number = number;
	p->changed = false;
	area = memory_at(s, number * PAGE);
	p->writable = area && area->writable;
	p->refused = !area || pread(s->memory, p->bytes, PAGE, (off_t)(number * PAGE)) != PAGE;
	return p;
}

static struct snapshot_page *snapshot_find(struct snapshot *s, uint64_t number)
{
	struct snapshot_page *p;

	for (size_t at = (number * MULTIPLIER) >> 54;; at++) {
		struct snapshot_slot *slot = &s->slots[at % SNAPSHOT_SLOTS];

		if (slot->epoch == s->epoch && slot->number != number)
			continue;
		if (slot->epoch == s->epoch)
			return &s->pages[slot->page];
		p = new_page(s, number);
		if (p)
			*slot = (struct snapshot_slot){number, s->epoch, s->used - 1};
		return p;
	}
}

/* NULL: it cannot be read, or there are too many. */
static struct snapshot_page *snapshot_page(
	struct snapshot *s, uint64_t number, struct snapshot_page **last)
{
	if (!*last || (*last)->number != number)
		*last = snapshot_find(s, number);
	return *last && !(*last)->refused ? *last : NULL;
}

const uint8_t *snapshot_code(struct snapshot *s, uint64_t address, size_t *size)
{
	struct snapshot_page *p = snapshot_page(s, address / PAGE, &s->code);

	*size = PAGE - address % PAGE;
	return p ? p->bytes + address % PAGE : NULL;
}

/* The first part of it, in one page; *rest: what is left. */
static uint8_t *part(struct snapshot *s, uint64_t address, size_t *size)
{
	struct snapshot_page *p = snapshot_page(s, address / PAGE, &s->last);
	size_t room = PAGE - address % PAGE;

	if (!p)
		return NULL;
	if (*size > room)
		*size = room;
	return p->bytes + address % PAGE;
}

bool snapshot_read(struct snapshot *s, uint64_t address, void *to, size_t size)
{
	for (size_t done = 0, now; done < size; done += now) {
		const uint8_t *from;

		now = size - done;
		from = part(s, address + done, &now);
		if (!from)
			return false;
		memcpy((uint8_t *)to + done, from, now);
	}
	return true;
}

/* It may have become writable since the areas were read. */
static bool may_write(struct snapshot *s, struct snapshot_page *p)
{
	const uint64_t key = (uint64_t)s->pid;
	struct snapshot_space *space = p->writable ? NULL : table_find(&s->spaces, &key);
	const struct snapshot_area *area;

	if (!space)
		return p->writable;
	find_area(s, space, p->number * PAGE);
	area = area_of(space, p->number * PAGE);
	p->writable = area && area->writable;
	return p->writable;
}

/* All of it or nothing, as the processor does. */
bool snapshot_write(struct snapshot *s, uint64_t address, const void *from, size_t size)
{
	uint64_t end = (address + size - 1) / PAGE;

	if (end != address / PAGE && (!snapshot_page(s, end, &s->last) || !s->last->writable))
		return false;
	for (size_t done = 0, now; done < size; done += now) {
		uint8_t *to;

		now = size - done;
		to = part(s, address + done, &now);
		if (!to || !may_write(s, s->last))
			return false;
		s->last->changed = true;
		memcpy(to, (const uint8_t *)from + done, now);
	}
	return true;
}

void snapshot_apply(const struct snapshot *s, int memory)
{
	for (uint32_t i = 0; i < s->used; i++) {
		const struct snapshot_page *p = &s->pages[i];

		/* What cannot be written is read-only: the window would have ended there. */
		if (p->changed && pwrite(memory, p->bytes, PAGE, (off_t)(p->number * PAGE)) != PAGE)
			continue;
	}
}
