/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof's reports on call paths: inclusive figures, callers and callees, the tree; and on sources.
 */
#include "../tap.h"

#include <stdint.h>
#include <unistd.h>

#include "base/file.h"
#include "prof_fake.h"
#include "render/prof.h"

enum { MAIN = 0x1010, SEARCH = 0x1110, COMPARE = 0x1210, SORT = 0x1310, LEAF = 0x1410 };

/*
 * main: 5 of its own, calls search (10, with compare 20 and leaf 3 below) and sort (7), which calls
 * itself: 11 below, and leaf from there 4.
 */
static void tree_experiment(struct experiment *x)
{
	experiment_init(x, NULL);
	fake_image(x);
	fake_metric(x, "time", -1, 1000000, METRIC_CLOCK | METRIC_STACKS, LABEL_MEASURED);
	fake_samples(x, 0, 0, 0, 5, PATH(MAIN));
	fake_samples(x, 0, 0, 0, 10, PATH(MAIN, SEARCH));
	fake_samples(x, 0, 0, 0, 12, PATH(MAIN, SEARCH, COMPARE));
	fake_samples(x, 0, 0, 0, 8, PATH(MAIN + 4, SEARCH + 8, COMPARE + 4));
	fake_samples(x, 0, 0, 0, 3, PATH(MAIN, SEARCH, LEAF));
	fake_samples(x, 0, 0, 0, 7, PATH(MAIN, SORT));
	fake_samples(x, 0, 0, 0, 11, PATH(MAIN, SORT, SORT + 8));
	fake_samples(x, 0, 0, 0, 4, PATH(MAIN, SORT, SORT + 8, LEAF));
}

static int own_of(const struct report_table *t, size_t row)
{
	return (int)report_cells(t, row)[t->layout == REPORT_LIST ? 0 : 1].samples;
}

static int all_of(const struct report_table *t, size_t row)
{
	return (int)report_cells(t, row)[t->layout == REPORT_LIST ? 1 : 0].samples;
}

