/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recipes of prof optimize: refused with a message, or the same again after they are written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/recipe.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recipe r, again;
	struct strbuf text = {0}, second = {0};
	struct error e = {0};
	struct scratch file;
	const char *which;

	if (recipe_parse(&r, (const char *)data, size, "recipe", &e)) {
		if (!*e.message)
			abort();
		recipe_fini(&r);
		return 0;
	}
	for (size_t i = 0; i < r.steps.count; i++) {
		(void)recipe_links(&r.steps.data[i]);
		free(recipe_step_strays(&r.steps.data[i], "/src/tool"));
		free(recipe_step_program(&r.steps.data[i], "/src/tool"));
	}
	if (r.directory && *r.directory == '/')
		(void)recipe_older(&r, &which);
	if (recipe_write(&r, &text, &e) ||
		recipe_parse(&again, strbuf_text(&text), text.length, "written", &e) ||
		recipe_write(&again, &second, &e))
		abort();
	if (strcmp(strbuf_text(&text), strbuf_text(&second)) != 0)
		abort();
	recipe_fini(&r);
	recipe_fini(&again);
	if (scratch_open(&file, data, size) == 0) {
		if (recipe_read(&again, file.path, &e))
			abort();
		recipe_fini(&again);
		scratch_close(&file);
	}
	strbuf_fini(&text);
	strbuf_fini(&second);
	return 0;
}
