/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/costs: the format of cost tables, where they are found, and our own tables. */
#include "../chance.h"
#include "../tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "costs/costs.h"

static bool same(const struct cost_table *a, const struct cost_table *b)
{
	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *x = &a->cost[i], *y = &b->cost[i];

		if (x->known != y->known || x->unit != y->unit || x->typical != y->typical ||
			x->minimum != y->minimum || x->maximum != y->maximum ||
			memcmp(x->from, y->from, sizeof(x->from)) != 0)
			return false;
	}
	return a->clock_hz == b->clock_hz && !strcmp(a->name, b->name) &&
	       !strcmp(a->processor, b->processor) && !strcmp(a->date, b->date) &&
	       !strcmp(a->method, b->method);
}

static int parse(const char *text, struct cost_table *t, struct error *e)
{
	memset(t, 0, sizeof(*t));
	memset(e, 0, sizeof(*e));
	return costs_parse(text, strlen(text), "f", t, e);
}

static void good(void)
{
	struct cost_table t;
	struct error e;
	int rc = parse("# a table\nname zen4\nprocessor AMD  Zen 4 # odd\n\nclock 3.7 GHz\ndate "
		       "2025-02-03\n"
		       "method by hand\ndsc 3 1.5 36 cycles # L3\n  65\t600 2.5e2 3000 ns\r\ngi .4 "
		       ".2 1 cycles",
		&t, &e);

	is_int(rc, 0, "a table is read: %s", e.message);
	is_str(t.name, "zen4", "name");
	is_str(t.processor, "AMD  Zen 4 # odd", "processor: the rest of the line");
	is_str(t.date, "2025-02-03", "date");
	is_str(t.method, "by hand", "method");
	is_str(t.origin, "f", "origin");
	is_near(t.clock_hz, 3.7e9, 1, "clock");
	ok(t.cost[EV_L2D_MISSES].known && t.cost[EV_L2D_MISSES].unit == COST_CYCLES,
		"dsc in cycles");
	is_near(t.cost[EV_L2D_MISSES].typical, 3, 0, "typical");
	is_near(t.cost[EV_L2D_MISSES].minimum, 1.5, 0, "minimum");
	is_near(t.cost[EV_L2D_MISSES].maximum, 36, 0, "maximum");
	ok(t.cost[EV_PAGE_FAULTS].unit == COST_NS && t.cost[EV_PAGE_FAULTS].minimum == 250,
		"a row by number, in ns");
	ok(t.cost[EV_INSTRUCTIONS].typical == 0.4, "the last line needs no newline");
	ok(!t.cost[EV_L1D_MISSES].known, "rows that are not given are not known");
	is_int(costs_parse("dc 9 9 9 cycles", 15, "g", &t, &e), 0, "a subset over it");
	ok(t.cost[EV_L1D_MISSES].typical == 9 && t.cost[EV_L2D_MISSES].typical == 3, "adds to it");
	is_str(t.origin, "f, g", "and both are its origin");
	is_near(cost_seconds(&t.cost[EV_L2D_MISSES], 3.7e9, t.clock_hz), 1, 1e-12,
		"cycles to seconds");
	is_near(cost_seconds(&t.cost[EV_PAGE_FAULTS], 1e9, 0), 1, 1e-12, "nanoseconds to seconds");
	ok(isnan(cost_seconds(&t.cost[EV_L2D_MISSES], 1, 0)),
		"cycles of an unknown clock are no time");
}

