/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/private.h"

struct elf_file *image_separate(struct image *image)
{
	return image->separate;
}
