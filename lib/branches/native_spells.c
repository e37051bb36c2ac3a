/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions of anchors in the whole time of the log. Those that are always in place have counted
 * all since they were made; the others are extrapolated from the spells in which they were
 * (extrapolate.h). The time before an anchor was made is like the time since, or another phase:
 * counts of older anchors show which.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branches/extrapolate.h"
#include "branches/native.h"

#define ALWAYS    0.98 /* of the time since it was made */
#define COUNT_NS  0.7  /* deviation of the cost of a count */
#define PHASES    0.2  /* odds that an anchor is in code of a later phase */
#define EARLIER   4.0  /* as OTHERS, of code of an earlier phase: most of it is not known */
#define OTHERS    0.5  /* variance of executions in other phases, as a part, squared */
#define KNOWN_MAX 24u
/* Bursts before and since an anchor was made that say as much as the time does. */
#define BURSTS_TRUST 1.0
/* In the usual scatter, what is usual of all programs counts as this; an anchor as its spells
 * without one, but no more and no less than these. */
#define USUAL_WEIGHT 2.0
#define USUAL_MOST   4.0
#define USUAL_LEAST  0.5
/* Squared cosine, over bursts, of anchors whose executions are in a constant ratio; in bursts of
 * this number, in each of which both have this number of executions, at least. */
#define PARTNER        0.995
#define PARTNER_BURSTS 2
#define PARTNER_SEEN   20.0
/* A shorter spell, in ns, does not say how often an anchor is executed. */
#define LATEST_LEAST 1e6

/* ---- spells ---- */

void native_close_spell(struct cache *c)
{
	struct native *n = c->native;
	struct spell *s = n->open > 0 ? vec_push(&n->spells) : NULL;

	if (s)
		*s = (struct spell){n->open, n->counts.count};
	for (unsigned a = 0; a < c->anchors->count; a++) {
		struct native_count *own = &n->counted[a];

		if (s && own->in &&
			vec_add(&n->counts, ((struct spell_count){own->now, (uint8_t)a})) == 0) {
			own->hits += own->now;
			own->ns += n->open;
			if (n->open > LATEST_LEAST)
				c->anchors->all[a].latest = own->now / n->open * 1e9;
		}
		own->now = 0;
		own->in = false;
	}
	n->open = 0;
}

/* The end of a spell's counts. */
static size_t spell_last(const struct native *n, size_t spell)
{
	return spell + 1 < n->spells.count ? n->spells.data[spell + 1].first : n->counts.count;
}

/* What is known of all spells: counts of anchors that are always in place, and their time. */
struct known {
	size_t spells, count;
	unsigned anchor[KNOWN_MAX];
	double *of[KNOWN_MAX];
	double *begin; /* of spells, in ns */
	/* Of one anchor, by the spells that it was in place in: these, its counts, how many spells
	 * each stands for, and something known. */
	size_t *at;
	double *hits, *weight, *base;
	double usual; /* scatter of a spell's count */
	/* Of all anchors, by how much executions of the one that is looked at are more; how well
	 * they go together; 0: they do not. */
	double ratio[ANCHORS_MAX], alike[ANCHORS_MAX];
};

/* In how many of these bursts an anchor was executed. A short one says less. */
static double bursts_with(const struct native *n, const struct weigh *w, unsigned a, size_t first,
	size_t last, double *all)
{
	double sum = 0;

	*all = 0;
	for (size_t i = first; i < last; i++) {
		double says = fmin(n->bursts.data[i].seconds / w->usual, 1);

		*all += says;
		sum += w->count[a * w->bursts + i] > 0 ? says : 0;
	}
	return sum;
}

/* Logarithm of the likelihood of some of all, whatever their share is expected to be (Jeffreys'
 * prior). */
static double log_likelihood(double some, double all)
{
	return lgamma(some + 0.5) + lgamma(all - some + 0.5) - lgamma(all + 1) - log(M_PI);
}

/*
 * Of the time before an anchor was made, how much is like the time since: code of a later phase was
 * not executed then, and was in no burst before the one because of which the anchor was made. How
 * likely that is, and not just chance, follows from how often it is in bursts since. How often it
 * was executed in them says no more: that scatters too much in so few. *doubt: the variance.
 */
static double part_before(const struct native *n, const struct weigh *w, unsigned a,
	const struct anchor *anchor, double *doubt)
{
	double old, new,
		before = bursts_with(n, w, a, 0, anchor->after ? anchor->after - 1 : 0, &old);
	double since = bursts_with(n, w, a, anchor->after, w->bursts, &new);
	double odds = exp(log_likelihood(before, old) + log_likelihood(since, new) -
			  log_likelihood(before + since, old + new));
	double other = 1 / (1 + 1 / (PHASES * odds)), later = before > 0 ? 0 : other;

	*doubt = later * (1 - later) + (since > 0 ? 0 : other * EARLIER);
	return 1 - later;
}

