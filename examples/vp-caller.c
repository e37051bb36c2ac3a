/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module for ssrun -values=vp-caller.so: where functions are called from, at the first
 * instruction of each.
 */
#include <speedshop/values.h>

int vp_version(void)
{
	return VP_VERSION;
}

int vp_open(const char *text, struct vp_config *config)
{
	(void)config;
	return *text != '\0';
}

unsigned vp_select(const struct vp_insn *insn)
{
	(void)insn;
	return 1; /* any may be the first one of a function */
}

void vp_sample(struct vp_context *x)
{
	if (x->entered)
		vp_add(x, 0 | VP_PLACE, x->caller);
}

const char *vp_name(unsigned kind)
{
	return kind == 0 ? "caller" : NULL;
}
