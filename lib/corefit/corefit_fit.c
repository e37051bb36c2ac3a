/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corefit/corefit.h"

/* ---- measuring ---- */

int corefit_forms_measure(form_list *forms, struct blockbench *bench,
	int (*done)(void *context, size_t count), void *context, struct error *e)
{
	size_t count = 0;
	struct block *blocks = calloc(2 * forms->count + 1, sizeof(*blocks));
	struct block_result *results = calloc(2 * forms->count + 1, sizeof(*results));
	int rc = -1;

	if (!blocks || !results) {
		error_nomem(e);
	} else {
		for (size_t i = 0; i < forms->count; i++) {
			struct form *f = &forms->data[i];

			blocks[count++] = (struct block){f->many, f->many_length, 0};
			if (f->chain_length)
				blocks[count++] = (struct block){f->chain, f->chain_length, 0};
		}
		rc = blockbench_measure(bench, blocks, count, results, done, context, e);
	}
	count = 0;
	for (size_t i = 0; rc == 0 && i < forms->count; i++) {
		struct form *f = &forms->data[i];
		const struct block_result *many = &results[count++];

		if (many->class == BLOCK_OK && f->many_count)
			f->throughput = many->cycles.value / f->many_count;
		if (f->chain_length) {
			const struct block_result *chain = &results[count++];

			if (chain->class == BLOCK_OK)
				f->latency = chain->cycles.value;
		}
	}
	free(blocks);
	free(results);
	return rc;
}

/* ---- the description's figures ---- */

static double fit_cycles_of(const struct core *core, struct schedule_work *work,
	const uint8_t *bytes, size_t length, struct error *e)
{
	static const struct schedule_options options = {
		.loop = true}; /* fetching is not a property of the form */
	struct insn insns[16];
	struct schedule s;
	size_t count = 0;

	for (size_t at = 0; at < length && count < 16; count++)
		at += isa_decode(ISA_X86_64, bytes + at, length - at, at, &insns[count]);
	return schedule_block(work, core, insns, count, &options, &s, NULL, e) ? -1 : s.cycles;
}

int corefit_forms_schedule(form_list *forms, const struct core *core, struct schedule_work *work,
	bool after, struct error *e)
{
	for (size_t i = 0; i < forms->count; i++) {
		struct form *f = &forms->data[i];
		double many = fit_cycles_of(core, work, f->many, f->many_length, e) / f->many_count;
		double chain = f->chain_length
				       ? fit_cycles_of(core, work, f->chain, f->chain_length, e)
				       : -1;

		if (many < 0 || (f->chain_length && chain < 0))
			return -1;
		*(after ? &f->throughput_after : &f->throughput_before) = many;
		*(after ? &f->latency_after : &f->latency_before) = chain;
	}
	return 0;
}

double corefit_forms_error(const form_list *forms, bool after)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < forms->count; i++) {
		const struct form *f = &forms->data[i];
		double many = after ? f->throughput_after : f->throughput_before;
		double chain = after ? f->latency_after : f->latency_before;

		if (f->throughput > 0) {
			sum += fabs(many - f->throughput) / f->throughput;
			count++;
		}
		if (f->latency > 0) {
			sum += fabs(chain - f->latency) / f->latency;
			count++;
		}
	}
	return count ? sum / (double)count : 0;
}

/* ---- corrections ---- */

static unsigned bits_of(uint32_t set)
{
	return (unsigned)__builtin_popcount(set);
}

struct guess {
	const struct core_group *group;
	unsigned count, busy;
	double error;
	unsigned apart; /* ports that differ from the rule's */
};

static bool fit_better(const struct guess *a, const struct guess *b)
{
	if (fabs(a->error - b->error) > 0.02)
		return a->error < b->error;
	if (a->count * a->busy != b->count * b->busy)
		return a->count * a->busy < b->count * b->busy;
	if (a->apart != b->apart)
		return a->apart < b->apart;
	/* A few micro-operations rather than one that keeps its port; a long one is a divider. */
	return a->count * a->busy > 4 ? a->count < b->count : a->busy < b->busy;
}

/* The number of micro-operations on one of the named sets, and the cycles that each keeps its
 * port, that come nearest to the throughput: of equally good ones, the set most similar to the
 * rule's. */
static struct guess guess_ports(
	const struct core *core, const struct core_rule *rule, double throughput)
{
	uint32_t had = rule->kinds ? rule->uops[0].ports : 0;
	struct guess best = {NULL, 0, 0, 1e9, 99};

	for (unsigned g = 0; g < core->group_count; g++) {
		uint32_t ports = core->groups[g].ports;

		if (ports & (core->load | core->store_address | core->store_data))
			continue;
		for (unsigned count = 1; count <= 12; count++)
			for (unsigned busy = 1; busy <= 40; busy += count > 1 ? 99 : 1) {
				struct guess now = {&core->groups[g], count, busy,
					fabs((double)count * busy / bits_of(ports) - throughput) /
						throughput,
					bits_of(ports ^ had)};

				if (fit_better(&now, &best))
					best = now;
			}
	}
	return best;
}

