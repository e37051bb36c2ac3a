/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Staffing: a program that plans who works when, and loses its time in the second-level cache.
 *
 *     staffing [-fixed] [RECORDS [SHIFTS]]
 *
 * After the first case study of Zagha et al., "Performance Analysis Using the MIPS R10000
 * Performance Counters" (section 4): a search reads one integer of every employee's record, and the
 * records are larger than a cache line. So each step of the search touches a line of its own, of
 * which it uses four bytes.  65,536 records have 4 MiB of such lines: more than any second-level
 * cache holds, so that every search fetches them all again from the level behind it.
 *
 * Look at it with
 *
 *     perfex -a -y staffing           the largest cost is second-level data misses
 *     perfex -a -y staffing -fixed    now it is not
 *
 * The fix keeps a second copy of the badge numbers alone, one next to the other: sixteen to a line
 * of 64 bytes, 256 KiB in all, which the second level does hold.  The plan that comes out is the
 * same.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAYS = 7, HOURS = 24, WEEK = DAYS * HOURS, SHIFT_HOURS = 8, WEEK_LIMIT = 40 };

struct employee {
	int badge;
	int skill;
	int hours; /* planned so far this week */
	int cost;  /* of an hour */
	char name[48];
	char address[128];
	char telephone[24];
	unsigned char wishes[DAYS]; /* 0: not that day */
	char remark[57];
};

struct staff {
	struct employee *record;
	int *badge; /* the fix: badge[i] == record[i].badge; NULL without it */
	size_t count;
};

struct plan {
	int demand[WEEK];  /* people wanted in each hour */
	int planned[WEEK]; /* people there */
	int shifts, hours, refused;
	long cost;
};

/* The same numbers on every machine. */
static unsigned random_below(unsigned limit)
{
	static unsigned long long state = 1996;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % limit;
}

/* Badges 1000, 1001 ... in an order that does not help: people come and go. */
static int *shuffled_badges(size_t count)
{
	int *badge = malloc((count + 1) * sizeof(*badge));

	if (!badge)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t j = random_below((unsigned)i + 1);

		badge[i] = badge[j];
		badge[j] = 1000 + (int)i;
	}
	return badge;
}

static bool hire(struct staff *staff, size_t count, bool fixed)
{
	int *badge = shuffled_badges(count);

	staff->record = calloc(count + 1, sizeof(*staff->record));
	staff->count = count;
	staff->badge = NULL;
	if (!badge || !staff->record) {
		free(badge);
		free(staff->record);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct employee *e = &staff->record[i];

		e->badge = badge[i];
		e->skill = (int)random_below(8);
		e->cost = 20 + (int)random_below(30);
		e->name[0] = (char)('A' + i % 26);
	}
	if (fixed)
		staff->badge = badge;
	else
		free(badge);
	return true;
}

/* One integer of each record is read: one line of the cache for each of them.  The badge that is
 * looked for stands behind the last record as well, so that the search ends without counting. */
static __attribute__((noinline)) struct employee *find_in_records(
	const struct staff *staff, int badge)
{
	struct employee *e = staff->record, *end = e + staff->count;

	end->badge = badge;
	while (e->badge != badge)
		e++;
	return e < end ? e : NULL;
}

/* The same integers, side by side. */
static __attribute__((noinline)) struct employee *find_in_badges(
	const struct staff *staff, int badge)
{
	int *b = staff->badge, *end = b + staff->count;

	*end = badge;
	while (*b != badge)
		b++;
	return b < end ? &staff->record[b - staff->badge] : NULL;
}

static struct employee *find(const struct staff *staff, int badge)
{
	return staff->badge ? find_in_badges(staff, badge) : find_in_records(staff, badge);
}

/* The start of the shift that meets the most demand that is still open, costs considered. */
static int best_start(const struct plan *plan, const struct employee *e)
{
	int best = -1, best_worth = 0;

	for (int start = 0; start + SHIFT_HOURS <= WEEK; start++) {
		int worth = e->wishes[start / HOURS] * 10;

		for (int h = start; h < start + SHIFT_HOURS; h++)
			if (plan->planned[h] < plan->demand[h])
				worth += 100 - e->cost;
		if (worth > best_worth) {
			best_worth = worth;
			best = start;
		}
	}
	return best;
}

static void assign(struct plan *plan, struct employee *e)
{
	int start = e->hours + SHIFT_HOURS > WEEK_LIMIT ? -1 : best_start(plan, e);

	if (start < 0) {
		plan->refused++;
		return;
	}
	for (int h = start; h < start + SHIFT_HOURS; h++)
		plan->planned[h]++;
	e->hours += SHIFT_HOURS;
	plan->shifts++;
	plan->hours += SHIFT_HOURS;
	plan->cost += (long)SHIFT_HOURS * e->cost;
}

/* People ask for shifts by their badge. */
static void make_plan(struct plan *plan, const struct staff *staff, size_t requests)
{
	memset(plan, 0, sizeof(*plan));
	for (int h = 0; h < WEEK; h++)
		plan->demand[h] =
			(h % HOURS >= 8 && h % HOURS < 20 ? 80 : 15) + (int)random_below(4);
	for (size_t i = 0; i < requests; i++) {
		struct employee *e = find(staff, 1000 + (int)random_below((unsigned)staff->count));

		if (e)
			assign(plan, e);
		else
			plan->refused++;
	}
}

/* A whole number from 1 to limit, or 0. */
static size_t number(const char *text, size_t limit)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && value <= limit ? value : 0;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	char **argument = argv + 1 + fixed;
	int left = argc - 1 - fixed;
	size_t records = left > 0 ? number(argument[0], 1 << 22) : 65536;
	size_t requests = left > 1 ? number(argument[1], 1 << 24) : 400;
	struct staff staff;
	struct plan plan;

	if (!records || !requests || left > 2) {
		fprintf(stderr, "usage: staffing [-fixed] [RECORDS [SHIFTS]]\n");
		return 2;
	}
	if (!hire(&staff, records, fixed)) {
		fprintf(stderr, "staffing: out of memory for %zu records\n", records);
		return 1;
	}
	make_plan(&plan, &staff, requests);
	printf("%d shifts planned, %d refused, %d hours, cost %ld\n", plan.shifts, plan.refused,
		plan.hours, plan.cost);
	free(staff.record);
	free(staff.badge);
	return 0;
}
