/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unseen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/proc.h"

#define AGE_MOST 4

bool unseen_parse(const char *text, struct unseen_counts *now)
{
	return sscanf(text, "%" SCNu64 " %*u %" SCNu64, &now->used, &now->turns) == 2;
}

bool unseen_read(pid_t tid, struct unseen_counts *now)
{
	char text[96];

	if (!proc_read(tid, "schedstat", text, sizeof(text)) || !unseen_parse(text, now))
		return false;
	now->time = clock_ns();
	return true;
}

void unseen_known(struct unseen *u, uint64_t from, uint64_t to)
{
	from = from > u->then.time ? from : u->then.time;
	if (u->then.time && to > from)
		u->known += to - from;
}

void unseen_back(struct unseen *u, uint64_t time)
{
	if (u->then.time && time > u->then.time)
		u->back++;
}

int unseen_remember(struct unseen *u, const struct unseen_pause *p)
{
	if (!u->latest)
		u->latest = calloc(1, sizeof(*u->latest));
	if (!u->latest)
		return -1;
	u->latest->pauses[u->latest->added++ % UNSEEN_LATEST] = *p;
	u->age = 0;
	u->glanced = false;
	return 0;
}

void unseen_detach(struct unseen *u, const struct experiment *x)
{
	u->time = u->count = 0;
	for (size_t i = 0; u->latest && i < u->latest->added && i < UNSEEN_LATEST; i++) {
		struct unseen_pause *p = &u->latest->pauses[i];

		if (p->row == UNSEEN_NO_ROW)
			continue;
		p->obstacle = experiment_pause_at(x, p->row)->key.obstacle;
		p->row = UNSEEN_NO_ROW;
	}
}

bool unseen_is_stale(const struct unseen *u)
{
	return !u->latest || u->age >= AGE_MOST;
}

int unseen_glance(struct unseen *u, uint32_t obstacle, uint32_t node)
{
	const struct unseen_pause p = {
		.row = UNSEEN_NO_ROW, .obstacle = obstacle, .node = node, .time = 1, .count = 1};

	if (u->latest && !u->glanced)
		u->latest->added = 0;
	if (unseen_remember(u, &p))
		return -1;
	u->glanced = true;
	return 0;
}

bool unseen_is_none(const struct unseen *u, const struct unseen_counts *now, bool waits)
{
	return now->turns == u->then.turns + u->back && (waits || now->used > u->then.used);
}

void unseen_none(struct unseen *u, const struct unseen_counts *now, uint64_t gaps)
{
	u->usual = (struct unseen_usual){.gaps = (double)gaps};
	u->then = *now;
	u->known = u->back = 0;
}

void unseen_add(
	struct unseen *u, struct unseen_usual *all, const struct unseen_counts *now, uint64_t gaps)
{
	int64_t time = (int64_t)(now->time - u->then.time) - (int64_t)(now->used - u->then.used) -
		       (int64_t)u->known;
	int64_t count = (int64_t)(now->turns - u->then.turns) - (int64_t)u->back;

	u->time += time;
	u->count += count;
	u->usual = (struct unseen_usual){(double)gaps, (double)time, (double)count};
	if (gaps && time > 0 && count > 0) {
		all->gaps += (double)gaps;
		all->time += (double)time;
		all->count += (double)count;
	}
	u->then = *now;
	u->known = u->back = 0;
}

void unseen_guess(struct unseen *u, const struct unseen_usual *all, uint64_t gaps)
{
	const struct unseen_usual *usual = u->usual.gaps > 0 ? &u->usual : all;
	int64_t time, count;

	if (usual->gaps <= 0 || usual->time <= 0)
		return;
	time = (int64_t)(usual->time / usual->gaps * (double)gaps);
	count = usual->count > 0 ? (int64_t)(usual->count / usual->gaps * (double)gaps + 0.5) : 0;
	if (time > (int64_t)gaps)
		time = (int64_t)gaps;
	u->time += time;
	u->count += count;
	u->known += (uint64_t)time;
	u->back += (uint64_t)count;
}

size_t unseen_divide(struct unseen *u, struct unseen_pause *parts)
{
	size_t n = unseen_is_stale(u) || u->time <= 0 ? 0
		   : u->latest->added < UNSEEN_LATEST ? u->latest->added
						      : UNSEEN_LATEST;
	double all = 0, ends = 0, time = 0, count = 0;
	int64_t timed = 0, counted = 0;

	for (size_t i = 0; i < n; i++) {
		all += (double)u->latest->pauses[i].time;
		ends += (double)u->latest->pauses[i].count;
	}
	/* By sums, so that rounding loses nothing. */
	for (size_t i = 0; i < n; i++) {
		const struct unseen_pause *p = &u->latest->pauses[i];
		int64_t to, until = 0;

		time += (double)p->time;
		count += (double)p->count;
		to = i + 1 == n ? u->time : (int64_t)((double)u->time * (time / all));
		if (ends > 0 && u->count > 0)
			until = (int64_t)((double)u->count * (count / ends) + 0.5);
		parts[i] = *p;
		parts[i].time = (uint64_t)(to - timed);
		parts[i].count = (uint64_t)(until - counted);
		parts[i].longest = p->time < parts[i].time ? p->time : parts[i].time;
		timed = to;
		counted = until;
	}
	u->time -= timed;
	u->count -= counted;
	return n;
}

void unseen_fini(struct unseen *u)
{
	free(u->latest);
	u->latest = NULL;
}
