/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/glance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mapping.h"
#include "base/sort.h"
#include "experiment/private.h"

enum {
	PAGE = 4096, /* addresses counted side by side */
	COUNTERS_MAX = 1 << 25 /* of all pages: 256 MiB */,
	STRIDE = 16,  /* sections of samples per call */
	SLICE = 4096, /* nodes between two checks of the clock */
};

/* Addresses of an image, PAGE of them. */
struct page {
	struct {
		uint64_t number; /* address / PAGE */
		uint32_t image, reserved;
	} key;
	uint64_t *counts; /* [address % PAGE * metrics + metric]; NULL: no samples */
};

struct section {
	const uint8_t *at, *end;
};

struct experiment_glance {
	struct experiment x;
	const uint8_t *data;
	size_t size;
	struct mapping *file; /* of data, where it is a file */
	VEC(struct section) nodes, samples;
	size_t sample_bytes, counted_bytes;

	/* nodes: where the last one was */
	size_t node_section;
	struct cursor c;
	struct experiment_node last;
	uint64_t *addresses; /* of each image */
	uint32_t *slots; /* [node]: page * PAGE + address % PAGE; mapped for all possible nodes */
	size_t node_count, slots_size;
	struct table pages;
	struct {
		uint64_t number;
		uint32_t page;
	} * recent; /* of each image, the last page that was used */

	size_t visited; /* sections of samples */
	bool bad;
};

/* ---- opening ---- */

static int list_sections(struct experiment_glance *g, size_t at, struct error *e)
{
	while (g->size - at >= CODING_SECTION) {
		size_t length = (size_t)get_fixed(g->data + at + 4, 4);
		bool node = memcmp(g->data + at, "NODE", 4) == 0;
		bool sample = memcmp(g->data + at, "SAMP", 4) == 0;

		if (length > g->size - at - CODING_SECTION)
			break;
		if (node || sample) {
			struct section *s = NULL;

			if (node)
				s = vec_push(&g->nodes);
			else
				s = vec_push(&g->samples);
			if (!s)
				return error_nomem(e);
			s->at = g->data + at + CODING_SECTION;
			s->end = s->at + length;
			g->sample_bytes += sample ? length : 0;
		}
		at += CODING_SECTION + length;
	}
	return 0;
}

static int glance_make_room(struct experiment_glance *g, struct error *e)
{
	size_t bytes = 1;

	for (size_t i = 0; i < g->nodes.count; i++)
		bytes += (size_t)(g->nodes.data[i].end - g->nodes.data[i].at);
	g->addresses = calloc(g->x.images.count, sizeof(*g->addresses));
	g->recent = calloc(g->x.images.count, sizeof(*g->recent));
	/* A node takes a byte or more; memory is allocated when written. */
	g->slots_size = bytes * sizeof(*g->slots);
	g->slots = mmap(NULL, g->slots_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (g->slots == MAP_FAILED)
		g->slots = NULL;
	if (!g->addresses || !g->recent || !g->slots)
		return error_nomem(e);
	madvise(g->slots, g->slots_size, MADV_HUGEPAGE);
	for (size_t i = 0; i < g->x.images.count; i++)
		g->recent[i].number = UINT64_MAX;
	g->node_count = 1; /* the root */
	return 0;
}

struct experiment_glance *experiment_glance_new(const void *data, size_t size, struct error *e)
{
	struct experiment_glance *g = calloc(1, sizeof(*g));
	size_t at = 0;

	if (!g) {
		error_nomem(e);
		return NULL;
	}
	g->data = data;
	g->size = size;
	g->pages = (struct table){
		.entry_size = sizeof(struct page), .key_size = sizeof(((struct page *)0)->key)};
	if (experiment_parse_head(&g->x, data, size, &at, e) == 0 && list_sections(g, at, e) == 0 &&
		glance_make_room(g, e) == 0)
		return g;
	experiment_glance_close(g);
	return NULL;
}

struct experiment_glance *experiment_glance_open(const char *path, struct error *e)
{
	struct mapping *file = mapping_open(path, e);
	struct experiment_glance *g;

	if (!file)
		return NULL;
	g = experiment_glance_new(file->data, file->size, e);
	if (g)
		g->file = file;
	else
		mapping_close(file);
	return g;
}

void experiment_glance_close(struct experiment_glance *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->pages.count; i++)
		free(((struct page *)table_at(&g->pages, i))->counts);
	table_fini(&g->pages);
	mapping_close(g->file);
	if (g->slots)
		munmap(g->slots, g->slots_size);
	vec_fini(&g->nodes);
	vec_fini(&g->samples);
	free(g->addresses);
	free(g->recent);
	experiment_fini(&g->x);
	free(g);
}

