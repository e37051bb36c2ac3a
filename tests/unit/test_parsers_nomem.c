/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Out of memory at each single allocation of what reads recordings of perf, recipes and images. */
#include <stdlib.h>

#include "base/file.h"
#include "image/image.h"
#include "inject.h"
#include "optimize/recipe.h"
#include "perfdata/perfdata.h"

static const char *bytes;
static size_t size;

static int read_recording(struct error *e)
{
	struct experiment_damage damage;
	struct experiment x;

	if (perfdata_parse(&x, bytes, size, NULL, &damage, e))
		return -1;
	experiment_fini(&x);
	return 0;
}

static int read_recipe(struct error *e)
{
	struct recipe r;
	int rc = recipe_parse(&r, bytes, size, "recipe", e);

	recipe_fini(&r);
	return rc;
}

static int look_at(void *context, const struct image_symbol *s)
{
	struct image_line line;
	struct image_frame frames[4];
	struct image_variable v;

	(void)image_line_at(context, s->address, &line);
	(void)image_inlines_at(context, s->address, frames, 4);
	(void)image_variable_at(context, s->address, &v);
	return 0;
}

/* What cannot be told for want of memory is not known. */
static int read_image(struct error *e)
{
	struct image *image = image_open_memory(bytes, size, "image", e);

	if (!image)
		return -1;
	image_symbols(image, look_at, image);
	image_close(image);
	return 0;
}

static void each_of(
	const char *directory, const char *const *names, int (*run)(struct error *e), bool optional)
{
	const char *top = getenv("TOP");

	for (; *names; names++) {
		char path[4096];
		char *text;

		snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/%s/%s", top ? top : ".",
			directory, *names);
		text = file_read(path, 0, &size, NULL);
		if (!ok(text != NULL, "%s is there", path))
			continue;
		bytes = text;
		inject_each(*names, run, optional);
		free(text);
	}
}

int main(void)
{
	static const char *const recordings[] = {"plain", "compressed", "compressed-pipe", "group",
		"build-ids", "updates", "branch-records", "kernel", NULL};
	static const char *const recipes[] = {"build", "commands", NULL};
	static const char *const images[] = {"data5", "gcc4z", "cfi", NULL};

	each_of("perfdata", recordings, read_recording, false);
	each_of("recipe", recipes, read_recipe, false);
	each_of("image", images, read_image, true);
	return done();
}
