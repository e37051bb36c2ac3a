/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/events: the table, and events as users name them. */
#include "../tap.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "costs/costs.h"
#include "events/event.h"
#include "model/model.h"

static bool sentence(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	return length > 20 && isupper((unsigned char)text[0]) + isdigit((unsigned char)text[0]) &&
	       text[length - 1] == '.' && !strstr(text, ". ") && !strstr(text, "  ");
}

/* All of them report the first row that is wrong, by number. */
static void table(void)
{
	static const char *const speedshop[] = {
		"cy", "gi", "ic", "isc", "dc", "dsc", "tlb", "gfp", "fsc", "br"};
	static const int numbers[] = {0, 17, 9, 10, 25, 26, 23, 21, 5, 24};
	const struct event *rows;
	size_t count;
	int bad = -1;

	rows = event_table(&count);
	is_int(count, EV_COUNT, "as many rows as numbers");
	for (int i = 0; i < EV_COUNT; i++)
		if (rows[i].number != i || event_by_number(i) != &rows[i])
			bad = i;
	is_int(bad, -1, "each row stands at its number");
	for (int i = 0; i < EV_COUNT; i++)
		if (!rows[i].name || !rows[i].unit || !sentence(rows[i].meaning) ||
			!sentence(rows[i].pitfall))
			bad = i;
	is_int(bad, -1, "each has a name, a unit, and two sentences");
	for (int i = 0; i < EV_COUNT; i++) {
		const char *s = rows[i].short_name;

		if (!s || !*s || strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(s) ||
			isdigit((unsigned char)*s) ||
			(s[0] == 'r' && strspn(s + 1, "0123456789abcdef") == strlen(s + 1)))
			bad = i;
		for (int j = 0; s && j < i; j++)
			if (strcmp(s, rows[j].short_name) == 0)
				bad = i;
	}
	is_int(bad, -1, "short names are unique, lower case, and no raw codes");
	for (int i = 0; i < EV_COUNT; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(rows[i].name, rows[j].name) == 0 && !(i == 16 && j == 0) &&
				!(i == 17 && j == 15))
				bad = i;
	is_int(bad, -1, "names are unique, but for the two that the R10000 had twice");
	for (int i = 0; i < 32; i++)
		if (!rows[i].today || !*rows[i].today)
			bad = i;
	is_int(bad, -1, "each event of the R10000 says what it is today");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(rows[numbers[i]].short_name, speedshop[i]) != 0)
			bad = (int)i;
	is_int(bad, -1, "SpeedShop's short names are kept");
	for (int i = EV_PAGE_FAULTS; i <= EV_SYSTEM_TIME; i++)
		if (!(rows[i].flags & EVENT_OS))
			bad = i;
	is_int(bad, -1, "the kernel's events say so");
	for (int i = 0; i < EV_COUNT; i++)
		if ((rows[i].flags & EVENT_REDUNDANT) && (rows[i].flags & EVENT_OVERLAPS))
			bad = i;
	is_int(bad, -1, "what costs nothing of its own overlaps with nothing");
	ok(!event_by_number(-1) && !event_by_number(EV_COUNT), "no rows beside the table");
}

/* A machine that has everything: what the model counts on some machine. */
static void model(void)
{
	const struct model_cache_config cache = {
		.size = 1 << 15, .ways = 8, .line = 64, .latency = 4};
	const struct model_tlb_config tlb = {.entries = 64, .ways = 4};
	const struct model_config full = {.version = MODEL_CONFIG_VERSION,
		.cores = 2,
		.l1i = cache,
		.l1d = cache,
		.l2 = cache,
		.ll = cache,
		.itlb = tlb,
		.dtlb = tlb,
		.stlb = tlb,
		.store_buffer = 16,
		.l2_adjacent = 1};
	int bad = -1;

	for (int i = 0; i < EV_COUNT; i++)
		if (!(event_by_number(i)->flags & EVENT_MODEL) != !model_counts_event(&full, i))
			bad = i;
	is_int(bad, -1, "the table says that the model counts what it counts");
}

