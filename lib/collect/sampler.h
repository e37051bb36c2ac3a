/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's records do to an experiment: samples become counts of nodes at once, nothing is
 * kept of each.
 */
#ifndef COLLECT_SAMPLER_H
#define COLLECT_SAMPLER_H

#include "collect/blocked.h"
#include "collect/branch_records.h"
#include "collect/collect_stacks.h"
#include "collect/phases.h"
#include "collect/rings.h"

struct sampler_event {
	uint32_t metric;
	bool stacks;
	bool switches; /* a sample is where a thread leaves the processor */
	bool data;     /* samples have addresses of data */
};

struct sampler {
	struct experiment *experiment; /* borrowed */
	struct rings rings;
	struct collect_images images;
	struct spaces spaces;
	struct stacks stacks;
	struct phases phases;
	struct blocked blocked;
	bool blocking;                    /* blocked is used */
	VEC(struct sampler_event) events; /* by the numbers that rings has for them */
	struct branch_records branches;
	uint64_t samples;
};

void sampler_init(struct sampler *s, struct experiment *x, const char *archive);
/* For records of what ran once; names of the kernel and of what processes made are the caller's
 * work then (spaces.leaving).  past is borrowed; NULL: files are not looked for. */
void sampler_init_past(
	struct sampler *s, struct experiment *x, const struct image_search *past, bool same_kernel);
/* What one record does; records come in the order of their times.  -1: memory is out. */
int sampler_take(struct sampler *s, const struct record *r);
/* Takes what the kernel has written up to `limit`, a time.  -1 with *e set. */
int sampler_drain(struct sampler *s, uint64_t limit, struct error *e);
/* The last record has been read: what is known of processes and the kernel is put into the
 * experiment.  time: the end. */
int sampler_end(struct sampler *s, uint64_t time, struct error *e);
void sampler_fini(struct sampler *s);

#endif
