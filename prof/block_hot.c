/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof block: the blocks of an experiment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "block.h"
#include "explain/hot_blocks.h"
#include "load/load.h"
#include "profile/image_files.h"

static int take(block_items *items, const struct hot_blocks *hot, size_t i, struct error *e)
{
	const struct hot_block *b = &hot->list.data[i];
	struct block_item *item = block_item_new(items, b->bytes, b->length);

	if (!item)
		return error_nomem(e);
	item->address = b->begin;
	item->share = (double)b->samples / (double)hot->total;
	item->function = strdup(b->function);
	if (asprintf(&item->where, "0x%llx", (unsigned long long)b->begin) < 0)
		item->where = NULL;
	return item->function && item->where ? 0 : error_nomem(e);
}

/* Of images that have samples. */
static void say_what_is_missing(const struct prof_data *d)
{
	bool *said = calloc(d->images.count + 1, sizeof(*said));
	const char *why;

	for (size_t i = 0; said && i < d->places.count; i++) {
		uint32_t image = profile_place_at(d, i)->key.image;

		if (!said[image] &&
			d->names.ops->state(d->names.context, image, &why) != PROF_IMAGE_FINE &&
			why)
			say("%s", why);
		said[image] = true;
	}
	free(said);
}

static int find(block_items *items, struct prof_data *d, size_t top, struct error *e)
{
	struct hot_blocks hot;
	int rc = 0;

	if (profile_data_name(d, false, e) || hot_blocks_find(&hot, d, e))
		return -1;
	say_what_is_missing(d);
	if (hot.lost)
		say("%.1f%% of the samples are in no block that could be found",
			100.0 * (double)hot.lost / (double)hot.total);
	for (size_t i = 0; i < hot.list.count && i < top && rc == 0; i++)
		rc = take(items, &hot, i, e);
	hot_blocks_fini(&hot);
	return rc;
}

int blocks_from_experiment(block_items *items, const char *path, size_t top, struct error *e)
{
	const struct load_request files = {.search = {0}};
	const struct prof_images_search search = {0};
	char *words[] = {(char *)path, NULL};
	struct prof_input input = {.file = path};
	const struct prof_request request = {.inputs = &input, .count = 1};
	struct arguments arguments;
	struct loaded loaded = {0};
	struct prof_data data = {0};
	int rc = arguments_find(&arguments, words, e) || loaded_read(&loaded, &files, &arguments, e)
			 ? -1
			 : 0;

	if (rc == 0) {
		input.experiment = &loaded.experiments.data[0];
		rc = profile_named_init(&data, &request, &search, e) ?: find(items, &data, top, e);
	}
	profile_named_fini(&data);
	loaded_fini(&loaded);
	arguments_fini(&arguments);
	return rc;
}
