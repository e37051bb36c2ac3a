/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of 48 hours, as the kernel records it: 40,000 short processes whose numbers return
 * with other programs, on rings that now and then are full, and one that runs from the beginning to
 * the end. Every sample is counted for its program and process, or as lost.
 */
#include <malloc.h>

#include "../metrics.h"
#include "../tap.h"
#include "collect/sampler.h"
#include "experiment/time_slices.h"
#include "experiment_random.h"
#include "rings_fake.h"

#define SECOND     1000000000ull
#define HOURS      48
#define LENGTH     (HOURS * 3600 * SECOND)
#define PROCESSES  40000u
#define NUMBERS    500u /* of processes, which return */
#define PROGRAMS   37u  /* has no factor in common with NUMBERS */
#define SAMPLES    30u  /* of each process, and as many of the long one meanwhile */
#define PROCESSORS 16u
#define RING       4096
/* No process of this machine has such a number: nothing is read from /proc. */
#define FIRST   0x40000000u
#define LASTING (FIRST + NUMBERS)

static const struct record_format format = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME};

struct days {
	struct experiment x;
	struct sampler s;
	struct chance chance;
	uint64_t began, written, lost, untold; /* samples; untold: lost since the last record */
	uint64_t nameless;                     /* of processes whose beginning was lost */
	bool quiet;                            /* this is such a process */
	uint64_t of_program[PROGRAMS + 1];
	bool good;
};

/* All times from below 2^48 to above it; positions in rings pass 2^32 and 2^48. */
static void days_begin(struct days *d)
{
	struct error e;

	memset(d, 0, sizeof(*d));
	d->good = experiment_init(&d->x, &e) == 0 &&
		  experiment_metric(&d->x, &(struct experiment_metric)METRIC_TIME(0), &e) == 0;
	sampler_init(&d->s, &d->x, NULL);
	d->chance = chance_seed(48);
	d->began = d->s.spaces.began = (1ull << 48) - LENGTH / 2;
	*(struct sampler_event *)vec_push(&d->s.events) = (struct sampler_event){.metric = 0};
	rings_make(&d->s.rings, &format, PROCESSORS, RING);
	for (unsigned i = 0; i < PROCESSORS; i++) {
		struct ring *ring = &d->s.rings.rings.data[i];

		ring->tail = ring->head = (1ull << (i % 2 ? 32 : 48)) - RING;
		ring->page->data_head = ring->page->data_tail = ring->tail;
	}
}

static struct ring *days_ring(struct days *d)
{
	return &d->s.rings.rings.data[chance_next(&d->chance) % PROCESSORS];
}

static uint64_t days_two(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* The kernel says how many were lost when there is room again. */
static void days_sample(struct days *d, uint32_t pid, uint64_t address, uint64_t time)
{
	struct ring *ring = days_ring(d);

	if (d->untold && ring_put_record(ring, PERF_RECORD_LOST, 0, 40,
				 (uint64_t[]){0, 0, d->untold, days_two(pid, pid), time})) {
		d->lost += d->untold;
		d->untold = 0;
	}
	if (ring_put_record(ring, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 32,
		    (uint64_t[]){0, address, days_two(pid, pid), time})) {
		d->written++;
		d->nameless += d->quiet && pid != LASTING;
		d->of_program[pid == LASTING ? PROGRAMS : (address - 0x400000) >> 8]++;
	} else {
		d->untold++;
	}
}

static void days_name(char *to, size_t size, unsigned program)
{
	snprintf(to, size, program == PROGRAMS ? "lasting" : "program%u", program);
}

/* fork and exec; of a quiet one, these two records found no room. */
static void days_start(struct days *d, uint32_t pid, unsigned program, uint64_t time)
{
	uint64_t id[2] = {days_two(pid, pid), time}, name[2] = {0}, path[4] = {0};
	struct ring *ring = days_ring(d);

	days_name((char *)name, sizeof(name), program);
	snprintf((char *)path, sizeof(path), "/nowhere/%s", (const char *)name);
	if (!d->quiet) {
		d->good = d->good && ring_put_record(ring, PERF_RECORD_FORK, 0, 48,
					     (uint64_t[]){0, days_two(pid, FIRST - 1),
						     days_two(pid, FIRST - 1), time, id[0], id[1]});
		d->good = d->good &&
			  ring_put_record(ring, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 48,
				  (uint64_t[]){0, id[0], name[0], name[1], id[0], id[1]});
	}
	d->good = d->good && ring_put_record(ring, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 88,
				     (uint64_t[]){0, id[0], 0x400000, 0x100000, 0, path[0], path[1],
					     path[2], path[3], id[0], id[1]});
}

static void days_end(struct days *d, uint32_t pid, uint64_t time)
{
	d->good = d->good &&
		  ring_put_record(days_ring(d), PERF_RECORD_EXIT, 0, 48,
			  (uint64_t[]){0, days_two(pid, FIRST - 1), days_two(pid, FIRST - 1), time,
				  days_two(pid, pid), time});
}

static void days_drain(struct days *d, uint64_t time)
{
	struct error e;

	d->good = d->good && sampler_drain(&d->s, time, &e) == 0;
}

/* A process of program i: one in 101 is not announced, and one in 50 has more samples than fit. */
static void days_process(struct days *d, unsigned i, uint64_t from, uint64_t length)
{
	uint32_t pid = FIRST + i % NUMBERS;
	unsigned program = i % PROGRAMS, samples = i % 50 == 49 ? 80 * SAMPLES : SAMPLES;
	uint64_t time = from;

	d->quiet = i % 101 == 77;
	days_start(d, pid, program, from);
	days_drain(d, from);
	for (unsigned k = 0; k < samples; k++) {
		uint64_t place = chance_next(&d->chance) % 16 * 4;

		time = from + (length - 2) * (k + 1) / (samples + 1);
		days_sample(d, pid, 0x400000 + program * 256 + place, time);
		if (samples == SAMPLES)
			days_sample(d, LASTING, 0x400000 + place, time);
	}
	days_drain(d, time);
	days_end(d, pid, from + length - 1);
	days_drain(d, from + length - 1);
}

/* Samples of each program are of processes of that program, and as many as were written. */
static void days_check_programs(const struct days *d)
{
	uint64_t sums[PROGRAMS + 1] = {0}, others = 0, nameless = 0;
	unsigned same = 0;

	for (size_t i = 0; i < d->x.samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(&d->x, i);
		const struct experiment_node *n = experiment_node_at(&d->x, s->key.node);
		const char *path = d->x.images.data[n->key.image].path;
		uint32_t process = d->x.threads.data[s->key.thread].process;
		const char *command = d->x.processes.data[process].command;
		unsigned program = 0;
		char name[32];

		for (; program <= PROGRAMS; program++) {
			days_name(name, sizeof(name), program);
			if (strcmp(path + strlen("/nowhere/"), name) == 0)
				break;
		}
		if (program > PROGRAMS)
			continue;
		sums[program] += s->count;
		if (!command[0])
			nameless += s->count;
		else if (strcmp(command, name) != 0)
			others += s->count;
	}
	for (unsigned i = 0; i <= PROGRAMS; i++)
		same += sums[i] == d->of_program[i];
	is_int(same, PROGRAMS + 1, "each program has its samples");
	is_int(others, 0, "none of them is of a process of another program");
	is_int(nameless, d->nameless, "processes whose beginning was lost have no name");
}

static uint64_t days_slices(const struct experiment *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->slices.count; i++)
		sum += experiment_slice_at(x, i)->count;
	return sum;
}

