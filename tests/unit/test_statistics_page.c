/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statistics are what perfex(1) says they are: each formula of its table is read, computed from
 * made-up counts, and compared with what the toolkit makes of the same counts.  In the page's
 * formulas numbers are events, but for 1 in `1 -', what follows `x', and from 1000 on.
 */
#include "../tap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/file.h"
#include "costs/breakdown.h"

enum { L1_LINE = 32, L2_LINE = 64, LL_LINE = 128 };
static struct counted counts;
static struct machine machine;
static struct cost_table costs;
static bool used[EVENT_LIMIT]; /* events in the formula at hand */

/* ---- formulas of the page ---- */

static double sum(const char **at);

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

static bool word(const char **at, const char *w)
{
	const char *from = skip_blanks(*at);

	if (strncmp(from, w, strlen(w)) != 0)
		return false;
	*at = from + strlen(w);
	return true;
}

static double factor(const char **at, bool constant)
{
	long number;
	char *end;
	double v;

	if (word(at, "(")) {
		v = sum(at);
		return word(at, ")") ? v : NAN;
	}
	if (word(at, "10^6"))
		return 1e6;
	if (word(at, "L1 line"))
		return L1_LINE;
	if (word(at, "L2 line"))
		return L2_LINE;
	if (word(at, "last-level line"))
		return LL_LINE;
	if (word(at, "time"))
		return counts.seconds.value;
	number = strtol(*at, &end, 10);
	if (end == *at)
		return NAN;
	*at = end;
	if (constant || number >= 1000)
		return (double)number;
	used[number] = true;
	return counts.event[number].value;
}

static double product(const char **at)
{
	double v = factor(at, false);

	for (;;) {
		if (word(at, "/"))
			v /= factor(at, false);
		else if (word(at, "x"))
			/* Of `1000 x 24', 24 is an event; of `22 x 16', 16 is none. */
			v *= factor(at, v != 1000);
		else
			return v;
	}
}

static double sum(const char **at)
{
	double v = word(at, "1 -") ? 1 - product(at) : product(at);

	for (;;) {
		if (word(at, "+"))
			v += product(at);
		else if (word(at, "-"))
			v -= product(at);
		else
			return v;
	}
}

/* ---- the toolkit's ---- */

static const struct statistic *made(const char *name)
{
	static struct statistic all[STATISTICS_MAX];
	size_t n = costs_statistics(&counts, &costs, &machine, all);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

/* Each event that a formula has is needed: without it, there is no such statistic. */
static bool needs_all(const char *name)
{
	static const int twins[][2] = {{0, 16}, {17, 15}, {62, 20}};
	bool needed = true;

	for (int i = 0; i < EVENT_LIMIT; i++) {
		struct counted saved = counts;

		if (!used[i])
			continue;
		counts.event[i].label = LABEL_NONE;
		for (size_t t = 0; t < 3; t++)
			if (twins[t][0] == i)
				counts.event[twins[t][1]].label = LABEL_NONE;
		needed &= made(name) == NULL;
		counts = saved;
	}
	return needed;
}

static void compare(const char *name, const char *formula)
{
	const struct statistic *s;
	const char *at = formula;
	double want;

	machine.model.ll.size = strstr(formula, "L2 is the last level") ? 0 : 1 << 20;
	memset(used, 0, sizeof(used));
	want = sum(&at);
	s = made(name);
	ok(*skip_blanks(at) == '\0' || *at == ',', "%s: the page's formula can be read: %s", name,
		formula);
	if (!ok(s != NULL, "%s: there is one", name))
		return;
	is_near(s->quantity.value, want, 1e-9 * fabs(want), "%s = %s", name, formula);
	ok(needs_all(name), "%s needs all that stands in its formula", name);
}

/* As its row says in words: typical costs of all that goes to memory. */
static void compare_memory_time(const char *name)
{
	static const struct {
		int event, cost;
	} parts[] = {
		{EV_LOADS, EV_INSTRUCTIONS},
		{EV_STORES, EV_INSTRUCTIONS},
		{EV_LOADS, EV_LOADS},
		{EV_STORES, EV_STORES},
		{EV_L1D_MISSES, EV_L1D_MISSES},
		{EV_L2D_MISSES, EV_L2D_MISSES},
		{EV_LL_DATA_MISSES, EV_LL_DATA_MISSES},
		{EV_TLB_MISSES, EV_TLB_MISSES},
	};
	const struct statistic *s = made(name);
	double cycles = 0, want;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cycles += counts.event[parts[i].event].value * costs.cost[parts[i].cost].typical;
	want = cycles / costs.clock_hz / counts.seconds.value;
	if (ok(s != NULL, "%s: there is one", name))
		is_near(s->quantity.value, want, 1e-9 * want, "%s", name);
}

/* Falling with the number, so that misses are fewer than accesses, and no two alike. */
static void count_everything(void)
{
	for (int i = 0; i < EVENT_LIMIT; i++) {
		counts.event[i] = quantity_exact(1e9 / (i + 3) + 17 * i * i, LABEL_MEASURED);
		costs.cost[i] = (struct cost){.known = true,
			.unit = COST_CYCLES,
			.typical = 3 + i * i,
			.minimum = 1,
			.maximum = 5000};
	}
	counts.seconds = quantity_exact(1.75, LABEL_MEASURED);
	costs.clock_hz = 3e9;
	machine.model.l1d.line = L1_LINE;
	machine.model.l2.line = L2_LINE;
	machine.model.ll.line = LL_LINE;
	machine.model.ll.size = 1 << 20;
}

/* Items of the section, each followed by its formula on a line of its own; how many. */
static size_t compare_rows(char *text)
{
	char *begin = strstr(text, ".Sh STATISTICS"), *end, *line, *save = NULL;
	size_t rows = 0;

	if (!begin || !(end = strstr(begin + 1, "\n.Sh ")))
		return 0;
	*end = '\0';
	for (line = strtok_r(begin, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = line + 4, *formula;

		if (strncmp(line, ".It ", 4) != 0 || !(formula = strtok_r(NULL, "\n", &save)))
			continue;
		rows++;
		if (strncmp(formula, "typical cost", 12) == 0)
			compare_memory_time(name);
		else
			compare(name, formula);
	}
	return rows;
}

int main(void)
{
	struct statistic all[STATISTICS_MAX];
	struct error e;
	const char *top = getenv("TOP");
	char path[4096], *text;
	size_t behind_l2, alone;

	snprintf(path, sizeof(path), "%s/docs/man/perfex.1", top ? top : ".");
	text = file_read(path, 0, NULL, &e);
	if (!ok(text != NULL, "%s is there", path))
		return done();
	count_everything();
	behind_l2 = costs_statistics(&counts, &costs, &machine, all);
	machine.model.ll.size = 0;
	alone = costs_statistics(&counts, &costs, &machine, all);
	machine.model.ll.size = 1 << 20;
	/* Without a last level, one bandwidth takes the place of three statistics. */
	is_int(compare_rows(text), behind_l2 + 1, "the page has all of them, and no others");
	is_int(alone, behind_l2 - 2, "a machine without a last level has two fewer");
	free(text);
	return done();
}
