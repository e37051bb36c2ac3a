/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted between bursts, and what follows from it. CPU time is a sequence of bursts, with
 * stretches of the program's own time between them, in which anchors count (anchors.h).
 *
 * Code in copies takes 1.5 times its native time, or ten times while it is new, and no model
 * predicted that within ten percent. So times of bursts only say what part of a program's time a
 * burst stands for, at first. Then bursts get the weights nearest to these by which they explain
 * all that the anchors have counted. What a burst recorded itself is part of the program's work,
 * too, and added.
 *
 * The log of bursts is kept until the process ends, or is long. Then it is evaluated, and the
 * differences to the rates recorded so far are recorded.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "branches/anchors.h"
#include "branches/native.h"

#define ENTRIES_MAX  2000000u
#define SPELLS_MAX   20000u
#define DUTIES_EVERY 16  /* bursts */
#define FORKS_MAX    20  /* a child has to be cleaned of anchors: with more, there are none */
#define STUB_NS      1.0 /* a count takes, about */

/* As often as a burst says, or a phase that had none, anchors may count far more than they should:
 * by this factor, in this time at least. */
#define OVERRUN       1.5
#define OVERRUN_LEAST 6e6 /* ns */
/* More than expected, by this factor: others, too, may count as often now. */
#define SURPRISE 2.0

static struct native *native_of(struct cache *c)
{
	if (c->native)
		return c->native;
	c->native = calloc(1, sizeof(*c->native));
	c->anchors = calloc(1, sizeof(*c->anchors));
	if (!c->native || !c->anchors) {
		free(c->native);
		free(c->anchors);
		c->native = NULL;
		c->anchors = NULL;
		return NULL;
	}
	c->native->runs = TABLE_OF(struct native_run);
	c->native->began = c->process->since;
	native_pause(c);
	return c->native;
}

bool native_counts(const struct cache *c)
{
	return c->anchors && c->anchors->count;
}

/* ---- stretches ---- */

/* Without the counts of anchors that were not in place all the time. */
static double take_hits(struct cache *c)
{
	struct native *n = c->native;
	uint64_t hits[ANCHORS_MAX];
	double counted = 0;

	if (!anchors_read(c, hits))
		return 0;
	for (unsigned i = 0; i < c->anchors->count; i++) {
		counted += (double)hits[i];
		if (!c->anchors->all[i].in || !n->in)
			continue;
		n->counted[i].now += (double)hits[i];
		n->pairs += hits[i] > 0;
		n->counted[i].in = true;
	}
	return counted;
}

static void native_pass(struct native *n, double ns)
{
	n->now += ns;
	n->all += ns;
	n->open += ns;
}

void native_pause(struct cache *c)
{
	struct native *n = c->native;
	double counted;
	uint64_t now;

	if (!n || n->paused) /* in a burst, the process may have ended */
		return;
	now = branches_now(c->process->clock);
	counted = take_hits(c);
	n->paused = true;
	n->in = false;
	c->b->elsewhere += (uint64_t)(counted * STUB_NS);
	if (now > n->began)
		native_pass(n, fmax((double)(now - n->began) - counted * STUB_NS, 0));
}

void native_take_out(struct cache *c)
{
	if (c->native && !c->native->paused)
		take_hits(c);
	for (unsigned i = 0; c->anchors && i < c->anchors->count; i++)
		anchor_put(c, &c->anchors->all[i], false);
	if (c->native)
		c->native->in = false;
}

/* What a burst has shown. */
static void review_anchors(struct cache *c, struct held *f)
{
	const struct native *n = c->native;

	unsigned before = c->anchors->count;

	if (c->process->forks <= FORKS_MAX)
		native_choose(c, f);
	native_look_back(c);
	if (n->bursts.count % DUTIES_EVERY == 0 || n->bursts.count < DUTIES_EVERY ||
		c->anchors->count > before)
		native_set_duties(c);
}

static void change_anchors(struct cache *c, struct held *f, bool rest)
{
	bool want[ANCHORS_MAX], change = false, stopped = true;
	hold_list others = {0};

	native_draw(c, want, rest);
	for (unsigned i = 0; i < c->anchors->count; i++) {
		want[i] &= c->process->forks <= FORKS_MAX && !c->anchors->all[i].lost;
		change |= want[i] != c->anchors->all[i].in;
	}
	if (change && c->process->threads != 1)
		stopped = hold_others(f, &others);
	for (unsigned i = 0; i < c->anchors->count && change && stopped; i++)
		anchor_put(c, &c->anchors->all[i], want[i]);
	hold_release(f, &others);
}

static void native_open(struct native *n, const struct cache *c)
{
	n->paused = false;
	n->began = branches_now(c->process->clock);
}

void native_resume(struct cache *c, struct held *f)
{
	struct native *n = c->native;

	if (!n || !n->paused)
		return;
	c->locked |= c->process->threads != 1;
	if (n->fresh && !c->refused) {
		review_anchors(c, f);
		change_anchors(c, f, false);
	}
	n->fresh = false;
	n->in = true;
	native_open(n, c);
}

static bool may_turn(const struct cache *c)
{
	return native_counts(c) && c->process->threads <= TURN_THREADS && !c->refused &&
	       !c->native->paused;
}

