/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof's tables of functions, lines and images, over experiments made by hand. */
#include "../tap.h"

#include "base/shown.h"
#include "prof_fake.h"
#include "render/prof.h"

static void flat_experiment(struct experiment *x)
{
	experiment_init(x, NULL);
	fake_image(x);
	fake_metric(x, "time", -1, 1000003, METRIC_CLOCK, LABEL_MEASURED);
	fake_metric(x, "dsc", 26, 131, 0, LABEL_MODEL);
	fake_samples(x, 0, 0, 0, 600, PATH(0x1110));
	fake_samples(x, 0, 0, 0, 200, PATH(0x1190));
	fake_samples(x, 0, 0, 0, 150, PATH(0x1000));
	fake_samples(x, 0, 0, 0, 45, PATH(0x1310));
	fake_samples(x, 0, 0, 0, 5, PATH(0x1400));
	fake_samples(x, 1, 0, 0, 70, PATH(0x1110));
	fake_samples(x, 1, 0, 0, 30, PATH(0x1018));
	/* outside everything */
	experiment_add(x, 0, 0, 0, (uint32_t)experiment_node(x, 0, 0, 0x99), 50);
}

static void test_intervals(void)
{
	/* Exact Poisson limits (Garwood), as tables have them. */
	static const struct {
		uint64_t n;
		double low, high;
	} known[] = {{0, 0, 3.689}, {1, 0.0253, 5.572}, {2, 0.2422, 7.225}, {10, 4.795, 18.39},
		{100, 81.36, 121.63}, {1000, 938.97, 1063.9}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct quantity q = profile_sampled(known[i].n, 2, LABEL_MODEL);

		ok(fabs(q.low / 2 - known[i].low) <= 0.0005 * known[i].low + 0.0001 &&
				fabs(q.high / 2 - known[i].high) <= 0.0005 * known[i].high,
			"limits of %d: %.4f %.4f", (int)known[i].n, q.low / 2, q.high / 2);
		ok(q.value == 2.0 * (double)known[i].n && q.label == LABEL_MODEL, "value, label");
	}
}

static void test_procedures(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct report_cell *cell;
	struct error e = {0};

	flat_experiment(&x);
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "procedures %s", e.message);
	is_int(r.table.rows.count, 6, "five rows and the total");
	is_str(r.table.rows.data[0].procedure, "search", "most costly first");
	is_str(r.table.rows.data[2].procedure, "(unknown)", "what has no mapping");
	is_str(r.table.rows.data[4].procedure, "leaf", "the last one");
	cell = report_cells(&r.table, 0);
	ok(fabs(cell[0].quantity.value - 800 * 1000003e-9) < 1e-9, "seconds");
	ok(cell[0].quantity.low < cell[0].quantity.value &&
			cell[0].quantity.high > cell[0].quantity.value,
		"interval");
	is_int(cell[0].samples, 800, "samples");
	ok(fabs(cell[0].percent - 100 * 800 / 1050.0) < 1e-9, "percent");
	is_int(cell[1].samples, 70, "the other metric beside it");
	ok(cell[1].quantity.value == 70 * 131 && cell[1].quantity.label == LABEL_MODEL,
		"in units of its event, with its label");
	ok(report_cells(&r.table, 4)[0].weak && !cell[0].weak, "five samples are few");
	ok(fabs(report_cells(&r.table, 4)[0].cumulative - 100) < 1e-9, "cumulative ends at 100");
	is_int(r.table.rows.data[5].role, REPORT_TOTAL, "total");
	is_int(report_cells(&r.table, 5)[0].samples, 1050, "of all");
	is_int(r.names.symbols, 7, "each address asked for once");
	fake_report_fini(&r);

	q.inlines = true;
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "-inlines");
	is_int(report_cells(&r.table, (size_t)fake_row(&r.table, "compare", 0))[0].samples, 200,
		"the inlined function has a row of its own");
	is_int(report_cells(&r.table, 0)[0].samples, 600, "and its samples are not the caller's");
	fake_report_fini(&r);
	experiment_fini(&x);
}

