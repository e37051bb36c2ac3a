/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Out of memory at each single allocation of reports: what adds to a table goes on without memory,
 * and the report fails in the end. */
#include "events/numbers.h"
#include "experiment_random.h"
#include "inject.h"
#include "prof_fake.h"

static struct experiment sampled, objects;
static const struct experiment *of;
static report_view *view;
static bool sides;

static int make(struct error *e)
{
	const struct prof_input inputs[] = {
		{.experiment = of, .file = "a"}, {.experiment = of, .file = "b", .side = 1}};
	const struct prof_request q = {.inputs = inputs,
		.count = sides ? 2 : 1,
		.threads = !sides,
		.command = "prof",
		.sides = {"a", "b"}};
	struct prof_data data;
	struct report_table table = {0};
	struct fake_names names = {0};
	int rc = profile_data_init(&data, &q, e);

	if (rc)
		return -1;
	data.names = (struct prof_names){&fake_ops, &names};
	rc = view(&data, &table, e);
	report_table_fini(&table);
	profile_data_fini(&data);
	return rc;
}

/* Time with call paths and skid, and instructions that were counted. */
static void fill(struct experiment *x)
{
	uint32_t time, counted;

	experiment_init(x, NULL);
	fake_image(x);
	time = (uint32_t)fake_metric(x, "time", EV_TASK_CLOCK, 10000000,
		METRIC_CLOCK | METRIC_STACKS | METRIC_SKID, LABEL_MEASURED);
	counted = (uint32_t)fake_metric(x, "gi", EV_INSTRUCTIONS_15, 1, METRIC_EXACT, LABEL_MODEL);
	for (uint64_t i = 0; i < 8; i++) {
		fake_samples(x, time, 0, 0, 10 + i, PATH(0x1010, 0x1110 + 16 * i));
		fake_samples(x, time, 0, 0, 5, PATH(0x1010, 0x1120, 0x1110, 0x1310));
		fake_samples(x, counted, 0, 0, 1000, PATH(0x1100 + 4 * i));
	}
	experiment_settle(x, NULL);
}

int main(void)
{
	static const struct {
		const char *name;
		report_view *view;
		bool objects, sides;
	} reports[] = {
		{"procedures", report_procedures, false, false},
		{"heavy", report_heavy, false, false},
		{"lines", report_lines, false, false},
		{"dso", report_images_view, false, false},
		{"butterfly", report_butterfly, false, false},
		{"calltree", report_calltree, false, false},
		{"usage", report_usage, false, false},
		{"summary", report_summary_view, false, false},
		{"dis", report_dis, false, false},
		{"archinfo", report_archinfo, false, false},
		{"diff", report_diff, false, true},
		{"diff of lines", report_diff_lines, false, true},
		{"dataspace", report_dataspace, true, false},
		{"datalines", report_datalines, true, false},
	};

	fill(&sampled);
	random_experiment(&objects, 3, 40);
	experiment_settle(&objects, NULL);
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		of = reports[i].objects ? &objects : &sampled;
		view = reports[i].view;
		sides = reports[i].sides;
		inject_each(reports[i].name, make, false);
	}
	experiment_fini(&sampled);
	experiment_fini(&objects);
	return done();
}
