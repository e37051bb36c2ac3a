/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies: any code with any samples has some, which are numbers, none below 0 and each in its
 * interval.  The first byte chooses the method, the second how many bytes of the rest are code;
 * what follows them are samples and cycles of its instructions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/context.h"
#include "analysis/frequency.h"

#define AT 0x401000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct core *the_core(void)
{
	static const char text[] =
		"[core]\nname test\nrename 4\nretire 4\nwindow 64\nscheduler 32\n"
		"[front]\ntaken 1\n[ports]\nany 0 1 2\n"
		"[memory]\nload any\nstore-address any\nstore-data any\nload-latency 4\n"
		"[instructions]\n* : : any : 1\n";
	static struct core core;
	static bool known;
	struct error e;

	if (!known)
		if (core_parse(&core, text, sizeof(text) - 1, "test", &e))
			abort();
	known = true;
	return &core;
}

static void check(const struct analysis_estimate *x)
{
	if (x->confidence == ANALYSIS_UNKNOWN)
		return;
	if (!isfinite(x->value) || !(x->value >= 0) || x->low > x->value || x->high < x->value)
		abort();
}

static void check_context(const struct flow *f, const double *edge)
{
	struct schedule_row *rows = calloc(f->insns.count + 1, sizeof(*rows));
	struct error e;
	struct schedule_paths *paths = schedule_paths_new(the_core(), &e);
	struct schedule_path *path = paths ? schedule_path_begin(paths, &e) : NULL;

	if (!rows || !path || analysis_context(path, f, the_core(), edge, rows, &e))
		abort();
	schedule_path_end(paths, path);
	schedule_paths_free(paths);
	for (size_t i = 0; i < f->insns.count; i++)
		if (!(rows[i].mi >= 0) || !isfinite(rows[i].mi) ||
			rows[i].blame >= (int)f->insns.count)
			abort();
	free(rows);
}

static void check_frequencies(const struct flow *f, const uint8_t *data, size_t size, bool classic)
{
	size_t n = f->insns.count;
	double *numbers = calloc(2 * n + 1, sizeof(*numbers));
	double *edges = calloc(f->edges.count + 1, sizeof(*edges));
	struct error e;
	struct analysis_classes *classes = analysis_classes_new(f, &e);
	struct analysis_input in = {.flow = f,
		.classes = classes,
		.samples = numbers,
		.mi = numbers + n,
		.method = classic ? ANALYSIS_CLASSIC : ANALYSIS_FLOW};
	struct analysis_frequencies q;

	if (!numbers || !edges || !classes)
		abort();
	for (size_t i = 0; i < 2 * n && size; i++)
		numbers[i] = i < n ? ldexp(data[i % size] & 15, data[i % size] >> 4)
				   : data[i % size] / 16.0;
	if (analysis_frequencies_make(&q, &in, &e))
		abort();
	for (size_t i = 0; i < f->blocks.count; i++)
		check(&q.block[i]);
	for (size_t i = 0; i < f->edges.count; i++) {
		check(&q.edge[i]);
		edges[i] = q.edge[i].value;
	}
	check_context(f, edges);
	analysis_frequencies_fini(&q);
	analysis_classes_free(classes);
	free(numbers);
	free(edges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_request r = {.machine = ISA_X86_64, .begin = AT};
	struct error e;
	struct flow *f;

	if (size < 3)
		return 0;
	r.bytes = data + 2;
	r.size = (size - 2) * (data[1] + 1u) / 256;
	f = flow_new(&r, &e);
	if (!f)
		abort();
	check_frequencies(f, r.bytes + r.size, size - 2 - r.size, data[0] & 1);
	flow_free(f);
	return 0;
}