/* ---- totals ---- */

static bool is_always(const struct native *n, const struct anchor *a, unsigned number)
{
	const struct native_count *own = &n->counted[number];

	return own->hits >= WEIGH_HITS_LEAST && own->ns >= ALWAYS * (n->all - a->since);
}

static bool known_add(struct known *k, const struct native *n, unsigned anchor)
{
	double *of = k->count < KNOWN_MAX ? calloc(k->spells + 1, sizeof(*of)) : NULL;

	if (!of)
		return false;
	for (size_t s = 0; s < k->spells; s++)
		for (size_t i = n->spells.data[s].first; i < spell_last(n, s); i++)
			if (n->counts.data[i].anchor == anchor)
				of[s] = n->counts.data[i].hits;
	k->anchor[k->count] = anchor;
	k->of[k->count++] = of;
	return true;
}

static void known_free(struct known *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->of[i]);
	free(k->at);
	free(k->hits);
}

static int known_make(struct known *k, const struct native *n)
{
	double passed = 0;

	*k = (struct known){.spells = n->spells.count};
	k->at = calloc(k->spells + 1, sizeof(*k->at));
	k->hits = calloc(4 * k->spells + 1, sizeof(*k->hits));
	if (!k->at || !k->hits)
		return -1;
	k->weight = k->hits + k->spells;
	k->base = k->weight + k->spells;
	k->begin = k->base + k->spells;
	for (size_t s = 0; s < k->spells; s++) {
		k->begin[s] = passed;
		passed += n->spells.data[s].ns;
	}
	return 0;
}

/* Anchors that go with this one in bursts. It had to be in place in few spells only, because of
 * them; so where it was not, they say how often it was executed. */
static void find_partners(struct known *k, const struct weigh *w, unsigned a)
{
	const double *x = w->count + a * w->bursts;

	for (unsigned p = 0; p < w->anchors; p++) {
		const double *y = w->count + p * w->bursts;
		double both = 0, own = 0, other = 0;
		unsigned seen = 0;

		for (size_t i = 0; i < w->bursts; i++) {
			both += x[i] * y[i];
			own += x[i] * x[i];
			other += y[i] * y[i];
			seen += x[i] >= PARTNER_SEEN && y[i] >= PARTNER_SEEN;
		}
		k->alike[p] = 0;
		if (p == a || seen < PARTNER_BURSTS || both * both < PARTNER * own * other)
			continue;
		k->ratio[p] = both / other;
		k->alike[p] = both * both / (own * other);
	}
	k->ratio[a] = 1;
	k->alike[a] = 2;
}

/* Itself alone. */
static void find_no_partners(struct known *k, unsigned a)
{
	memset(k->alike, 0, sizeof(k->alike));
	k->ratio[a] = 1;
	k->alike[a] = 2;
}

/* The spells of an anchor and its partners; how many. Each stands for itself, and for the time
 * between them that it is nearest to, since the anchor was made: phases are longer. */
static size_t known_look_at(struct known *k, const struct native *n, double since)
{
	size_t count = 0;

	for (size_t s = 0; s < k->spells; s++) {
		double best = 0;

		for (size_t i = n->spells.data[s].first; i < spell_last(n, s); i++) {
			const struct spell_count *own = &n->counts.data[i];

			if (k->alike[own->anchor] <= best)
				continue;
			best = k->alike[own->anchor];
			k->at[count] = s;
			k->hits[count] = own->hits * k->ratio[own->anchor];
		}
		count += best > 0;
	}
	for (size_t i = 0; i < count; i++) {
		double ns = n->spells.data[k->at[i]].ns, end = k->begin[k->at[i]] + ns, until;

		until = i + 1 < count ? (end + k->begin[k->at[i + 1]]) / 2 : n->all;
		k->weight[i] = fmax(until - since, 0) / ns;
		since = until;
	}
	return count;
}

/* Spells with equal weights that these are worth. */
static double spells_worth(const struct known *k, const struct native *n, size_t count)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		double stands_for = k->weight[i] * n->spells.data[k->at[i]].ns;

		sum += stands_for;
		squares += stands_for * stands_for;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

/* What an anchor counted in the time since it was made that is as long as that before: this is
 * likely to be the same phase. */
static double count_at_first(
	const struct known *k, const struct native *n, size_t count, double since)
{
	double sum = 0, begin = since, last = fmin(2 * since, n->all);

	for (size_t i = 0; i < count && begin < last; i++) {
		double stands_for = k->weight[i] * n->spells.data[k->at[i]].ns;
		double part = stands_for > 0 ? fmin((last - begin) / stands_for, 1) : 0;

		sum += part * k->weight[i] * k->hits[i];
		begin += stands_for;
	}
	return last > since ? sum * since / (last - since) : 0;
}

