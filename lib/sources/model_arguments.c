/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/model_arguments.h"

/* EVENT:PERIOD[:skid], separated by commas. */
static void model_arguments_add_samplers(struct strbuf *to, const struct profile_request *r)
{
	for (size_t i = 0; i < r->sampler_count; i++)
		strbuf_printf(to, "%s%u:%llu%s", i ? "," : "--model-sample=", r->samplers[i].event,
			(unsigned long long)r->samplers[i].period,
			r->samplers[i].skid ? ":skid" : "");
}

void model_profile_arguments(const struct profile_request *r, struct strbuf *arguments)
{
	if (!r)
		return;
	strbuf_printf(&arguments[0], "--model-profile=%s",
		r->blocks         ? "blocks"
		: r->only_samples ? "samples"
				  : "insns");
	model_arguments_add_samplers(&arguments[1], r);
	if (r->stacks)
		strbuf_puts(&arguments[3], "--model-stacks=yes");
	if (r->dataspace)
		strbuf_puts(&arguments[4], "--model-dataspace=yes");
	if (r->slice_cycles)
		strbuf_printf(
			&arguments[2], "--model-slices=%llu", (unsigned long long)r->slice_cycles);
}

void model_profile_missing(const struct profile_request *r, const struct model_sums *sums)
{
	r->into->unprofiled += sums->unprofiled;
	r->into->counted += sums->total[EV_INSTRUCTIONS];
}
