/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of a process as those of images, and the sites that values of its instructions belong
 * to. A window comes to the same few instructions again and again, so both are remembered.
 */
#ifndef COLLECT_VALUE_PLACES_H
#define COLLECT_VALUE_PLACES_H

#include "collect/spaces.h"
#include "values/sites.h"
#include "values/values.h"

#define VALUE_SPANS 4

struct value_place {
	uint64_t address;
	uint32_t image; /* 0: unknown, the address is the process's */
};

struct value_places {
	struct spaces *spaces;         /* borrowed */
	struct experiment *experiment; /* borrowed */
	struct known_site *known;      /* by instruction and kind */
	struct {
		uint64_t begin, end;
		const struct mapping *mapping; /* NULL: none is there */
	} span[VALUE_SPANS];                   /* of this window */
	unsigned next;
};

/* -1: memory is out. */
int value_places_init(struct value_places *v, struct spaces *spaces, struct experiment *x);
/* What follows is of another window. */
void value_places_begin(struct value_places *v);
/* -1: memory is out. */
int value_places_find(
	struct value_places *v, const struct process *p, uint64_t at, struct value_place *place);
/* The number of the site; *site is -1 where the image is unknown. -1: memory is out. */
int value_places_site(struct value_places *v, struct value_sites *sites, const struct process *p,
	const struct value_seen *seen, long *site);
/* Values that come somewhat later: what is remembered of them is fetched into the cache, the
 * program has had that since the last window. */
void value_places_fetch(const struct value_places *v, const struct value_sites *sites,
	const struct process *p, const struct value_seen *later, size_t count);
void value_places_fini(struct value_places *v);

#endif