static void test_lines(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct error e = {0};

	flat_experiment(&x);
	ok(fake_report(&r, &q, report_heavy, &e) == 0, "heavy %s", e.message);
	is_str(r.table.rows.data[0].file, "/src/app.c", "file");
	is_int(r.table.rows.data[0].line, 0x110 / 16 + 1, "line");
	is_str(r.table.rows.data[1].note, "inlined compare", "says what was inlined there");
	is_int(report_cells(&r.table, 1)[0].samples, 200, "samples of the line");
	fake_report_fini(&r);
	ok(fake_report(&r, &q, report_images_view, &e) == 0, "images");
	is_str(r.table.rows.data[0].image, "app", "image");
	is_int(report_cells(&r.table, 0)[0].samples, 1000, "all its samples");
	fake_report_fini(&r);
	experiment_fini(&x);
}

static size_t list_length(const struct prof_request *q)
{
	struct fake_report r = {0};
	size_t count;

	if (fake_report(&r, q, report_procedures, NULL)) {
		fake_report_fini(&r);
		return 0;
	}
	count = r.table.rows.count - 1;
	fake_report_fini(&r);
	return count;
}

static void test_selection(void)
{
	static const char *const search[] = {"se*", NULL}, *const app[] = {"app", NULL};
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};

	flat_experiment(&x);
	q.quit.rows = 2;
	is_int(list_length(&q), 2, "-q 2");
	q.quit = (struct prof_quit){.percent = 10};
	is_int(list_length(&q), 2, "-q 10%%");
	q.quit = (struct prof_quit){.cumulative = 90};
	is_int(list_length(&q), 2, "-q 90cum%%");
	q.quit = (struct prof_quit){0};
	q.only = search;
	is_int(list_length(&q), 1, "-only 'se*'");
	q.only = app;
	is_int(list_length(&q), 4, "-only of an image");
	q.only = NULL;
	q.exclude = app;
	is_int(list_length(&q), 1, "-exclude of an image");
	experiment_fini(&x);
}

static void test_calipers(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct prof_data d;
	struct error e = {0};
	static const struct {
		const char *calipers;
		int samples;
	} cases[] = {
		{"1,3", 6}, {"0,1", 1}, {"2", 3}, {"load,solve", 2}, {"solve", 12}, {"1,4", 14}};

	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000003, METRIC_CLOCK, LABEL_MEASURED);
	experiment_phase(&x, &(struct experiment_phase){.name = (char *)"load"}, NULL);
	experiment_phase(&x, &(struct experiment_phase){.name = (char *)"solve"}, NULL);
	experiment_phase(&x, &(struct experiment_phase){.name = (char *)"solve"}, NULL);
	for (uint32_t phase = 0; phase < 4; phase++)
		fake_samples(&x, 0, 0, phase, 1u << phase, PATH(0x1000));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		q.calipers = cases[i].calipers;
		ok(profile_data_init(&d, &q, &e) == 0, "-calipers %s %s", q.calipers, e.message);
		is_int(d.metrics.data[0].samples, cases[i].samples, "samples between");
		profile_data_fini(&d);
	}
	q.calipers = "3,1";
	ok(profile_data_init(&d, &q, &e) && e.code == ERR_RANGE, "points in the wrong order");
	q.calipers = "sovle";
	ok(profile_data_init(&d, &q, &e) && strstr(e.hint, "solve"), "no such point: %s", e.hint);
	q.calipers = "9";
	ok(profile_data_init(&d, &q, &e) && e.code == ERR_NOT_FOUND, "no such number");
	experiment_fini(&x);
}

