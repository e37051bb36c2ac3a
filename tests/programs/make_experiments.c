/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiment files as the ranks of one large parallel program would write them, for measuring how
 * fast they are added up:
 *
 *   make_experiments DIRECTORY FILES NODES   writes DIRECTORY/0 ...
 *   make_experiments -merge FILE ...         adds them up and says how long it took, in what memory
 *   make_experiments -sum OUTPUT FILE ...    adds them up into a file
 *   make_experiments -dump FILE              prints one
 *
 * All ranks share one call tree; each was sampled at four in five of its leaves, with counts of its
 * own, and at a few that no other has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../chance.h"
#include "../metrics.h"
#include "experiment/dump.h"
#include "experiment/merge.h"

struct place {
	uint32_t parent, image;
	uint64_t address;
};

/* One in eight calls others; what is called lies in one of 5,000 functions of 4 images. */
static void make_tree(struct place *tree, uint32_t nodes)
{
	for (uint32_t i = 1; i < nodes; i++) {
		uint32_t function = chance_below(5000);
		uint32_t caller = chance_below(i / 8 + 1) * 8;

		tree[i] = (struct place){caller < i ? caller : 0, 1 + function % 4,
			0x1000 + 256ull * function + chance_below(60) * 4};
	}
}

static int make_rank(
	struct experiment *x, const struct place *tree, uint32_t nodes, int rank, struct error *e)
{
	static const char *const images[] = {"/opt/app/bin/solver", "/opt/app/lib/libmesh.so",
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6"};
	struct experiment_metric metric = METRIC_TIME(METRIC_STACKS);
	struct experiment_process p = {
		.pid = 1000 + rank, .ppid = 1, .rank = rank, .command = (char *)"solver"};
	struct experiment_thread t = {.tid = 1000 + rank, .name = (char *)"solver"};
	uint32_t *own = calloc(nodes, sizeof(*own));

	if (!own || experiment_init(x, e) || experiment_metric(x, &metric, e))
		return -1;
	for (int i = 0; i < 4; i++)
		experiment_image(x,
			&(struct experiment_image){.kind = EXPERIMENT_IMAGE_ELF,
				.path = (char *)images[i],
				.build_id_length = 20},
			e);
	t.process = (uint32_t)experiment_process(x, &p, e);
	experiment_thread(x, &t, e);
	for (uint32_t i = 1; i < nodes; i++) {
		uint64_t address = i % 8 && !chance_below(10000) ? 0x200000 + chance_below(1 << 20)
								 : tree[i].address;
		long node;

		/* Callers are there whether or not they were sampled themselves. */
		if (i % 8 && chance_below(5) == 0)
			continue;
		node = experiment_node(x, own[tree[i].parent], tree[i].image, address);
		if (node < 0 || (i % 8 && experiment_add(x, 0, 1, 0, (uint32_t)node,
						  1 + chance_below(3) * chance_below(40))))
			return -1;
		own[i] = (uint32_t)node;
	}
	free(own);
	return 0;
}

static int make(const char *directory, int files, uint32_t nodes, struct error *e)
{
	struct place *tree = calloc(nodes, sizeof(*tree));
	uint64_t bytes = 0, rows = 0;

	if (!tree)
		return error_nomem(e);
	make_tree(tree, nodes);
	for (int i = 0; i < files; i++) {
		struct strbuf out = {0};
		struct experiment x;
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%d", directory, i);
		if (make_rank(&x, tree, nodes, i, e) || experiment_encode(&x, &out, e))
			return -1;
		bytes += out.length;
		rows += x.nodes.count;
		f = fopen(path, "w");
		if (!f || fwrite(out.data, 1, out.length, f) != out.length || fclose(f))
			return error_set(e, ERR_SYSTEM, "cannot write %s", path);
		strbuf_fini(&out);
		experiment_fini(&x);
	}
	free(tree);
	printf("files %d megabytes %.3f bytes_per_node %.2f\n", files, (double)bytes / 1e6,
		(double)bytes / (double)rows);
	return 0;
}

static int merge(const char *const *paths, size_t count, struct error *e)
{
	struct timespec begin, end;
	struct experiment sum;
	struct rusage usage;
	double seconds, cpu;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (experiment_merge_files(&sum, paths, count, 0, NULL, NULL, e))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &usage);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	printf("files %zu nodes %zu seconds %.3f cpu %.3f rss_megabytes %.1f\n", count,
		sum.nodes.count, seconds, cpu, (double)usage.ru_maxrss / 1024);
	experiment_fini(&sum);
	return 0;
}

static int sum_up(const char *output, const char *const *paths, size_t count, struct error *e)
{
	struct experiment sum;
	int status;

	if (experiment_merge_files(&sum, paths, count, 0, NULL, NULL, e))
		return -1;
	status = experiment_write(&sum, output, e);
	experiment_fini(&sum);
	return status;
}

static int dump(const char *path, struct error *e)
{
	struct experiment x;

	if (experiment_read(&x, path, NULL, e))
		return -1;
	experiment_dump(&x, 0, stdout);
	experiment_fini(&x);
	return 0;
}

int main(int argc, char **argv)
{
	struct error e = {0};
	int status;

	if (argc > 2 && strcmp(argv[1], "-merge") == 0)
		status = merge((const char *const *)argv + 2, (size_t)argc - 2, &e);
	else if (argc > 3 && strcmp(argv[1], "-sum") == 0)
		status = sum_up(argv[2], (const char *const *)argv + 3, (size_t)argc - 3, &e);
	else if (argc == 3 && strcmp(argv[1], "-dump") == 0)
		status = dump(argv[2], &e);
	else if (argc == 4)
		status = make(argv[1], atoi(argv[2]), (uint32_t)atoi(argv[3]), &e);
	else
		status = error_set(&e, ERR_PARSE, "see the source for how to use this");
	if (status)
		fprintf(stderr, "%s\n", e.message);
	return status ? 1 : 0;
}