/* How much the time before an anchor was made is like the time after that is as long: by anchors
 * that were there before it, the affinity of their rates (Bhattacharyya). 1: nothing is known. */
static double phase_alike(const struct cache *c, const struct known *k, double since)
{
	const struct native *n = c->native;
	struct {
		double hits[2], ns[2];
	} own[ANCHORS_MAX] = {0};
	double both = 0, all = 0;

	for (size_t s = 0; s < k->spells && k->begin[s] < 2 * since; s++)
		for (size_t i = n->spells.data[s].first; i < spell_last(n, s); i++) {
			const struct spell_count *x = &n->counts.data[i];
			bool after = k->begin[s] >= since;

			own[x->anchor].hits[after] += x->hits;
			own[x->anchor].ns[after] += n->spells.data[s].ns;
		}
	for (unsigned a = 0; a < c->anchors->count; a++) {
		double before, then;

		if (!(own[a].ns[0] > 0) || !(own[a].ns[1] > 0) ||
			own[a].hits[0] + own[a].hits[1] < WEIGH_HITS_LEAST)
			continue;
		before = own[a].hits[0] / own[a].ns[0];
		then = own[a].hits[1] / own[a].ns[1];
		both += sqrt(before * then);
		all += (before + then) / 2;
	}
	return all > 0 ? both / all : 1;
}

/* What bursts had of it before it was made, as a part of what they have had since: it may be code
 * of a later phase that was executed a little before. *trust: how much that says. */
static double bursts_before(const struct native *n, const struct weigh *w, unsigned a,
	const struct anchor *anchor, double *trust)
{
	double old, new, before = 0, since = 0, both;

	(void)bursts_with(n, w, a, 0, anchor->after, &old);
	(void)bursts_with(n, w, a, anchor->after, w->bursts, &new);
	for (size_t i = 0; i < w->bursts; i++)
		*(i < anchor->after ? &before : &since) +=
			w->weight[i] * w->count[a * w->bursts + i];
	both = old + new > 0 ? old *new / (old + new) : 0;
	*trust = since > 0 ? both / (both + BURSTS_TRUST) : 0;
	return since > 0 ? before / since : 0;
}

/* The same of the bursts before the one because of which it was made, in all the time before it
 * was: this one is chosen because it has it. Negative: there is none. */
static double bursts_earlier(const struct weigh *w, unsigned a, const struct anchor *anchor)
{
	double counts[2] = {0}, before = 0, earlier = 0;

	for (size_t i = 0; i < w->bursts; i++) {
		bool since = i >= anchor->after, own = i + 1 == anchor->after;

		if (!own)
			counts[since] += w->weight[i] * w->count[a * w->bursts + i];
		before += since ? 0 : w->time[i];
		earlier += since || own ? 0 : w->time[i];
	}
	return counts[1] > 0 && earlier > 0 ? counts[0] / counts[1] * before / earlier : -1;
}

/* What an anchor counted before it was made, in another phase: only bursts know, and a few. They
 * are believed if they say less than that it was as now, and by half (of the logarithm) if more. */
static double in_other_phase(double as_now, double by_bursts)
{
	if (by_bursts < 0)
		return as_now;
	return by_bursts > as_now ? sqrt(as_now * by_bursts) : by_bursts;
}

/* Of an anchor. What its partners counted makes the same better known for each of them: so it is
 * not in the doubt of one, which is taken together with theirs as if they were independent. */
struct counted_spells {
	size_t count;
	double own, times; /* with equal weights: its own; with its partners' */
};

/* As in the rest of the time since it was made, and before that. It was made because it was
 * executed then, so bursts do not say that it was executed more before. */
static struct extrapolation by_time(const struct cache *c, const struct weigh *w, unsigned a,
	const struct anchor *anchor, const struct known *k, const struct counted_spells *s)
{
	const struct native *n = c->native;
	size_t count = s->count;
	double since = n->all - anchor->since, before, bursts, trust, unsure, seen, out, part;
	double other = pow(1 - phase_alike(c, k, anchor->since), 2);
	struct extrapolation e;

	for (size_t i = 0; i < count; i++)
		k->base[i] = n->spells.data[k->at[i]].ns;
	e = extrapolate_by(k->hits, k->base, k->weight, count, s->times, k->usual);
	seen = e.ratio * since;
	before = part_before(n, w, a, anchor, &unsure) * count_at_first(k, n, count, anchor->since);
	bursts = seen * bursts_before(n, w, a, anchor, &trust);
	trust = bursts < before ? trust : 0;
	before += trust * (bursts - before);
	before += other * (in_other_phase(before, seen * bursts_earlier(w, a, anchor)) - before);
	e.total = seen + before;
	out = fmax(1 - n->counted[a].ns / since, 0);
	part = trust * before / e.total + (1 - trust) * anchor->since / n->all;
	e.variance =
		out * (e.scatter / s->own + pow(COUNT_NS * e.ratio, 2)) * pow(seen / e.total, 2) +
		part * part * ((1 - trust) * unsure + OTHERS);
	e.scatter += part * part * OTHERS;
	return e;
}

