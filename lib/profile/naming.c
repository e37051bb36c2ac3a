/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of places: each distinct address is looked up in its image once, in order of address. */
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "profile/places.h"

struct order {
	uint32_t image, place;
	uint64_t address;
};

static int naming_by_address(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->address, y->address);
}

const char *profile_nameless(
	const struct prof_data *d, uint32_t image, uint64_t address, char *room, size_t size)
{
	const char *why;

	if (d->images.data[image].image->kind == EXPERIMENT_IMAGE_UNKNOWN)
		return "(unknown)";
	if (d->names.ops->state(d->names.context, image, &why) != PROF_IMAGE_REPLACED)
		return "(no symbol)";
	snprintf(room, size, "0x%llx", (unsigned long long)address);
	return room;
}

int profile_function_line(
	const struct prof_data *d, uint32_t image, uint64_t begin, struct image_line *line)
{
	const struct prof_names *n = &d->names;
	struct image_frame frames[64];
	size_t room = sizeof(frames) / sizeof(frames[0]);
	size_t count = n->ops->inlines(n->context, image, begin, frames, room);

	if (count > 1 && count < room && frames[count - 1].line.file) {
		*line = frames[count - 1].line;
		return 0;
	}
	return n->ops->line(n->context, image, begin, line);
}

/* The real function, or with -inlines the one that was inlined there. */
static int find_procedure(struct prof_data *d, const struct order *o, struct prof_name *name)
{
	const struct prof_names *n = &d->names;
	struct image_symbol symbol = {0};
	struct image_frame frames[2];
	const char *text;
	char room[32];
	long string;

	if (n->ops->symbol(n->context, o->image, o->address, &symbol)) {
		text = profile_nameless(d, o->image, o->address, room, sizeof(room));
	} else {
		text = symbol.demangled ? symbol.demangled : symbol.name;
		name->begin = symbol.address;
	}
	if (d->request->inlines &&
		n->ops->inlines(n->context, o->image, o->address, frames, 2) > 1 &&
		frames[0].name) {
		string = profile_string(d, text);
		if (string < 0)
			return -1;
		name->real = (uint32_t)string;
		text = frames[0].name;
		name->begin = 0;
		name->inlined = true;
	}
	string = profile_string(d, text);
	if (string < 0)
		return -1;
	name->procedure = (uint32_t)string;
	return 0;
}

static int find_line(struct prof_data *d, const struct order *o, struct prof_name *name)
{
	struct image_line line = {0};
	long string;

	if (d->names.ops->line(d->names.context, o->image, o->address, &line) || !line.file ||
		!line.line)
		return 0;
	string = profile_string(d, line.file);
	if (string < 0)
		return -1;
	name->file = (uint32_t)string;
	name->line = line.line;
	return 0;
}

static int naming_name_all(struct prof_data *d, const struct order *order, bool lines)
{
	for (size_t i = 0; i < d->places.count; i++) {
		struct prof_name *name = &d->name[order[i].place];

		if (i % 64 == 0)
			profile_progress(d, i, d->places.count, "naming functions and lines");
		/* the same address in another group */
		if (i && naming_by_address(&order[i - 1], &order[i]) == 0) {
			*name = d->name[order[i - 1].place];
			continue;
		}
		if (find_procedure(d, &order[i], name) || (lines && find_line(d, &order[i], name)))
			return -1;
	}
	return 0;
}

int profile_data_name(struct prof_data *d, bool lines, struct error *e)
{
	struct order *order = calloc(d->places.count + 1, sizeof(*order));
	int rc = -1;

	free(d->name);
	d->name = calloc(d->places.count + 1, sizeof(*d->name));
	if (order && d->name) {
		for (size_t i = 0; i < d->places.count; i++) {
			const struct profile_place *p = profile_place_at(d, i);

			order[i] = (struct order){p->key.image, (uint32_t)i, p->key.address};
		}
		qsort(order, d->places.count, sizeof(*order), naming_by_address);
		rc = naming_name_all(d, order, lines);
	}
	free(order);
	return rc ? error_nomem(e) : 0;
}
