/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * experiment FILE < text: writes an experiment file, for tests of what reads such files, from lines
 * of
 *
 *   type NAME, fact KEY VALUE, began NS, elapsed NS
 *
 *   image elf|kernel|anonymous PATH (1, 2 ...; of an ELF file its identity is taken)
 *
 *   metric SHORT PERIOD LABEL FLAGS [EVENT] (0, 1 ...; FLAGS: words from clock, stacks, exact, both
 *     and skid, or -), lost METRIC N, total METRIC N, reason METRIC REASON N
 *
 *   phase NAME, process PID RANK COMMAND, thread PROCESS TID NAME [CPU]
 *
 *   symbol IMAGE ADDRESS LENGTH NAME, edge IMAGE FROM TO COUNT (addresses in hex)
 *
 *   run IMAGE BEGIN END IMAGE TO COUNT, rate IMAGE ADDRESS HITS NS WINDOWS SPAN (addresses in hex),
 * tally KIND COUNT, wait IMAGE ADDRESS CAUSE CYCLES (likewise)
 *
 *   site IMAGE ADDRESS KIND OPERAND BITS CLASS COUNT MOMENTS LEAST (0, 1 ...; KIND and CLASS:
 * numbers of experiment/values.h), value SITE IMAGE VALUE OVER SURE (in hex: the value), moments
 * COUNT
 *
 *   sample METRIC THREAD PHASE COUNT IMAGE:ADDRESS ... (the outermost caller first)
 *
 *   time BEGIN END: samples of later lines are spread over these ns of the run; time -: they have
 * no times
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/file.h"
#include "experiment/time_slices.h"
#include "experiment/values.h"
#include "experiment/waits.h"
#include "image/image.h"

static struct experiment x;
static struct error e;
static uint64_t begin, end; /* of samples, if they are timed */
static bool timed;

static int add_image(const char *kind, char *path)
{
	struct experiment_image image = {.kind = EXPERIMENT_IMAGE_KERNEL, .path = path};
	size_t length = 0;

	static pid_t generated = 100; /* one process has generated each */

	if (strcmp(kind, "anonymous") == 0) {
		image.kind = EXPERIMENT_IMAGE_ANONYMOUS;
		image.pid = generated++;
	}
	if (strcmp(kind, "elf") == 0) {
		image.kind = EXPERIMENT_IMAGE_ELF;
		if (image_identify(
			    path, image.build_id, &length, &image.size, &image.fingerprint, &e))
			return -1;
		image.build_id_length = (uint32_t)length;
	}
	return experiment_image(&x, &image, &e) < 0 ? -1 : 0;
}

/* Moments have the same number of values, and each value the same share in them. */
static int add_value(const char *line)
{
	struct experiment_value_site s = {.pairs = 0};
	struct experiment_value v = {.over = 0};
	unsigned bits, class;

	if (sscanf(line, "site %u %" SCNx64 " %u %u %u %u %" SCNu64 " %" SCNu64 " %" SCNu64,
		    &s.key.image, &s.key.address, &s.key.kind, &s.key.operand, &bits, &class,
		    &s.count, &s.moments, &s.least) == 9) {
		s.key.form = bits << 8 | class;
		s.squares = s.moments ? s.count * s.count / s.moments : 0;
		s.pairs = s.count - s.moments;
		s.repeats = s.pairs / 2;
		s.high = 255;
		s.low_complement = ~1ull;
		s.bits[0] = 0xf8;
		s.bits[1] = ~0ull;
		return experiment_row(&x, EXPERIMENT_VALUE_SITES, &s) < 0;
	}
	if (sscanf(line, "value %u %u %" SCNx64 " %" SCNu64 " %" SCNu64, &v.key.site, &v.key.image,
		    &v.key.value, &v.over, &v.sure) != 5 ||
		v.key.site >= x.value_sites.count)
		return -1;
	s = *experiment_value_site_at(&x, v.key.site);
	v.squares = v.over * v.over / s.moments;
	v.products = v.over * s.count / s.moments;
	v.key.grade = experiment_value_grade(v.key.value, s.least + v.over, s.count);
	return experiment_row(&x, EXPERIMENT_VALUES, &v) < 0;
}