static void test_inclusive(void)
{
	static const struct {
		const char *name;
		int own, all;
	} want[] = {{"main", 5, 60}, {"search", 10, 33}, {"sort", 18, 22}, {"compare", 20, 20},
		{"leaf", 7, 7}};
	struct experiment x;
	struct prof_input input = {&x, "app.usertime.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1, .inclusive = true};
	struct fake_report r = {0};
	struct error e = {0};

	tree_experiment(&x);
	ok(fake_report(&r, &q, report_procedures, &e) == 0, "-inclusive %s", e.message);
	is_str(r.table.columns.data[1].name, "time.inclusive", "column");
	for (size_t i = 0; i < 5; i++) {
		is_str(r.table.rows.data[i].procedure, want[i].name, "order by inclusive");
		is_int(own_of(&r.table, i), want[i].own, "own of %s", want[i].name);
		is_int(all_of(&r.table, i), want[i].all, "inclusive, what recurs once");
	}
	fake_report_fini(&r);
	x.metrics.data[0].flags = METRIC_CLOCK;
	ok(fake_report(&r, &q, report_procedures, &e) && e.code == ERR_UNSUPPORTED && e.hint[0],
		"without call paths: %s", e.message);
	fake_report_fini(&r);
	experiment_fini(&x);
}

/* The row of this role next to the head of function; -1. */
static long butterfly_row(const struct report_table *t, const char *function, enum report_role role,
	const char *other)
{
	long head = -1, step = role == REPORT_CALLER ? -1 : 1;

	for (size_t i = 0; i < t->rows.count; i++)
		if (t->rows.data[i].role == REPORT_HEAD &&
			strcmp(t->rows.data[i].procedure, function) == 0)
			head = (long)i;
	for (long i = head + step;
		head >= 0 && i >= 0 && i < (long)t->rows.count && t->rows.data[i].role == role;
		i += step)
		if (strcmp(t->rows.data[i].procedure, other) == 0)
			return i;
	return -1;
}

static void test_butterfly(void)
{
	static const struct {
		const char *function, *other;
		enum report_role role;
		int samples;
	} want[] = {
		{"search", "main", REPORT_CALLER, 33},
		{"search", "compare", REPORT_CALLEE, 20},
		{"search", "leaf", REPORT_CALLEE, 3},
		{"sort", "main", REPORT_CALLER, 22},
		{"sort", "sort", REPORT_CALLER, 15},
		{"sort", "sort", REPORT_CALLEE, 15},
		{"sort", "leaf", REPORT_CALLEE, 4},
		{"leaf", "sort", REPORT_CALLER, 4},
		{"leaf", "search", REPORT_CALLER, 3},
		{"main", "search", REPORT_CALLEE, 33},
	};
	struct experiment x;
	struct prof_input input = {&x, "app.usertime.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct strbuf out = {0};
	struct error e = {0};

	tree_experiment(&x);
	ok(fake_report(&r, &q, report_butterfly, &e) == 0, "butterfly %s", e.message);
	is_str(r.table.rows.data[0].procedure, "main", "main comes first");
	is_int(r.table.rows.data[0].role, REPORT_HEAD, "and has no callers");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		long row = butterfly_row(&r.table, want[i].function, want[i].role, want[i].other);

		ok(row >= 0, "%s beside %s", want[i].other, want[i].function);
		is_int(row < 0 ? -1 : all_of(&r.table, (size_t)row), want[i].samples, "samples");
	}
	ok(report_cells(&r.table, 1)[1].quantity.label == LABEL_NONE,
		"a callee's own figure has no meaning here");
	render_prof_text(&r.table, &(struct prof_style){0}, &out);
	ok(strstr(strbuf_text(&out), "search (app: app.c, 17)\n"), "drawn");
	strbuf_fini(&out);
	fake_report_fini(&r);
	q.quit.cumulative = 50;
	ok(fake_report(&r, &q, report_butterfly, &e) && e.code == ERR_CONFLICT, "-q cum%%");
	fake_report_fini(&r);
	experiment_fini(&x);
}

static void test_calltree(void)
{
	static const struct {
		const char *name;
		unsigned depth;
		int own, all;
		long parent;
	} want[] = {{"main", 0, 5, 60, -1}, {"search", 1, 10, 33, 0}, {"compare", 2, 20, 20, 1},
		{"leaf", 2, 3, 3, 1}, {"sort", 1, 7, 22, 0}, {"sort", 2, 11, 15, 4},
		{"leaf", 3, 4, 4, 5}};
	struct experiment x;
	struct prof_input input = {&x, "app.usertime.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct fake_report r = {0};
	struct error e = {0};

	tree_experiment(&x);
	ok(fake_report(&r, &q, report_calltree, &e) == 0, "calltree %s", e.message);
	is_int(r.table.rows.count, 8, "seven branches and the total");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		is_str(r.table.rows.data[i].procedure, want[i].name, "branch");
		is_int(r.table.rows.data[i].depth, want[i].depth, "depth");
		is_int(r.table.rows.data[i].parent, want[i].parent, "parent");
		is_int(own_of(&r.table, i), want[i].own, "own");
		is_int(all_of(&r.table, i), want[i].all, "inclusive");
	}
	fake_report_fini(&r);
	q.quit.percent = 20;
	ok(fake_report(&r, &q, report_calltree, &e) == 0, "pruned");
	is_int(r.table.rows.count, 6, "-q 20%%: five branches and the total");
	ok(r.table.notes.count == 1, "and says so: %s", r.table.notes.data[0].value);
	fake_report_fini(&r);
	q.quit = (struct prof_quit){.rows = 2};
	ok(fake_report(&r, &q, report_calltree, &e) == 0, "pruned");
	is_int(r.table.rows.count, 3, "-q 2");
	fake_report_fini(&r);
	experiment_fini(&x);
}

/* The figures of a tree do not depend on the way it was walked: against the definition. */
static void test_random(void)
{
	enum { PATHS = 300, DEPTH = 12 };
	static uint64_t paths[PATHS][DEPTH + 1];
	struct experiment x;
	struct prof_input input = {&x, "app.usertime.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1, .inclusive = true};
	struct fake_report r = {0};
	uint32_t state = 12345;
	bool good = true;

	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1, METRIC_STACKS, LABEL_MEASURED);
	for (int i = 0; i < PATHS; i++) {
		state = state * 1664525 + 1013904223;
		for (uint32_t k = 0; k <= (state >> 16) % DEPTH; k++) {
			state = state * 1664525 + 1013904223;
			paths[i][k] = FAKE_BASE + (state >> 16) % (FAKE_FUNCTIONS * FAKE_SIZE);
		}
		fake_samples(&x, 0, 0, 0, (uint64_t)i + 1, paths[i]);
	}
	ok(fake_report(&r, &q, report_procedures, NULL) == 0, "random trees");
	for (uint64_t f = 0; f < FAKE_FUNCTIONS; f++) {
		uint64_t want = 0;
		long row = fake_row(&r.table, fake_functions[f], 0);

		for (int i = 0; i < PATHS; i++)
			for (int k = 0; paths[i][k]; k++)
				if ((paths[i][k] - FAKE_BASE) / FAKE_SIZE == f) {
					want += (uint64_t)i + 1;
					break;
				}
		good = good && row >= 0 && (uint64_t)all_of(&r.table, (size_t)row) == want;
	}
	ok(good, "inclusive: the samples of all paths that hold the function");
	fake_report_fini(&r);
	experiment_fini(&x);
}

static void test_sources(void)
{
	char directory[] = "/tmp/prof-test.XXXXXX", path[64];
	const char *paths[] = {directory, NULL};
	struct experiment x;
	struct prof_input input = {&x, "app.pcsamp.1", 0};
	struct prof_request q = {.inputs = &input, .count = 1, .source_paths = paths};
	struct fake_report r = {0};
	struct strbuf out = {0};
	struct error e = {0};
	struct file_out f;

	if (!ok(mkdtemp(directory) != NULL, "a directory"))
		return;
	snprintf(path, sizeof(path), "%s/app.c", directory);
	file_create(&f, path, &e);
	for (int i = 1; i <= 80; i++)
		fprintf(f.stream, "text of line %d;%s", i, i == 3 ? "\r\n" : "\n");
	file_commit(&f, &e);
	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000000, METRIC_CLOCK, LABEL_MEASURED);
	fake_samples(&x, 0, 0, 0, 30, PATH(0x1020)); /* line 3 */
	fake_samples(&x, 0, 0, 0, 20, PATH(0x1030)); /* line 4 */
	fake_samples(&x, 0, 0, 0, 50, PATH(0x1400)); /* line 65 */
	ok(fake_report(&r, &q, report_lines, &e) == 0, "lines %s", e.message);
	is_str(r.table.rows.data[0].file, "/src/app.c", "the file stands above");
	is_int(r.table.rows.data[1].line, 1, "lines before");
	is_str(r.table.rows.data[3].text, "text of line 3;", "text, without its line end");
	is_int(report_cells(&r.table, 3)[0].samples, 30, "samples");
	is_int(r.table.rows.data[6].line, 6, "lines behind");
	is_int(r.table.rows.data[7].role, REPORT_GAP, "a gap");
	is_int(report_cells(&r.table, 10)[0].samples, 50, "and on");
	is_int(r.table.rows.count, 14, "two lines around each");
	render_prof_text(&r.table, &(struct prof_style){0}, &out);
	ok(strstr(strbuf_text(&out), "********************     65  text of line 65;"), "bar");
	strbuf_fini(&out);
	fake_report_fini(&r);

	unlink(path);
	rmdir(directory);
	ok(fake_report(&r, &q, report_lines, &e) == 0, "without source");
	ok(strstr(r.table.rows.data[0].note, "not found"), "says so");
	is_int(r.table.rows.count, 5, "lines with samples alone");
	fake_report_fini(&r);
	experiment_fini(&x);
}

int main(void)
{
	test_inclusive();
	test_butterfly();
	test_calltree();
	test_random();
	test_sources();
	return done();
}
