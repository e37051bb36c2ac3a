/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the store, by names of files alone. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/order.h"
#include "base/sort.h"
#include "store/private.h"

typedef VEC(char *) part_names;

/* "20250131-0123456789abcdef.ssexp", "20250127.week-....ssexp" */
bool store_file_name(const char *name, unsigned *day, bool *week)
{
	static const char digits[] = "0123456789", hex[] = "0123456789abcdef";
	char *end;

	if (strspn(name, digits) != 8)
		return false;
	*day = (unsigned)strtoul(name, &end, 10);
	*week = strncmp(end, ".week-", 6) == 0;
	end += *week ? 6 : 1;
	return (*week || end[-1] == '-') && strspn(end, hex) == 16 &&
	       strcmp(end + 16, ".ssexp") == 0 && store_day_number(*day) >= 0;
}

static bool id_valid(const char *name)
{
	return strcmp(name, STORE_REMOVED) == 0 ||
	       (*name != '.' && strspn(name, "0123456789abcdefsize-") == strlen(name));
}

/* Names in a .parts file whose sum exists. */
static int read_parts(int directory, const char *path, const char *name, part_names *parts)
{
	size_t stem = strlen(name) - strlen(".parts"), length;
	char *sum, *file, *text;

	if (asprintf(&sum, "%.*s.ssexp", (int)stem, name) < 0)
		return -1;
	if (faccessat(directory, sum, F_OK, 0) != 0) {
		free(sum);
		return 0;
	}
	free(sum);
	if (asprintf(&file, "%s/%s", path, name) < 0)
		return -1;
	text = file_read_regular(file, 0, &length, NULL);
	free(file);
	for (char *rest = text, *at; text && (at = strsep(&rest, "\n"));) {
		char **slot = vec_push(parts);

		if (slot)
			*slot = strdup(at);
		if (!slot || !*slot) {
			parts->count -= slot != NULL;
			free(text);
			return -1;
		}
	}
	free(text);
	return 0;
}

static bool is_part(const part_names *parts, const char *name)
{
	return parts->count &&
	       bsearch(&name, parts->data, parts->count, sizeof(*parts->data), order_strings);
}

static int list_file(struct store_image *image, int directory, const char *path, const char *name)
{
	struct store_file f = {.path = NULL};
	struct stat st;

	if (!store_file_name(name, &f.day, &f.week) || fstatat(directory, name, &st, 0) ||
		!S_ISREG(st.st_mode))
		return 0;
	if (asprintf(&f.path, "%s/%s", path, name) < 0)
		return -1;
	f.bytes = (uint64_t)st.st_size;
	if (vec_add(&image->files, f)) {
		free(f.path);
		return -1;
	}
	image->bytes += f.bytes;
	image->first = !image->first || f.day < image->first ? f.day : image->first;
	image->last = f.day > image->last ? f.day : image->last;
	return 0;
}

static int files_by_path(const void *a, const void *b)
{
	return strcmp(((const struct store_file *)a)->path, ((const struct store_file *)b)->path);
}

static int list_directory(struct store_image *image, const char *path, DIR *d)
{
	part_names parts = {0};
	int rc = 0;

	for (const char *name; rc == 0 && (name = file_next(d, ""));) {
		size_t n = strlen(name);

		if (n > 6 && strcmp(name + n - 6, ".parts") == 0)
			rc = read_parts(dirfd(d), path, name, &parts);
	}
	if (parts.count)
		qsort(parts.data, parts.count, sizeof(*parts.data), order_strings);
	rewinddir(d);
	for (const char *name; rc == 0 && (name = file_next(d, ""));)
		if (!is_part(&parts, name))
			rc = list_file(image, dirfd(d), path, name);
	if (image->files.count)
		qsort(image->files.data, image->files.count, sizeof(*image->files.data),
			files_by_path);
	for (size_t i = 0; i < parts.count; i++)
		free(parts.data[i]);
	vec_fini(&parts);
	return rc;
}

static int list_image(const struct store *s, store_images *images, const char *id, struct error *e)
{
	char *directory = store_path(s, id, NULL, e), *path = store_path(s, id, "path", e);
	DIR *d = directory ? opendir(directory) : NULL;
	struct store_image *image = d ? vec_push(images) : NULL;
	size_t length;
	int rc = directory && path && (!d || image) ? 0 : error_nomem(e);

	if (rc == 0 && d) {
		image->id = strdup(id);
		image->path =
			access(path, F_OK) == 0 ? file_read_regular(path, 0, &length, NULL) : NULL;
		if (!image->path)
			image->path = strdup("");
		if (!image->id || !image->path || list_directory(image, directory, d))
			rc = error_nomem(e);
	}
	if (d)
		closedir(d);
	free(directory);
	free(path);
	return rc;
}

static int images_by_path(const void *a, const void *b)
{
	const struct store_image *x = a, *y = b;

	return strcmp(x->path, y->path) ?: strcmp(x->id, y->id);
}

int store_list(const struct store *s, store_images *images, struct error *e)
{
	DIR *d = opendir(s->directory);
	int rc = 0;

	memset(images, 0, sizeof(*images));
	if (!d)
		return error_sys(e, errno, "cannot read %s", s->directory);
	for (const char *name; rc == 0 && (name = file_next(d, ""));)
		if (id_valid(name))
			rc = list_image(s, images, name, e);
	closedir(d);
	if (images->count)
		qsort(images->data, images->count, sizeof(*images->data), images_by_path);
	return rc;
}

void store_images_fini(store_images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		struct store_image *image = &images->data[i];

		for (size_t k = 0; k < image->files.count; k++)
			free(image->files.data[k].path);
		vec_fini(&image->files);
		free(image->id);
		free(image->path);
	}
	vec_fini(images);
}

bool store_names(const struct store_image *image, const char *word)
{
	return (strlen(word) >= 4 && strncmp(image->id, word, strlen(word)) == 0) ||
	       fnmatch(word, image->path, 0) == 0 ||
	       fnmatch(word, file_base_name(image->path), 0) == 0;
}
