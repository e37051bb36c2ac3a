/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies the kernel's records to an experiment: samples are added to counts of nodes at once, and
 * not kept.
 */
#ifndef COLLECT_SAMPLER_H
#define COLLECT_SAMPLER_H

#include "collect/blocked.h"
#include "collect/branch_records.h"
#include "collect/collect_stacks.h"
#include "collect/phases.h"
#include "collect/rings.h"
#include "collect/value_records.h"
#include "collect/wakes.h"

struct sampler_event {
	uint32_t metric;
	bool stacks;
	bool switches; /* a sample is where a thread leaves the processor */
	bool wakes;    /* a sample is where a thread lets another go on */
	bool data;     /* samples have addresses of data */
};

struct sampler {
	struct experiment *experiment; /* borrowed */
	struct rings rings;
	struct collect_images images;
	struct spaces spaces;
	struct stacks stacks;
	struct python_frames python; /* of runs that are watched */
	struct phases phases;
	struct blocked blocked;
	bool blocking;                    /* blocked is used */
	struct wake_format wake_format;   /* of samples of wakes */
	uint64_t units;                   /* of waits and wakes, since the last turn */
	uint64_t unit_bytes, unread;      /* in rings; units there that are yet to be read */
	uint64_t turning;                 /* ns, that it takes to turn them on or off */
	VEC(struct sampler_event) events; /* by the numbers in rings */
	struct branch_records branches;
	struct value_records values;
	struct latency_records latencies;
	uint64_t samples;
	double row_cost;    /* of values at the end, ns */
	uint64_t on_traced; /* CPU time, ns, spent on what the tracer records */
	struct {
		uint64_t began, traced;
	} turn; /* CPU time, and on_traced, at its beginning */
};

void sampler_init(struct sampler *s, struct experiment *x, const char *archive);
/* For records of a past run; names of the kernel and of generated code are then the caller's task
 * (spaces.leaving). past is borrowed; NULL: files are not sought. */
void sampler_init_past(
	struct sampler *s, struct experiment *x, const struct image_search *past, bool same_kernel);
/* Handles one record; records come in the order of their times. -1: memory is out. */
int sampler_take(struct sampler *s, const struct record *r);
/* Reads the kernel's records up to `limit`, a time. -1 with *e set. */
int sampler_drain(struct sampler *s, uint64_t limit, struct error *e);
/* A turn of the loop that watches the threads begins. */
void sampler_turn(struct sampler *s);
/* sampler_drain while the threads run: asks besides what they wait for. */
int sampler_watch(struct sampler *s, uint64_t limit, struct error *e);
/* The experiment's values become those seen so far. -1: memory is out. */
int sampler_put_values(struct sampler *s);
/* To put them and to write the experiment took this time, ns: so it may be at the end. */
void sampler_wrote_values(struct sampler *s, uint64_t cost);
/* To be called after the last record: adds processes and the kernel to the experiment. time: the
 * end. */
int sampler_end(struct sampler *s, uint64_t time, struct error *e);
void sampler_fini(struct sampler *s);

#endif
