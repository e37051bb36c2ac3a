/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments made of chance, for tests: the same seed gives the same one.
 */
#ifndef TESTS_EXPERIMENT_RANDOM_H
#define TESTS_EXPERIMENT_RANDOM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../metrics.h"
#include "experiment/branches.h"
#include "experiment/data.h"
#include "experiment/file.h"
#include "experiment/pauses.h"
#include "experiment/time_slices.h"
#include "experiment/values.h"
#include "experiment/waits.h"

struct chance {
	uint64_t state;
};

static inline uint64_t chance_next(struct chance *c)
{
	c->state ^= c->state << 13;
	c->state ^= c->state >> 7;
	c->state ^= c->state << 17;
	return c->state * 0x2545f4914f6cdd1du >> 11;
}

static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
	return (uint32_t)(chance_next(c) % n);
}

static inline struct chance chance_seed(uint64_t seed)
{
	struct chance c = {seed * 0x9e3779b97f4a7c15u + 1};

	for (int i = 0; i < 8; i++)
		chance_next(&c);
	return c;
}

static const struct experiment_metric random_metrics[] = {
	METRIC_TIME(0),
	METRIC_MISSES("model", "zen4", LABEL_MODEL, 0, 131),
	METRIC_MISSES("model", "zen4", LABEL_MODEL, METRIC_BOTH, 29),
};

static void random_rows(struct experiment *x, struct chance *c, struct error *e)
{
	static const char *const paths[] = {"/bin/work", "/lib/libc.so.6", "/lib/libm.so.6", "b"};
	char text[64];

	free(x->type);
	x->type = strdup(chance_below(c, 2) ? "pcsamp" : "dsc_hwc");
	x->began = 1700000000000000000u + chance_below(c, 1000);
	x->elapsed = chance_below(c, 1000000);
	x->complete = chance_below(c, 8) != 0;
	for (uint32_t i = 0; i < 4; i++) {
		struct experiment_image image = {.kind = EXPERIMENT_IMAGE_ELF,
			.path = (char *)paths[chance_below(c, 4)],
			.build_id = {1, 2, (uint8_t)chance_below(c, 2)},
			.build_id_length = 20,
			.size = 4096};

		experiment_image(x, &image, e);
	}
	for (uint32_t i = chance_below(c, 2); i < 3; i++)
		if (i != 2 || x->metrics.count)
			experiment_metric(x, &random_metrics[i], e);
	for (size_t i = 0; i < x->metrics.count; i++) {
		x->metrics.data[i].lost = chance_below(c, 3);
		x->metrics.data[i].total = chance_below(c, 5);
	}
	for (uint32_t i = chance_below(c, 3); i > 0; i--) {
		struct experiment_process p = {.pid = (pid_t)chance_below(c, 9000),
			.ppid = 1,
			.rank = (int32_t)chance_below(c, 5) - 1,
			.status = (int32_t)chance_below(c, 3) - 1,
			.begin = chance_below(c, 100),
			.command = (char *)"work"};
		struct experiment_thread t = {.tid = p.pid, .name = (char *)"worker"};

		t.process = (uint32_t)experiment_process(x, &p, e);
		experiment_thread(x, &t, e);
		t.tid++;
		experiment_thread(x, &t, e);
	}
	for (uint32_t i = chance_below(c, 4), time = 0; i > 0; i--) {
		struct experiment_phase p = {.time = time += chance_below(c, 50)};

		snprintf(text, sizeof(text), "step %u", chance_below(c, 2));
		p.name = text;
		p.thread = chance_below(c, (uint32_t)x->threads.count);
		experiment_phase(x, &p, e);
	}
	experiment_fact(x, "command", "work -n 10", e);
	snprintf(text, sizeof(text), "host%u", chance_below(c, 3));
	experiment_fact(x, "host", text, e);
	if (chance_below(c, 2))
		experiment_fact(x, "cpu", "some", e);
}

