/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "kernels/probe.h"

#define MEBI      ((size_t)1 << 20)
#define SCRATCH   MEBI
#define LINE      64
#define PAGE      4096
#define PAGE_STEP (PAGE + LINE) /* to another page and another set of the caches */
#define CODE_TOP  (8 * MEBI)

#define LARGE_PAGE (2 * MEBI)
#define WIDE       (64 * MEBI)
#define SCATTERED  16384

double rig_now_ns(void)
{
	return (double)clock_ns();
}

static size_t power_below(size_t n)
{
	size_t p = 1;

	while (p * 2 <= n)
		p *= 2;
	return p;
}

static size_t rig_clamp(size_t n, size_t low, size_t high)
{
	return n < low ? low : n > high ? high : n;
}

/* Zeroed, on small pages: large ones may consist of small ones underneath (virtual machines), so
 * the load of the TLB would be unknown. */
static char *rig_map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 0, size);
	return p;
}

static void rig_place(
	struct rig *r, enum place where, char *base, size_t count, size_t stride, unsigned slot)
{
	r->layout[where] = (struct layout){base, count, stride};
	r->swept[where] = 0;
	r->at[where] = kernel_chain_build(&r->layout[where], slot, &r->random);
	/* Simultaneous chases: along the same chain, at equal distances. */
	r->chains[where][0] = r->at[where];
	for (int i = 1; i < CHAINS; i++)
		r->chains[where][i] = kernel_chase(r->chains[where][i - 1], count / CHAINS / 8 * 8);
}

/*
 * Sizes well inside each level, so that other programs do not evict the lines (and a virtual
 * machine may have a small part of its nominal last level), and inside the TLBs' reach: the
 * first-level one for L2, the second-level one for the last level.
 */
static int place_lines(struct rig *r, const struct rig_shape *m, struct error *e)
{
	size_t dtlb = rig_clamp(m->dtlb, 32, 1024), stlb = rig_clamp(m->stlb, 4 * dtlb, 4096);
	size_t l1 = power_below(rig_clamp(m->l1d / 2, 8 << 10, 64 << 10));
	size_t l2 = power_below(rig_clamp(m->l2 / 2, 4 * l1, rig_clamp(dtlb * PAGE, 4 * l1, MEBI)));
	size_t outer = m->ll ? m->ll : m->l2;
	size_t ll = power_below(
		rig_clamp(outer / 16, m->l2 * 2, rig_clamp(stlb * PAGE, 2 * MEBI, 4 * MEBI)));
	size_t walk = power_below(rig_clamp(5 * stlb, 2048, 8192));
	size_t first = power_below(rig_clamp(4 * dtlb, 128, 256));

	size_t inner = ll > walk * LINE ? ll : walk * LINE, evict = power_below(m->l2 + m->l2 / 2);

	r->packed_size = inner + evict;
	r->pages_size = walk * PAGE_STEP;
	r->packed = rig_map(r->packed_size);
	r->pages = rig_map(r->pages_size);
	if (!r->packed || !r->pages)
		return error_nomem(e);
	r->evict = (struct layout){r->packed + inner, evict / LINE, LINE};
	rig_place(r, PLACE_L1, r->packed, l1 / LINE, LINE, 0);
	rig_place(r, PLACE_L2, r->packed, l2 / LINE, LINE, 1);
	rig_place(r, PLACE_LL, r->packed, ll / LINE, LINE, 2);
	rig_place(r, PLACE_WALK_PACKED, r->packed, walk, LINE, 3);
	rig_place(r, PLACE_MEMORY, r->packed, ll / LINE, LINE, 4);
	rig_place(r, PLACE_STLB, r->pages, first, PAGE_STEP, 0);
	rig_place(r, PLACE_WALK, r->pages, walk, PAGE_STEP, 1);
	return 0;
}

/* The old pages are kept until the new ones exist: else the kernel would return the same ones. */
int rig_shuffle(struct rig *r, struct error *e)
{
	char *fresh = rig_map(r->pages_size), *old = r->pages;

	if (!fresh)
		return error_nomem(e);
	r->pages = fresh;
	munmap(old, r->pages_size);
	rig_place(r, PLACE_STLB, fresh, r->layout[PLACE_STLB].count, PAGE_STEP, 0);
	rig_place(r, PLACE_WALK, fresh, r->layout[PLACE_WALK].count, PAGE_STEP, 1);
	return 0;
}

/* All the code, one kind after the other; then no longer writable. If the system forbids that,
 * there is none. */