/* Time must not be charged twice: no cost table of ours has a cost for a redundant row. */
static void costs(void)
{
	const char *top = getenv("TOP");
	char path[4096];

	for (const char *const *f = event_families(); *f; f++) {
		struct cost_table t = {0};
		struct error e = {0};
		int bad = -1;

		snprintf(path, sizeof(path), "%s/lib/costs/data/%s.costs", top ? top : ".", *f);
		is_int(costs_load(path, &t, &e), 0, "%s loads %s", path, e.message);
		for (int i = 0; i < EV_COUNT; i++)
			if (t.cost[i].known && (event_by_number(i)->flags & EVENT_REDUNDANT))
				bad = i;
		is_int(bad, -1, "it charges no redundant event");
	}
}

static void parses_to(const char *text, int number)
{
	struct event_spec spec;
	struct error e = {0};
	int result = event_parse(text, &spec, &e);

	ok(result == 0 && spec.origin == EVENT_ORIGIN_TABLE && spec.event &&
			spec.event->number == number && !spec.encoded,
		"'%s' is event %d", text, number);
	if (result)
		printf("# %s\n", e.message);
	else if (!spec.event || spec.event->number != number)
		printf("# got '%s', %d\n", spec.name, spec.event ? spec.event->number : -1);
}

static void spellings(void)
{
	static const struct {
		const char *text;
		int number;
	} cases[] = {
		{"26", 26},
		{"0", 0},
		{"69", 69},
		{"017", 17},
		{" 26 ", 26},
		{"+5", 5},
		{"dsc", 26},
		{"DSC", 26},
		{"cy", 0},
		{"cy1", 16},
		{"gi", 17},
		{"gi1", 15},
		{"br", 24},
		{"ev", 13},
		{"Secondary data cache misses", 26},
		{"secondary-data-cache-misses", 26},
		{"SECONDARY_DATA_CACHE_MISSES", 26},
		{"  secondary  data\tcache misses ", 26},
		{"secondary data", 26},
		{"ondary dat", 26},
		{"ecc errors", 8},
		{"Cycles", 0},
		{"graduated instructions", 17},
		{"graduated_loads", 18},
		{"branches", 61},
		{"calls", 59},
		{"returns", 57},
		{"instructions", 17},
		{"cycles", 0},
		{"cpu-cycles", 0},
		{"branch-misses", 24},
		{"page-faults", 65},
		{"faults", 65},
		{"task-clock", 69},
		{"context-switches", 67},
		{"cs", 67},
		{"cpu-migrations", 68},
		{"migrations", 68},
		{"major-faults", 66},
		{"stalled-cycles-frontend", 43},
		{"stalled-cycles-backend", 44},
	};
	char text[64];
	int bad = -1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		parses_to(cases[i].text, cases[i].number);
	for (int i = 0; i < EV_COUNT; i++) {
		const struct event *row = event_by_number(i), *twin = i == 15 ? event_by_number(17)
								      : i == 16 ? event_by_number(0)
										: row;
		struct event_spec spec;

		snprintf(text, sizeof(text), "%d", i);
		if (event_parse(text, &spec, NULL) || spec.event != row ||
			strcmp(spec.argument, text) != 0 || strcmp(spec.name, row->name) != 0 ||
			event_parse(row->short_name, &spec, NULL) || spec.event != row ||
			event_parse(row->name, &spec, NULL) || spec.event != twin)
			bad = i;
	}
	is_int(bad, -1, "every row is found by number, short name and name");
}

static void raw(void)
{
	struct event_spec spec;
	struct error e = {0};

	ok(event_parse("r1a8", &spec, &e) == 0 && spec.origin == EVENT_ORIGIN_RAW && spec.encoded &&
			!spec.event && spec.code.type == PERF_TYPE_RAW && spec.code.config == 0x1a8,
		"r1a8 is a raw code");
	is_str(spec.name, "r1a8", "and is called so");
	ok(event_parse("Rffffffffffffffff", &spec, &e) == 0 && spec.code.config == UINT64_MAX,
		"all 64 bits");
	ok(event_parse("r10000000000000000", &spec, &e) == -1 && e.code == ERR_RANGE,
		"and no more");
}

