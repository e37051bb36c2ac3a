/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which images are one in several builds: of equal names but for the version of a library, or the
 * programs that were run, if these have other names. */
#ifndef PROFILE_SAME_IMAGES_H
#define PROFILE_SAME_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/places.h"

/* For each image, the first one that is the same. sides: builds are the sides of -diff, otherwise
 * the inputs. To be freed; NULL when memory is out. */
uint32_t *profile_same_images(const struct prof_data *d, bool sides);

#endif
