/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface through which reports get names and lines of addresses, from image files
 * (image_files.h) or from a test. Images are the numbers in prof_data (struct prof_data, images).
 */
#ifndef PROFILE_IMAGE_NAMES_H
#define PROFILE_IMAGE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

enum prof_image_state {
	PROF_IMAGE_FINE,
	PROF_IMAGE_REPLACED, /* the file is another one now: addresses stay addresses */
	PROF_IMAGE_MISSING,  /* there is no file, or no readable one */
};

/* Borrowed texts are valid as long as the names are. */
/* All but file's answers may be asked for by several threads at once; texts in answers remain. */
struct prof_names_ops {
	/* 0, or -1: there is none at this address. */
	int (*symbol)(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol);
	int (*line)(void *names, uint32_t image, uint64_t address, struct image_line *line);
	/* As image_inlines_at. */
	size_t (*inlines)(void *names, uint32_t image, uint64_t address, struct image_frame *frames,
		size_t room);
	/* *why: one line on what is missing, NULL if nothing is. */
	enum prof_image_state (*state)(void *names, uint32_t image, const char **why);
	/* The machine of its code, and up to size bytes of code or read-only data; as image_code.
	 * NULL: not available. */
	enum image_machine (*machine)(void *names, uint32_t image);
	size_t (*code)(void *names, uint32_t image, uint64_t address, void *bytes, size_t size);
	/* As image_segment_at; NULL: not available. */
	int (*segment)(
		void *names, uint32_t image, uint64_t address, struct image_segment *segment);
	/* The file, for variables and types. NULL if there is none; a NULL operation: never
	 * available. */
	struct image *(*file)(void *names, uint32_t image);
};

/* Operations of names that have no lines. */
static inline int profile_no_line(
	void *names, uint32_t image, uint64_t address, struct image_line *line)
{
	(void)names, (void)image, (void)address, (void)line;
	return -1;
}

static inline size_t profile_no_inlines(
	void *names, uint32_t image, uint64_t address, struct image_frame *frames, size_t room)
{
	(void)names, (void)image, (void)address, (void)frames, (void)room;
	return 0;
}

struct prof_names {
	const struct prof_names_ops *ops;
	void *context;
};

static inline struct image *profile_names_file(const struct prof_names *n, uint32_t image)
{
	return n->ops->file ? n->ops->file(n->context, image) : NULL;
}

#endif