static void fails(const char *text, enum error_code code, const char *message, const char *hint)
{
	struct event_spec spec;
	struct error e = {0};
	int result = event_parse(text, &spec, &e);
	bool good = result == -1 && e.code == code && strstr(e.message, message) &&
		    strstr(e.hint, hint);

	ok(good, "'%.30s' is refused", text);
	if (!good)
		printf("# %d %d: %s (%s)\n", result, e.code, e.message, e.hint);
}

static void errors(void)
{
	char text[300];

	fails("71", ERR_RANGE, "0 to 70", "perfex -list");
	fails("-1", ERR_RANGE, "0 to 70", "perfex -list");
	fails("99999999999999999999", ERR_RANGE, "0 to 70", "perfex -list");
	fails("", ERR_PARSE, "empty", "perfex -list");
	fails(" - ", ERR_PARSE, "empty", "");
	fails("cache misses", ERR_CONFLICT, "26 'Secondary data cache misses'", "short name");
	fails("graduated", ERR_CONFLICT, "17 'Graduated instructions'", "");
	fails("dcs", ERR_NOT_FOUND, "'dcs'", "'dsc'");
	fails("Secundary data cache mises", ERR_NOT_FOUND, "", "'Secondary data cache misses'");
	fails("zzzzzzzzzzzz", ERR_NOT_FOUND, "'zzzzzzzzzzzz'", "perfex -list");
	fails("perf::CYCELS", ERR_NOT_FOUND, "perf::CYCELS", "'CYCLES'");
	fails("nopmu::CYCLES", ERR_NOT_FOUND, "nopmu::CYCLES", "");
	fails("0x1a", ERR_NOT_FOUND, "0x1a", "");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fails(text, ERR_PARSE, "more than 127", "");
	is_int(event_parse("nothing like it", &(struct event_spec){0}, NULL), -1,
		"errors may go unasked");
}

static void libpfm(void)
{
	struct event_spec spec;
	struct error e = {0};

	ok(event_parse("perf::INSTRUCTIONS", &spec, &e) == 0 && spec.origin == EVENT_ORIGIN_PFM &&
			spec.encoded && spec.code.type == PERF_TYPE_HARDWARE &&
			spec.code.config == PERF_COUNT_HW_INSTRUCTIONS && !spec.code.levels,
		"perf::INSTRUCTIONS is the kernel's");
	is_str(spec.name, "perf::INSTRUCTIONS", "and is called so");
	ok(event_parse("perf::cycles:u", &spec, &e) == 0 && spec.code.levels == EVENT_USER,
		":u is user mode");
	ok(event_parse("perf::cycles:k", &spec, &e) == 0 && spec.code.levels == EVENT_KERNEL,
		":k is the kernel");
	ok(event_parse("perf::cycles:u:k", &spec, &e) == 0 &&
			spec.code.levels == (EVENT_USER | EVENT_KERNEL),
		":u:k is both");
	ok(event_parse("cache-misses", &spec, &e) == 0 && spec.origin == EVENT_ORIGIN_PFM &&
			spec.code.type == PERF_TYPE_HARDWARE &&
			spec.code.config == PERF_COUNT_HW_CACHE_MISSES,
		"cache-misses is the kernel's, whatever that is, and no row");
	ok(event_parse("L1-dcache-load-misses", &spec, &e) == 0 &&
			spec.code.type == PERF_TYPE_HW_CACHE &&
			spec.code.config ==
				(PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
					PERF_COUNT_HW_CACHE_RESULT_MISS << 16),
		"L1-dcache-load-misses too");
	fails("perf::cycles:nonsense", ERR_PARSE, "perf::cycles:nonsense", "UNIT_MASK");
#if defined(__x86_64__)
	if (strcmp(event_host_family(), "skl") != 0)
		fails("skl::INST_RETIRED:ANY_P", ERR_UNSUPPORTED, "another processor",
			"perfex -list");
	else
		fails("spr::INST_RETIRED:ANY_P", ERR_UNSUPPORTED, "another processor",
			"perfex -list");
#endif
	ok(!getenv("LIBPFM_ENCODE_INACTIVE"), "the environment is left as it was");
}

int main(void)
{
	table();
	model();
	costs();
	spellings();
	raw();
	errors();
	libpfm();
	return done();
}
