/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Experiments added up: the same bytes in any order and any grouping; and the right sums. */
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"
#include "experiment/merge.h"
#include "experiment_random.h"

enum { FILES = 7, NODES = 250 };

/* The sum of files[0..n), grouped by chance: each group is a sum, written and read again. */
static char *sum_grouped(
	struct chance *c, char **files, const size_t *sizes, size_t n, unsigned flags, size_t *size)
{
	struct experiment sum, x;
	struct error e = {0};
	size_t at = 0;
	char *bytes;

	if (experiment_merge_begin(&sum, &e))
		return NULL;
	while (at < n) {
		size_t group = 1 + chance_below(c, (uint32_t)(n - at)), length = sizes[at];
		char *part = NULL;

		if (group > 1 && group < n)
			part = sum_grouped(c, files + at, sizes + at, group, flags, &length);
		else
			group = 1;
		if (experiment_parse(&x, part ? part : files[at], length, NULL, &e) ||
			experiment_merge(&sum, &x, flags, &e)) {
			printf("# %s\n", e.message);
			return NULL;
		}
		experiment_fini(&x);
		free(part);
		at += group;
	}
	bytes = random_bytes(&sum, size);
	experiment_fini(&sum);
	return bytes;
}

static void shuffle(struct chance *c, char **files, size_t *sizes, size_t n)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = chance_below(c, (uint32_t)i + 1), size = sizes[i];
		char *file = files[i];

		files[i] = files[j];
		sizes[i] = sizes[j];
		files[j] = file;
		sizes[j] = size;
	}
}

static void test_any_order(unsigned flags, const char *what)
{
	size_t different = 0, tried = 0;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct chance c = chance_seed(seed);
		char *files[FILES], *first = NULL;
		size_t sizes[FILES] = {0}, first_size = 0;

		for (uint32_t i = 0; i < FILES; i++) {
			struct experiment x;

			random_experiment(&x, seed * 100 + i, NODES);
			files[i] = random_bytes(&x, &sizes[i]);
			experiment_fini(&x);
		}
		for (int trial = 0; trial < 12; trial++, tried++) {
			size_t size = 0;
			char *sum = sum_grouped(&c, files, sizes, FILES, flags, &size);

			if (!first) {
				first = sum;
				first_size = size;
			} else {
				different +=
					!sum || size != first_size || memcmp(sum, first, size) != 0;
				free(sum);
			}
			shuffle(&c, files, sizes, FILES);
		}
		for (int i = 0; i < FILES; i++)
			free(files[i]);
		free(first);
	}
	ok(different == 0 && tried == 144, "%s: any order, any grouping, the same bytes", what);
}

/* What was kept apart may be put together afterwards. */
static void test_folded_later(void)
{
	size_t different = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct experiment a, b, at_once, apart, later;
		struct error e = {0};
		size_t n = 0, m = 0;
		char *one, *two;

		random_experiment(&a, seed, NODES);
		random_experiment(&b, seed + 1000, NODES);
		experiment_settle(&a, &e);
		experiment_settle(&b, &e);
		experiment_merge_begin(&at_once, &e);
		experiment_merge_begin(&apart, &e);
		experiment_merge_begin(&later, &e);
		experiment_merge(&at_once, &a, 0, &e);
		experiment_merge(&at_once, &b, 0, &e);
		experiment_merge(&apart, &b, MERGE_THREADS, &e);
		experiment_merge(&apart, &a, MERGE_THREADS, &e);
		experiment_settle(&apart, &e);
		if (seed % 2)
			experiment_merge(&later, &apart, 0, &e);
		else /* what a sum kept apart is put together when something comes to it */
			experiment_merge(&apart, &later, 0, &e);
		one = random_bytes(&at_once, &n);
		two = random_bytes(seed % 2 ? &later : &apart, &m);
		different += n != m || memcmp(one, two, n) != 0;
		free(one);
		free(two);
		experiment_fini(&a);
		experiment_fini(&b);
		experiment_fini(&at_once);
		experiment_fini(&apart);
		experiment_fini(&later);
	}
	is_int(different, 0, "threads kept apart may be put together later");
}

