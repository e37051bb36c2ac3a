/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of the program comes from: executable mappings, with the path, the build-id and
 * the load address of the file. A mapping is read when code in it is first translated, so mappings
 * without executed code cost nothing. Numbers start at 1 and do not change; a file that is unmapped
 * and mapped again at the same place is the same image.
 */
#ifndef VALGRIND_IMAGES_H
#define VALGRIND_IMAGES_H

#include "pub_tool_basics.h"

#define IMAGE_BUILD_ID_MAX 64

enum image_kind {
	IMAGE_FILE = 1,   /* addresses less bias are those of the file's program headers */
	IMAGE_OTHER_FILE, /* mapped from a file that is not an ELF image: minus bias, offsets in it
			   */
	IMAGE_ANONYMOUS,  /* code that a program made: bias is 0 */
};

struct image {
	enum image_kind kind;
	Addr start, end;   /* of the mapping, as far as it is known; end is exclusive */
	ULong file_offset; /* of start */
	Addr bias;
	Addr low, high;    /* of an ELF image: all of it in memory, high exclusive */
	const HChar *path; /* "" where there is none */
	UInt build_id_length;
	UChar build_id[IMAGE_BUILD_ID_MAX];
	/* For images.c. */
	ULong dev, ino;
	Bool gone; /* unmapped since: must be read again */
};

/* The image that the address, which is mapped now, belongs to; 0: none is known. */
UInt images_at(Addr address);
/* Is any of them in a..a+length? */
Bool images_overlap(Addr a, SizeT length);
/* Addresses a..a+length are unmapped. */
void images_unmapped(Addr a, SizeT length);
UInt images_count(void);
/* number: 1 to images_count().  Valid until the next call of images_at. */
const struct image *images_get(UInt number);

#endif
