/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are asked for sparingly are those of all names, from one open file at a time and
 * without debug information. */
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"
#include "base/file.h"
#include "experiment/experiment.h"
#include "experiment/file.h"
#include "image/image.h"
#include "profile/image_files.h"

enum { FILES = 2, ADDRESSES = 400 };

static char scratch[] = "/tmp/perfex-images.XXXXXX";
static char paths[FILES][64];

/* ---- copies of this program and of a library of it, and an experiment with addresses in them */

static const char *library(void)
{
	static char path[512];
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/libc.so") && sscanf(strchr(line, '/'), "%511s", path) == 1)
			break;
	if (f)
		fclose(f);
	return path;
}

static bool copy_file(const char *from, const char *to)
{
	size_t length = 0;
	char *bytes = file_read(from, 0, &length, NULL);
	FILE *f = bytes ? fopen(to, "wbe") : NULL;
	bool good = f && fwrite(bytes, 1, length, f) == length;

	good = f && fclose(f) == 0 && good;
	free(bytes);
	return good;
}

/* Of its functions, evenly; and of its stubs, whose names end so. */
struct chosen {
	struct experiment *x;
	uint32_t image;
	size_t symbols, step, stubs;
	bool failed;
};

static int count_symbol(void *context, const struct image_symbol *symbol)
{
	struct chosen *c = context;

	(void)symbol;
	c->symbols++;
	return 0;
}

static int choose_symbol(void *context, const struct image_symbol *symbol)
{
	struct chosen *c = context;
	bool stub = strstr(symbol->name, "@plt") != NULL && c->stubs < 20;
	long node;

	c->symbols++;
	if (!stub && c->symbols % c->step)
		return 0;
	c->stubs += stub;
	node = experiment_node(c->x, EXPERIMENT_ROOT, c->image, symbol->address + symbol->size / 2);
	c->failed |= node < 0 || experiment_add(c->x, 0, 0, 0, (uint32_t)node, 1);
	return 0;
}

static bool add_file(struct experiment *x, const char *path, size_t *stubs)
{
	struct experiment_image own = {
		.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)(uintptr_t)path};
	struct image_identity id = {.path = path};
	struct chosen c = {.x = x};
	struct image *image;
	size_t length;

	if (image_identify(path, own.build_id, &length, &own.size, &own.fingerprint, NULL))
		return false;
	own.build_id_length = (uint32_t)length;
	c.image = (uint32_t)experiment_image(x, &own, NULL);
	image = image_open(&id, NULL, NULL);
	if (!image)
		return false;
	image_symbols(image, count_symbol, &c);
	c.step = c.symbols / ADDRESSES + 1;
	image_symbols(image, choose_symbol, &c);
	image_close(image);
	*stubs += c.stubs;
	return !c.failed;
}

static bool build(struct experiment *x)
{
	const struct experiment_metric m = {.event = -1,
		.name = (char *)"CPU time",
		.short_name = (char *)"time",
		.unit = (char *)"ns",
		.source = (char *)"os",
		.note = (char *)"",
		.flags = METRIC_CLOCK,
		.period = 1000};
	size_t stubs = 0;
	bool good = experiment_metric(x, &m, NULL) == 0;

	for (int i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%d", scratch, i);
		good = good && copy_file(i ? library() : "/proc/self/exe", paths[i]) &&
		       add_file(x, paths[i], &stubs);
	}
	ok(good, "an experiment with functions of two files, %zu stubs", stubs);
	return good && experiment_settle(x, NULL) == 0;
}

/* ---- questions */

/* Files of ours that this process has mapped. */
static int mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024];
	int n = 0;

	for (int i = 0; f && i < FILES; i++) {
		bool found = false;

		rewind(f);
		while (fgets(line, sizeof(line), f))
			found |= strstr(line, paths[i]) != NULL;
		n += found;
	}
	if (f)
		fclose(f);
	return n;
}