static void make_run(struct experiment *x, int rank, const char *host, uint64_t total)
{
	struct experiment_metric metric = random_metrics[1];
	struct experiment_process p = {.pid = 100 + rank, .rank = rank, .command = (char *)"a"};
	struct experiment_thread t = {.tid = 100 + rank, .name = (char *)"a"};
	struct experiment_phase phase = {.time = 50 + (uint64_t)rank, .name = (char *)"solve"};
	struct error e;
	uint32_t node;

	experiment_init(x, &e);
	free(x->type);
	x->type = strdup("dsc_hwc");
	x->elapsed = 1000;
	x->complete = true;
	x->began = 77 + (uint64_t)rank;
	metric.total = total;
	metric.lost = 1;
	metric.reasons[EXPERIMENT_NO_STACK] = 2;
	experiment_metric(x, &metric, &e);
	p.status = rank == 2 ? 256 : 0;
	t.process = (uint32_t)experiment_process(x, &p, &e);
	experiment_thread(x, &t, &e);
	experiment_phase(x, &phase, &e);
	phase.time += 10;
	experiment_phase(x, &phase, &e);
	experiment_fact(x, "host", host, &e);
	experiment_fact(x, "command", "a", &e);
	experiment_image(x, &(struct experiment_image){.path = (char *)"/a"}, &e);
	node = (uint32_t)experiment_node(x, 0, 1, 0x1000);
	experiment_add(x, 0, 1, 1, node, 5);
	experiment_add(x, 0, 1, 2, node, 7);
	experiment_add(
		x, 0, 1, 1, (uint32_t)experiment_node(x, node, 1, 0x2000 + (uint64_t)rank), 1);
}

static void test_sums(void)
{
	static const char *const hosts[] = {"n2", "n1", "n3"};
	struct experiment sum;
	struct error e = {0};

	experiment_merge_begin(&sum, &e);
	for (int rank = 0; rank < 3; rank++) {
		struct experiment x;

		make_run(&x, rank + 1, hosts[rank], 1000);
		experiment_settle(&x, &e);
		ok(experiment_merge(&sum, &x, 0, &e) == 0, "rank %d", rank);
		experiment_fini(&x);
	}
	ok(experiment_settle(&sum, &e) == 0, "settled");
	is_int(sum.runs, 3, "runs");
	is_int(sum.elapsed, 3000, "elapsed");
	is_int(sum.began, 78, "began first");
	is_str(sum.type, "dsc_hwc", "one type");
	is_int(sum.folded.processes * 10 + sum.folded.threads, 33, "processes and threads");
	is_int(sum.folded.ranks, 3, "ranks");
	is_int(sum.folded.rank_low * 10 + sum.folded.rank_high, 13, "from 1 to 3");
	is_int(sum.folded.failed, 1, "one failed");
	is_int(sum.processes.count + sum.threads.count, 2, "no rows of processes");
	is_str(experiment_fact_find(&sum, "host"), "n1", "the first host by name");
	ok(sum.facts.data[1].several && !sum.facts.data[0].several, "of several");
	is_int(sum.metrics.count, 1, "one metric");
	is_int(sum.metrics.data[0].total, 3000, "total");
	is_int(sum.metrics.data[0].lost, 3, "lost");
	is_int(sum.metrics.data[0].reasons[EXPERIMENT_NO_STACK], 6, "without callers");
	is_int(sum.phases.count, 3, "phases of one name, one by one");
	is_int(sum.phases.data[1].time * 1000 + sum.phases.data[2].time, 51061, "at the earliest");
	is_int(sum.nodes.count, 5, "nodes: the root, one, and one of each rank");
	is_int(experiment_sample_at(&sum, 0)->count, 15, "samples of the first phase");
	is_int(sum.samples.count, 5, "samples");
	experiment_fini(&sum);
}

static void make_branches(struct experiment *x, uint64_t times)
{
	struct experiment_image image = {
		.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)(times == 1 ? "/b" : "/a")};
	struct experiment_run run = {.key = {.begin = 0x10, .end = 0x14, .to = 0x10}};
	struct experiment_rate rate = {.key = {.address = 0x14}, .hits = 3 * times};
	struct error e;

	experiment_init(x, &e);
	run.key.image = (uint32_t)experiment_image(x, &image, &e);
	image.path = (char *)"/both";
	rate.key.image = run.key.to_image = (uint32_t)experiment_image(x, &image, &e);
	run.count = 5 * times;
	run.bursts = 1;
	run.rate = 0.5 * (double)times;
	run.squares = 0.25 * (double)times;
	rate.nanoseconds = 1000 * times;
	rate.windows = times;
	experiment_row(x, EXPERIMENT_RUNS, &run);
	experiment_row(x, EXPERIMENT_RUNS, &run);
	experiment_row(x, EXPERIMENT_RATES, &rate);
	experiment_add_tally(x, TALLY_BURSTS, times);
	experiment_settle(x, &e);
}