/* Data space. */
static inline int random_data(struct experiment *x, struct chance *c, uint32_t rows)
{
	uint32_t images = (uint32_t)x->images.count, nodes = (uint32_t)x->nodes.count, metrics;
	struct error e;

	for (uint32_t i = 1; i < 3; i++)
		if (experiment_data_metric(x, &random_metrics[1 + chance_below(c, 2)], &e) < 0)
			return -1;
	metrics = (uint32_t)x->data.metrics.count;
	x->data.lost = chance_below(c, 3);
	for (uint32_t i = 0; i < rows; i++) {
		struct experiment_object o = {.key = {.kind = 1 + chance_below(c, 7),
						      .image = chance_below(c, images),
						      .node = chance_below(c, nodes),
						      .address = chance_below(c, 4) * 64,
						      .thread = chance_below(c, 3)},
			.blocks = chance_below(c, 3),
			.begins = chance_below(c, 65)};
		struct experiment_line l = {.requests = 1 + chance_below(c, 9),
			.needed = chance_below(c, 4),
			.useless = chance_below(c, 4)};
		struct experiment_place p = {.count = 1 + chance_below(c, 9)};
		struct experiment_touch t = {.count = 1 + chance_below(c, 9),
			.least = (int64_t)chance_below(c, 100) - 50,
			.apart = chance_below(c, 5) * 8};
		struct experiment_end end = {.requests = chance_below(c, 9),
			.loads = 1,
			.read = {chance_next(c), 0},
			.written = {0, chance_next(c)}};
		uint32_t object;

		o.bytes = o.blocks * 48;
		object = (uint32_t)experiment_row(x, EXPERIMENT_OBJECTS, &o);
		l.key.object = p.key.object = t.key.object = end.key.object = object;
		l.key.offset = (int64_t)chance_below(c, 4) * 64 - 64;
		l.key.bytes = 64;
		p.key.line = (int64_t)chance_below(c, 8) - 2;
		p.key.scale = chance_below(c, 2) * 2;
		p.key.metric = t.key.metric = chance_below(c, metrics);
		t.most = t.least + (int64_t)(t.apart * chance_below(c, 9));
		t.key.image = end.key.image = chance_below(c, images);
		t.key.address = end.key.address = 0x1000 + chance_below(c, 8);
		end.key.thread = chance_below(c, 4);
		end.key.line = (uint32_t)experiment_row(x, EXPERIMENT_LINES, &l);
		if (experiment_row(x, EXPERIMENT_PLACES, &p) < 0 ||
			experiment_row(x, EXPERIMENT_TOUCHES, &t) < 0 ||
			experiment_row(x, EXPERIMENT_ENDS, &end) < 0)
			return -1;
	}
	return 0;
}

/* A site of values, and one of its values. */
static inline int random_value(struct experiment *x, struct chance *c)
{
	uint32_t images = (uint32_t)x->images.count;
	struct experiment_value_site site = {.key = {.address = 0x1000 + chance_below(c, 8),
						     .image = chance_below(c, images),
						     .kind = chance_below(c, VALUE_KINDS + 1),
						     .form = chance_below(c, 2) << 8},
		.count = chance_below(c, 99),
		.moments = chance_below(c, 9),
		.least = chance_below(c, 5),
		.high = chance_next(c),
		.low_complement = chance_next(c),
		.bits = {chance_next(c), chance_next(c)},
		.cut = chance_below(c, 3)};
	struct experiment_value value = {.key = {.value = chance_below(c, 4),
						 .image = chance_below(c, images),
						 .grade = chance_below(c, VALUE_GRADES)},
		.over = chance_below(c, 9),
		.sure = chance_below(c, 9)};
	long row = experiment_row(x, EXPERIMENT_VALUE_SITES, &site);

	value.key.site = (uint32_t)row;
	return row < 0 || experiment_row(x, EXPERIMENT_VALUES, &value) < 0 ||
			       experiment_add_value_tally(
				       x, chance_below(c, VALUE_TALLIES + 1), chance_below(c, 99))
		       ? -1
		       : 0;
}

static inline int random_pause(struct experiment *x, struct chance *c)
{
	static const char *const names[] = {"", "pipe 1", "/etc/passwd", "work"};
	bool child = chance_below(c, 4) == 0;
	uint32_t nodes = (uint32_t)x->nodes.count, threads = (uint32_t)x->threads.count;
	long obstacle = experiment_obstacle(x, chance_below(c, PAUSE_REASONS + 1),
		chance_below(c, 2) ? "read" : "futex", child ? "" : names[chance_below(c, 4)],
		chance_below(c, (uint32_t)x->images.count), chance_below(c, 3));
	struct experiment_pause pause = {
		.key = {.thread = chance_below(c, threads),
			.phase = chance_below(c, (uint32_t)x->phases.count),
			.node = chance_below(c, nodes),
			.wake = chance_below(c, WAKE_KINDS + 1),
			.waker = chance_below(c, threads),
			.waker_node = chance_below(c, nodes)},
		.count = chance_below(c, 3),
		.time = 1 + (chance_next(c) >> chance_below(c, 64)),
		.longest = chance_next(c) >> 30};

	if (obstacle < 0)
		return -1;
	/* A name that became known later is not part of the key. */
	if (child && obstacle) {
		struct experiment_obstacle *row = table_at(&x->obstacles, (size_t)obstacle);
		char *name = strdup(names[chance_below(c, 4)]);

		if (!name)
			return -1;
		free(row->name);
		row->name = name;
	}
	pause.key.obstacle = (uint32_t)obstacle;
	return experiment_row(x, EXPERIMENT_PAUSES, &pause) < 0 ? -1 : 0;
}

