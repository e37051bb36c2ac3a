/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caliper points from a program to ssrun: a ring in a file that both have mapped. Its path is in
 * the environment; without it, there is no reader.
 *
 * A writer takes a number by adding 1 to `taken`, fills slot number % room and stores number + 1
 * in its `ready` last. The reader follows the numbers. Neither waits for the other: when the
 * reader is slower than `room` points, the oldest are lost, and it detects that.
 *
 * A writer that is put off for `room` points still has its slot when the next comes. `claim` has
 * the lowest bits of the number (+ 1) of the writer in the slot. One that comes meanwhile leaves
 * its own number there and gives up; the first then makes a POINT_VOID of it, which the reader
 * counts as lost.
 */
#ifndef COLLECT_POINTS_H
#define COLLECT_POINTS_H

#include <stdint.h>

#define POINTS_ENVIRONMENT "_SPEEDSHOP_POINTS"
#define POINTS_MAGIC       0x73746e696f707373u /* "sspoints" */
#define POINTS_ROOM        16384
#define POINT_NAME         96

enum point_kind {
	POINT_CALIPER, /* ssrt_caliper_point: a phase begins */
	POINT_SUSPEND, /* nothing counts from here on ... */
	POINT_RESTART, /* ... to here */
	POINT_CLEAR,   /* ssrt_buffer_clear: discard samples so far */
	POINT_END,     /* ssrt_experiment_shutdown */
	POINT_VOID,    /* lost: another writer had its slot */
};

struct point {
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint32_t pid, tid, kind;
	uint32_t claim; /* 0: there is no writer; atomic */
	uint64_t ready; /* number + 1; atomic */
	char name[POINT_NAME];
};

struct points {
	uint64_t magic;
	uint32_t room;
	uint32_t listening; /* 0: the reader has ended */
	uint64_t taken;     /* atomic */
	uint64_t reserved[5];
	struct point point[];
};

#endif