static int place_code(struct rig *r, const struct rig_shape *m)
{
	size_t l1 = rig_clamp(m->l1i / 2, 8 << 10, 64 << 10) / LINE;
	size_t l2 = rig_clamp(m->l2 / 4, 128 << 10, MEBI) / LINE;
	size_t first = power_below(rig_clamp(3 * m->itlb, 128, 256));
	size_t pages =
		2048; /* beyond second-level TLBs for code, within most branch target buffers */
	const struct layout shape[CODE_COUNT] = {
		[CODE_STRAIGHT_L1] = {.count = l1, .stride = LINE},
		[CODE_STRAIGHT_L2] = {.count = l2, .stride = LINE},
		[CODE_STRAIGHT_LL] = {.count = CODE_TOP / LINE, .stride = LINE},
		[CODE_JUMPS_L1] = {.count = first, .stride = LINE},
		[CODE_JUMPS_L2] = {.count = 2048, .stride = LINE},
		[CODE_JUMPS_STLB] = {.count = first, .stride = PAGE_STEP},
		[CODE_JUMPS_WALK] = {.count = pages, .stride = PAGE_STEP},
		[CODE_JUMPS_WALK_PACKED] = {.count = pages, .stride = LINE},
	};
	size_t offset[CODE_COUNT];

	if (!KERNELS_HAVE_CODE)
		return 0;
	for (int i = 0; i < CODE_COUNT; i++) {
		offset[i] = r->code_size;
		r->code_size +=
			(shape[i].count * shape[i].stride + PAGE + PAGE - 1) & ~(size_t)(PAGE - 1);
	}
	r->code_memory = rig_map(r->code_size);
	if (!r->code_memory)
		return 0;
	for (int i = 0; i < CODE_COUNT; i++) {
		struct layout code = shape[i];

		code.base = r->code_memory + offset[i];
		if (i <= CODE_STRAIGHT_LL)
			kernel_code_write_straight(&code);
		else
			kernel_code_write_jumps(&code, &r->random);
		r->code[i] = code;
	}
	if (mprotect(r->code_memory, r->code_size, PROT_READ | PROT_EXEC)) /* a hardened system */
		memset(r->code, 0, sizeof(r->code));
	return 0;
}

/* Few lines that are far apart, on large pages: walks of page tables are rare. Without memory for
 * it, there is none. */
static void place_scattered(struct rig *r)
{
	uintptr_t begin;
	char *first, *last;

	r->wide_size = WIDE + LARGE_PAGE;
	r->wide = mmap(NULL, r->wide_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->wide == MAP_FAILED) {
		r->wide = NULL;
		return;
	}
	begin = ((uintptr_t)r->wide + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
	madvise(r->wide + (begin - (uintptr_t)r->wide), WIDE, MADV_HUGEPAGE);
	first = last = r->wide + (begin - (uintptr_t)r->wide);
	*(void **)first = first;
	for (int i = 1; i < SCATTERED; i++) {
		char *line = first + random_next(&r->random) % (WIDE / LINE) * LINE;

		if (*(void **)line)
			continue; /* it is in the chain already */
		*(void **)line = first;
		*(void **)last = line;
		last = line;
	}
	r->scattered = first;
}

static void pin(struct rig *r)
{
	cpu_set_t one;

	r->cpu = r->other_cpu = -1;
	if (sched_getaffinity(0, sizeof(r->before), &r->before))
		return;
	r->cpu = sched_getcpu();
	for (int i = 0; i < CPU_SETSIZE && r->other_cpu < 0; i++)
		if (i != r->cpu && CPU_ISSET(i, &r->before))
			r->other_cpu = i;
	CPU_ZERO(&one);
	if (r->cpu >= 0) {
		CPU_SET(r->cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
}

int rig_init(struct rig *r, const struct rig_shape *shape, struct error *e)
{
	memset(r, 0, sizeof(*r));
	r->random = 0x2545f4914f6cdd1d ^ (uint64_t)rig_now_ns();
	r->pipe_out[0] = r->pipe_out[1] = r->pipe_back[0] = r->pipe_back[1] = -1;
	pin(r);
	r->scratch = rig_map(SCRATCH);
	r->coins = malloc(COINS);
	r->even = malloc(COINS);
	if (!r->scratch || !r->coins || !r->even)
		goto nomem;
	for (size_t i = 0; i < COINS; i++)
		r->even[i] = i & 1 ? 0xaa : 0x55; /* alternates by bytes, and nearly so by bits */
	if (pipe2(r->pipe_out, O_CLOEXEC) || pipe2(r->pipe_back, O_CLOEXEC)) {
		error_sys(e, errno, "cannot create a pipe");
		goto fail;
	}
	if (place_lines(r, shape, e) || place_code(r, shape))
		goto fail;
	place_scattered(r);
	return 0;
nomem:
	error_nomem(e);
fail:
	rig_fini(r);
	return -1;
}

void rig_fini(struct rig *r)
{
	const int fd[] = {r->pipe_out[0], r->pipe_out[1], r->pipe_back[0], r->pipe_back[1]};

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (r->packed)
		munmap(r->packed, r->packed_size);
	if (r->pages)
		munmap(r->pages, r->pages_size);
	if (r->scratch)
		munmap(r->scratch, SCRATCH);
	if (r->wide)
		munmap(r->wide, r->wide_size);
	if (r->code_memory)
		munmap(r->code_memory, r->code_size);
	free(r->coins);
	free(r->even);
	if (r->cpu >= 0)
		sched_setaffinity(0, sizeof(r->before), &r->before);
	memset(r, 0, sizeof(*r));
	r->cpu = -1;
}