static uint64_t days_samples(const struct experiment *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->samples.count; i++)
		sum += experiment_sample_at(x, i)->count;
	return sum;
}

static void days_check_file(struct days *d)
{
	struct experiment again;
	struct error e = {0};
	size_t size = 0;
	char *bytes = random_bytes(&d->x, &size);
	int rc = bytes ? experiment_parse(&again, bytes, size, NULL, &e) : -1;

	if (ok(rc == 0, "its file is read again")) {
		is_int(days_samples(&again), d->written, "with all samples");
		is_int(again.metrics.data[0].lost, d->lost, "and the number of lost ones");
		experiment_fini(&again);
	}
	free(bytes);
}

int main(void)
{
	struct days d;
	size_t early = 0, late;
	uint64_t each = LENGTH / PROCESSES;
	struct error e;

	days_begin(&d);
	days_start(&d, LASTING, PROGRAMS, d.began);
	for (unsigned i = 0; i < PROCESSES; i++) {
		days_process(&d, i, d.began + 1 + i * each, each);
		if (i == PROCESSES / HOURS)
			early = mallinfo2().uordblks;
	}
	for (unsigned i = 0; i < 4 * PROCESSORS; i++) /* what was lost at the end */
		days_sample(&d, LASTING, 0x400000, d.began + LENGTH);
	days_drain(&d, d.began + LENGTH);
	late = mallinfo2().uordblks;
	ok(d.good, "all records but samples find room");
	ok(d.lost > 0 && d.untold == 0, "some samples do not (%llu of %llu)",
		(unsigned long long)d.lost, (unsigned long long)(d.lost + d.written));
	is_int(d.s.spaces.processes.count, NUMBERS + 2, "one place for each number");
	is_int(d.x.processes.count, PROCESSES + 3, "one row for each process");
	ok(d.s.images.list.count <= PROGRAMS + 2, "programs are known once");
	/* Rows of processes and threads remain. */
	ok(late <= early || late - early < 1000ull * PROCESSES,
		"memory grows with processes alone (%zu KB, after an hour %zu)", late >> 10,
		early >> 10);
	is_int(sampler_end(&d.s, d.began + LENGTH, &e), 0, "the end");
	is_int(days_samples(&d.x), d.written, "all samples are counted");
	is_int(days_slices(&d.x), d.written, "each in a slice of time");
	ok(experiment_slices_end(&d.x) >> d.x.slicing.shift <= EXPERIMENT_SLICES_MOST &&
			experiment_slices_end(&d.x) >= LENGTH,
		"which go to the end, and are not too many");
	is_int(d.x.metrics.data[0].lost, d.lost, "lost ones are counted");
	days_check_programs(&d);
	days_check_file(&d);
	sampler_fini(&d.s);
	experiment_fini(&d.x);
	return done();
}
