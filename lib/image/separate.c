/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information in a file of its own: by build-id below the debug directory, by the name and
 * CRC in .gnu_debuglink, in an archive, from a server. The file must be of the same build.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/strbuf.h"
#include "image/archive.h"
#include "image/debuginfod.h"
#include "image/private.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

static const char *debug_directory(const struct image *image)
{
	return image->where.debug_directory ? image->where.debug_directory : DEBUG_DIRECTORY;
}

/* Opens path below the root, or else as it is; NULL if `is` rejects it. */
static struct elf_file *open_either(const struct image *image, const char *path,
	bool (*is)(struct elf_file *f, const void *context), const void *context)
{
	const char *root = image->where.root;

	for (int rooted = root && *root; rooted >= 0; rooted--) {
		struct strbuf full = {0};
		struct elf_file *f;

		if (rooted)
			strbuf_printf(&full, "%s/", root);
		strbuf_puts(&full, path);
		f = full.failed ? NULL : elf_file_open(strbuf_text(&full), NULL);
		strbuf_fini(&full);
		if (f && is(f, context))
			return f;
		elf_file_close(f);
	}
	return NULL;
}

struct build_id {
	const uint8_t *bytes;
	size_t length;
};

static bool has_id(struct elf_file *f, const void *context)
{
	const struct build_id *id = context;

	return elf_file_has_id(f, id->bytes, id->length);
}

static struct elf_file *by_build_id(const struct image *image, const struct build_id *id)
{
	struct strbuf path = {0};
	struct elf_file *f = NULL;

	if (id->length < 2)
		return NULL;
	strbuf_printf(&path, "%s/.build-id/%02x/", debug_directory(image), id->bytes[0]);
	for (size_t i = 1; i < id->length; i++)
		strbuf_printf(&path, "%02x", id->bytes[i]);
	strbuf_puts(&path, ".debug");
	if (!path.failed)
		f = open_either(image, strbuf_text(&path), has_id, id);
	strbuf_fini(&path);
	return f;
}

static bool has_crc(struct elf_file *f, const void *context)
{
	uint32_t want;

	memcpy(&want, context, sizeof(want));
	return crc32_z(0, f->raw.data, f->raw.size) == want;
}

static void separate_add_directory(struct strbuf *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		strbuf_add(s, path, (size_t)(slash - path) + 1);
}

/* Beside the image, in .debug beside it, and at the same place below the debug directory. */
static struct elf_file *by_name(const struct image *image, const char *beside, const char *name,
	bool (*is)(struct elf_file *f, const void *context), const void *context)
{
	static const char *const ways[] = {"", ".debug/", NULL};
	struct elf_file *f = NULL;

	for (size_t i = 0; !f && i < sizeof(ways) / sizeof(*ways); i++) {
		struct strbuf path = {0};

		if (!ways[i])
			strbuf_printf(&path, "%s/", debug_directory(image));
		separate_add_directory(&path, beside);
		strbuf_puts(&path, ways[i] ? ways[i] : "");
		strbuf_puts(&path, name);
		/* a link that leads to the file itself */
		if (!path.failed && strcmp(strbuf_text(&path), image->elf->path) != 0)
			f = open_either(image, strbuf_text(&path), is, context);
		strbuf_fini(&path);
	}
	return f;
}

/* The name, padded to four bytes, and a CRC. */
static struct elf_file *by_debuglink(const struct image *image)
{
	struct span link = elf_file_find(image->elf, ".gnu_debuglink");
	const char *name = elf_file_span_string(link, 0);
	size_t at = name ? (strlen(name) + 4) & ~(size_t)3 : 0;
	struct elf_file *f;

	if (!name || !*name || strchr(name, '/') || at + 4 > link.size)
		return NULL;
	f = by_name(image, image->path, name, has_crc, link.data + at);
	return f ? f : by_name(image, image->elf->path, name, has_crc, link.data + at);
}

static struct elf_file *by_archive(const struct image *image)
{
	struct image_identity id = {.path = image->path,
		.build_id = image->elf->build_id,
		.build_id_length = image->elf->build_id_length};
	struct elf_file *f = NULL;

	for (size_t i = 0; !f && id.build_id_length && image->archives && image->archives[i]; i++) {
		char *path = archive_find_debug(image->archives[i], &id);

		f = path ? elf_file_open(path, NULL) : NULL;
		if (f && !elf_file_has_id(f, id.build_id, id.build_id_length)) {
			elf_file_close(f);
			f = NULL;
		}
		free(path);
	}
	return f;
}

static struct elf_file *by_server(struct image *image, const struct build_id *id)
{
	char why[128] = "", *path;
	struct elf_file *f;

	if (!image->where.debuginfod || !id->length)
		return NULL;
	path = debuginfod_fetch(id->bytes, id->length, DEBUGINFOD_DEBUG, why, sizeof(why));
	f = path ? elf_file_open(path, NULL) : NULL;
	free(path);
	if (f && has_id(f, id))
		return f;
	elf_file_close(f);
	if (*why)
		image_complain(image, "no server has its debug information: %s", why);
	return NULL;
}

struct elf_file *image_separate(struct image *image)
{
	struct build_id id = {image->elf->build_id, image->elf->build_id_length};

	if (image->separate_sought)
		return image->separate;
	image->separate_sought = true;
	image->separate = by_archive(image);
	if (!image->separate)
		image->separate = by_build_id(image, &id);
	if (!image->separate)
		image->separate = by_debuglink(image);
	if (!image->separate)
		image->separate = by_server(image, &id);
	return image->separate;
}

struct elf_file *separate_file_linked(struct image *image, const char *beside, const char *name,
	const uint8_t *build_id, size_t length)
{
	struct build_id id = {build_id, length};
	struct elf_file *f = NULL;

	if (length == 0)
		return NULL;
	if (name[0] == '/')
		f = open_either(image, name, has_id, &id);
	else
		f = by_name(image, beside, name, has_id, &id);
	return f ? f : by_build_id(image, &id);
}
