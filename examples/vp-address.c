/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module for ssrun -values=vp-address.so: the addresses that instructions access, in blocks of 64
 * bytes or as many as the text says, and at the end of each window how many different blocks
 * it has: vp-address.so:4096 tells how many pages some hundred instructions need.
 */
#include <speedshop/values.h>
#include <stdlib.h>

enum { BLOCK, BLOCKS, MOST = 1024 };

static uint64_t size = 64, seen[MOST];
static unsigned seen_count;

int vp_version(void)
{
	return VP_VERSION;
}

int vp_open(const char *text, struct vp_config *config)
{
	char *end;

	config->length = 1000; /* more of them at once: the default is 500 */
	if (*text)
		size = strtoull(text, &end, 0);
	return *text && (*end || !size || (size & (size - 1)));
}

unsigned vp_select(const struct vp_insn *insn)
{
	return insn->flags & (VP_LOADS | VP_STORES);
}

void vp_sample(struct vp_context *x)
{
	uint64_t block = x->address & -size;
	unsigned i = 0;

	vp_add(x, BLOCK | VP_PLACE, block);
	while (i < seen_count && seen[i] != block)
		i++;
	if (i == seen_count && i < MOST)
		seen[seen_count++] = block;
}

void vp_window(struct vp_context *x)
{
	vp_at(x, 0); /* where the window began */
	vp_add(x, BLOCKS, seen_count);
	seen_count = 0;
}

const char *vp_name(unsigned kind)
{
	return kind == BLOCK ? "block" : kind == BLOCKS ? "blocks" : NULL;
}
