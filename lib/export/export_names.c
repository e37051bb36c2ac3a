/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each distinct address is looked up in its image once, in order of address. */
#include <stdlib.h>

#include "base/sort.h"
#include "export/private.h"
#include "profile/entities.h"

struct order {
	uint64_t address;
	uint32_t image, place;
};

static int export_names_by_address(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->address, y->address);
}

/* Index of the function, -1 when memory is out. */
static long function_of(struct export_profile *x, const struct export_function *key)
{
	struct export_function *own = table_add(&x->functions, &key->key);

	return own ? own - (struct export_function *)(void *)x->functions.entries : -1;
}

static int add_frame(
	struct export_profile *x, const struct export_function *key, const struct image_line *line)
{
	struct export_frame *frame = vec_push(&x->frames);
	long function = function_of(x, key), file = 0;

	if (line->file && line->line)
		file = profile_string(x->data, line->file);
	if (!frame || function < 0 || file < 0)
		return -1;
	*frame = (struct export_frame){(uint32_t)function, (uint32_t)file, file ? line->line : 0};
	return 0;
}

/* Functions inlined at the address, without the real one; *line: the line in the real one. */
static int add_inlined(
	struct export_profile *x, const struct export_location *l, struct image_line *line)
{
	const struct prof_names *n = &x->data->names;
	enum { ROOM = 64 };
	struct image_frame frames[ROOM];
	size_t count = n->ops->inlines(n->context, l->image, l->address, frames, ROOM);

	if (count > ROOM)
		count = 0; /* deeper nesting means a damaged file */
	for (size_t i = 0; i + 1 < count; i++) {
		const char *name = frames[i].name ? frames[i].name : "(inlined)";
		long string = profile_string(x->data, name);
		long file = frames[i].line.file ? profile_string(x->data, frames[i].line.file) : 0;
		struct export_function key = {.key = {.name = (uint32_t)string,
						      .symbol = (uint32_t)string,
						      .image = l->image,
						      .inlined = 1,
						      .file = (uint32_t)file}};

		if (string < 0 || file < 0 || add_frame(x, &key, &frames[i].line))
			return -1;
	}
	if (count > 1)
		*line = frames[count - 1].line;
	return 0;
}

static int add_real(
	struct export_profile *x, struct export_location *l, const struct image_line *line)
{
	const struct prof_names *n = &x->data->names;
	struct export_function key = {.key = {.image = l->image}};
	struct image_symbol symbol;
	struct image_line begin = {0};
	const char *name, *linker;
	char room[32];
	long string, other, file = 0;

	l->named = n->ops->symbol(n->context, l->image, l->address, &symbol) == 0;
	if (l->named) {
		key.key.begin = symbol.address;
		linker = symbol.name;
		name = symbol.demangled ? symbol.demangled : symbol.name;
		if (n->ops->line(n->context, l->image, symbol.address, &begin) == 0 && begin.file)
			file = profile_string(x->data, begin.file);
	} else {
		name = profile_nameless(x->data, l->image, l->address, room, sizeof(room));
		linker = name;
	}
	string = profile_string(x->data, name);
	other = profile_string(x->data, linker);
	if (string < 0 || other < 0 || file < 0)
		return -1;
	key.key.name = (uint32_t)string;
	key.key.symbol = (uint32_t)other;
	key.key.file = (uint32_t)file;
	key.key.line = file ? begin.line : 0;
	return add_frame(x, &key, line);
}

static int add_location(struct export_profile *x, const struct order *o)
{
	const struct prof_names *n = &x->data->names;
	struct export_location *l = vec_push(&x->locations);
	struct image_line line = {0};

	if (!l)
		return -1;
	*l = (struct export_location){
		.image = o->image, .address = o->address, .first = x->frames.count};
	n->ops->line(n->context, l->image, l->address, &line);
	if (add_inlined(x, l, &line) || add_real(x, l, &line))
		return -1;
	l->frames = (uint32_t)(x->frames.count - l->first);
	return 0;
}

