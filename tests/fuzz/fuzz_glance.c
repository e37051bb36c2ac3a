/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A quick look at experiment files: whatever they hold, it ends, and says no more than there is. */
#include <stdint.h>
#include <stdlib.h>

#include "experiment/glance.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *context, uint32_t image, uint64_t address, const uint64_t *counts)
{
	const struct experiment *x = context;

	(void)address;
	(void)counts;
	if (image >= x->images.count)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scratch file = {.fd = -1};
	struct experiment_glance *g;
	double part;

	if (size % 2 && scratch_open(&file, data, size) == 0) {
		g = experiment_glance_open(file.path, NULL);
		scratch_close(&file);
	} else {
		g = experiment_glance_new(data, size, NULL);
	}
	if (!g)
		return 0;
	for (int i = 0;
		i < 3 && experiment_glance_work(g, i ? UINT64_MAX : 1, i ? UINT64_MAX : 1) > 0; i++)
		;
	part = experiment_glance_part(g);
	if (!(part >= 0 && part <= 1))
		abort();
	experiment_glance_walk(g, look, (void *)(uintptr_t)experiment_glance_head(g));
	experiment_glance_close(g);
	return 0;
}
