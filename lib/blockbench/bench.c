/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks in batches, each batch in several fresh workers. The placement of a worker's pages is the
 * same as long as it lives, so figures of one worker agree better with each other than with the
 * true value. Blocks whose figures disagree are measured in more workers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "base/stats.h"
#include "blockbench/block_accept.h"
#include "blockbench/block_states.h"
#include "blockbench/crew.h"

#define WORKERS_MIN 3
#define WORKERS_MAX 9
/* Figures that differ by more than this, relative, need more workers. */
#define APART 0.015
/* The time that a batch may wait for neighbours to leave, in microseconds. */
#define WAIT_US 500000
/* Events per copy, in thousandths, from which on they are not chance. */
#define SPOILED 10

struct blockbench {
	struct block_options options;
	struct crew crew;
	double canary_best, ratio;
	bool no_pmu;
};

/* The figures of one block of a batch. */
struct pending {
	const struct block *block;
	struct block_result *result;
	struct answer answer; /* of the last worker that could measure it, else of the last */
	double figure[WORKERS_MAX];
	unsigned figures, tries, failures, disturbed;
};

struct blockbench *blockbench_open(const struct block_options *options, struct error *e)
{
	struct blockbench *b = calloc(1, sizeof(*b));

	if (!b) {
		error_nomem(e);
		return NULL;
	}
	b->options = *options;
	if (crew_init(&b->crew, e)) {
		blockbench_close(b);
		return NULL;
	}
	return b;
}

void blockbench_close(struct blockbench *b)
{
	if (!b)
		return;
	crew_fini(&b->crew);
	free(b);
}

double blockbench_ratio(const struct blockbench *b)
{
	return b->ratio;
}

static uint32_t distinct_pages(void)
{
	long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
	long pages = size > 0 ? size / 4096 : 8;

	return pages < 1 ? 1 : pages > DATA_PAGES ? DATA_PAGES : (uint32_t)pages;
}

/* Of sorted figures, the middle ones: all of three, three of five, three of seven ... */
static double bench_spread(const double *x, unsigned n)
{
	unsigned skip = n <= 3 ? 0 : (n - 3) / 2;

	return (x[n - 1 - skip] - x[skip]) / x[n / 2];
}

static bool bench_settled(const struct blockbench *b, struct pending *p)
{
	if (b->options.quick)
		return p->tries > 0;
	if (p->tries < WORKERS_MIN)
		/* A refusal of the processor is final. */
		return p->failures && !p->figures && p->answer.class != BLOCK_CRASHED &&
		       p->answer.class != BLOCK_TIMEOUT && p->answer.class != BLOCK_UNSTEADY;
	if (p->tries == WORKERS_MAX || p->failures >= WORKERS_MIN)
		return true;
	if (p->figures < WORKERS_MIN)
		return false;
	qsort(p->figure, p->figures, sizeof(double), order_doubles);
	return bench_spread(p->figure, p->figures) <= APART;
}

static void bench_gather(struct pending *p, struct answer *a)
{
	double figure;

	p->tries++;
	if (a->class) {
		p->failures++;
		if (!p->figures)
			p->answer = *a;
		return;
	}
	figure = stats_median(a->cycles, a->series);
	if (!(figure > 0)) { /* less than the difference between runs */
		p->failures++;
		if (!p->figures) {
			p->answer = *a;
			p->answer.class = BLOCK_UNSTEADY;
		}
		return;
	}
	p->figure[p->figures++] = figure;
	p->disturbed += a->disturbed;
	p->result->runs += a->runs;
	p->answer = *a;
}

/* Adds jobs for blocks that need more figures to an emptied channel. Returns their number, with
 * their owners. */
static unsigned bench_assign(
	struct blockbench *b, struct pending *pending, unsigned count, unsigned *owner)
{
	struct channel *c = b->crew.channel;
	uint32_t bytes = 0, relocations = 0;

	c->jobs = 0;
	for (unsigned i = 0; i < count; i++) {
		struct block_result scratch = {0};
		bool full;

		if (bench_settled(b, &pending[i]))
			continue;
		owner[c->jobs] = i;
		block_accept(
			c, &bytes, &relocations, pending[i].block, &b->options, &scratch, &full);
	}
	return c->jobs;
}

