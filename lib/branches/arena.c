/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our memory in the address space of a program: its places and contents. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/proc.h"
#include "branches/cache.h"

#define REACH         (1900ull << 20) /* bytes that displacements reach in any case */
#define APART         (1ull << 30)    /* from the code, so that mappings there can grow */
#define GUARD         (16ull << 20)   /* to the next mapping: stacks and heaps grow */
#define LOWEST        (1ull << 20)
#define HIGHEST       (1ull << 47)
#define ROOM_CODE     (64u << 10) /* for one more block with all its slots and exits */
#define ROOM_SLOTS    4096u
#define TOGETHER      2048u /* bytes between patches that are written at once */
#define HEADS_AT_ONCE 64u
#define SIZE          (ARENA_CODE + ARENA_DATA)
#define SHARED        (ARENA_DATA - ARENA_KEPT)
/* A program that makes the file shorter would end us. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static uint64_t arena_distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static bool reaches(uint64_t base, const struct area *area)
{
	return arena_distance(base, area->begin) < REACH &&
	       arena_distance(base, area->end) < REACH &&
	       arena_distance(base + SIZE, area->begin) < REACH &&
	       arena_distance(base + SIZE, area->end) < REACH;
}

/* The place in a gap that is nearest to `wanted`; 0: the gap is too small. */
static uint64_t place_in(uint64_t begin, uint64_t end, uint64_t wanted)
{
	if (end < begin || end - begin < SIZE + 2 * GUARD)
		return 0;
	begin += GUARD;
	end -= GUARD + SIZE;
	begin = (begin + 4095) & ~4095ull;
	return wanted < begin ? begin : wanted > end ? end & ~4095ull : wanted;
}

static uint64_t arena_find_place(const struct followed *p, const struct area *area)
{
	uint64_t before = LOWEST, begin, end, best = 0;
	uint64_t wanted = area->begin > 2 * APART ? area->begin - APART : area->begin + APART;
	char path[64], line[512];
	FILE *maps;

	wanted &= ~4095ull;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_living(p->pid));
	maps = fopen(path, "re");
	if (!maps)
		return 0;
	for (bool more = true; more; before = end) {
		uint64_t at;

		more = fgets(line, sizeof(line), maps) &&
		       sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && end < HIGHEST;
		if (!more)
			begin = HIGHEST, end = HIGHEST;
		at = place_in(before, begin, wanted);
		if (at && reaches(at, area) &&
			(!best || arena_distance(at, wanted) < arena_distance(best, wanted)))
			best = at;
		while (more && !strchr(line, '\n') && fgets(line, sizeof(line), maps))
			;
	}
	fclose(maps);
	return best;
}

void arena_reset(struct arena *a)
{
	a->used = a->sent = ARENA_STUBS;
	a->slots = a->slots_sent = SLOTS_FIRST;
	a->places.count = a->patches.count = a->heads.count = 0;
	table_fini(&a->chains);
	table_fini(&a->door_chains);
	a->chains = (struct table){.entry_size = sizeof(struct chain), .key_size = 8};
	a->door_chains = a->chains;
	a->miss = a->stop = 0;
}

void arena_fini(struct arena *a)
{
	if (a->mirror)
		munmap(a->mirror, ARENA_CODE);
	if (a->values)
		munmap(a->values, ARENA_SLOTS * 8);
	if (a->own)
		munmap(a->own, SHARED);
	vec_fini(&a->places);
	vec_fini(&a->patches);
	vec_fini(&a->heads);
	table_fini(&a->chains);
	table_fini(&a->door_chains);
	memset(a, 0, sizeof(*a));
}

static void *arena_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t arena_map(
	struct cache *c, struct held *f, uint64_t at, uint64_t size, uint64_t protection)
{
	long got = inject_call(c, f, SYS_mmap,
		(const uint64_t[6]){at, size, protection,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
			(uint64_t)-1, 0});

	if (got > 0 && (uint64_t)got != at)
		inject_call(c, f, SYS_munmap, (const uint64_t[6]){(uint64_t)got, size});
	return got > 0 && (uint64_t)got == at ? at : 0;
}

/*
 * Both processes map the same pages for its data, so that nothing has to be sent and read. The
 * program makes them, since only we can open what the other has open. Between two system calls of
 * its only thread, nothing of it sees that a descriptor was used. A filter of system calls might
 * not know this call, and a limit on files would end us. Where it cannot be, data are sent.
 */
