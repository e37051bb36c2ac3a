/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pseudo-probes (clang -fpseudo-probe-for-profiling): the blocks and calls of a function are
 * numbered before it is optimised, and the file says at which addresses each of them is. A
 * function that was inlined has a node below the one that it was inlined in.
 */
#ifndef IMAGE_PROBES_H
#define IMAGE_PROBES_H

#include "base/vec.h"
#include "image/image.h"

#define IMAGE_PROBE_ROOT UINT32_MAX

enum image_probe_kind { IMAGE_PROBE_BLOCK, IMAGE_PROBE_INDIRECT_CALL, IMAGE_PROBE_CALL };

struct image_probe {
	uint64_t address; /* of a call: of its instruction */
	uint32_t node, number;
	uint32_t kind; /* enum image_probe_kind, or what later compilers add */
};

struct image_probe_node {
	uint32_t parent;   /* IMAGE_PROBE_ROOT: a function with code of its own */
	uint32_t site;     /* number of the inlined call in its parent */
	const char *name;  /* as linkers have it; NULL: unknown */
	uint64_t checksum; /* of the function's blocks */
};

struct image_probes {
	VEC(struct image_probe_node) nodes; /* parents before their children */
	VEC(struct image_probe) all;        /* by address */
	VEC(char *) names;
};

/* Without probes in the file, there are none in probes. -1 with *e set: they are damaged, or
 * memory is out; probes is empty then. */
int image_probes_read(struct image *image, struct image_probes *probes, struct error *e);
void image_probes_fini(struct image_probes *probes);

#endif