static void bad(void)
{
	static const struct {
		const char *text, *message, *hint;
	} row[] = {
		{"dscc 1 1 1 cycles", "f:1:1: unknown event 'dscc'", "'dsc'"},
		{"nane x", "f:1:1: unknown event 'nane'", "'name'"},
		{"71 1 1 1 cycles", "f:1:1: unknown event '71'", ""},
		{"99999999999 1 1 1 cycles", "f:1:1: unknown event", ""},
		{"\n# c\n  dsc 1 1 1 cyc", "f:3:13: unknown unit 'cyc'", ""},
		{"dsc 1 1 1", "f:1:10: missing unit", "'cycles' or 'ns'"},
		{"dsc 1 1 1 # cycles", "f:1:11: missing unit", ""},
		{"dsc 1 1", "f:1:8: missing maximum", "EVENT typical minimum maximum"},
		{"dsc", "f:1:4: missing typical", ""},
		{"dsc -1 1 1 cycles", "f:1:5: the typical cost '-1' is negative", ""},
		{"dsc nan 1 1 cycles", "f:1:5: 'nan' is not a number", ""},
		{"dsc 1 inf 1 cycles", "f:1:7: 'inf' is not a number", ""},
		{"dsc 1 0x1 1 cycles", "f:1:7: '0x1' is not a number", ""},
		{"dsc 1 1e 1 cycles", "f:1:7: '1e' is not a number", ""},
		{"dsc 1 1 1e999 cycles", "f:1:9: the maximum cost 1e999 is above", ""},
		{"dsc 1 1 1..2 cycles", "f:1:9: '1..2' is not a number", ""},
		{"dsc 1 2 3 cycles", "f:1:7: the minimum cost 2 is above the typical cost 1", ""},
		{"dsc 4 2 3 cycles", "f:1:9: the maximum cost 3 is below the typical cost 4", ""},
		{"dsc 1 1 1 cycles 5", "f:1:18: the source '5' is no tag", "source TAG text"},
		{"dsc 1 1 1 cycles guess 5", "f:1:24: unexpected words", ""},
		{"dsc 1 1 1 cycles book", "f: the source 'book' is not described",
			"source book TEXT"},
		{"dsc 1 1 1 cycles guess/guess", "f:1:18: two sources", ""},
		{"dsc 1 1 1 cycles guess/guess/guess/guess", "f:1:36: more than three", ""},
		{"source", "f:1:7: a source needs a tag", ""},
		{"source guess a", "f:1:8: a source needs a tag", ""},
		{"source a", "f:1:9: the text of the source is missing", ""},
		{"source a b\nsource a c", "f:2:8: a second source 'a'", ""},
		{"dsc 1 1 1 ns\ngi 1 1 1 ns\n26 1 1 1 ns",
			"f:3:1: a second row for event 26 (dsc); the first is in line 1", ""},
		{"name a\nname b", "f:2:1: a second 'name'; the first is in line 1", ""},
		{"name", "f:1:5: the name is missing", ""},
		{"name a b", "f:1:8: a name is one word", ""},
		{"name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "f:1:6: the name is longer than 31",
			""},
		{"clock 5", "f:1:8: missing or unknown unit", "MHz"},
		{"clock 0 Hz", "f:1:7: 0 Hz is not", ""},
		{"clock fast", "f:1:7: 'fast' is not a number", ""},
		{"clock 1 GHz 2", "f:1:13: unexpected words", ""},
		{"date 3rd May", "f:1:6: a date is YYYY-MM-DD", ""},
		{"date 2025-01-022", "f:1:6: the date", ""},
		{"method ", "f:1:8: the method is missing", ""},
		{"gi 1 1 1 ns\ngl \001 1 1 ns", "f:2:4: a control character", ""},
	};
	struct cost_table t;
	struct error e;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int rc = parse(row[i].text, &t, &e);

		if (row[i].message[0] == 'f' && strstr(row[i].message, "the date") && rc == -1 && i)
			ok(strstr(e.message, "f:1:6:") != NULL, "refused: %s", e.message);
		else
			ok(rc == -1 &&
					strncmp(e.message, row[i].message,
						strlen(row[i].message)) == 0 &&
					strstr(e.hint, row[i].hint),
				"%s (%s)", e.message, e.hint);
		ok(!t.cost[EV_L2D_MISSES].known && !t.name[0], "and nothing is taken from it");
	}
}

static struct cost_table random_table(void)
{
	struct cost_table t = {.name = "any",
		.method = "drawn",
		.source_count = 2,
		.source = {{"one", "A book, page 3"}, {"two", "another"}}};