const struct experiment *experiment_glance_head(const struct experiment_glance *g)
{
	return &g->x;
}

/* ---- nodes ---- */

/* -1: there are too many. */
static long page_of(struct experiment_glance *g, uint32_t image, uint64_t number)
{
	const struct page key = {.key = {.number = number, .image = image}};
	const struct page *page;
	size_t metrics = g->x.metrics.count + 1;

	if (g->recent[image].number == number)
		return g->recent[image].page;
	if (g->pages.count >= COUNTERS_MAX / PAGE / metrics && !table_find(&g->pages, &key.key))
		return -1;
	page = table_add(&g->pages, &key.key);
	if (!page)
		return -1;
	g->recent[image].number = number;
	g->recent[image].page = (uint32_t)(page - (struct page *)(void *)g->pages.entries);
	return g->recent[image].page;
}

static void glance_take_node(struct experiment_glance *g)
{
	struct cursor *c = &g->c;
	uint64_t first = get_uint(c), *address;
	long page;

	if (first & 1) {
		g->last.key.image = get_below(c, g->x.images.count);
		address = &g->addresses[g->last.key.image];
		*address += (uint64_t)unzigzag(get_uint(c));
	} else {
		address = &g->addresses[g->last.key.image];
		*address += first >> 1;
	}
	page = page_of(g, g->last.key.image, *address / PAGE);
	g->bad = g->bad || c->bad || page < 0;
	if (!g->bad)
		g->slots[g->node_count++] = (uint32_t)page * PAGE + (uint32_t)(*address % PAGE);
}

/* True: there are more. */
static bool take_nodes(struct experiment_glance *g, uint64_t budget)
{
	uint64_t begin = clock_ns();

	while (!g->bad) {
		for (int i = 0; i < SLICE && g->c.at < g->c.end && !g->bad; i++)
			glance_take_node(g);
		if (g->c.at >= g->c.end) {
			if (g->node_section == g->nodes.count)
				return false;
			g->c = (struct cursor){.at = g->nodes.data[g->node_section].at,
				.end = g->nodes.data[g->node_section].end};
			g->node_section++;
		}
		if (budget != UINT64_MAX && clock_ns() - begin >= budget)
			return true;
	}
	return false;
}

/* ---- samples ---- */

static void forget_samples(struct experiment_glance *g)
{
	size_t bytes = PAGE * (g->x.metrics.count + 1) * sizeof(uint64_t);

	for (size_t i = 0; i < g->pages.count; i++) {
		struct page *page = table_at(&g->pages, i);

		if (page->counts)
			memset(page->counts, 0, bytes);
	}
	g->visited = 0;
	g->counted_bytes = 0;
}

static void count(struct experiment_glance *g, uint32_t node, size_t metric, uint64_t n)
{
	size_t metrics = g->x.metrics.count;
	uint32_t slot = g->slots[node];
	struct page *page = (struct page *)(void *)g->pages.entries + slot / PAGE;

	if (!page->counts) {
		page->counts = calloc(PAGE * (metrics + 1), sizeof(uint64_t));
		if (!page->counts) {
			g->bad = true;
			return;
		}
	}
	page->counts[slot % PAGE * metrics + metric] += n;
}

