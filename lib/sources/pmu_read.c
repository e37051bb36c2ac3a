/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observations, one per turn, and their sums.
 *
 * The anchor is in all groups, whose turns cover the whole run, so its total is their sum. The
 * other events are scaled by that total. If the turns leave gaps, because another process took the
 * counters, the anchor itself is scaled, by time.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sources/identities.h"
#include "sources/pmu_session.h"

#define NANO 1e-9

static struct observation observed(
	const struct pmu_session *s, const struct bank_value *values, size_t index, size_t anchor)
{
	struct observation o = {
		.value = (double)values[index].value,
		.running = (double)values[index].running * NANO,
		.enabled = (double)values[index].enabled * NANO,
	};

	o.anchor = s->resident_count ? (double)values[anchor].value : o.running;
	return o;
}

/* A resident's counts in all groups as if they were one event's, with time for an anchor. */
static struct observation tiles(
	const struct pmu_session *s, const struct bank_value *values, size_t which)
{
	struct observation o = {0, 0, 0, 0};

	for (size_t g = 0; g < s->groups; g++) {
		size_t index = s->first[g] + which;

		o.value += (double)values[index].value;
		o.running += (double)values[index].running * NANO;
		o.enabled = fmax(o.enabled, (double)values[index].enabled * NANO);
	}
	o.anchor = o.running = fmin(o.running, o.enabled);
	return o;
}

static struct observation slot_observed(
	const struct pmu_session *s, const struct slot *slot, const struct bank_value *values)
{
	if (slot->resident)
		return tiles(s, values, slot->index);
	return observed(s, values, slot->index, s->first[slot->group]);
}

static struct observation pmu_read_less(struct observation a, const struct observation *b)
{
	a.value -= b->value;
	a.anchor -= b->anchor;
	a.running -= b->running;
	a.enabled -= b->enabled;
	return a;
}

int pmu_observe(struct pmu_session *s, struct error *e)
{
	if (bank_read(&s->bank, s->values, e) != 0)
		return -1;
	for (size_t i = 0; i < s->slot_count; i++) {
		struct slot *slot = &s->slots[i];
		struct observation now, before;

		if (!slot->resident && slot->group == GROUP_NONE)
			continue;
		now = slot_observed(s, slot, s->values);
		before = slot_observed(s, slot, s->last);
		now = pmu_read_less(now, &before);
		estimate_spread_add(&slot->spread, &now, s->rotation * (double)s->groups);
	}
	memcpy(s->last, s->values, s->bank.events.count * sizeof(*s->last));
	return 0;
}

static void say_why_not(const struct pmu_session *s, const struct slot *slot, struct count *c)
{
	static const char taken[] =
		"counters are taken: it never got one (NMI watchdog, another profiler?)";
	static const char brief[] = "the run was too short: it got no turn (-passes)";
	bool others = false;

	for (size_t g = 0; g < s->groups; g++)
		others |= s->values[s->first[g]].running > 0;
	snprintf(c->why, sizeof(c->why), "%s",
		others && (slot->resident || slot->group != GROUP_NONE) ? brief : taken);
}

/* The anchor's count over all of a run; the whole time if there is no anchor. */
static double anchor_total(const struct pmu_session *s, const struct slot *slot)
{
	const struct slot *anchor = s->resident_count ? &s->slots[s->residents[0]] : NULL;

	if (!anchor || slot->resident)
		return slot->spread.total.enabled;
	return estimate_spread(&anchor->spread, anchor->spread.total.enabled).value;
}

static struct quantity slot_quantity(const struct pmu_session *s, const struct slot *slot)
{
	if (!slot->resident && slot->group == GROUP_NONE)
		return quantity_exact(0, LABEL_NONE);
	if (slot->spread.total.enabled <= 0) /* nothing ran, so nothing happened */
		return quantity_exact(0, LABEL_MEASURED);
	return estimate_spread(&slot->spread, anchor_total(s, slot));
}

/* One thread's, from its totals. */
static struct quantity part_quantity(
	const struct pmu_session *s, const struct slot *slot, const struct bank_value *values)
{
	struct quantity whole = slot_quantity(s, slot), anchor;
	struct observation part, tile;

	if (whole.label == LABEL_NONE)
		return whole;
	part = slot_observed(s, slot, values);
	if (part.enabled <= 0)
		return quantity_exact(0, LABEL_MEASURED);
	if (slot->resident || !s->resident_count)
		return estimate_spread_part(
			&whole, &part, part.enabled, part.enabled / slot->spread.total.enabled);
	tile = tiles(s, values, 0);
	anchor = slot_quantity(s, &s->slots[s->residents[0]]);
	anchor = estimate_spread_part(&anchor, &tile, tile.enabled, 1);
	return estimate_spread_part(
		&whole, &part, anchor.value, part.enabled / slot->spread.total.enabled);
}

/* How much of all the threads' time was this one's. */
static double share_of(const struct slot *slot, const struct bank_value *value)
{
	double all = slot->spread.total.enabled;

	return all > 0 ? (double)value->enabled * NANO / all : 0;
}

static void pmu_read_count_thread(
	void *session, const struct bank_value *values, struct count *counts)
{
	const struct pmu_session *s = session;

	for (size_t i = 0; i < s->count; i++) {
		const struct slot *slot = &s->slots[s->slot_of[i]];
		double share = slot->resident || slot->group == GROUP_NONE
				       ? 0
				       : share_of(slot, &values[slot->index]);

		counts[i].quantity = part_quantity(s, slot, values);
		counts[i].short_run = counts[i].quantity.label == LABEL_SCALED && !slot->resident &&
				      (double)slot->spread.visits * share < SPREAD_VISITS_MIN;
		if (counts[i].quantity.label == LABEL_NONE)
			snprintf(counts[i].why, sizeof(counts[i].why),
				"it got no turn while this thread ran");
	}
	identities_clamp(s->specs, counts, s->count);
}

int pmu_report(struct pmu_session *s, struct reading *r, struct error *e)
{
	r->enabled_seconds = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct slot *slot = &s->slots[s->slot_of[i]];
		struct count *c = &r->counts[i];

		memset(c, 0, sizeof(*c));
		c->quantity = slot_quantity(s, slot);
		if (c->quantity.label == LABEL_NONE)
			say_why_not(s, slot, c);
		c->short_run = c->quantity.label == LABEL_SCALED && !slot->resident &&
			       estimate_spread_is_short(&slot->spread);
		r->enabled_seconds = fmax(r->enabled_seconds, slot->spread.total.enabled);
	}
	identities_clamp(s->specs, r->counts, s->count);
	thread_rows_judge(&s->rows, r->counts, s->count);
	return s->options.per_thread
		       ? thread_rows_report(&s->rows, &s->bank, r, pmu_read_count_thread, s, e)
		       : 0;
}
