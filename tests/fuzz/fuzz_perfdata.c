/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of perf: any bytes become an experiment that can be written, or a refusal. */
#include <stdint.h>
#include <stdlib.h>

#include "image/image.h"
#include "perfdata/inflate.h"
#include "perfdata/perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct image_search where = {.root = "/nowhere"};
	struct experiment_damage damage = {0};
	struct strbuf out = {0};
	struct experiment x;
	struct error e = {0};

	if (!*inflate_library())
		abort();
	if (perfdata_parse(&x, data, size, size % 2 ? &where : NULL, &damage, &e)) {
		if (e.code == ERR_NONE || !e.message[0])
			abort();
		return 0;
	}
	if (x.metrics.count == 0)
		abort();
	for (size_t i = 0; i < x.samples.count; i++)
		if (experiment_sample_at(&x, i)->key.metric >= x.metrics.count)
			abort();
	if (experiment_encode(&x, &out, &e))
		abort();
	experiment_fini(&x);
	/* What was written is read again. */
	if (experiment_parse(&x, out.data, out.length, NULL, &e))
		abort();
	experiment_fini(&x);
	strbuf_fini(&out);
	return 0;
}
