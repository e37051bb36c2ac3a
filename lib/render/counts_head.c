/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command comes first, then times: measured before modelled, because a reader compares them
 * with a clock. Each time has its label.
 */
#include "render/counts_head.h"

#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "render/number.h"

static void head_seconds(struct strbuf *out, const char *name, const struct quantity *q)
{
	strbuf_printf(out, "%s ", name);
	number_figure(out, q->value, NUMBER_SECONDS);
	strbuf_puts(out, " s");
	if (q->value > 0 && q->high > q->low) {
		strbuf_putc(out, ' ');
		number_interval(out, q);
	}
}

static void head_command(const struct counts_report *r, struct strbuf *out)
{
	strbuf_puts(out, "perfex: ");
	if (r->pid)
		strbuf_printf(out, "process %d", (int)r->pid);
	for (size_t i = 0; r->command && r->command[i]; i++)
		shown_printf(out, "%s%s", i ? " " : "", r->command[i]);
	strbuf_putc(out, '\n');
}

static void head_native(const struct counts_report *r, struct strbuf *out)
{
	const struct native_times *n = &r->native;

	head_seconds(out, "measured: user", &n->user);
	head_seconds(out, ", system", &n->system);
	head_seconds(out, ", elapsed", &n->elapsed);
	strbuf_printf(out, " (%s without the model", label_name(n->user.label));
	if (n->runs > 1)
		strbuf_printf(out, ", the least of %u runs", n->runs);
	strbuf_puts(out, ")");
	if (n->exit_status != r->exit_status)
		strbuf_printf(out, "; exit status %d", n->exit_status);
	strbuf_putc(out, '\n');
}

/* How the counted run went. */
static void head_run(const struct counts_report *r, struct strbuf *out)
{
	if (r->exit_status > 128)
		strbuf_printf(out, "; exit status %d (%s)", r->exit_status,
			strsignal(r->exit_status - 128));
	else if (r->exit_status)
		strbuf_printf(out, "; exit status %d", r->exit_status);
	if (r->runs > 1)
		strbuf_printf(out, "; means of %lu runs", r->runs);
	if (r->passes > 1)
		strbuf_printf(out, "; %lu passes", r->passes);
	if (r->groups > 1)
		strbuf_printf(out, "; %zu groups of events took turns", r->groups);
	strbuf_putc(out, '\n');
}

static void modelled(const struct counts_report *r, struct strbuf *out)
{
	strbuf_puts(out, "modelled: ");
	if (r->seconds.label != LABEL_NONE) {
		head_seconds(out, "user", &r->seconds);
		strbuf_printf(out, " (%s)", label_name(r->seconds.label));
		if (r->ratio > 0)
			strbuf_printf(out, ", %.2f of the measured", r->ratio);
		strbuf_puts(out, "; ");
	}
	head_seconds(out, "the run took", &r->elapsed);
	strbuf_printf(out, " (%s)", label_name(r->elapsed.label));
	head_run(r, out);
}

static void counted(const struct counts_report *r, struct strbuf *out)
{
	head_seconds(out, "elapsed", &r->elapsed);
	strbuf_printf(out, " (%s)", label_name(r->elapsed.label));
	if (r->seconds.label != LABEL_NONE) {
		head_seconds(out, "; on the processor", &r->seconds);
		strbuf_printf(out, " (%s)", label_name(r->seconds.label));
	}
	head_run(r, out);
}

/* The rate of the clock, and how sure it is. */
static void clock_rate(const struct counts_report *r, struct strbuf *out)
{
	const char *from = r->clock_from ? r->clock_from : "";
	bool giga = r->clock_hz >= 1e9;

	shown_printf(out, "%.*f %s%s%s", giga ? 2 : 0, r->clock_hz / (giga ? 1e9 : 1e6),
		giga ? "GHz" : "MHz", *from ? " " : "", from);
	if (strcmp(from, "unknown") == 0)
		strbuf_puts(out, " (it scatters)");
}

static void processor(const struct counts_report *r, struct strbuf *out)
{
	shown_printf(out, "processor: %s, ", r->machine);
	clock_rate(r, out);
	if (r->machine_description[0])
		shown_printf(out, " (%s)", r->machine_description);
	shown_printf(out, "; source: %s", r->source);
	strbuf_putc(out, '\n');
}

/* Do modelled and measured time differ by more than the measured one is uncertain? */
static bool head_far(const struct counts_report *r)
{
	const struct quantity *measured = &r->divided;

	return r->ratio > 0 && measured->value >= COUNTS_COMPARED &&
	       (r->seconds.value > COUNTS_RATIO_FAR * measured->high ||
		       r->seconds.value * COUNTS_RATIO_FAR < measured->low);
}

/* What a large difference means, or how the other time is had. */
static void head_remark(const struct counts_report *r, struct strbuf *out)
{
	if (head_far(r))
		strbuf_printf(out,
			"Modelled and measured time differ by a factor of %.1f. Counts of events "
			"are "
			"still valid;\nmodelled times and shares of causes may be wrong by as "
			"much.\n",
			fmax(r->ratio, 1 / r->ratio));
	else if (r->native.runs && r->native.exit_status != r->exit_status)
		strbuf_puts(out,
			"The command ended differently without the model, so times are not "
			"compared.\n");
	else if (r->modelled && r->host && !r->native.runs && r->command && r->costs)
		strbuf_puts(out,
			"measured: not yet; add -native to run the command also without the "
			"model\n");
}

void counts_head(const struct counts_report *r, struct strbuf *out)
{
	head_command(r, out);
	if (r->native.runs)
		head_native(r, out);
	if (r->modelled)
		modelled(r, out);
	else
		counted(r, out);
	processor(r, out);
	head_remark(r, out);
	strbuf_putc(out, '\n');
}
