/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A quick look at a large experiment file: how many samples fell on which address, in the part of
 * the file that was read so far. No experiment is made of it. Checksums are not verified and tables
 * are not kept, so it takes a fraction of the time of experiment_read; a complete read must follow.
 *
 * Nodes are read from the first on, in four bytes of memory each. Then sections of samples are read
 * in a spread order, so that the part read represents the rest. Samples of nodes that were not
 * reached are not counted.
 */
#ifndef EXPERIMENT_GLANCE_H
#define EXPERIMENT_GLANCE_H

#include "experiment/experiment.h"

struct experiment_glance;

/* Maps the file and reads the part before its nodes, with checksums. NULL with *e set if that
 * fails. */
struct experiment_glance *experiment_glance_open(const char *path, struct error *e);
/* Likewise, of the bytes of a file, which must outlive it. */
struct experiment_glance *experiment_glance_new(const void *data, size_t size, struct error *e);
void experiment_glance_close(struct experiment_glance *g);

/* Facts, images, metrics, processes, symbols; neither nodes nor samples.  Borrowed. */
const struct experiment *experiment_glance_head(const struct experiment_glance *g);

/* Continues for about this number of ns with nodes, and as many with samples (UINT64_MAX: to the
 * end), or restarts the samples if nodes have been added. 1: there is more; 0: the end; -1: the
 * rest cannot be read here (damaged, or addresses too far apart), and is left to
 * experiment_read. */
int experiment_glance_work(struct experiment_glance *g, uint64_t nodes, uint64_t samples);

/* The part of the file's samples that were counted, by bytes: 0 to 1. */
double experiment_glance_part(const struct experiment_glance *g);

/* Calls for each address that has samples, in order of address within an image; counts of each
 * metric.  Stops when call returns non-zero, and returns that. */
int experiment_glance_walk(const struct experiment_glance *g,
	int (*call)(void *context, uint32_t image, uint64_t address, const uint64_t *counts),
	void *context);

#endif
