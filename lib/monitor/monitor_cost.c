/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event in the kernel's form, and what a sample of it costs. A loop reads the clock; an
 * interrupt is a gap between two readings. A timer of its own adds gaps: at a high rate nearly all
 * gaps are its own, and 20 ms are enough for their median. The tick has its gap anyway, and becomes
 * longer: slices with the event and without it take turns, so that both have the same machine.
 * Lower quartiles are compared, because what else happens in an interrupt makes some gaps long. The
 * difference is small, so its error is added.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/order.h"
#include "monitor/monitor_clock.h"
#include "sources/perf_open.h"

#define SLICE       10000000u /* ns */
#define SLICES      40        /* half of them with the event */
#define FAST_SLICES 2         /* of cpu-clock */
#define FAST_PERIOD 100000u   /* ns, of cpu-clock here: more samples in less time */
#define GAP_LEAST   600u      /* ns; shorter ones are misses of caches */
#define GAP_MOST    200000u   /* longer ones are other threads */
#define GAPS        4096
#define RING        ((size_t)16 << 12)
#define CALLS       400 /* their records fit into the ring */
#define PAIRS       41

struct perf_event_attr monitor_clock_attr(const struct monitor_clock *c)
{
	struct perf_event_attr attr = {
		.type = c->kind == MONITOR_CLOCK_TICK ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
		.config = c->config,
		.sample_period = c->kind == MONITOR_CLOCK_TICK ? c->every : c->watch.period,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};

	/* Programs with fast timers have many interrupts between two ticks. With a rate, the kernel
	 * leaves most of these out, and takes each tick otherwise. */
	if (c->kind == MONITOR_CLOCK_TICK && c->every == 1 && !c->unlimited) {
		attr.freq = 1;
		attr.sample_freq = 2 * SECOND / c->watch.period;
		attr.sample_type |= PERF_SAMPLE_PERIOD;
	}
	if (c->kind == MONITOR_CLOCK_CPU) {
		attr.exclude_idle = attr.exclude_hv = 1;
		attr.exclude_kernel = c->user_only;
	}
	if (WATCH_REGISTERS && !c->user_only) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = WATCH_REGISTERS;
	}
	return attr;
}

struct gaps {
	uint64_t list[GAPS];
	size_t count;
};

/* Returns the smallest difference seen, the clock's own. */
static uint64_t spin_slice(struct gaps *g)
{
	uint64_t begin = clock_ns(), last = begin, least = UINT64_MAX;

	while (last - begin < SLICE) {
		uint64_t now = clock_ns(), gap = now - last;

		last = now;
		if (gap && gap < least)
			least = gap;
		if (gap < GAP_LEAST || gap > GAP_MOST || g->count == GAPS)
			continue;
		g->list[g->count++] = gap;
	}
	return least;
}

/* The lower quartile; *error: about its standard error. */
static double usual_gap(struct gaps *g, double *error)
{
	uint64_t low, high;

	if (!g->count)
		return 0;
	qsort(g->list, g->count, sizeof(g->list[0]), order_u64);
	low = g->list[g->count / 4];
	high = g->list[g->count / 2];
	*error += (double)(high - low) / sqrt((double)g->count);
	return (double)low;
}

static double tick_cost(struct gaps *with, struct gaps *without)
{
	double error = 0, cost = usual_gap(with, &error) - usual_gap(without, &error);

	return (cost > 0 ? cost : 0) + error;
}

static double measure_tick(int fd, struct perf_event_mmap_page *ring)
{
	struct gaps *gaps = calloc(2, sizeof(*gaps));
	uint64_t least = UINT64_MAX;
	double cost;

	for (int i = 0; gaps && i < SLICES; i++) {
		uint64_t least_here;

		if (i % 2)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		least_here = spin_slice(&gaps[i % 2]);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		least = least_here < least ? least_here : least;
		__atomic_store_n(&ring->data_tail, ring->data_head, __ATOMIC_RELEASE);
	}
	cost = gaps ? tick_cost(&gaps[1], &gaps[0]) : 0;
	free(gaps);
	return cost > (double)least ? cost : (double)least;
}

/* Samples of cpu-clock: the median gap; where samples make no gaps, they take less than the least.
 */
static double measure_samples(int fd, struct perf_event_mmap_page *ring)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));
	uint64_t samples;
	double cost = GAP_LEAST;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; gaps && i < FAST_SLICES; i++)
		spin_slice(gaps);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	/* a sample: header, ip, ids, time, cpu; registers, and which they are */
	samples = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) /
		  (8 * (1 + 4 + 1 + (unsigned)__builtin_popcountll(WATCH_REGISTERS)));
	if (gaps && gaps->count > samples / 2) {
		qsort(gaps->list, gaps->count, sizeof(gaps->list[0]), order_u64);
		cost = (double)gaps->list[gaps->count / 2];
	}
	free(gaps);
	return cost;
}

/* A tracepoint in a system call that does nothing else: sorted differences of CALLS calls with and
 * without records. */
static double measure_calls(int fd, struct perf_event_mmap_page *ring)
{
	uint64_t list[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		uint64_t took[2] = {0};

		for (int with = 0; with < 2; with++) {
			uint64_t begin;

			ioctl(fd, with ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
			begin = clock_ns();
			for (int k = 0; k < CALLS; k++)
				syscall(SYS_getppid);
			took[with] = clock_ns() - begin;
			__atomic_store_n(&ring->data_tail, ring->data_head, __ATOMIC_RELEASE);
		}
		list[i] = took[1] > took[0] ? took[1] - took[0] : 0;
	}
	qsort(list, PAIRS, sizeof(list[0]), order_u64);
	return (double)list[PAIRS / 2] / CALLS;
}

typedef double (*cost_measure)(int fd, struct perf_event_mmap_page *ring);

/* Of records of one event of ours, into a ring of their own. */
static int cost_in_ring(struct perf_event_attr attr, cost_measure measure, double *cost)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + RING;
	void *ring;
	int fd;

	attr.mmap = attr.mmap2 = attr.comm = attr.task = attr.comm_exec = 0;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0)
		return -1;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring != MAP_FAILED) {
		*cost = measure(fd, ring);
		munmap(ring, bytes);
	}
	close(fd);
	return ring == MAP_FAILED ? -1 : 0;
}

/* What a record in a tracepoint costs. Ticks are few, so another one stands for theirs; what the
 * kernel adds to a traced system call makes it no less. -1: there is no such tracepoint. */
static int cost_of_calls(const struct monitor_clock *c, double *cost)
{
	struct perf_event_attr attr = monitor_clock_attr(c);
	uint64_t number;

	if (c->kind != MONITOR_CLOCK_TICK ||
		monitor_tick_number("syscalls/sys_enter_getppid", &number, NULL))
		return -1;
	attr.config = number;
	attr.freq = 0;
	attr.sample_period = 1;
	return cost_in_ring(attr, measure_calls, cost) || *cost <= 0 ? -1 : 0;
}

int monitor_cost(const struct monitor_clock *c, double *cost)
{
	struct perf_event_attr attr = monitor_clock_attr(c);
	bool tick = c->kind == MONITOR_CLOCK_TICK;

	if (cost_of_calls(c, cost) == 0)
		return 0;
	attr.freq = 0;
	attr.sample_period = tick ? 1 : FAST_PERIOD;
	return cost_in_ring(attr, tick ? measure_tick : measure_samples, cost);
}
