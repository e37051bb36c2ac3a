/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/model_arguments.h"

#include "model/wire/shared.h"

void model_arguments_ask(struct model_config *config, const struct source_options *options,
	const struct event_spec *specs, size_t count)
{
	const struct profile_request *p = options->profile;

	if (p && (!p->only_samples || p->blocks || p->dataspace || p->slice_cycles))
		return;
	model_ask_little(config);
	for (size_t i = 0; p && i < p->sampler_count; i++)
		model_ask(config, p->samplers[i].event);
	for (size_t i = 0; i < count; i++)
		model_ask(config, (unsigned)specs[i].event->number);
	if (!(config->parts & MODEL_PART_CLOCK))
		config->clock = MODEL_CLOCK_FIRST_ORDER; /* the cheaper one */
}

void model_log_argument(const char *directory, struct strbuf *to)
{
	strbuf_puts(to, "--log-file=");
	/* "%" begins a format in Valgrind's names of log files. */
	for (; *directory; directory++) {
		if (*directory == '%')
			strbuf_putc(to, '%');
		strbuf_putc(to, *directory);
	}
	strbuf_puts(to, "/" MODEL_LOG_PREFIX "%p");
}

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