/* As -only and -exclude choose rows. */
static bool export_names_wanted(const struct export_profile *x, const struct export_location *l)
{
	size_t frame = l->first + (x->data->request->inlines ? 0 : l->frames - 1);
	uint32_t function = x->frames.data[frame].function;

	return profile_wanted(x->data, l->image, export_function_at(x, function)->key.name);
}

static int export_names_name_all(struct export_profile *x, const struct order *order)
{
	size_t count = x->data->places.count;

	for (size_t i = 0; i < count; i++) {
		/* the same address in another thread is already in the list */
		if ((!i || export_names_by_address(&order[i - 1], &order[i]) != 0) &&
			add_location(x, &order[i]))
			return -1;
		x->location[order[i].place] = (uint32_t)x->locations.count - 1;
		x->wanted[order[i].place] =
			export_names_wanted(x, &x->locations.data[x->locations.count - 1]);
		progress_step(x->request->progress, (double)i / (double)count, "naming functions");
	}
	return 0;
}

int export_name(struct export_profile *x, struct error *e)
{
	const struct prof_data *d = x->data;
	struct order *order = calloc(d->places.count + 1, sizeof(*order));
	int rc = -1;

	x->functions = (struct table){.entry_size = sizeof(struct export_function),
		.key_size = sizeof(((struct export_function *)0)->key)};
	x->location = calloc(d->places.count + 1, sizeof(*x->location));
	x->wanted = calloc(d->places.count + 1, sizeof(*x->wanted));
	if (order && x->location && x->wanted) {
		for (size_t i = 0; i < d->places.count; i++) {
			const struct profile_place *p = profile_place_at(d, i);

			order[i] = (struct order){p->key.address, p->key.image, (uint32_t)i};
		}
		qsort(order, d->places.count, sizeof(*order), export_names_by_address);
		rc = export_names_name_all(x, order);
	}
	free(order);
	return rc ? error_nomem(e) : 0;
}

int export_full_name(struct strbuf *s, const struct export_profile *x, uint32_t function)
{
	const struct export_function *f = export_function_at(x, function);
	const char *image = x->data->images.data[f->key.image].name;

	strbuf_puts(s, export_text(x, f->key.name));
	if (!f->key.begin && !f->key.inlined &&
		x->data->images.data[f->key.image].image->kind != EXPERIMENT_IMAGE_UNKNOWN)
		strbuf_printf(s, *image == '[' ? " %s" : " [%s]", image);
	return s->failed ? -1 : 0;
}

void export_thread_name(struct strbuf *s, const struct export_profile *x, uint32_t group)
{
	const struct prof_group *g = export_group_at(x, group);

	if (g->key.rank >= 0)
		strbuf_printf(s, "rank %d ", (int)g->key.rank);
	if (!g->key.pid && !g->key.tid && g->key.rank < 0) {
		strbuf_puts(s, "all threads");
		return;
	}
	strbuf_puts(s, g->command && g->command[0] ? g->command : "thread");
	if (g->key.pid || g->key.tid)
		strbuf_printf(s, " %d/%d", (int)g->key.pid, (int)g->key.tid);
}

bool export_any(const struct export_profile *x, size_t node)
{
	for (size_t m = 0; m < x->metrics.count; m++)
		if (export_samples(x, node, m))
			return true;
	return false;
}

int export_name_keys(const struct export_profile *x, uint32_t *key)
{
	struct strbuf name = {0};
	int rc = 0;

	for (uint32_t i = 0; i < x->functions.count && rc == 0; i++) {
		long string;

		name.length = 0;
		rc = export_full_name(&name, x, i);
		string = rc ? -1 : profile_string(x->data, strbuf_text(&name));
		rc = string < 0 ? -1 : 0;
		key[i] = (uint32_t)string;
	}
	strbuf_fini(&name);
	return rc;
}
