/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of known levels take 10 ms or more to time, which is much for a short run. So the first few
 * runs after a boot keep what they measured, and others take the one of these whose loads from the
 * last level took neither the most nor the least time: others that use the cache disturb them.
 */
#include "collect/kept_levels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/strbuf.h"
#include "machine/machine.h"

#define HEAD     "levels 1, perfex " PERFEX_VERSION ":"
#define TICK_MAX 100 /* ns */
/* Beside other work, caches may be as slow as memory for once. */
#define LEVELS_TRIES 4

struct kept_levels {
	struct latency_levels levels;
	latency_counts counts;
};

/* The next number; false: there is none that fits 32 bits. */
static bool next_count(const char **at, uint32_t *to)
{
	char *end;
	unsigned long long value = strtoull(*at, &end, 10);

	if (end == *at || value > UINT32_MAX)
		return false;
	*to = (uint32_t)value;
	*at = end;
	return true;
}

static uint32_t *count_at(latency_counts counts, size_t i)
{
	return &counts[i / (LEVELS * LATENCY_BINS)][i / LATENCY_BINS % LEVELS][i % LATENCY_BINS];
}

static bool levels_scan(const char *text, struct kept_levels *k)
{
	const char *at = text + strlen(HEAD);
	struct error ignored;
	char *end;

	if (strncmp(text, HEAD, strlen(HEAD)) != 0)
		return false;
	memset(k, 0, sizeof(*k));
	k->levels.tick_ns = strtod(at, &end);
	if (end == at || !(k->levels.tick_ns > 0 && k->levels.tick_ns < TICK_MAX))
		return false;
	at = end;
	for (int f = 0; f < LATENCY_FORMS; f++)
		if (!next_count(&at, &k->levels.floor[f]) || !next_count(&at, &k->levels.least[f]))
			return false;
	for (size_t i = 0; i < sizeof(k->counts) / sizeof(uint32_t); i++)
		if (!next_count(&at, count_at(k->counts, i)))
			return false;
	return values_levels_learn(&k->levels, k->counts, &ignored) == 0;
}

static bool levels_usable(const char *text)
{
	struct kept_levels k;

	return levels_scan(text, &k);
}

static const struct machine_measurement levels_kept = {"levels", levels_usable};

static void levels_keep(struct kept_levels *k)
{
	struct strbuf text = {0};

	strbuf_printf(&text, HEAD " %.9f", k->levels.tick_ns);
	for (int f = 0; f < LATENCY_FORMS; f++)
		strbuf_printf(
			&text, " %" PRIu32 " %" PRIu32, k->levels.floor[f], k->levels.least[f]);
	for (size_t i = 0; i < sizeof(k->counts) / sizeof(uint32_t); i++)
		strbuf_printf(&text, " %" PRIu32, *count_at(k->counts, i));
	strbuf_printf(&text, "\n");
	if (!text.failed)
		machine_keep_measured(&levels_kept, strbuf_text(&text));
	strbuf_fini(&text);
}

static int compare_last_level(const void *pa, const void *pb)
{
	const struct kept_levels *a = pa, *b = pb;

	return sort_rising_number(a->levels.mean_ns[LEVEL_LAST], b->levels.mean_ns[LEVEL_LAST]);
}

static bool levels_known(struct latency_levels *l)
{
	struct kept_levels all[MACHINE_MEASURED];

	for (unsigned i = 0; i < MACHINE_MEASURED; i++) {
		char *text = machine_measured(&levels_kept, i);
		bool found = text && levels_scan(text, &all[i]);

		free(text);
		if (!found)
			return false;
	}
	qsort(all, MACHINE_MEASURED, sizeof(*all), compare_last_level);
	*l = all[MACHINE_MEASURED / 2].levels;
	return true;
}

int kept_levels_find(struct latency_levels *l, struct error *e)
{
	struct kept_levels k;

	if (levels_known(l))
		return 0;
	for (int i = 0; i < LEVELS_TRIES; i++) {
		if (values_levels_measure(&k.levels, k.counts, e))
			return -1;
		if (values_levels_learn(&k.levels, k.counts, e) == 0) {
			levels_keep(&k);
			*l = k.levels;
			return 0;
		}
	}
	return -1;
}