static int add_metric(char *name, uint64_t period, const char *label, const char *flags, int event)
{
	struct experiment_metric m = {.event = event,
		.name = strstr(flags, "clock") ? (char *)"CPU time" : name,
		.short_name = name,
		.unit = (char *)(strstr(flags, "clock") ? "ns" : "events"),
		.source = (char *)(strcmp(label, "model") == 0 ? "model" : "os"),
		.note = (char *)"",
		.period = period};

	for (int i = 0; i < LABEL_COUNT; i++)
		if (strcmp(label_name((enum label)i), label) == 0)
			m.label = (enum label)i;
	m.flags = (strstr(flags, "clock") ? METRIC_CLOCK : 0) |
		  (strstr(flags, "stacks") ? METRIC_STACKS : 0) |
		  (strstr(flags, "exact") ? METRIC_EXACT : 0) |
		  (strstr(flags, "skid") ? METRIC_SKID : 0) |
		  (strstr(flags, "values") ? METRIC_VALUES : 0) |
		  (strstr(flags, "both") ? METRIC_BOTH : 0);
	return experiment_metric(&x, &m, &e) < 0 ? -1 : 0;
}

static int add_sample(char *text)
{
	uint32_t metric, thread, phase, image;
	uint64_t count, address;
	long node = EXPERIMENT_ROOT;
	int used;

	if (sscanf(text, "%u %u %u %" SCNu64 "%n", &metric, &thread, &phase, &count, &used) != 4)
		return -1;
	for (text += used; sscanf(text, " %u:%" SCNx64 "%n", &image, &address, &used) == 2;
		text += used)
		node = experiment_node(&x, (uint32_t)node, image, address);
	if (!timed)
		return experiment_add(&x, metric, thread, phase, (uint32_t)node, count);
	return experiment_add_between(&x,
		&(struct experiment_sample){
			.key = {metric, thread, phase, (uint32_t)node}, .count = count},
		begin, end);
}

static int add_wait(uint32_t image, uint64_t address, const char *cause, uint64_t cycles)
{
	struct experiment_wait wait = {
		.key = {address, image, 0}, .parts = cycles * EXPERIMENT_WAIT_PARTS};

	while (wait.key.cause < WAIT_CAUSES &&
		strcmp(experiment_wait_words[wait.key.cause], cause) != 0)
		wait.key.cause++;
	return experiment_row(&x, EXPERIMENT_WAITS, &wait) < 0;
}

/* 1: it is none of these. */
static int take_branches(const char *line)
{
	struct experiment_run run = {.count = 0};
	struct experiment_rate rate = {.windows = 0};
	uint64_t count;
	unsigned kind;

	/* With or without its rates. */
	if (sscanf(line,
		    "run %" SCNu32 " %" SCNx64 " %" SCNx64 " %" SCNu32 " %" SCNx64 " %" SCNu64
		    " %" SCNu64 " %lg %lg",
		    &run.key.image, &run.key.begin, &run.key.end, &run.key.to_image, &run.key.to,
		    &run.count, &run.bursts, &run.rate, &run.squares) >= 6)
		return experiment_row(&x, EXPERIMENT_RUNS, &run) < 0;
	if (sscanf(line,
		    "rate %" SCNu32 " %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		    &rate.key.image, &rate.key.address, &rate.hits, &rate.nanoseconds,
		    &rate.windows, &rate.span) == 6)
		return experiment_row(&x, EXPERIMENT_RATES, &rate) < 0;
	if (sscanf(line, "tally %u %" SCNu64, &kind, &count) == 2)
		return experiment_add_tally(&x, kind, count);
	return 1;
}