/* Branch records. */
static inline int random_branches(struct experiment *x, struct chance *c, uint32_t rows)
{
	uint32_t images = (uint32_t)x->images.count;

	for (uint32_t i = 0; i < rows; i++) {
		struct experiment_run run = {.key = {.image = chance_below(c, images),
						     .begin = 0x1000 + chance_below(c, 4) * 16,
						     .to_image = chance_below(c, images),
						     .to = chance_next(c) >> chance_below(c, 64)},
			.count = 1 + chance_below(c, 9),
			.bursts = chance_below(c, 3),
			.rate = chance_below(c, 1000),
			.squares = chance_below(c, 1000000)};
		struct experiment_rate rate = {.key = {.image = chance_below(c, images),
						       .address = 0x1000 + chance_below(c, 8)},
			.hits = chance_below(c, 3),
			.nanoseconds = chance_next(c) >> 20,
			.windows = 1,
			.span = chance_below(c, 9)};

		run.key.end = run.key.begin + chance_below(c, 3) * 4;
		if (experiment_row(x, EXPERIMENT_RUNS, &run) < 0 ||
			experiment_row(x, EXPERIMENT_RATES, &rate) < 0 ||
			experiment_add_tally(x, chance_below(c, TALLY_KINDS + 1), chance_next(c)))
			return -1;
		if (experiment_row(x, EXPERIMENT_WAITS,
			    &(struct experiment_wait){
				    .key = {chance_next(c), chance_below(c, x->images.count),
					    chance_below(c, WAIT_CAUSES + 1)},
				    .parts = 1 + chance_below(c, 9999)}) < 0)
			return -1;
		if (random_value(x, c) || random_pause(x, c))
			return -1;
	}
	return 0;
}

/* Of some runs, some or all samples have times. */
static inline int random_sample(
	struct experiment *x, struct chance *c, uint64_t seed, uint32_t node)
{
	uint32_t metrics = (uint32_t)x->metrics.count, threads = (uint32_t)x->threads.count;
	const struct experiment_sample sample = {
		.key = {chance_below(c, metrics), chance_below(c, threads),
			chance_below(c, (uint32_t)x->phases.count), node},
		.count = 1 + (chance_next(c) >> (11 + chance_below(c, 40)))};
	uint64_t begin = chance_next(c) >> (20 + seed % 7), end = begin;

	if (seed % 4 == 0 || (seed % 4 == 1 && chance_below(c, 2)))
		return experiment_row(x, EXPERIMENT_SAMPLES, &sample) < 0 ? -1 : 0;
	if (chance_below(c, 4) == 0)
		end += chance_next(c) >> 20;
	return experiment_add_between(x, &sample, begin, end);
}

/* nodes: about as many as that. */
static inline int random_experiment(struct experiment *x, uint64_t seed, uint32_t nodes)
{
	struct chance c = chance_seed(seed);
	struct error e = {0};
	uint32_t images;

	if (experiment_init(x, &e))
		return -1;
	random_rows(x, &c, &e);
	images = (uint32_t)x->images.count;
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t parent =
			chance_below(&c, 2) ? 0 : chance_below(&c, (uint32_t)x->nodes.count);
		uint64_t address =
			chance_below(&c, 50) ? chance_below(&c, 2 * nodes) : chance_next(&c) << 11;
		long node = experiment_node(x, parent, chance_below(&c, images), address);

		if (node < 0 || random_sample(x, &c, seed, (uint32_t)node))
			return -1;
	}
	for (uint32_t i = 0; i < nodes / 8; i++) {
		struct experiment_edge edge = {.key = {.from = chance_below(&c, nodes),
						       .to = chance_below(&c, nodes),
						       .from_image = chance_below(&c, images),
						       .to_image = chance_below(&c, images),
						       .kind = chance_below(&c, 4),
						       .taken = chance_below(&c, 2)},
			.count = 1 + chance_below(&c, 10)};
		char name[32];

		snprintf(name, sizeof(name), "f%u", chance_below(&c, 10));
		if (experiment_row(x, EXPERIMENT_EDGES, &edge) < 0 ||
			experiment_symbol(x, chance_below(&c, images), chance_below(&c, nodes),
				1 + chance_below(&c, 3), name, &e))
			return -1;
	}
	if (seed % 3 == 2 && random_branches(x, &c, nodes / 4))
		return -1;
	return seed % 2 ? random_data(x, &c, nodes / 4) : 0;
}

/* The file's bytes; yours to free. */
static inline char *random_bytes(struct experiment *x, size_t *size)
{
	struct strbuf out = {0};
	struct error e;

	if (experiment_encode(x, &out, &e))
		return NULL;
	*size = out.length;
	return strbuf_take(&out);
}

#endif
