/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between profile.c and profile_read.c. */
#ifndef SOURCES_PROFILE_READ_H
#define SOURCES_PROFILE_READ_H

#include "sources/profile.h"

/* The index of the image, which takes over its path, or of its like; -1 when memory is out. */
int64_t profile_image_add(struct profile *p, struct profile_image *image);
int64_t profile_sampler_add(struct profile *p, const struct profile_sampler *sampler);

#endif