static void test_threads(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1, .threads = true};
	struct fake_report r = {0};
	struct error e = {0};

	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000003, METRIC_CLOCK, LABEL_MEASURED);
	experiment_process(&x,
		&(struct experiment_process){.pid = 10, .rank = 3, .command = (char *)"app"}, NULL);
	experiment_thread(&x,
		&(struct experiment_thread){.process = 1, .tid = 10, .name = (char *)"app"}, NULL);
	experiment_thread(&x,
		&(struct experiment_thread){.process = 1, .tid = 11, .name = (char *)"worker"},
		NULL);
	fake_samples(&x, 0, 1, 0, 10, PATH(0x1000));
	fake_samples(&x, 0, 2, 0, 30, PATH(0x1000));
	fake_samples(&x, 0, 2, 0, 20, PATH(0x1110));
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "-threads %s", e.message);
	is_int(r.table.rows.count, 4, "a row for each function and thread");
	is_str(r.table.rows.data[0].thread, "rank 3 thread 11 of 10 worker", "busiest first");
	is_str(r.table.rows.data[2].thread, "rank 3 main thread 10 app", "the other one");
	is_int(r.names.symbols, 2, "an address in two threads is asked for once");
	fake_report_fini(&r);
	experiment_fini(&x);
}

/* Two files of two builds: names meet, ratios come. */
static void test_compare(void)
{
	struct experiment a, b;
	struct prof_input inputs[] = {{&a, "before", 0}, {&b, "after", 0}};
	struct prof_request q = {.inputs = inputs, .count = 2, .compare = true};
	struct fake_report r = {0};
	struct report_cell *cell;
	struct error e = {0};

	flat_experiment(&a);
	flat_experiment(&b);
	b.images.data[1].build_id[0] = 7;
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "-compare %s", e.message);
	is_int(r.table.columns.count, 6, "two metrics of two files, two ratios");
	is_str(r.table.columns.data[2].name, "time.after", "as -diff calls it");
	is_str(r.table.columns.data[0].name, "time.before", "and the first");
	is_str(r.table.columns.data[4].name, "time.after/before", "ratio");
	cell = report_cells(&r.table, (size_t)fake_row(&r.table, "(unknown)", 0));
	is_int(cell[0].samples, 50, "the same row");
	is_int(cell[2].samples, 50, "for both");
	ok(cell[4].quantity.value == 1 && cell[4].quantity.low < 1 && cell[4].quantity.high > 1 &&
			cell[4].quantity.label == LABEL_MEASURED,
		"ratio with interval and label");
	fake_report_fini(&r);
	experiment_fini(&a);
	experiment_fini(&b);
}

/* Exact instructions beside a clock: executions and CPI. */
static void test_ideal(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct report_cell *cell;
	struct error e = {0};

	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000000, METRIC_CLOCK, LABEL_MEASURED);
	fake_metric(&x, "gi", 17, 1, METRIC_EXACT, LABEL_MEASURED);
	experiment_fact(&x, "clock_hz", "2e9", NULL);
	fake_samples(&x, 0, 0, 0, 100, PATH(0x1110)); /* 0.1 s, 2e8 cycles */
	fake_samples(&x, 1, 0, 0, 7, PATH(0x1100));
	fake_samples(&x, 1, 0, 0, 100000000, PATH(0x1110));
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "ideal %s", e.message);
	is_str(r.table.columns.data[2].name, "calls", "executions of functions");
	is_str(r.table.columns.data[3].name, "cpi", "CPI");
	cell = report_cells(&r.table, 0);
	ok(cell[2].quantity.value == 7 && cell[2].quantity.high == 7, "called seven times");
	ok(fabs(cell[3].quantity.value - 2e8 / 100000007) < 1e-6 &&
			cell[3].quantity.label == LABEL_ESTIMATED,
		"cycles an instruction, estimated");
	ok(!cell[1].weak && cell[1].quantity.low == cell[1].quantity.high, "exact is exact");
	fake_report_fini(&r);
	experiment_fini(&x);
}