static int take_line(char *line)
{
	char a[512], b[512], c[64];
	uint64_t n, k, count;
	uint32_t i;
	int p = take_branches(line), q = -1;

	if (p <= 0)
		return p;
	if (sscanf(line, "type %511s", a) == 1) {
		free(x.type);
		x.type = strdup(a);
		return x.type ? 0 : -1;
	}
	if (sscanf(line, "fact %511s %511[^\n]", a, b) == 2)
		return experiment_fact(&x, a, b, &e);
	if (sscanf(line, "image %511s %511[^\n]", a, b) == 2)
		return add_image(a, b);
	if (sscanf(line, "metric %511s %" SCNu64 " %63s %511s %d", a, &n, c, b, &q) >= 4)
		return add_metric(a, n, c, b, q);
	if (sscanf(line, "wait %u %" SCNx64 " %63s %" SCNu64, &i, &n, c, &count) == 4)
		return add_wait(i, n, c, count);
	if (sscanf(line, "phase %511s", a) == 1)
		return experiment_phase(&x, &(struct experiment_phase){.name = a}, &e) < 0;
	if (sscanf(line, "process %d %d %511s", &p, &q, a) == 3)
		return experiment_process(&x,
			       &(struct experiment_process){
				       .pid = p, .rank = q, .status = 0, .command = a},
			       &e) < 0;
	q = -1;
	if (sscanf(line, "thread %u %d %511s %d", &i, &p, a, &q) >= 3)
		return experiment_thread(
			       &x, &(struct experiment_thread){i, p, a, (uint32_t)(q + 1)}, &e) < 0;
	if (sscanf(line, "symbol %u %" SCNx64 " %" SCNu64 " %511s", &i, &n, &k, a) == 4)
		return experiment_symbol(&x, i, n, k, a, &e);
	if (sscanf(line, "lost %u %" SCNu64, &i, &n) == 2) {
		x.metrics.data[i].lost = n;
		return 0;
	}
	if (sscanf(line, "total %u %" SCNu64, &i, &n) == 2) {
		x.metrics.data[i].total = n;
		return 0;
	}
	if (sscanf(line, "reason %u %d %" SCNu64, &i, &p, &n) == 3) {
		x.metrics.data[i].reasons[p] = n;
		return 0;
	}
	if (sscanf(line, "edge %u %" SCNx64 " %" SCNx64 " %" SCNu64 " %d", &i, &n, &k, &count,
		    &p) == 5) {
		const struct experiment_edge edge = {.key = {.from = n,
							     .to = k,
							     .from_image = i,
							     .to_image = i,
							     .taken = p != 0},
			.count = count};

		return experiment_row(&x, EXPERIMENT_EDGES, &edge) < 0;
	}
	if (strncmp(line, "time ", 5) == 0) {
		timed = sscanf(line, "time %" SCNu64 " %" SCNu64, &begin, &end) == 2;
		return 0;
	}
	if (sscanf(line, "began %" SCNu64, &x.began) == 1)
		return 0;
	if (sscanf(line, "elapsed %" SCNu64, &x.elapsed) == 1)
		return 0;
	if (sscanf(line, "moments %" SCNu64, &n) == 1)
		return experiment_add_value_tally(&x, VALUE_TALLY_MOMENTS, n);
	if (strncmp(line, "site ", 5) == 0 || strncmp(line, "value ", 6) == 0)
		return add_value(line);
	if (strncmp(line, "sample ", 7) == 0)
		return add_sample(line + 7);
	return line[0] == '\n' || line[0] == '#' ? 0 : -1;
}

int main(int argc, char **argv)
{
	char line[65536];
	int rc = argc == 2 ? experiment_init(&x, &e) : -1;

	x.complete = true;
	while (rc == 0 && fgets(line, sizeof(line), stdin)) {
		rc = take_line(line);
		if (rc)
			fprintf(stderr, "experiment: cannot take: %s", line);
	}
	if (rc == 0)
		rc = experiment_write(&x, argv[1], &e);
	if (rc)
		fprintf(stderr, "experiment: %s\n", e.message);
	experiment_fini(&x);
	return rc ? 1 : 0;
}
