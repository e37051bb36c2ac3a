/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden screens of -tui (tests/data/tui): every report of report/views.c, help and menus, at three
 * sizes, in Unicode and ASCII.  UPDATE=1 writes them anew; read the difference.
 */
#include "../tap.h"

#include "base/file.h"
#include "build_data.h"
#include "experiment/waits.h"
#include "tui_fake.h"

static const struct {
	int columns, rows;
	bool unicode, styles;
} forms[] = {
	{80, 24, true, true},
	{132, 43, true, false},
	{40, 12, true, false},
	{80, 24, false, false},
	{132, 43, false, false},
	{40, 12, false, false},
};

enum { FORMS = sizeof(forms) / sizeof(*forms) };

static void compare(const char *name, const struct strbuf *got)
{
	const char *top = getenv("TOP"), *update = getenv("UPDATE");
	struct error e = {0};
	char path[4096];
	size_t length;
	char *want;

	snprintf(path, sizeof(path), "%s/tests/data/tui/%s.golden", top ? top : ".", name);
	if (update && *update) {
		struct file_out f;

		if (file_create(&f, path, &e) == 0) {
			fwrite(got->data, 1, got->length, f.stream);
			file_commit(&f, &e);
		}
		ok(!e.code, "%s is written %s", name, e.message);
		return;
	}
	if (access(path, F_OK)) {
		printf("# %s:\n", name);
		skip("a new report has no golden screens yet: UPDATE=1 writes them");
		return;
	}
	want = file_read(path, 0, &length, &e);
	if (!ok(want && length == got->length && memcmp(want, got->data, length) == 0,
		    "%s (UPDATE=1 writes it anew)", name)) {
		const char *a = want ? want : "", *b = strbuf_text(got);
		int line = 1;

		for (; *a && *a == *b; a++, b++)
			line += *a == '\n';
		printf("# differs from line %d on; got:\n# %.*s\n", line, (int)strcspn(b, "\n"), b);
	}
	free(want);
}

/* What keys lead to, in all forms, one below the other. */
static void screens(struct tui_fake *f, const char *name, size_t report, const char *keys)
{
	struct tui_source source = tui_fake_source(f);
	struct strbuf out = {0};

	for (int i = 0; i < FORMS; i++) {
		struct tui t;

		if (tui_init(&t, &source, report, 0, forms[i].rows, forms[i].columns,
			    forms[i].unicode))
			break;
		tui_fake_run(&t);
		tui_fake_keys(&t, keys);
		tui_draw(&t);
		strbuf_printf(&out, "==== %dx%d, %s\n", forms[i].columns, forms[i].rows,
			forms[i].unicode ? "Unicode" : "ASCII");
		tui_screen_text(&t.screen, forms[i].styles, &out);
		tui_fini(&t);
	}
	compare(name, &out);
	strbuf_fini(&out);
	is_int(f->made, f->released, "%s: what was made is given back", name);
}

static size_t find(const struct tui_fake *f, const char *name)
{
	size_t i = 0;

	while (f->reports[i].name && strcmp(f->reports[i].name, name) != 0)
		i++;
	return i;
}

/* Each report; one that is about a procedure is gone to from that. */
static void test_reports(void)
{
	struct tui_fake f;

	tui_fake_init(&f, false);
	for (size_t i = 0; f.reports[i].name; i++)
		if (!f.reports[i].procedure)
			screens(&f, f.reports[i].name, i, "");
	screens(&f, "calc", 0, "c");
	tui_fake_fini(&f);
	tui_fake_init(&f, true);
	for (size_t i = 0; f.reports[i].name; i++) {
		char name[80];

		snprintf(name, sizeof(name), "diff-%s", f.reports[i].name);
		screens(&f, name, i, "");
	}
	tui_fake_fini(&f);
}