/* The k-th address of a file. */
static bool address_at(const struct experiment *x, size_t k, uint32_t image, uint64_t *address)
{
	size_t n = 0;

	for (size_t i = 1; i < x->nodes.count; i++)
		if (experiment_node_at(x, i)->key.image == image && n++ == k) {
			*address = experiment_node_at(x, i)->key.address;
			return true;
		}
	return false;
}

struct answers {
	char names[FILES * ADDRESSES][256]; /* "": none */
	int asked, most;                    /* questions; files that were open at once */
	bool complains, files;
};

static void answer(struct answers *a, struct prof_images *images, uint32_t image, uint64_t address)
{
	struct image_symbol s;
	int open;

	if (profile_images_ops.symbol(images, image, address, &s) == 0)
		snprintf(a->names[a->asked], sizeof(a->names[0]), "%llx+%llx %.90s %.90s",
			(unsigned long long)s.address, (unsigned long long)s.size, s.name,
			s.demangled);
	a->asked++;
	open = mapped();
	a->most = open > a->most ? open : a->most;
}

/* Asks for rounds addresses of each file; in turn: each question is to another one. */
static struct answers *ask(const struct experiment *x, bool sparing, size_t rounds, bool in_turn)
{
	const struct prof_input input = {.experiment = x, .file = "x"};
	const struct prof_request request = {.inputs = &input, .count = 1};
	const struct prof_images_search search = {.sparing = sparing};
	struct answers *a = calloc(1, sizeof(*a));
	struct prof_data data;
	struct prof_images *images;
	const char *why;

	if (!a || profile_data_init(&data, &request, NULL))
		return a;
	images = profile_images_new(&data, &search, NULL);
	for (size_t n = 0; images && n < FILES * rounds; n++) {
		uint32_t image = (uint32_t)(1 + (in_turn ? n % FILES : n / rounds));
		uint64_t address;

		if (address_at(x, in_turn ? n / FILES : n % rounds, image, &address))
			answer(a, images, data.image_of.data[0][image], address);
	}
	for (uint32_t i = 1; images && i <= FILES; i++) { /* the first image is unknown code */
		a->complains |= profile_images_ops.state(images, i, &why) != PROF_IMAGE_FINE ||
				(why && strstr(why, "debug"));
		a->files |= profile_images_ops.file(images, i) != NULL;
	}
	profile_images_free(images);
	profile_data_fini(&data);
	return a;
}

static void compare(const struct experiment *x, size_t rounds, bool in_turn)
{
	struct answers *all = ask(x, false, rounds, in_turn), *few = ask(x, true, rounds, in_turn);
	int other = 0, nameless = 0;

	if (!all || !few)
		return;
	for (int i = 0; i < all->asked; i++) {
		other += strcmp(all->names[i], few->names[i]) != 0;
		if (strcmp(all->names[i], few->names[i]) != 0)
			printf("# '%s', of whole tables '%s'\n", few->names[i], all->names[i]);
		nameless += !*few->names[i];
	}
	ok(all->asked > 30 && few->asked == all->asked, "%d addresses are asked for", all->asked);
	is_int(nameless, 0, "... each has a name");
	is_int(other, 0, "... that of whole tables");
	is_int(few->most, 1, "... one file is open at a time");
	is_int(all->most, FILES, "... not of whole tables");
	ok(!few->complains, "... debug information is not asked for");
	ok(all->files && !few->files, "... and no file is given, which would be closed");
	free(all);
	free(few);
}

int main(void)
{
	struct experiment x;

	if (!mkdtemp(scratch) || experiment_init(&x, NULL))
		return 1;
	if (build(&x)) {
		compare(&x, ADDRESSES, false);
		compare(&x, 20, true);
	}
	experiment_fini(&x);
	for (int i = 0; i < FILES; i++)
		unlink(paths[i]);
	rmdir(scratch);
	return done();
}
