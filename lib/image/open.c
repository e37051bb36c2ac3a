/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/archive.h"
#include "image/build_id_cache.h"
#include "image/cfi.h"
#include "image/debug.h"
#include "image/debuginfod.h"
#include "image/fingerprint.h"
#include "image/private.h"

static const struct {
	unsigned elf;
	enum image_machine machine;
} machines[] = {
	{EM_X86_64, IMAGE_X86_64},
	{EM_AARCH64, IMAGE_AARCH64},
};

static int copy_string(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -1 : 0;
}

static int copy_search(struct image *image, const struct image_search *where)
{
	size_t n = 0;

	if (!where)
		return 0;
	image->where.debuginfod = where->debuginfod;
	if (copy_string(&image->where.root, where->root) ||
		copy_string(&image->where.build_id_cache, where->build_id_cache) ||
		copy_string(&image->where.debug_directory, where->debug_directory))
		return -1;
	while (where->archives && where->archives[n])
		n++;
	image->archives = calloc(n + 1, sizeof(*image->archives));
	if (!image->archives)
		return -1;
	for (size_t i = 0; i < n; i++) {
		char *copy = strdup(where->archives[i]);

		if (!copy)
			return -1;
		image->archives[i] = copy;
	}
	image->where.archives = (const char *const *)image->archives;
	return 0;
}

static int differs(struct error *e, const char *path, const char *how)
{
	error_set(e, ERR_CONFLICT, "%s is not the file that was recorded: %s", path, how);
	return error_hint(e,
		"it was replaced since; record again, or name the archive or directory that has "
		"the old one (ssrun -archive keeps copies)");
}

static int check_identity(struct elf_file *f, const struct image_identity *id, struct error *e)
{
	if (id->build_id_length)
		return elf_file_has_id(f, id->build_id, id->build_id_length)
			       ? 0
			       : differs(e, f->path,
					 f->build_id_length ? "its build-id differs"
							    : "it has no build-id");
	if (id->size && id->size != f->raw.size)
		return differs(e, f->path, "its size differs");
	if (id->fingerprint && id->fingerprint != identify_file(f))
		return differs(e, f->path, "its contents differ");
	return 0;
}

/* Opens path if it is the right file. The most informative error is kept: that of an existing file
 * precedes that of a missing one. */
static bool try_path(
	struct image *image, const char *path, const struct image_identity *id, struct error *e)
{
	struct error now = {0};
	struct elf_file *f = elf_file_open(path, &now);

	if (f && check_identity(f, id, &now) == 0) {
		image->elf = f;
		return true;
	}
	elf_file_close(f);
	if (e && (e->code == ERR_NONE || e->code == ERR_NOT_FOUND))
		*e = now;
	return false;
}

/* From a server, if requested. */
static bool fetch(struct image *image, const struct image_identity *id, struct error *e)
{
	char why[128], *path;
	bool found;

	if (!image->where.debuginfod || !id->build_id_length)
		return false;
	path = debuginfod_fetch(
		id->build_id, id->build_id_length, DEBUGINFOD_EXECUTABLE, why, sizeof(why));
	found = path && try_path(image, path, id, e);
	free(path);
	return found;
}

static bool try_all(struct image *image, const struct image_identity *id, struct error *e)
{
	struct strbuf rooted = {0};
	bool found = false;

	if (image->where.root && *image->where.root) {
		strbuf_printf(&rooted, "%s/%s", image->where.root, id->path);
		found = !rooted.failed && try_path(image, strbuf_text(&rooted), id, e);
		strbuf_fini(&rooted);
	}
	found = found || try_path(image, id->path, id, e);
	for (size_t i = 0; !found && image->archives && image->archives[i]; i++) {
		char *copy = archive_find(image->archives[i], id, NULL);

		found = copy && try_path(image, copy, id, e);
		free(copy);
	}
	if (!found) {
		char *copy = build_id_cache_find(image->where.build_id_cache, id, "elf");

		found = copy && try_path(image, copy, id, e);
		free(copy);
	}
	return found || fetch(image, id, e);
}

static void note_machine(struct image *image)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].elf == image->elf->header.e_machine)
			image->machine = machines[i].machine;
	if (image->elf->header.e_type == ET_REL)
		image_complain(image, "it is a relocatable object, whose addresses mean nothing");
}

struct image *image_open(
	const struct image_identity *id, const struct image_search *where, struct error *e)
{
	struct image *image = calloc(1, sizeof(*image));
	struct error why = {0};

	if (!image || copy_search(image, where) || !(image->path = strdup(id->path))) {
		image_close(image);
		error_nomem(e);
		return NULL;
	}
	if (!try_all(image, id, &why)) {
		image_close(image);
		if (e)
			*e = why;
		return NULL;
	}
	note_machine(image);
	return image;
}

struct image *image_open_memory(const void *bytes, size_t size, const char *name, struct error *e)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image || !(image->path = strdup(name))) {
		image_close(image);
		error_nomem(e);
		return NULL;
	}
	image->elf = elf_file_memory(bytes, size, name, e);
	if (!image->elf) {
		image_close(image);
		return NULL;
	}
	image->separate_sought = true;
	note_machine(image);
	return image;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	symbols_fini(&image->symbols);
	vec_fini(&image->wanted);
	variables_fini(&image->variables);
	types_fini(image);
	cfi_free(image->cfi);
	debug_free(image->debug);
	elf_file_close(image->separate);
	elf_file_close(image->mini);
	elf_file_close(image->elf);
	for (size_t i = 0; image->archives && image->archives[i]; i++)
		free(image->archives[i]);
	free(image->archives);
	free((char *)(uintptr_t)image->where.root);
	free((char *)(uintptr_t)image->where.build_id_cache);
	free((char *)(uintptr_t)image->where.debug_directory);
	free(image->path);
	free(image);
}

enum image_machine image_machine(const struct image *image)
{
	return image->machine;
}

size_t image_code(struct image *image, uint64_t address, void *bytes, size_t size)
{
	struct span s = elf_file_at(image->elf, address);

	if (s.size < size)
		size = s.size;
	if (size)
		memcpy(bytes, s.data, size);
	return size;
}

void image_complain(struct image *image, const char *format, ...)
{
	va_list ap;

	if (image->complaint[0])
		return;
	va_start(ap, format);
	vsnprintf(image->complaint, sizeof(image->complaint), format, ap);
	va_end(ap);
}