static int round_of_work(struct blockbench *b, struct pending *pending, const unsigned *owner,
	uint32_t *wait_left, struct error *e)
{
	struct channel *c = b->crew.channel;

	c->canary_best = b->canary_best;
	c->wait_left = *wait_left;
	c->distinct = distinct_pages();
	c->pmu = !b->no_pmu && !b->options.no_pmu;
	if (crew_work(&b->crew, e))
		return -1;
	for (uint32_t i = 0; i < c->jobs; i++)
		bench_gather(&pending[owner[i]], &c->answer[i]);
	b->canary_best = c->canary_best;
	b->no_pmu = !c->pmu;
	*wait_left = c->wait_left;
	if (c->ratio > 0)
		b->ratio = c->ratio;
	return 0;
}

/* The interval of the median of few figures: from their own order, but no narrower than the known
 * difference between workers. */
static struct quantity bench_interval(double *x, unsigned n, bool quick)
{
	struct quantity q = {.label = LABEL_MEASURED, .value = stats_median(x, n)};
	unsigned skip = n <= 4 ? 0 : n <= 6 ? 1 : 2;
	double least = (quick ? 0.05 : 0.01) * q.value;

	q.low = fmin(x[skip], q.value - least);
	q.high = fmax(x[n - 1 - skip], q.value + least);
	return q;
}

static void conclude(const struct blockbench *b, struct pending *p)
{
	struct block_result *r = p->result;
	const struct answer *a = &p->answer;

	r->class = p->figures && p->figures >= p->failures ? BLOCK_OK : (enum block_class)a->class;
	r->unroll[0] = a->unroll[0];
	r->unroll[1] = a->unroll[1];
	r->pages = a->pages;
	r->physical_pages = a->physical_pages;
	r->state = block_states[a->state].name;
	r->fault_address = a->address;
	r->workers = p->figures;
	if (r->class)
		return;
	r->cycles = bench_interval(p->figure, p->figures, b->options.quick);
	if (r->cycles.high - r->cycles.low > 0.1 * r->cycles.value)
		r->warnings |= BLOCK_WARN_SCATTER;
	if (p->disturbed)
		r->warnings |= BLOCK_WARN_DISTURBED;
	if (a->physical_pages < a->pages)
		r->warnings |= BLOCK_WARN_ALIAS;
	r->pmu = a->pmu;
	if (a->misses > SPOILED)
		r->warnings |= BLOCK_WARN_MISSES;
	if (a->misaligned > SPOILED)
		r->warnings |= BLOCK_WARN_MISALIGNED;
	if (a->reset)
		r->warnings |= BLOCK_WARN_RESET;
	if (a->few || a->unroll[0] < 2)
		r->warnings |= BLOCK_WARN_FEW_COPIES;
	if (a->state >= STATES_USUAL)
		r->warnings |= BLOCK_WARN_STATE;
}

static int measure_pending(
	struct blockbench *b, struct pending *pending, unsigned count, struct error *e)
{
	unsigned owner[JOBS_MAX] = {0};
	uint32_t wait_left = b->options.quick ? WAIT_US / 10 : WAIT_US;

	while (bench_assign(b, pending, count, owner))
		if (round_of_work(b, pending, owner, &wait_left, e))
			return -1;
	for (unsigned i = 0; i < count; i++)
		conclude(b, &pending[i]);
	return 0;
}

/* Takes as many blocks as fit one batch, with the refused ones between; returns their number. */
static size_t bench_take(struct blockbench *b, const struct block *blocks, size_t count,
	struct block_result *results, struct pending *pending, unsigned *pending_count)
{
	struct channel *c = b->crew.channel;
	uint32_t bytes = 0, relocations = 0;
	size_t i;

	c->jobs = 0;
	*pending_count = 0;
	for (i = 0; i < count; i++) {
		struct block_result *r = &results[i];
		bool full;

		*r = (struct block_result){.state = ""};
		r->class = block_accept(c, &bytes, &relocations, &blocks[i], &b->options, r, &full);
		if (full)
			break;
		if (!r->class)
			pending[(*pending_count)++] =
				(struct pending){.block = &blocks[i], .result = r};
	}
	return i;
}

int blockbench_measure(struct blockbench *b, const struct block *blocks, size_t count,
	struct block_result *results, int (*done)(void *context, size_t count), void *context,
	struct error *e)
{
	struct pending *pending = calloc(JOBS_MAX, sizeof(*pending));
	int r = 0;

	if (!pending)
		return error_nomem(e);
	for (size_t at = 0; at < count && !r;) {
		unsigned waiting;

		at += bench_take(b, blocks + at, count - at, results + at, pending, &waiting);
		r = measure_pending(b, pending, waiting, e);
		if (!r && done && done(context, at)) {
			error_set(e, ERR_NONE, "stopped");
			r = -1;
		}
	}
	free(pending);
	return r;
}