static void test_branches(void)
{
	struct experiment sum;
	struct error e = {0};

	experiment_merge_begin(&sum, &e);
	ok(!experiment_has_branches(&sum), "no branch records");
	for (uint64_t times = 1; times <= 2; times++) {
		struct experiment x;

		make_branches(&x, times);
		experiment_merge(&sum, &x, 0, &e);
		experiment_fini(&x);
	}
	experiment_settle(&sum, &e);
	ok(experiment_has_branches(&sum), "branch records");
	is_int(experiment_runs(&sum), 2, "runs of two images");
	is_int(experiment_run_at(&sum, 0)->count, 20, "runs of /a");
	is_int(experiment_run_at(&sum, 0)->bursts, 2, "bursts that met it");
	ok(experiment_run_at(&sum, 0)->rate == 2, "rate");
	ok(experiment_run_at(&sum, 0)->squares == 1, "squares");
	is_str(sum.images.data[experiment_run_at(&sum, 1)->key.to_image].path, "/both",
		"they go where they went");
	is_int(experiment_rates(&sum), 1, "one rate");
	is_int(experiment_rate_at(&sum, 0)->hits, 9, "hits");
	is_int(experiment_rate_at(&sum, 0)->nanoseconds, 3000, "nanoseconds");
	is_int(experiment_rate_at(&sum, 0)->windows, 3, "windows");
	is_int(experiment_tally(&sum, TALLY_BURSTS), 3, "bursts");
	is_int(experiment_tally(&sum, TALLY_WINDOWS), 0, "no tally of windows");
	experiment_fini(&sum);
}

static void test_totals(void)
{
	struct experiment sum, x;
	struct error e = {0};

	experiment_merge_begin(&sum, &e);
	make_run(&x, 0, "n", 10);
	experiment_settle(&x, &e);
	experiment_merge(&sum, &x, 0, &e);
	x.samples.count = 0;
	x.metrics.data[0].total = 0;
	experiment_merge(&sum, &x, 0, &e);
	is_int(sum.metrics.data[0].total, 10, "a run without any counts 0");
	experiment_fini(&x);
	make_run(&x, 0, "n", 0);
	experiment_settle(&x, &e);
	experiment_merge(&sum, &x, 0, &e);
	is_int(sum.metrics.data[0].total, 0, "where one total is not known, the sum is not");
	experiment_fini(&x);
	make_run(&x, 0, "n", 10);
	experiment_settle(&x, &e);
	((struct experiment_sample *)table_at(&x.samples, 0))->count = UINT64_MAX - 2;
	experiment_merge(&sum, &x, 0, &e);
	is_int(sum.metrics.data[0].total, 0, "and stays so");
	experiment_settle(&sum, &e);
	ok(experiment_sample_at(&sum, 0)->count == UINT64_MAX,
		"counts stop at their greatest value");
	experiment_fini(&x);
	experiment_fini(&sum);
}

static bool write_bytes(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "we");
	bool good = f && fwrite(data, 1, size, f) == size;

	return f && fclose(f) == 0 && good;
}

static void test_files(void)
{
	enum { COUNT = 60 };
	char directory[] = "/tmp/test_merge.XXXXXX", *paths[COUNT], *a, *b;
	struct experiment_merge_report report;
	struct experiment sum, by_hand, x;
	struct error e = {0};
	size_t n = 0, m = 0, size = 0;

	if (!mkdtemp(directory) || experiment_merge_begin(&by_hand, &e))
		return;
	for (uint32_t i = 0; i < COUNT; i++) {
		if (asprintf(&paths[i], "%s/%u", directory, i) < 0)
			return;
		random_experiment(&x, 7000 + i, NODES);
		experiment_write(&x, paths[i], &e);
		experiment_merge(&by_hand, &x, 0, &e);
		experiment_fini(&x);
	}
	ok(experiment_merge_files(&sum, (const char *const *)paths, COUNT, 0, NULL, NULL, &e) == 0,
		"%d files", COUNT);
	a = random_bytes(&sum, &n);
	b = random_bytes(&by_hand, &m);
	ok(n == m && memcmp(a, b, n) == 0, "the sum of files is that of experiments");
	experiment_fini(&sum);
	experiment_fini(&by_hand);
	free(b);
	b = file_read(paths[40], 0, &size, &e);
	write_bytes(paths[40], b, size - 30);
	write_bytes(paths[45], b, size - 1);
	free(b);
	ok(experiment_merge_files(&sum, (const char *const *)paths, COUNT, 0, NULL, NULL, &e) &&
			strstr(e.message, "/40: truncated"),
		"a damaged file is an error: %s", e.message);
	ok(experiment_merge_files(&sum, (const char *const *)paths, COUNT, MERGE_THREADS, NULL,
		   &report, &e) == 0 &&
			report.damaged == 2 && strstr(report.first_damage, "/40: truncated"),
		"or counted: %s", report.first_damage);
	experiment_fini(&sum);
	unlink(paths[50]);
	ok(experiment_merge_files(&sum, (const char *const *)paths, COUNT, 0, NULL, &report, &e) &&
			strstr(e.message, "/50"),
		"one that is not there is an error: %s", e.message);
	for (int i = 0; i < COUNT; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
	rmdir(directory);
	free(a);
	ok(experiment_merge_files(&sum, NULL, 0, 0, NULL, NULL, &e) == 0 && sum.runs == 0,
		"no files: an empty sum");
	experiment_fini(&sum);
}

int main(void)
{
	test_any_order(0, "together");
	test_any_order(MERGE_THREADS, "threads apart");
	test_folded_later();
	test_sums();
	test_branches();
	test_totals();
	test_files();
	return done();
}