/* In proportion to another anchor. What that has counted before this one was made does not show
 * that they go together then, too. */
static struct extrapolation by_anchor(const struct cache *c, const struct weigh *w, unsigned a,
	const struct anchor *anchor, const struct known *k, size_t which,
	const struct counted_spells *s)
{
	size_t count = s->count;
	unsigned other = k->anchor[which];
	struct extrapolation e;
	double since = 0, unsure, unseen;

	for (size_t i = 0; i < count; i++) {
		k->base[i] = k->of[which][k->at[i]];
		since += k->weight[i] * k->base[i];
	}
	e = extrapolate_by(k->hits, k->base, k->weight, count, s->times, k->usual);
	e.total = e.ratio * w->total[other];
	unseen = fmax(1 - since / w->total[other], 0);
	(void)part_before(c->native, w, a, anchor, &unsure);
	e.variance = e.scatter / s->own + w->doubt[other] + unseen * unseen * (unsure + OTHERS);
	e.scatter += unseen * unseen * OTHERS;
	return e;
}

/* Of the program's anchors together, so that one is not taken as certain because its few spells
 * happen to agree. Proportions to another anchor are judged by it, too: one of many fits by
 * chance. */
static void find_usual(const struct cache *c, struct known *k)
{
	const struct native *n = c->native;
	double sum = USUAL_WEIGHT * EXTRAPOLATE_USUAL, all = USUAL_WEIGHT;

	for (unsigned a = 0; a < c->anchors->count; a++) {
		double times, weight;
		struct extrapolation e;
		size_t count;

		find_no_partners(k, a);
		count = known_look_at(k, n, c->anchors->all[a].since);
		times = spells_worth(k, n, count);
		weight = fmin(times - 1, USUAL_MOST);
		if (n->counted[a].hits < WEIGH_HITS_LEAST || !(weight > USUAL_LEAST))
			continue;
		for (size_t i = 0; i < count; i++)
			k->base[i] = n->spells.data[k->at[i]].ns;
		e = extrapolate_by(k->hits, k->base, k->weight, count, times, 0);
		sum += weight * fmin(e.scatter, 1);
		all += weight;
	}
	k->usual = sum / all;
}

static void find_total(const struct cache *c, struct weigh *w, struct known *k, unsigned a)
{
	const struct native *n = c->native;
	struct extrapolation ways[KNOWN_MAX + 1];
	struct anchor first = c->anchors->all[a]; /* of its partners */
	struct counted_spells s;
	size_t ways_count = 1;

	w->doubt[a] = w->total[a] = 0;
	if (n->counted[a].hits < WEIGH_HITS_LEAST || !(n->counted[a].ns > 0))
		return;
	find_no_partners(k, a);
	s.own = spells_worth(k, n, known_look_at(k, n, first.since));
	if (!is_always(n, &first, a))
		find_partners(k, w, a);
	for (unsigned p = 0; p < c->anchors->count; p++)
		if (k->alike[p] > 0 && c->anchors->all[p].since < first.since)
			first = c->anchors->all[p];
	s.count = known_look_at(k, n, first.since);
	s.times = spells_worth(k, n, s.count);
	ways[0] = by_time(c, w, a, &first, k, &s);
	for (size_t i = 0; i < k->count; i++)
		if (c->anchors->all[k->anchor[i]].since <
			first.since + !is_always(n, &c->anchors->all[a], a))
			ways[ways_count++] = by_anchor(c, w, a, &first, k, i, &s);
	w->total[a] = extrapolate_mix(ways, ways_count, s.times, &w->doubt[a]);
}

int native_totals(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;
	struct known k;
	bool made = known_make(&k, n) == 0;

	if (made)
		find_usual(c, &k);
	for (int always = 1; always >= 0 && made; always--)
		for (unsigned a = 0; a < c->anchors->count; a++) {
			if (is_always(n, &c->anchors->all[a], a) != always)
				continue;
			find_total(c, w, &k, a);
			if (always && w->total[a] > 0)
				(void)known_add(&k, n, a);
		}
	known_free(&k);
	return made ? 0 : -1;
}
