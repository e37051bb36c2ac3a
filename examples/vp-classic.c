/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module for ssrun -values=vp-classic.so: what instructions write to general registers, as the
 * first value profilers had it, and what they load. With a number as text, only values below it
 * are counted, and all others as one: vp-classic.so:256.
 */
#include <speedshop/values.h>
#include <stdlib.h>

enum { RESULT, LOADED };

static uint64_t limit;

int vp_version(void)
{
	return VP_VERSION;
}

int vp_open(const char *text, struct vp_config *config)
{
	char *end;

	(void)config;
	limit = strtoull(text, &end, 0);
	return *end != '\0';
}

unsigned vp_select(const struct vp_insn *insn)
{
	unsigned result = insn->result != VP_NONE ? 1u << RESULT : 0;

	return result | (insn->flags & VP_LOADS && insn->size <= 8 ? 1u << LOADED : 0);
}

static uint64_t limited(uint64_t value)
{
	return limit && value > limit ? limit : value;
}

void vp_sample(struct vp_context *x)
{
	const struct vp_insn *i = x->insn;

	if (x->selected >> RESULT & 1) {
		uint64_t value = x->after->general[i->result];

		vp_add(x, RESULT,
			limited(i->result_bits < 64 ? value & ((1ull << i->result_bits) - 1)
						    : value));
	}
	if (x->selected >> LOADED & 1)
		vp_add(x, LOADED, limited(x->loaded));
}

const char *vp_name(unsigned kind)
{
	return kind == RESULT ? "register" : kind == LOADED ? "loaded" : NULL;
}