	t.clock_hz = chance_next() % 2 ? (double)(1 + chance_next() % 5000) * 1e6
				       : (double)(1 + chance_next() % 1000000007);
	for (int i = 0; i < EV_COUNT; i++) {
		double a = (double)(chance_next() % 100000) / 77,
		       b = (double)(chance_next() % 1000) / 1000, c = (double)chance_next() / 1e13;

		if (chance_next() % 3)
			t.cost[i] = (struct cost){true, chance_next() % 2, a, a * b, a + c,
				{(uint8_t)(chance_next() % 6), (uint8_t)(chance_next() % 6),
					(uint8_t)(chance_next() % 6)}};
	}
	return t;
}

static void round_trip(void)
{
	int wrong = 0;

	for (int i = 0; i < 200; i++) {
		struct cost_table t = random_table(), back = {0};
		struct strbuf text = {0};
		struct error e;

		costs_print(&t, &text);
		if (costs_parse(strbuf_text(&text), text.length, "f", &back, &e) ||
			!same(&t, &back))
			wrong++;
		strbuf_fini(&text);
	}
	is_int(wrong, 0, "200 random tables print and read back as they were");
}

/* Where figures come from. */
static void sources(void)
{
	struct cost_table t;
	struct error e;
	char text[300], tags[COST_SOURCES_TEXT];

	is_int(parse("processor P\ndate 2026-01-02\nsource book A book, page 3\ndc 3 1 9 cycles "
		     "measured\ndsc 9 1 30 cycles guess/measured/book # x\nlld 1 1 1 cycles book\n"
		     "gi 1 1 1 cycles\n",
		       &t, &e),
		0, "sources are read: %s", e.message);
	ok(t.cost[EV_L1D_MISSES].from[COST_MINIMUM] == COST_FROM_MEASURED, "one for all figures");
	cost_sources_text(&t, &t.cost[EV_L2D_MISSES], tags);
	is_str(tags, "guess/measured/book", "one for each");
	is_str(t.source[0].text, "A book, page 3", "and what a tag stands for");
	is_str(cost_mark_word(cost_mark(&t.cost[EV_L1D_MISSES], true)), "measured", "here");
	is_str(cost_mark_word(cost_mark(&t.cost[EV_L1D_MISSES], false)), "elsewhere", "elsewhere");
	is_str(cost_mark_word(cost_mark(&t.cost[EV_LL_DATA_MISSES], true)), "published",
		"published");
	is_str(cost_mark_word(cost_mark(&t.cost[EV_INSTRUCTIONS], true)), "guess",
		"what is not stated is a guess");
	costs_provenance(&t, "other", text, sizeof(text));
	is_str(text, "1 measured on another processor (P), 1 published, 2 guessed", "all rows");
	costs_name_processor("other", t.processor, sizeof(t.processor));
	costs_provenance(&t, "other", text, sizeof(text));
	is_str(text, "1 measured on this processor on 2026-01-02, 1 published, 2 guessed",
		"a table of this processor");
	costs_disown(&t);
	ok(t.cost[EV_L1D_MISSES].from[0] == COST_FROM_ELSEWHERE, "below another table's header");
}