static void test_replaced(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {.names = {.state = PROF_IMAGE_REPLACED}};
	struct error e = {0};

	flat_experiment(&x);
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "of a replaced file");
	is_str(r.table.rows.data[0].procedure, "0x1110", "addresses stay addresses");
	ok(r.table.incomplete, "and the report says that something is missing");
	ok(r.table.notes.count == 1 && strstr(r.table.notes.data[0].value, "another file"),
		"in a line");
	fake_report_fini(&r);
	experiment_fini(&x);
}

/* All three drawings of one table. */
/* Rows that begin alike are not cut to the same text. */
static void test_render_cut(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct strbuf out = {0};
	struct error e = {0};

	flat_experiment(&x);
	fake_report(&r, &q, report_procedures, &e);
	r.table.rows.data[0].procedure = r.table.rows.data[1].procedure = "allocated";
	r.table.rows.data[0].note = "in a function of a long name, for alpha, and more of it";
	r.table.rows.data[1].note = "in a function of a long name, for omega, and more of it";
	render_prof_text(&r.table, &(struct prof_style){.width = 100}, &out);
	ok(strstr(strbuf_text(&out), "... alpha") && strstr(strbuf_text(&out), "... omega"),
		"rows that begin alike are cut where they do");
	strbuf_fini(&out);
	fake_report_fini(&r);
	experiment_fini(&x);
}

static void test_render(void)
{
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct strbuf out = {0};
	struct error e = {0};

	flat_experiment(&x);
	fake_report(&r, &q, report_procedures, &e);
	report_note(&r.table, "a name\033]0;title\a and\rmore");
	render_prof_text(&r.table, &(struct prof_style){0}, &out);
	ok(strstr(strbuf_text(&out), "a name\\x1b]0;title\\x07 and\\x0dmore"),
		"what a terminal would obey is not passed on");
	ok(strstr(strbuf_text(&out), "\nExperiment  "), "the head has names first");
	ok(!strstr(strbuf_text(&out), "Experiment name"), "and few lines");
	ok(strstr(strbuf_text(&out), "measured") && strstr(strbuf_text(&out), "model"), "labels");
	ok(strstr(strbuf_text(&out), "search (app: app.c, 17)"), "place");
	ok(strstr(strbuf_text(&out), "~0.005"), "a figure of little meaning is marked");
	strbuf_fini(&out);
	render_prof_text(&r.table, &(struct prof_style){.dim = true, .intervals = true}, &out);
	ok(strstr(strbuf_text(&out), SHOWN_DIM "0.005" SHOWN_DIM_END), "or dimmed");
	ok(strstr(strbuf_text(&out), "+-7"), "intervals");
	strbuf_fini(&out);
	report_head(&r.table, "Long", "%02000d", 7);
	render_prof_text(&r.table, &(struct prof_style){.head = true}, &out);
	ok(strstr(strbuf_text(&out), "SpeedShop profile listing"), "-head begins as SpeedShop's");
	ok(strstr(strbuf_text(&out), "\nExperiment name "), "and has all lines");
	ok(strstr(strbuf_text(&out), "0... (2000 bytes)\n"), "but no line without end");
	strbuf_fini(&out);
	ok(render_prof_json(&r.table, &out, &e) == 0 &&
			strstr(strbuf_text(&out), "\"schema\":\"prof.rows/1\""),
		"JSON");
	strbuf_fini(&out);
	render_prof_csv(&r.table, &out);
	ok(strstr(strbuf_text(&out), "row,,search,app,/src/app.c,17,0x1100,"), "CSV");
	strbuf_fini(&out);
	fake_report_fini(&r);
	experiment_fini(&x);
}

int main(void)
{
	test_render_cut();
	test_intervals();
	test_procedures();
	test_lines();
	test_selection();
	test_calipers();
	test_threads();
	test_compare();
	test_ideal();
	test_replaced();
	test_render();
	return done();
}