bool native_takes_turns(const struct cache *c)
{
	bool some = false;

	if (!may_turn(c))
		return false;
	for (unsigned i = 0; i < c->anchors->count; i++)
		some |= c->anchors->all[i].duty > 0 && c->anchors->all[i].duty < 1;
	return some;
}

/* Of the spell that is open. */
static double counts_in_spell(const struct cache *c)
{
	double counts = 0;

	for (unsigned i = 0; i < c->anchors->count; i++)
		counts += c->native->counted[i].now;
	return counts;
}

/* In a short spell, too, if they are as many as a longer one might have. */
static bool counts_too_much(const struct cache *c)
{
	double counts = counts_in_spell(c), most = OVERRUN * native_most(c);

	return counts > most * fmax(c->native->open, OVERRUN_LEAST) * 1e-9;
}

bool native_overruns(struct cache *c)
{
	if (!may_turn(c))
		return false;
	native_peek(c);
	return counts_too_much(c);
}

void native_turn(struct cache *c, struct held *f, bool rest)
{
	struct native *n = c->native;
	bool too_much;
	double rate;

	native_pause(c);
	too_much = counts_too_much(c);
	rate = too_much ? counts_in_spell(c) / n->open * 1e9 : 0;
	n->heat = rate > SURPRISE * native_expects(c) ? rate : n->heat / 2;
	native_close_spell(c);
	if (too_much || n->heat > OVERRUN * native_most(c))
		native_set_duties(c);
	change_anchors(c, f, rest);
	n->in = true;
	native_open(n, c);
}

void native_peek(struct cache *c)
{
	struct native *n = c->native;
	bool in = n && n->in;

	if (!n || n->paused)
		return;
	native_pause(c);
	n->in = in;
	native_open(n, c);
}

/* Stubs that were made for one thread are not used any more. */
void native_threads(struct cache *c)
{
	if (c->locked)
		return;
	c->locked = true;
	if (!c->native || !c->anchors->count)
		return;
	native_take_out(c);
	native_end(c);
	c->anchors->count = 0;
	native_open(c->native, c);
}

/* ---- bursts ---- */

const struct native_run *native_run_at(const struct cache *c, size_t i)
{
	struct native_run *run = table_at(&c->native->runs, i);

	for (; run->checked < c->anchors->count; run->checked++)
		if (anchor_counts(&c->anchors->all[run->checked], run->key.begin, run->key.end,
			    run->key.to))
			(void)vec_add(&run->anchors, (uint8_t)run->checked);
	return run;
}

static void note_run(struct cache *c, const struct met *m)
{
	struct native *n = c->native;
	const struct native_run key = {.key = {m->key.begin, m->key.end, m->key.to}};
	struct native_run *run = table_add(&n->runs, &key.key);
	struct native_entry *entry = run ? vec_push(&n->entries) : NULL;
	size_t number;

	if (!entry)
		return;
	number = table_number(&n->runs, run);
	run->id = m->id;
	entry->run = (uint32_t)number;
	entry->count = (uint32_t)(m->now < UINT32_MAX ? m->now : UINT32_MAX);
	native_run_at(c, number);
	for (size_t i = 0; i < run->anchors.count; i++)
		c->anchors->all[run->anchors.data[i]].counts += (double)m->now;
}

void native_note(struct cache *c, double seconds, double doubt)
{
	struct native *n = native_of(c);
	struct native_burst *burst;

	if (!n || !(seconds > 0))
		return;
	if (n->entries.count > ENTRIES_MAX || n->spells.count > SPELLS_MAX)
		native_end(c);
	burst = vec_push(&n->bursts);
	if (!burst)
		return;
	burst->first = n->entries.count;
	burst->seconds = seconds;
	burst->doubt = doubt;
	burst->before = n->now;
	n->now = 0;
	native_close_spell(c);
	n->fresh = true;
	for (size_t i = 0; i < c->touched.count; i++)
		note_run(c, table_at(&c->met, c->touched.data[i]));
	for (unsigned k = 0; k < c->anchors->count; k++)
		c->anchors->all[k].seconds += seconds;
}

static void native_reset(struct native *n)
{
	for (size_t i = 0; i < n->runs.count; i++)
		vec_fini(&((struct native_run *)table_at(&n->runs, i))->anchors);
	n->bursts.count = n->entries.count = 0;
	memset(n->counted, 0, sizeof(n->counted));
	n->spells.count = n->counts.count = 0;
	n->now = n->all = n->open = 0;
	table_fini(&n->runs);
	n->runs = TABLE_OF(struct native_run);
}

void native_end(struct cache *c)
{
	struct native *n = c->native;

	if (!n)
		return;
	native_pause(c);
	native_close_spell(c);
	native_settle(c);
	native_reset(n);
	for (unsigned i = 0; i < c->anchors->count; i++)
		c->anchors->all[i].since = 0, c->anchors->all[i].after = 0;
}

void native_free(struct cache *c)
{
	if (!c->native)
		return;
	native_end(c);
	vec_fini(&c->native->bursts);
	vec_fini(&c->native->entries);
	vec_fini(&c->native->spells);
	vec_fini(&c->native->counts);
	vec_fini(&c->anchors->barred);
	free(c->anchors);
	free(c->native);
	c->anchors = NULL;
	c->native = NULL;
}
