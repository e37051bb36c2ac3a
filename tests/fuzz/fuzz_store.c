/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of files in a store: each line of the input is one, of an image's directory or below it.
 * What is listed has days and an existing file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES = 16 };

static void look(const struct store *s, const char *word)
{
	store_images images;
	struct error e = {0};

	if (store_list(s, &images, &e))
		abort();
	for (size_t i = 0; i < images.count; i++) {
		const struct store_image *image = &images.data[i];

		(void)store_names(image, word);
		for (size_t k = 0; k < image->files.count; k++)
			if (access(image->files.data[k].path, F_OK) ||
				store_day_number(image->files.data[k].day) < 0 ||
				image->first > image->files.data[k].day ||
				image->last < image->files.data[k].day)
				abort();
	}
	store_images_fini(&images);
}

/* The rest of the input is in each file: names of parts, and the image's path. */
static void put(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	fwrite(data, 1, size, f);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char directory[] = "/tmp/fuzz-store.XXXXXX", *text = malloc(size + 1), *names[NAMES],
	     *rest = text;
	struct store s = {.directory = directory};
	size_t count = 0;

	if (!text || !mkdtemp(directory)) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *line; count < NAMES && (line = strsep(&rest, "\n"));) {
		bool plain = *line && strlen(line) < 100 && !strstr(line, "..") && *line != '/' &&
			     strcmp(line, ".") != 0;

		if (!plain || asprintf(&names[count], "%s/%s", directory, line) < 0)
			continue;
		if (line[strlen(line) - 1] == '/')
			mkdir(names[count], 0700);
		else
			put(names[count], (const uint8_t *)(rest ? rest : ""),
				rest ? strlen(rest) : 0);
		count++;
	}
	look(&s, rest ? rest : "*");
	while (count > 0) {
		remove(names[--count]);
		free(names[count]);
	}
	rmdir(directory);
	free(text);
	return 0;
}
