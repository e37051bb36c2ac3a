/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/image_files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct named { /* a symbol that the experiment holds */
	uint64_t address, length;
	const char *name;
	char *demangled; /* after the first request */
};

struct slot {
	bool tried;
	struct image *image;
	bool closed; /* it was open, and state and why say what there is to say */
	enum prof_image_state state;
	char why[512];
	VEC(struct named) symbols; /* by address */
};

struct prof_images {
	const struct prof_data *data;
	const struct prof_images_search *search;
	long executable; /* image that search->executable is; -1: none */
	struct slot *slots;
	long open;            /* sparing: the one that is open; -1: none */
	pthread_mutex_t lock; /* of slots and their images */
};

static int image_files_by_address(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return sort_rising(x->address, y->address);
}

static int take_symbols(struct prof_images *images)
{
	const struct prof_data *d = images->data;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->symbols.count; k++) {
			const struct experiment_symbol *s = table_at(&x->symbols, k);
			const struct named own = {s->key.address, s->length, s->name, NULL};

			if (s->key.image < x->images.count &&
				vec_add(&images->slots[d->image_of.data[i][s->key.image]].symbols,
					own))
				return -1;
		}
	}
	for (size_t i = 0; i < d->images.count; i++)
		if (images->slots[i].symbols.count)
			qsort(images->slots[i].symbols.data, images->slots[i].symbols.count,
				sizeof(struct named), image_files_by_address);
	return 0;
}

/* Which image the user's executable is. */
static int find_executable(struct prof_images *images, struct error *e)
{
	const struct prof_data *d = images->data;
	uint8_t id[EXPERIMENT_BUILD_ID_MAX];
	uint64_t size = 0, fingerprint = 0;
	size_t length = 0;

	if (image_identify(images->search->executable, id, &length, &size, &fingerprint, e))
		return -1;
	for (size_t i = 0; i < d->images.count; i++) {
		const struct experiment_image *im = d->images.data[i].image;

		if (im->build_id_length != length || memcmp(im->build_id, id, length) != 0)
			continue;
		if (!length && (im->size != size || im->fingerprint != fingerprint))
			continue;
		images->executable = (long)i;
		return 0;
	}
	error_set(e, ERR_CONFLICT, "%s is not what ran in this experiment",
		images->search->executable);
	return error_hint(
		e, "leave it out: files are found at their recorded paths if they are the same");
}

struct prof_images *profile_images_new(
	const struct prof_data *d, const struct prof_images_search *search, struct error *e)
{
	struct prof_images *images = calloc(1, sizeof(*images));

	if (!images) {
		error_nomem(e);
		return NULL;
	}
	images->data = d;
	images->search = search;
	images->executable = images->open = -1;
	pthread_mutex_init(&images->lock, NULL);
	images->slots = calloc(d->images.count + 1, sizeof(*images->slots));
	if (!images->slots || take_symbols(images))
		error_nomem(e);
	else if (!search->executable || find_executable(images, e) == 0)
		return images;
	profile_images_free(images);
	return NULL;
}

void profile_images_free(struct prof_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; images->slots && i < images->data->images.count; i++) {
		struct slot *s = &images->slots[i];

		for (size_t k = 0; k < s->symbols.count; k++)
			if (s->symbols.data[k].demangled != s->symbols.data[k].name)
				free(s->symbols.data[k].demangled);
		vec_fini(&s->symbols);
		if (s->image)
			image_close(s->image);
	}
	free(images->slots);
	pthread_mutex_destroy(&images->lock);
	free(images);
}

/* Of a file that could not be identified when it ran. */
static const char *why_nameless(const char *path)
{
	char mark[4] = "";
	FILE *f = fopen(path, "re");
	bool elf = f && fread(mark, 1, sizeof(mark), f) == sizeof(mark) &&
		   memcmp(mark, "\177ELF", sizeof(mark)) == 0;

	if (!f)
		return "the file does not exist: there are no names";
	fclose(f);
	return elf ? "unknown whether it is the file that ran: there are no names"
		   : "not an ELF file: there are no names";
}

static int by_value_of_addresses(const void *a, const void *b)
{
	return sort_rising(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Only the addresses that the data has of the image get names. */
static int want_addresses(const struct prof_data *d, uint32_t index, struct image *image)
{
	VEC(uint64_t) addresses = {0};
	int rc = 0;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 1; k < x->nodes.count && rc == 0; k++) {
			const struct experiment_node *n = experiment_node_at(x, k);

			if (n->key.image < x->images.count &&
				d->image_of.data[i][n->key.image] == index)
				rc = vec_add(&addresses, n->key.address);
		}
	}
	if (addresses.count)
		qsort(addresses.data, addresses.count, sizeof(uint64_t), by_value_of_addresses);
	rc = rc || image_want_symbols(image, addresses.data, addresses.count) ? -1 : 0;
	vec_fini(&addresses);
	return rc;
}

static void try_open(struct prof_images *images, uint32_t index)
{
	const struct experiment_image *im = images->data->images.data[index].image;
	struct slot *s = &images->slots[index];
	struct image_identity id = {.path = im->path,
		.build_id = im->build_id,
		.build_id_length = im->build_id_length,
		.size = im->size,
		.fingerprint = im->fingerprint};
	struct error e = {0};

	s->tried = true;
	if (im->kind == EXPERIMENT_IMAGE_FILE)
		snprintf(s->why, sizeof(s->why), "%s", why_nameless(im->path));
	if (im->kind != EXPERIMENT_IMAGE_ELF)
		return;
	if (images->executable == (long)index)
		id.path = images->search->executable;
	s->image = image_open(&id, &images->search->where, &e);
	if (s->image)
		return;
	s->state = e.code == ERR_CONFLICT ? PROF_IMAGE_REPLACED : PROF_IMAGE_MISSING;
	snprintf(s->why, sizeof(s->why), "%s", e.message);
}

