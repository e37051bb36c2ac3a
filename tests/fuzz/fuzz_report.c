/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of experiment files: whatever they hold, each view of it and of its changes is text, JSON
 * and CSV, or refused with a message. Names are those of a small program.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/file.h"
#include "render/prof.h"
#include "report/views.h"

#include "../unit/prof_fake.h"
#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(const struct report_table *t, bool intervals)
{
	const struct prof_style style = {.intervals = intervals, .utf8 = true};
	struct strbuf out = {0};
	struct error e = {0};

	render_prof_text(t, &style, &out);
	render_prof_csv(t, &out);
	if (render_prof_json(t, &out, &e) && !*e.message)
		abort();
	strbuf_fini(&out);
}

static void make_view(const struct prof_request *request, report_view *make, bool intervals)
{
	struct fake_names names = {.state = PROF_IMAGE_FINE};
	struct report_table table = {0};
	struct error e = {0};
	struct prof_data data;

	if (profile_data_init(&data, request, &e)) {
		if (!*e.message)
			abort();
		return;
	}
	data.names = (struct prof_names){&fake_ops, &names};
	if (make(&data, &table, &e) == 0)
		draw(&table, intervals);
	else if (!*e.message)
		abort();
	report_table_fini(&table);
	profile_data_fini(&data);
}

/* All views of small ones, a few of large ones. */
static void views(const struct experiment *x, size_t size)
{
	const struct prof_input inputs[] = {{x, "first", 0}, {x, "second", 1}};
	struct prof_request request = {.inputs = inputs,
		.count = 1 + size / 2 % 2,
		.command = "fuzz",
		.threads = size & 1,
		.by = (enum prof_grouping)(size / 4 % 4),
		.inclusive = size & 16,
		.inlines = size & 32,
		.raw = size & 64,
		.from = size & 128 ? "25%" : NULL,
		.to = size & 256 ? "1.5" : NULL,
		.quit = {.rows = size & 512 ? 3 : 0}};

	for (size_t i = 0; report_views[i].name; i++) {
		bool changes = request.count > 1 && i % 2;
		report_view *make = report_view_make(&report_views[i], changes);

		if (make && (size < 4096 || (i + size) % 8 == 0))
			make_view(&request, make, size & 1024);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct experiment_damage damage;
	struct experiment x;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mend(copy, size);
	if (experiment_parse(&x, copy, size, &damage, NULL) == 0) {
		views(&x, size);
		experiment_fini(&x);
	}
	free(copy);
	return 0;
}
