/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program for tests of prof: functions of 0x100 bytes from 0x1000 on, lines of 16 bytes in one
 * file. Counts how often names are asked for.
 */
#ifndef TESTS_PROF_FAKE_H
#define TESTS_PROF_FAKE_H

#include <stdlib.h>
#include <string.h>

#include "experiment/time_slices.h"
#include "profile/places.h"
#include "report/report_views.h"

struct fake_names {
	unsigned symbols, lines;
	enum prof_image_state state;
};

static const char *const fake_functions[] = {"main", "search", "compare", "sort", "leaf"};
enum { FAKE_FUNCTIONS = 5, FAKE_BASE = 0x1000, FAKE_SIZE = 0x100 };

static int fake_symbol(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	struct fake_names *n = names;
	uint64_t i = (address - FAKE_BASE) / FAKE_SIZE;

	__atomic_fetch_add(&n->symbols, 1, __ATOMIC_RELAXED); /* several threads ask */
	if (image != 1 || address < FAKE_BASE || i >= FAKE_FUNCTIONS || n->state)
		return -1;
	*symbol = (struct image_symbol){.address = FAKE_BASE + i * FAKE_SIZE,
		.size = FAKE_SIZE,
		.name = fake_functions[i],
		.demangled = fake_functions[i]};
	return 0;
}

static int fake_line(void *names, uint32_t image, uint64_t address, struct image_line *line)
{
	struct fake_names *n = names;

	__atomic_fetch_add(&n->lines, 1, __ATOMIC_RELAXED);
	if (image != 1 || address < FAKE_BASE || n->state)
		return -1;
	*line = (struct image_line){
		.file = "/src/app.c", .line = (unsigned)(address - FAKE_BASE) / 16 + 1};
	return 0;
}

/* compare is inlined in the second half of search. */
static size_t fake_inlines(
	void *names, uint32_t image, uint64_t address, struct image_frame *frames, size_t room)
{
	(void)names;
	if (image != 1 || address < FAKE_BASE + 0x180 || address >= FAKE_BASE + 0x200)
		return 0;
	if (room > 0)
		frames[0] = (struct image_frame){.name = "compare"};
	if (room > 1)
		frames[1] = (struct image_frame){.name = "search"};
	return 2;
}

static enum prof_image_state fake_state(void *names, uint32_t image, const char **why)
{
	const struct fake_names *n = names;

	*why = image == 1 && n->state ? "its build-id differs" : NULL;
	return image == 1 ? n->state : PROF_IMAGE_FINE;
}

static const struct prof_names_ops fake_ops = {
	.symbol = fake_symbol, .line = fake_line, .inlines = fake_inlines, .state = fake_state};

static inline void fake_image(struct experiment *x)
{
	struct experiment_image image = {
		.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)"/bin/app", .build_id_length = 1};

	experiment_image(x, &image, NULL);
}

static inline long fake_metric(struct experiment *x, const char *name, int event, uint64_t period,
	unsigned flags, enum label label)
{
	struct experiment_metric m = {.event = event,
		.name = (char *)name,
		.short_name = (char *)name,
		.unit = (char *)(flags & METRIC_CLOCK ? "ns" : "events"),
		.source = (char *)(label == LABEL_MODEL ? "model" : "os"),
		.label = label,
		.flags = flags,
		.period = period};

	return experiment_metric(x, &m, NULL);
}

/* The node of a chain of addresses, outermost first, 0 ends it. */
static inline uint32_t fake_node(struct experiment *x, const uint64_t *path)
{
	long node = EXPERIMENT_ROOT;

	for (; *path; path++)
		node = experiment_node(x, (uint32_t)node, 1, *path);
	return (uint32_t)node;
}

/* n samples at an address called from a chain of addresses. */
static inline void fake_samples(struct experiment *x, uint32_t metric, uint32_t thread,
	uint32_t phase, uint64_t n, const uint64_t *path)
{
	experiment_add(x, metric, thread, phase, fake_node(x, path), n);
}

/* n samples of metric 0 and thread 1, evenly from one time of the run to another, ms. */
static inline void fake_timed(
	struct experiment *x, uint64_t n, uint64_t begin, uint64_t end, const uint64_t *path)
{
	experiment_add_between(x,
		&(struct experiment_sample){
			.key = {.thread = 1, .node = fake_node(x, path)}, .count = n},
		begin * 1000000, end * 1000000);
}

#define PATH(...) ((const uint64_t[]){__VA_ARGS__, 0})

/* Makes a table of view; false (with *e) where it fails. */
struct fake_report {
	struct prof_data data;
	struct report_table table;
	struct fake_names names;
};

static inline int fake_report(
	struct fake_report *r, const struct prof_request *q, report_view *view, struct error *e)
{
	memset(&r->table, 0, sizeof(r->table));
	if (profile_data_init(&r->data, q, e))
		return -1;
	r->data.names = (struct prof_names){&fake_ops, &r->names};
	return view(&r->data, &r->table, e);
}

static inline void fake_report_fini(struct fake_report *r)
{
	report_table_fini(&r->table);
	profile_data_fini(&r->data);
	memset(&r->names, 0, sizeof(r->names));
}

/* The row of a function (and line); -1: there is none. */
static inline long fake_row(const struct report_table *t, const char *procedure, unsigned line)
{
	for (size_t i = 0; i < t->rows.count; i++)
		if (t->rows.data[i].procedure &&
			strcmp(t->rows.data[i].procedure, procedure) == 0 &&
			(!line || t->rows.data[i].line == line))
			return (long)i;
	return -1;
}

#endif
