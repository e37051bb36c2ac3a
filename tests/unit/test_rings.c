/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ring buffers of a thousand processors, written here as the kernel writes them. */
#include "../tap.h"
#include "rings_fake.h"
#include <linux/perf_event.h>

#define PROCESSORS 1000
#define RING       4096

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME};

struct taken {
	uint64_t samples, lost, last; /* last: time of the last sample */
	uint64_t sum;                 /* of addresses */
	uint64_t disorder;            /* samples before the last one */
	uint64_t stop;                /* after so many samples; 0: never */
};

static int take(void *context, const struct record *record)
{
	struct taken *t = context;

	if (record->type != PERF_RECORD_SAMPLE) {
		t->lost += record->lost;
		return 0;
	}
	t->disorder += record->time < t->last;
	t->last = record->time;
	t->sum += record->sample.ip;
	return ++t->samples == t->stop ? -1 : 0;
}

/* A sample has four words, a record of lost ones five: the end of a ring cuts some in two. */
static bool put_sample(struct ring *ring, uint64_t address, uint64_t time)
{
	return ring_put_record(ring, PERF_RECORD_SAMPLE, 0, 32, (uint64_t[]){0, address, 1, time});
}

static bool put_lost(struct ring *ring, uint64_t lost, uint64_t time)
{
	return ring_put_record(ring, PERF_RECORD_LOST, 0, 40, (uint64_t[]){0, 0, lost, 1, time});
}

/* Of many processors, in turns of random length; between turns, what is old enough is read. */
static void check_order(size_t processors)
{
	struct rings r;
	struct taken t = {0};
	uint64_t written = 0, lost = 0, sum = 0, time = 20, random = 1, full = 0;

	rings_make(&r, &format, processors, RING);
	for (int turn = 0; turn < 200; turn++) {
		for (size_t n = 0; n < 3000 && n < 100 * processors; n++) {
			struct ring *ring;

			random = random * 6364136223846793005u + 1442695040888963407u;
			ring = &r.rings.data[(random >> 33) % processors];
			time += random >> 63; /* some at the same time */
			if ((random >> 40) % 16 == 0 && put_lost(ring, 3, time)) {
				lost += 3;
			} else if (put_sample(ring, random >> 8, time)) {
				written++;
				sum += random >> 8;
			} else {
				full++;
			}
		}
		rings_drain(&r, time - 20, take, &t);
		if (turn == 0) {
			ok(t.last <= time - 20, "%zu processors: what is too new stays",
				processors);
			ok(t.samples < written, "which is some");
		}
	}
	rings_drain(&r, UINT64_MAX - 1, take, &t);
	is_int(t.samples, written, "%zu processors: all samples are passed on (%llu found no room)",
		processors, (unsigned long long)full);
	ok(written > 1000, "which are many");
	is_int(t.sum, sum, "as they were written");
	is_int(t.lost, lost, "and the numbers of lost ones");
	is_int(t.disorder, 0, "in order of time");
	rings_fini(&r);
}

static void check_stop(void)
{
	struct rings r;
	struct taken t = {.stop = 3};

	rings_make(&r, &format, 4, RING);
	for (uint64_t time = 1; time <= 8; time++)
		put_sample(&r.rings.data[time % 4], time, time);
	is_int(rings_drain(&r, 100, take, &t), -1, "the reader may stop");
	is_int(t.sum, 1 + 2 + 3, "it has had what is before");
	rings_drain(&r, 100, take, &t);
	is_int(t.sum, 36, "and gets the rest later");
	rings_fini(&r);
}

static void check_malformed(void)
{
	static const struct {
		uint32_t type;
		uint16_t size;
		uint64_t lost;
		const char *what;
	} cases[] = {
		{PERF_RECORD_SAMPLE, 16, 1, "a sample that ends too early counts as lost"},
		{PERF_RECORD_MAX + 1, 16, 0, "a record of unknown kind is passed over"},
		{PERF_RECORD_SAMPLE, 0, 1, "a size of 0: the rest of the ring is lost"},
		{PERF_RECORD_SAMPLE, 30, 1, "a size that is no multiple of 8"},
		{PERF_RECORD_SAMPLE, 4000, 1, "a record that ends beyond what was written"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rings r;
		struct taken t = {0};
		uint64_t words[512] = {0};
		struct perf_event_header h = {.type = cases[i].type, .size = cases[i].size};

		rings_make(&r, &format, 2, RING);
		put_sample(&r.rings.data[0], 1, 10);
		memcpy(words, &h, sizeof(h));
		ring_put(&r.rings.data[0], words, 2);
		put_sample(&r.rings.data[1], 2, 20);
		rings_drain(&r, 100, take, &t);
		is_int(t.lost, cases[i].lost, "%s", cases[i].what);
		is_int(t.sum, 3, "what is around it is read");
		put_sample(&r.rings.data[0], 4, 30);
		rings_drain(&r, 100, take, &t);
		is_int(t.sum, 7, "and what comes later");
		rings_fini(&r);
	}
}

int main(void)
{
	check_order(1);
	check_order(3);
	check_order(PROCESSORS);
	check_stop();
	check_malformed();
	return done();
}
