/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which clock this host has. It is measured once a boot for all users, since it differs by some
 * percent from one moment to the next, and a modelled host with another clock would have other
 * figures. For the same reason it is rounded, and the figure of an earlier boot stays while the new
 * one is near it. It becomes faster when the constants of the host are measured (constants.c) and
 * the core is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/kept.h"

#define GRID_HZ UINT64_C(100000000) /* figures are multiples of it */
#define NEAR    0.03 /* of the earlier figure, or of what is stated: a step of the grid */
#define SCATTER 0.08 /* beyond, the clock is unknown */

struct clock_kept {
	uint64_t hz;
	double scatter;
};

bool machine_plausible_hz(uint64_t hz)
{
	return hz >= 100000000 && hz < 20000000000;
}

static bool clock_scan(const char *text, struct clock_kept *k)
{
	return sscanf(text, "clock %" SCNu64 " Hz, scatter %lf", &k->hz, &k->scatter) == 2 &&
	       machine_plausible_hz(k->hz) && k->scatter >= 0 && k->scatter <= 1;
}

static bool clock_usable(const char *text)
{
	struct clock_kept k;

	return clock_scan(text, &k);
}

static const struct kept_file clock_file = {"clock", clock_usable};

/* Frees text. */
static bool clock_take(char *text, struct clock_kept *k)
{
	bool found = text && clock_scan(text, k);

	free(text);
	return found;
}

static bool clock_find(
	const struct machine_identity *id, enum kept_how_long how_long, struct clock_kept *k)
{
	return clock_take(kept_read(&clock_file, id, how_long), k);
}

/* From the file that the user gives. */
static bool clock_given(struct clock_kept *k)
{
	char *text = kept_given(NULL), *at = text ? strstr(text, "clock ") : NULL;
	bool given = at && clock_scan(at, k);

	free(text);
	return given;
}

static bool clock_near(uint64_t a, uint64_t b)
{
	return a && b && (double)(a > b ? a - b : b - a) <= NEAR * (double)b;
}

static uint64_t clock_on_grid(uint64_t hz)
{
	return (hz + GRID_HZ / 2) / GRID_HZ * GRID_HZ;
}

uint64_t machine_clock_settled(struct machine_clock_timing t)
{
	return machine_plausible_hz(t.hz) && t.scatter <= SCATTER ? clock_on_grid(t.hz) : 0;
}

uint64_t machine_clock_now(void)
{
	struct machine_clock_timing t = {0, 1};

	if (kept_measures())
		t = machine_time_clock();
	return machine_plausible_hz(t.hz) && t.scatter <= SCATTER ? t.hz : 0;
}

/* Measured now; where it was kept by another process meanwhile, that. */
static bool clock_measure(const struct machine_identity *id, uint64_t stated, struct clock_kept *k)
{
	struct machine_clock_timing t = machine_time_clock();
	struct clock_kept earlier;
	char text[100];

	if (!machine_plausible_hz(t.hz))
		return false;
	*k = (struct clock_kept){clock_on_grid(t.hz), t.scatter};
	if ((clock_take(kept_read_of_any_user(&clock_file, id, KEPT_BOOT), &earlier) &&
		    clock_near(t.hz, earlier.hz)) ||
		(clock_take(kept_read_of_any_user(&clock_file, id, KEPT_LASTING), &earlier) &&
			clock_near(t.hz, earlier.hz)))
		k->hz = earlier.hz;
	else if (clock_near(t.hz, stated))
		k->hz = stated;
	snprintf(text, sizeof(text), "clock %" PRIu64 " Hz, scatter %.3f\n", k->hz, k->scatter);
	if (kept_write(&clock_file, id, KEPT_BOOT, text))
		clock_find(id, KEPT_BOOT, k);
	if (k->scatter <= SCATTER)
		kept_write(&clock_file, id, KEPT_LASTING, text);
	return true;
}

enum machine_clock_from machine_host_clock(const struct machine_identity *id, uint64_t stated,
	bool real, struct model_config *c, const char **how)
{
	struct clock_kept k;

	if (real && clock_given(&k)) {
		c->clock_hz = k.hz;
		*how = "clock as given";
		return MACHINE_CLOCK_GIVEN;
	}
	if (real && kept_measures() &&
		(clock_find(id, KEPT_BOOT, &k) || clock_measure(id, stated, &k))) {
		c->clock_hz = k.hz;
		*how = k.scatter > SCATTER ? "clock measured, but it scatters" : "clock measured";
		return k.scatter > SCATTER ? MACHINE_CLOCK_UNKNOWN : MACHINE_CLOCK_MEASURED;
	}
	if (machine_plausible_hz(stated)) {
		c->clock_hz = stated;
		*how = "clock as stated";
		return MACHINE_CLOCK_STATED;
	}
	if (machine_plausible_hz(id->hz)) {
		c->clock_hz = id->hz;
		*how = "clock from cpuinfo";
		return MACHINE_CLOCK_STATED;
	}
	*how = "clock its family's";
	return MACHINE_CLOCK_ASSUMED;
}

const char *machine_clock_word(enum machine_clock_from from)
{
	static const char *const words[] = {
		[MACHINE_CLOCK_GIVEN] = "",
		[MACHINE_CLOCK_MEASURED] = "measured",
		[MACHINE_CLOCK_STATED] = "stated",
		[MACHINE_CLOCK_ASSUMED] = "assumed",
		[MACHINE_CLOCK_UNKNOWN] = "unknown",
	};

	return words[from];
}