static void take_histogram(struct experiment_glance *g, struct cursor *c)
{
	size_t metric = get_below(c, g->x.metrics.count);
	uint64_t n, next = 0;

	get_uint(c);
	get_uint(c);
	for (n = get_uint(c); n > 0 && !c->bad && !g->bad; n--) {
		uint64_t first = get_uint(c), many = first & 1 ? get_uint(c) : 1;

		next += first >> 1;
		if (next < g->node_count && !c->bad && next)
			count(g, (uint32_t)next, metric, many);
		if (next > UINT32_MAX)
			c->bad = true;
		next++;
	}
}

/* The section of that turn: every 16th, then their neighbours. */
static size_t spread(size_t turn, size_t count_of)
{
	size_t rows = (count_of + STRIDE - 1) / STRIDE;

	return turn % rows * STRIDE + turn / rows;
}

static bool glance_take_samples(struct experiment_glance *g, uint64_t budget)
{
	size_t turns = (g->samples.count + STRIDE - 1) / STRIDE * STRIDE;
	uint64_t begin = clock_ns();

	for (; g->visited < turns && !g->bad; g->visited++) {
		size_t i = spread(g->visited, g->samples.count);
		struct cursor c = {0};

		if (i >= g->samples.count)
			continue;
		c.at = g->samples.data[i].at;
		c.end = g->samples.data[i].end;
		g->counted_bytes += (size_t)(c.end - c.at);
		while (c.at < c.end && !c.bad && !g->bad)
			take_histogram(g, &c);
		g->bad = g->bad || c.bad;
		if (budget != UINT64_MAX && clock_ns() - begin >= budget) {
			g->visited++;
			return g->visited < turns;
		}
	}
	return false;
}

int experiment_glance_work(struct experiment_glance *g, uint64_t nodes, uint64_t samples)
{
	size_t before = g->node_count;
	bool more = take_nodes(g, nodes);

	if (g->node_count > before)
		forget_samples(g);
	more = glance_take_samples(g, samples) || more;
	g->bad = g->bad || (g->file && mapping_check(g->file, NULL));
	return g->bad ? -1 : more;
}

double experiment_glance_part(const struct experiment_glance *g)
{
	return g->sample_bytes ? (double)g->counted_bytes / (double)g->sample_bytes : 1;
}

/* ---- results ---- */

static int glance_by_place(const void *a, const void *b)
{
	const struct page *x = *(const struct page *const *)a, *y = *(const struct page *const *)b;

	return sort_rising(x->key.image, y->key.image) ?: sort_rising(x->key.number, y->key.number);
}

static int walk_page(const struct experiment_glance *g, const struct page *page,
	int (*call)(void *context, uint32_t image, uint64_t address, const uint64_t *counts),
	void *context)
{
	size_t metrics = g->x.metrics.count;

	for (uint64_t i = 0; i < PAGE; i++) {
		const uint64_t *counts = page->counts + i * metrics;
		uint64_t any = 0;
		int rc;

		for (size_t k = 0; k < metrics; k++)
			any |= counts[k];
		rc = any ? call(context, page->key.image, page->key.number * PAGE + i, counts) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int experiment_glance_walk(const struct experiment_glance *g,
	int (*call)(void *context, uint32_t image, uint64_t address, const uint64_t *counts),
	void *context)
{
	const struct page **order = calloc(g->pages.count + 1, sizeof(*order));
	size_t count_of = 0;
	int rc = order ? 0 : -1;

	for (size_t i = 0; order && i < g->pages.count; i++) {
		const struct page *page = table_at(&g->pages, i);

		if (page->counts)
			order[count_of++] = page;
	}
	if (order)
		qsort(order, count_of, sizeof(*order), glance_by_place);
	for (size_t i = 0; i < count_of && rc == 0; i++)
		rc = walk_page(g, order[i], call, context);
	free(order);
	return rc;
}