static void operand_text(const struct insn_operand *o, struct strbuf *out)
{
	static const char *const vector[] = {"x", "y", "z"};

	switch (o->kind) {
	case OPERAND_GENERAL:
		strbuf_printf(out, "r%u", o->bits);
		return;
	case OPERAND_VECTOR:
		strbuf_puts(out, vector[o->bits == 512 ? 2 : o->bits == 256]);
		return;
	case OPERAND_MASK:
		strbuf_putc(out, 'k');
		return;
	default:
		strbuf_putc(out, 'i');
		return;
	}
}

static void operands_text(const struct form *f, struct strbuf *out)
{
	for (unsigned n = 0; n < f->operands; n++) {
		strbuf_puts(out, n ? ", " : "");
		operand_text(&f->operand[n], out);
	}
}

void corefit_form_text(const struct form *f, struct strbuf *out)
{
	strbuf_printf(out, "%s ", isa_mnemonic(ISA_X86_64, f->mnemonic));
	operands_text(f, out);
}

static void uops_text(const struct core *core, const struct core_rule *rule, struct strbuf *out)
{
	for (unsigned k = 0; k < rule->kinds; k++) {
		char ports[64];

		strbuf_printf(out, " ");
		if (rule->uops[k].count > 1)
			strbuf_printf(out, "%u*", rule->uops[k].count);
		strbuf_puts(out, core_ports_name(core, rule->uops[k].ports, ports));
		if (rule->uops[k].busy > 1)
			strbuf_printf(out, "/%u", rule->uops[k].busy);
	}
	if (!rule->kinds)
		strbuf_puts(out, " -");
}

static bool off(double measured, double said, double tolerance)
{
	return measured > 0 && fabs(said - measured) > tolerance * measured + 0.02;
}

static void write_line(
	const struct core *core, const struct form *f, double tolerance, struct strbuf *out)
{
	/* Each of several may depend on itself: then its latency covers everything. */
	bool chained = f->latency > 0 && f->latency / f->many_count > 0.93 * f->throughput;
	bool slow = !chained && off(f->throughput, f->throughput_before, tolerance);
	bool late = off(f->latency, f->latency_before, tolerance);
	unsigned latency;
	const struct core_rule *rule;
	struct insn i;
	bool guessed;

	isa_decode(ISA_X86_64, f->many, f->many_length, 0, &i);
	rule = op_rule(core, &i, &guessed);
	latency = late ? (unsigned)(f->latency + 0.5) : rule->latency;
	strbuf_printf(out, "%s : ", isa_mnemonic(ISA_X86_64, f->mnemonic));
	operands_text(f, out);
	strbuf_puts(out, " :");
	if (slow) {
		struct guess g = guess_ports(core, rule, f->throughput);

		if (g.count > 1)
			strbuf_printf(out, " %u*%s", g.count, g.group->name);
		else if (g.busy > 1)
			strbuf_printf(out, " %s/%u", g.group->name, g.busy);
		else
			strbuf_printf(out, " %s", g.group->name);
	} else {
		uops_text(core, rule, out);
	}
	if (rule->slots && !slow)
		strbuf_printf(out, " slots=%u", rule->slots);
	strbuf_printf(out, " : %u  #", latency > 255 ? 255 : latency);
	if (f->latency > 0)
		strbuf_printf(
			out, " latency %.2f measured, %.2f before;", f->latency, f->latency_before);
	strbuf_printf(out, " throughput %.2f measured, %.2f before\n", f->throughput,
		f->throughput_before);
}

size_t corefit_forms_correct(form_list *forms, const struct core *core, double tolerance,
	const char *name, const char *description, struct strbuf *out)
{
	size_t count = 0;

	strbuf_printf(out,
		"# %s, corrected by prof calibrate: each line below was further than %.0f%% from "
		"its\n"
		"# measurement by prof block (chains for latency, eight independent ones for "
		"throughput).\n"
		"# Which ports of those that give the throughput an instruction takes is a "
		"guess.\n\n"
		"base %s\n\n[core]\nname %s\ndescription %s\nmethod prof calibrate, over %s\n\n"
		"[instructions]\n",
		core->name, 100 * tolerance, core->origin, name, description, core->name);
	for (size_t i = 0; i < forms->count; i++) {
		struct form *f = &forms->data[i];

		if (f->throughput <= 0 || (!off(f->throughput, f->throughput_before, tolerance) &&
						  !off(f->latency, f->latency_before, tolerance)))
			continue;
		write_line(core, f, tolerance, out);
		f->corrected = true;
		count++;
	}
	return count;
}