/* It is opened again if it is asked for again. */
static void close_slot(struct slot *s)
{
	const char *complaint;

	if (!s->image)
		return;
	complaint = s->closed ? NULL : image_complaint(s->image);
	if (complaint)
		snprintf(s->why, sizeof(s->why), "%s", complaint);
	image_close(s->image);
	s->image = NULL;
	s->closed = true;
	s->tried = false;
}

static void open_alone(struct prof_images *images, uint32_t index)
{
	if (images->open >= 0)
		close_slot(&images->slots[images->open]);
	images->open = index;
	try_open(images, index);
	if (images->slots[index].image)
		(void)want_addresses(images->data, index, images->slots[index].image);
}

static void open_slot(struct prof_images *images, uint32_t index)
{
	if (images->slots[index].tried)
		return;
	if (images->search->sparing)
		open_alone(images, index);
	else
		try_open(images, index);
}

/* With the lock. */
static struct slot *lock_slot(struct prof_images *images, uint32_t index)
{
	pthread_mutex_lock(&images->lock);
	open_slot(images, index);
	return &images->slots[index];
}

static void unlock_slots(struct prof_images *images)
{
	pthread_mutex_unlock(&images->lock);
}

/* The last recorded symbol that begins at or before address, if it reaches that far. */
static int recorded_symbol(struct slot *s, uint64_t address, struct image_symbol *symbol)
{
	struct named *n;
	size_t low = vec_search(i, s->symbols.count, s->symbols.data[i].address <= address);

	if (!low)
		return -1;
	n = &s->symbols.data[low - 1];
	if (n->length && address - n->address >= n->length)
		return -1;
	if (!n->demangled) {
		n->demangled = image_demangle(n->name);
		if (!n->demangled)
			n->demangled = (char *)n->name;
	}
	*symbol = (struct image_symbol){n->address, n->length, n->name, n->demangled, false};
	return 0;
}

static int find_symbol(struct slot *s, uint64_t address, struct image_symbol *symbol)
{
	const struct image_symbol *found = s->image ? image_symbol_at(s->image, address) : NULL;

	if (!found || found->guessed)
		if (recorded_symbol(s, address, symbol) == 0)
			return 0;
	if (!found)
		return -1;
	*symbol = *found;
	return 0;
}

static int names_symbol(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	int rc = find_symbol(lock_slot(names, image), address, symbol);

	unlock_slots(names);
	return rc;
}

static int names_line(void *names, uint32_t image, uint64_t address, struct image_line *line)
{
	struct slot *s = lock_slot(names, image);
	int rc = s->image ? image_line_at(s->image, address, line) : -1;

	unlock_slots(names);
	return rc;
}

static size_t names_inlines(
	void *names, uint32_t image, uint64_t address, struct image_frame *frames, size_t room)
{
	struct slot *s = lock_slot(names, image);
	size_t n = s->image ? image_inlines_at(s->image, address, frames, room) : 0;

	unlock_slots(names);
	return n;
}

static enum prof_image_state names_state(void *names, uint32_t image, const char **why)
{
	struct prof_images *images = names;
	struct slot *s = &images->slots[image];
	enum prof_image_state state;

	pthread_mutex_lock(&images->lock);
	if (!s->closed)
		open_slot(images, image);
	state = s->state;
	*why = s->why[0] ? s->why : s->image ? image_complaint(s->image) : NULL;
	unlock_slots(names);
	return state;
}

static enum image_machine names_machine(void *names, uint32_t image)
{
	struct slot *s = lock_slot(names, image);
	enum image_machine machine = s->image ? image_machine(s->image) : IMAGE_OTHER;

	unlock_slots(names);
	return machine;
}

static size_t names_code(void *names, uint32_t image, uint64_t address, void *bytes, size_t size)
{
	struct slot *s = lock_slot(names, image);
	size_t n = s->image ? image_code(s->image, address, bytes, size) : 0;

	unlock_slots(names);
	return n;
}

static int names_segment(
	void *names, uint32_t image, uint64_t address, struct image_segment *segment)
{
	struct slot *s = lock_slot(names, image);
	int rc = s->image ? image_segment_at(s->image, address, segment) : -1;

	unlock_slots(names);
	return rc;
}

static struct image *names_file(void *names, uint32_t image)
{
	struct prof_images *images = names;
	struct image *file = lock_slot(names, image)->image;

	unlock_slots(names);
	return images->search->sparing ? NULL : file; /* it would be closed */
}

const struct prof_names_ops profile_images_ops = {.symbol = names_symbol,
	.line = names_line,
	.inlines = names_inlines,
	.machine = names_machine,
	.code = names_code,
	.segment = names_segment,
	.file = names_file,
	.state = names_state};

int profile_named_init(struct prof_data *d, const struct prof_request *request,
	const struct prof_images_search *search, struct error *e)
{
	struct prof_images *images;

	if (profile_data_init(d, request, e))
		return -1;
	images = profile_images_new(d, search, e);
	d->names = (struct prof_names){&profile_images_ops, images};
	if (images)
		return 0;
	profile_data_fini(d);
	return -1;
}

void profile_named_fini(struct prof_data *d)
{
	profile_images_free(d->names.context);
	profile_data_fini(d);
}
