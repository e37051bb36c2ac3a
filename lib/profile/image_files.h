/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from image files (lib/image), opened when first needed, and from the experiments themselves
 * for code without a file: the kernel, JIT code.
 */
#ifndef PROFILE_IMAGE_FILES_H
#define PROFILE_IMAGE_FILES_H

#include "profile/places.h"

struct prof_images;

struct prof_images_search {
	struct image_search where;
	const char *executable; /* to be used for the image that has its identity; may be NULL */
	bool sparing; /* of memory: names are asked for addresses of the data alone, and one
			 image is open at a time, which gives no file: what is said of an
			 image is valid until another is asked for */
};

/* search and the data it points to must outlive it, and so must d. NULL with *e set: ERR_CONFLICT
 * if the executable is not an image of the experiments. */
struct prof_images *profile_images_new(
	const struct prof_data *d, const struct prof_images_search *search, struct error *e);
void profile_images_free(struct prof_images *images);
extern const struct prof_names_ops profile_images_ops; /* on a struct prof_images */

/* profile_data_init with names from image files. -1 with *e set: nothing is left of it, and
 * profile_named_fini has no effect. */
int profile_named_init(struct prof_data *d, const struct prof_request *request,
	const struct prof_images_search *search, struct error *e);
void profile_named_fini(struct prof_data *d);

#endif