static void arena_share(struct cache *c, struct held *f, struct arena *a)
{
	uint64_t begin = a->data + ARENA_KEPT;
	struct rlimit limit;
	char path[64];
	long fd;
	int own;

	if (f->process->threads != 1 || f->process->filtered || getrlimit(RLIMIT_FSIZE, &limit) ||
		limit.rlim_cur != RLIM_INFINITY)
		return;
	/* Its name is empty: these bytes are 0. */
	fd = inject_call(c, f, SYS_memfd_create,
		(const uint64_t[6]){begin, MFD_CLOEXEC | MFD_ALLOW_SEALING});
	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)f->tid, fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	if (own >= 0 && ftruncate(own, SHARED) == 0 && fcntl(own, F_ADD_SEALS, SEALS) == 0 &&
		inject_call(c, f, SYS_mmap,
			(const uint64_t[6]){begin, SHARED, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_NORESERVE | MAP_FIXED, (uint64_t)fd, 0}) ==
			(long)begin) {
		a->own = mmap(
			NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, own, 0);
		if (a->own == MAP_FAILED)
			a->own = NULL;
	}
	if (own >= 0)
		close(own);
	inject_call(c, f, SYS_close, (const uint64_t[6]){(uint64_t)fd});
}

static int arena_map_all(struct cache *c, struct held *f, struct arena *a, uint64_t at)
{
	a->code = arena_map(c, f, at, ARENA_CODE, PROT_READ | PROT_EXEC);
	if (!a->code)
		return -1;
	a->data = arena_map(c, f, at + ARENA_CODE, ARENA_DATA, PROT_READ | PROT_WRITE);
	if (!a->data) {
		inject_call(c, f, SYS_munmap, (const uint64_t[6]){at, ARENA_CODE});
		return -1;
	}
	arena_share(c, f, a);
	inject_call(c, f, SYS_madvise,
		(const uint64_t[6]){at + ARENA_STUBS, ARENA_CODE - ARENA_STUBS, MADV_DONTFORK});
	inject_call(c, f, SYS_madvise,
		(const uint64_t[6]){a->data + ARENA_KEPT, SHARED, MADV_DONTFORK});
	inject_call(c, f, SYS_madvise, (const uint64_t[6]){at, SIZE, MADV_NOHUGEPAGE});
	a->table = a->data + ARENA_SLOTS * 8;
	a->log = a->table + ARENA_TABLE + ARENA_DOORS;
	a->rings = a->log + ARENA_LOG;
	/* Otherwise each new target costs a page fault. */
	inject_call(c, f, SYS_madvise,
		(const uint64_t[6]){a->table, a->log - a->table, MADV_POPULATE_WRITE});
	if (c->logs)
		value_log_arena(c, a);
	if (f->b->request.latency && timing_prepare(c, a))
		return -1;
	a->mirror = arena_memory(ARENA_CODE);
	a->values = arena_memory(ARENA_SLOTS * 8);
	arena_reset(a);
	return a->mirror && a->values ? 0 : -1;
}

static int arena_make(struct cache *c, struct held *f, struct arena *a, uint64_t at)
{
	uint64_t used = hold_time(f->process, f->tid), stops = f->b->counts[TALLY_STOPS], now;
	uint64_t began = branches_now(CLOCK_MONOTONIC), spent = hold_spent(f);
	int rc = arena_map_all(c, f, a, at);

	f->until += branches_now(CLOCK_MONOTONIC) - began;
	f->most += hold_spent(f) - spent;
	now = hold_time(f->process, f->tid);
	c->setup_ns += now > used ? now - used : 0;
	c->setup_stops += f->b->counts[TALLY_STOPS] - stops;
	return rc;
}

struct arena *arena_for(struct cache *c, struct held *f, uint64_t address)
{
	const struct area *area = process_area(c->process, address);
	struct arena *a;
	uint64_t at;

	if (!area)
		return NULL;
	for (unsigned i = 0; i < c->arena_count; i++)
		if (reaches(c->arenas[i].code, area))
			return &c->arenas[i];
	at = c->arena_count < ARENAS_MAX ? arena_find_place(c->process, area) : 0;
	/* The thread may have set a filter in this burst. */
	c->refused |=
		process_filtered(f->b, c->process, f->tid) || !process_has_room(c->process, SIZE);
	if (!at || c->refused)
		return NULL;
	a = &c->arenas[c->arena_count];
	if (arena_make(c, f, a, at)) {
		arena_fini(a);
		c->refused = true;
		return NULL;
	}
	c->arena_count++;
	return a;
}

