/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/value_places.h"

#include <stdlib.h>

#define KNOWN_SITES 8192 /* a power of two */
#define KNOWN_SHIFT 51   /* 64 less its binary digits */
#define AHEAD       4    /* values: in that time, memory is there */
#define MULTIPLIER  0x9e3779b97f4a7c15u

struct known_site {
	uint64_t pc;
	uint32_t space; /* 0: it is free */
	uint32_t what;  /* kind, operand, bits and class */
	int64_t site;   /* -1: its image is unknown */
};

int value_places_init(struct value_places *v, struct spaces *spaces, struct experiment *x)
{
	*v = (struct value_places){.spaces = spaces, .experiment = x};
	v->known = calloc(KNOWN_SITES, sizeof(*v->known));
	return v->known ? 0 : -1;
}

void value_places_fini(struct value_places *v)
{
	free(v->known);
	v->known = NULL;
}

/* Mappings may have changed. */
void value_places_begin(struct value_places *v)
{
	for (size_t i = 0; i < VALUE_SPANS; i++)
		v->span[i].begin = v->span[i].end = 0;
}

static const struct mapping *mapping_around(
	struct value_places *v, const struct process *p, uint64_t at)
{
	unsigned next;

	for (size_t i = 0; i < VALUE_SPANS; i++)
		if (at - v->span[i].begin < v->span[i].end - v->span[i].begin)
			return v->span[i].mapping;
	next = v->next++ % VALUE_SPANS;
	v->span[next].mapping = spaces_find_around(p, at, &v->span[next].begin, &v->span[next].end);
	return v->span[next].mapping;
}

int value_places_find(
	struct value_places *v, const struct process *p, uint64_t at, struct value_place *place)
{
	const struct mapping *m = mapping_around(v, p, at);
	long image;

	*place = (struct value_place){.address = at};
	if (!m)
		return 0;
	image = images_register(v->spaces->images, m->image, v->experiment);
	if (image < 0)
		return -1;
	if (image > 0)
		*place = (struct value_place){spaces_address(v->spaces, m, at), (uint32_t)image};
	return 0;
}

static uint32_t what_is_seen(const struct value_seen *s)
{
	return (uint32_t)s->kind | (uint32_t)s->operand << 8 | (uint32_t)s->bits << 16 |
	       (uint32_t)s->class << 24;
}

static struct known_site *known_at(
	const struct value_places *v, const struct value_seen *seen, uint32_t what)
{
	return &v->known[((seen->pc ^ (uint64_t)what << 40) * MULTIPLIER) >> KNOWN_SHIFT];
}

static bool is_known(const struct known_site *k, const struct process *p,
	const struct value_seen *seen, uint32_t what)
{
	return k->pc == seen->pc && k->what == what && k->space == p->space;
}

/* -1: not known. */
static long site_known(
	const struct value_places *v, const struct process *p, const struct value_seen *seen)
{
	uint32_t what = what_is_seen(seen);
	const struct known_site *k = known_at(v, seen, what);

	return is_known(k, p, seen, what) ? k->site : -1;
}

void value_places_fetch(const struct value_places *v, const struct value_sites *sites,
	const struct process *p, const struct value_seen *later, size_t count)
{
	long site;

	if (count > 2 * AHEAD)
		__builtin_prefetch(known_at(v, later + 2 * AHEAD, what_is_seen(later + 2 * AHEAD)));
	site = count > AHEAD ? site_known(v, p, later + AHEAD) : -1;
	if (site >= 0)
		value_sites_fetch(sites, site);
	site = count ? site_known(v, p, later) : -1;
	if (site >= 0)
		value_sites_fetch_list(sites, site);
}

int value_places_site(struct value_places *v, struct value_sites *sites, const struct process *p,
	const struct value_seen *seen, long *site)
{
	uint32_t what = what_is_seen(seen);
	struct known_site *known = known_at(v, seen, what);
	struct value_told told = {.kind = seen->kind,
		.operand = seen->operand,
		.form = (uint32_t)seen->bits << 8 | seen->class};
	struct value_place place;

	if (!is_known(known, p, seen, what)) {
		if (value_places_find(v, p, seen->pc, &place))
			return -1;
		told.image = place.image;
		told.address = place.address;
		*known = (struct known_site){seen->pc, p->space, what, -1};
		if (place.image)
			known->site = value_sites_find(sites, &told);
		if (place.image && known->site < 0) {
			known->space = 0;
			return -1;
		}
	}
	*site = known->site;
	return 0;
}