static void test_ways(void)
{
	static const struct {
		const char *name, *report, *keys;
	} ways[] = {
		{"help", "procedures", "?"},
		{"columns", "procedures", "|"},
		{"switches", "procedures", "o"},
		{"lines-of", "procedures", "\r"},
		{"dis-of", "procedures", "\r\r"},
		{"calc-of", "procedures", "\r\r\r"},
		{"callers-of", "procedures", "jjb"},
		{"in-tree", "procedures", "jjt"},
		{"collapsed", "calltree", "C"},
		{"one-expanded", "calltree", "Cjj "},
		{"expanded", "calltree", "E"},
		{"one-collapsed", "calltree", "Ej "},
		{"row-menu", "procedures", "\n"},
		{"thread-menu", "procedures", "\njjjjjjj\n"},
		{"thread-alone", "procedures", "\njjjjjjj\n\n"},
		{"split-lines", "procedures", "s"},
		{"split-code", "procedures", "ss"},
		{"split-of-lines", "procedures", "s\r"},
		{"sorted", "procedures", ">>>>"},
		{"sorted-by-name", "procedures", "<"},
		{"filtered", "procedures", "\\sort\n"},
		{"found", "procedures", "/leaf\n"},
		{"not-found", "procedures", "/nowhere\n"},
		{"prompt", "procedures", "/gr\xc3"},
		{"hidden-column", "procedures", "|j \033"},
		{"hottest-line", "lines", "H"},
		{"inclusive", "procedures", "i"},
		{"intervals", "procedures", ">>%"},
		{"dso-in", "dso", "\r"},
		{"notes", "procedures", "G"},
		{"scrolled", "procedures", "}"},
		{"written", "procedures", "w\n"},
	};
	struct tui_fake f;

	tui_fake_init(&f, false);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		screens(&f, ways[i].name, find(&f, ways[i].report), ways[i].keys);
	/* A menu that stays as it is when reports are added. */
	f.reports[9].name = NULL;
	screens(&f, "menu", 0, "v");
	f.failing = 1;
	screens(&f, "failed", 0, "");
	f.failing = 0;
	f.held = true;
	screens(&f, "waiting", 0, "");
	tui_fake_fini(&f);
}

/* What a second run counted at the two instructions of the search's loop, and what they waited
 * for. */
static void add_second_run(struct experiment *x)
{
	static const struct {
		int event;
		const char *name;
		uint64_t counts[2];
	} counted[] = {
		{26, "dsc", {0, 36000000}},
		{45, "div", {1, 0}},
	};
	const struct experiment_wait wait = {
		.key = {0x1117, 1, WAIT_MEMORY}, .parts = 4000000000u * (uint64_t)4096};

	for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++) {
		const struct experiment_metric m = {.event = counted[i].event,
			.name = (char *)counted[i].name,
			.short_name = (char *)counted[i].name,
			.unit = (char *)"events",
			.source = (char *)"model",
			.note = (char *)"zen4",
			.label = LABEL_MODEL,
			.flags = METRIC_EXACT,
			.period = 1};
		uint32_t metric = (uint32_t)experiment_metric(x, &m, NULL);

		for (uint64_t k = 0; k < 2; k++)
			if (counted[i].counts[k])
				experiment_add(x, metric, 0, 0,
					(uint32_t)experiment_node(x, 0, 1, 0x1110 + 7 * k),
					counted[i].counts[k]);
	}
	experiment_row(x, EXPERIMENT_WAITS, &wait);
	free(x->type);
	x->type = strdup("explain");
}

static void test_two_runs(void)
{
	static const char *const views[] = {"procedures", "lines", "dis", "stalls", "why"};
	struct tui_fake f;

	tui_fake_init(&f, false);
	add_second_run(&f.x[0]);
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		char name[80];

		snprintf(name, sizeof(name), "two-runs-%s", views[i]);
		screens(&f, name, find(&f, views[i]), "");
	}
	tui_fake_fini(&f);
}

int main(void)
{
	build_data();
	test_reports();
	test_ways();
	test_two_runs();
	return done();
}