int arena_at(const struct cache *c, uint64_t address)
{
	for (unsigned i = 0; i < c->arena_count; i++)
		if (address - c->arenas[i].code < ARENA_CODE)
			return (int)i;
	return -1;
}

bool arena_room(const struct arena *a)
{
	return ARENA_CODE - a->used > ROOM_CODE && ARENA_SLOTS - a->slots > ROOM_SLOTS;
}

/* The place of its data here; NULL: they are not shared. */
static void *arena_own(const struct arena *a, uint64_t at, size_t size)
{
	uint64_t distance = at - a->data - ARENA_KEPT;

	return a->own && distance < SHARED && size <= SHARED - distance ? a->own + distance : NULL;
}

bool arena_read(const struct cache *c, const struct arena *a, uint64_t from, void *to, size_t size)
{
	const void *own = arena_own(a, from, size);

	if (!own)
		return process_read(c->process->memory, from, to, size);
	memcpy(to, own, size);
	return true;
}

bool arena_write(
	const struct cache *c, const struct arena *a, uint64_t to, const void *from, size_t size)
{
	void *own = arena_own(a, to, size);

	if (!own)
		return process_write(c->process->memory, to, from, size);
	memcpy(own, from, size);
	return true;
}

static void arena_put_word(const struct arena *a, uint64_t at, uint64_t value)
{
	uint64_t *own = arena_own(a, at, sizeof(value));

	if (own)
		*own = value;
}

uint32_t arena_slot(struct arena *a, uint64_t value)
{
	a->values[a->slots] = value;
	arena_put_word(a, arena_slot_address(a, a->slots), value);
	return a->slots++;
}

static int compare_patches(const void *a, const void *b)
{
	const struct patch *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Patches that are near to each other go together: what is between them is there already. */
static bool send_patches(struct arena *a, int memory)
{
	const struct patch *all = a->patches.data;
	size_t count = a->patches.count, last;
	bool good = true;

	if (count)
		qsort(a->patches.data, count, sizeof(*all), compare_patches);
	for (size_t i = 0; i < count && good; i = last) {
		uint32_t begin = all[i].at, end = begin + all[i].size;

		for (last = i + 1; last < count && all[last].at < end + TOGETHER; last++)
			if (all[last].at + all[last].size > end)
				end = all[last].at + all[last].size;
		good = process_write(memory, a->code + begin, a->mirror + begin, end - begin);
	}
	a->patches.count = 0;
	return good;
}

int arena_head(struct arena *a, uint64_t at, uint64_t value)
{
	arena_put_word(a, at, value);
	return a->own ? 0 : vec_add(&a->heads, ((struct head){at, value}));
}

/* One call for many words: each that is written by itself takes a microsecond. Where the call is
 * not permitted, so they are. */
static bool send_heads(struct arena *a, const struct followed *p)
{
	struct iovec from[HEADS_AT_ONCE], to[HEADS_AT_ONCE];
	bool good = true;

	for (size_t first = 0, n; first < a->heads.count && good; first += n) {
		struct head *all = a->heads.data + first;

		n = a->heads.count - first < HEADS_AT_ONCE ? a->heads.count - first : HEADS_AT_ONCE;
		for (size_t i = 0; i < n; i++) {
			from[i] = (struct iovec){&all[i].value, sizeof(all[i].value)};
			to[i] = (struct iovec){(void *)(uintptr_t)all[i].at, sizeof(all[i].value)};
		}
		if (process_vm_writev(p->pid, from, n, to, n, 0) ==
			(ssize_t)(n * sizeof(all->value)))
			continue;
		for (size_t i = 0; i < n && good; i++)
			good = process_write(
				p->memory, all[i].at, &all[i].value, sizeof(all[i].value));
	}
	a->heads.count = 0;
	return good;
}

int arena_send(struct arena *a, const struct followed *p)
{
	int memory = p->memory;
	bool good =
		process_write(memory, a->code + a->sent, a->mirror + a->sent, a->used - a->sent) &&
		send_patches(a, memory) &&
		(a->own || process_write(memory, arena_slot_address(a, a->slots_sent),
				   a->values + a->slots_sent,
				   (a->slots - a->slots_sent) * (size_t)8)) &&
		send_heads(a, p);

	a->sent = a->used;
	a->slots_sent = a->slots;
	return good ? 0 : -1;
}