static void ours(void)
{
	static const char *const name[] = {"generic", "zen2", "zen3", "zen4", "zen5", "skl", "icx",
		"spr", "neoverse-n1", "r10000"};
	static const int always[] = {EV_CYCLES, EV_INSTRUCTIONS, EV_LOADS, EV_STORES,
		EV_FP_INSTRUCTIONS, EV_DIVIDES, EV_MISPREDICTED_BRANCHES, EV_L1D_MISSES,
		EV_L2D_MISSES, EV_L1I_MISSES, EV_L2I_MISSES, EV_TLB_MISSES, EV_PAGE_FAULTS,
		EV_CONTEXT_SWITCHES, EV_SYSTEM_CALLS};

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		char path[128];
		struct cost_table t = {0};
		struct error e = {0};
		int missing = 0, redundant = 0, unstated = 0;

		snprintf(path, sizeof(path), "lib/costs/data/%s.costs", name[i]);
		is_int(costs_load(path, &t, &e), 0, "%s is read %s", path, e.message);
		is_str(t.name, name[i], "and is called as its file");
		ok(t.clock_hz > 0 && t.method[0] && t.processor[0],
			"%s: clock, method, processor are stated", name[i]);
		for (size_t k = 0; k < sizeof(always) / sizeof(always[0]); k++)
			missing += !t.cost[always[k]].known;
		is_int(missing, 0, "%s: no event that always costs is missing", name[i]);
		for (int k = 0; k < EVENT_LIMIT; k++)
			redundant +=
				t.cost[k].known && (event_by_number(k)->flags & EVENT_REDUNDANT);
		is_int(redundant, 0, "%s: redundant events cost nothing", name[i]);
		for (int k = 0; k < EVENT_LIMIT; k++)
			for (int f = 0; f < COST_FIGURES && t.cost[k].known; f++)
				unstated += t.cost[k].from[f] == COST_FROM_UNSTATED;
		is_int(unstated, 0, "%s: each figure says where it comes from", name[i]);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* The search, with our tables and a user's, in a directory of its own. */
static void search(void)
{
	char root[] = "/tmp/perfex-costs.XXXXXX", path[256], own[256], data[512];
	struct cost_table t;
	struct error e;

	if (!mkdtemp(root) || !getcwd(path, sizeof(path))) {
		skip("no temporary directory");
		return;
	}
	snprintf(data, sizeof(data),
		"mkdir -p %s/costs %s/perfex && cp lib/costs/data/*.costs %s/costs", root, root,
		root);
	is_int(system(data), 0, "copies");
	setenv("PERFEX_DATA", root, 1);
	setenv("XDG_CONFIG_HOME", root, 1);
	if (access("/etc/perfex.costs", F_OK) == 0) {
		skip("this system has an /etc/perfex.costs, which would change what is found");
		return;
	}
	is_int(costs_find("zen4", true, NULL, &t, &e), 0, "finds ours");
	is_str(t.name, "zen4", "by name");
	is_int(costs_find("made-up", true, NULL, &t, &e), 0, "a machine of no table");
	is_str(t.name, "generic", "gets the generic one, which says so");
	is_int(costs_find("../costs/zen4", true, NULL, &t, &e), 0, "a name is no path");
	is_str(t.name, "generic", "so that is generic too");

	snprintf(path, sizeof(path), "%s/perfex/costs", root);
	snprintf(own, sizeof(own), "%s/own", root);
	write_file(path, "name zen4\ndsc 7 7 7 cycles\n");
	write_file(own, "dc 8 8 8 cycles\n");
	is_int(costs_find("zen4", false, NULL, &t, &e), 0, "the user's table of that name");
	is_near(t.cost[EV_L2D_MISSES].typical, 7, 0, "goes over ours");
	is_int(costs_find("skl", false, NULL, &t, &e), 0, "but another machine");
	ok(t.cost[EV_L2D_MISSES].typical != 7, "is not touched by it");
	is_int(costs_find("skl", true, NULL, &t, &e), 0, "unless it is the host");
	is_near(t.cost[EV_L2D_MISSES].typical, 7, 0, "that was counted");
	is_int(costs_find("zen4", true, own, &t, &e), 0, "a file of one's own");
	ok(t.cost[EV_L1D_MISSES].typical == 8 && t.cost[EV_L2D_MISSES].typical == 7,
		"goes over both");
	is_int(costs_find("zen4", true, "/nonexistent/costs", &t, &e), -1,
		"a file that is not there is an error");
	ok(strstr(e.message, "/nonexistent/costs") && e.hint[0], "that names it: %s (%s)",
		e.message, e.hint);
	write_file(path, "name zen4\ndsc 7 7 6 cycles\n");
	is_int(costs_find("skl", false, NULL, &t, &e), -1,
		"a user's table that is wrong is an error");
	ok(strstr(e.message, "perfex/costs:2:9:") != NULL, "with the place: %s", e.message);
	snprintf(data, sizeof(data), "rm -rf %s", root);
	is_int(system(data), 0, "cleans up");
	is_int(costs_find("zen4", true, NULL, &t, &e), -1,
		"without our tables there is nothing to find");
	ok(e.message[0], "and it is said: %s", e.message);
}

int main(void)
{
	good();
	bad();
	sources();
	round_trip();
	ours();
	search();
	return done();
}
