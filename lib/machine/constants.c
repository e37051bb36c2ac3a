/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host was found to need: latencies, and distances in time, of which its description has
 * those of another specimen. Virtual machines walk two page tables, servers have slower memory than
 * the processor's maker states. Figures are taken with kernels of lib/kernels, several times a boot
 * for all users, minutes apart: a neighbour on the same core lengthens what all rounds of one time
 * find (front ends by a half, L2 by a fifth), so the least of the times counts that another one
 * found, too: a difference of two kernels is too small where the second was lengthened. Three times
 * are enough if two of them found the least of each figure; otherwise there are more, at growing
 * distances. They change cycles, and no count of anything else: the geometry is not measured.
 * What others do with the last level (LL-later) goes on all the time: its usual time counts.
 *
 * A figure that cannot be is refused, and the description's stays: one that is not above that of
 * the next nearer level, ten times the description's, less than a tenth of it, or that scatters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/constants.h"

#define NO     (-1)
#define TIMES  10   /* of the description's, or a part of it, at most */
#define SPREAD 0.25 /* of the figure, at most */

#define AT(kind, place)    (PROBE_##kind + PLACE_##place)
#define ALONE(kind, place) 1, AT(kind, place), NO, NO, NO, 0

/* clang-format off */
const struct constant constants_table[CONSTANTS] = {
	{"L2", CONFIG(l2.latency), CONFIG(l1d.latency), {{1, AT(CHASE, L2), NO, NO, NO, 0}}, 1, 0},
	{"LL", CONFIG(ll.latency), CONFIG(l2.latency),
		{{1, AT(CHASE, LL), NO, AT(CHASE, STLB), AT(CHASE, L1), 0}}, 1, 0},
	{"memory", CONFIG(memory_latency), CONFIG(ll.latency),
		{{1, PROBE_SCATTERED, NO, NO, NO, 0}}, 1, 0},
	{"LL-later", CONFIG(ll_later), 0, {{1, PROBE_LL_GONE, NO, NO, NO, 0}}, 1,
		10000}, /* see constants_put_gone */
	{"L2-line", CONFIG(l2_interval), 0,
		{{ALONE(SWEEP, L2)}, {ALONE(FREE, L2)}, {ALONE(STORES, L2)}}, 1, 0},
	{"LL-line", CONFIG(ll_interval), 0, {{ALONE(SWEEP, LL)}, {ALONE(FREE, LL)}}, 1, 0},
	{"memory-line", CONFIG(memory_interval), 0, {{ALONE(SWEEP, MEMORY)}, {ALONE(FREE, MEMORY)}},
		1, 0},
	{"intervention", CONFIG(intervention_latency), CONFIG(l2.latency),
		{{1, PROBE_TRANSFER_CHASE, NO, NO, NO, 0}}, 1, 0},
	{"STLB", CONFIG(stlb_latency), 0, {{1, AT(CHASE, STLB), AT(CHASE, L1), NO, NO, 0}}, 1, 0},
	{"walk", CONFIG(walk_latency), CONFIG(stlb_latency),
		{{1, AT(CHASE, WALK), AT(CHASE, WALK_PACKED), NO, NO, 0}}, 1, 0},
	{"mispredict", CONFIG(mispredict_penalty), 0,
		{{2, PROBE_DECISIONS, PROBE_NO_DECISIONS, NO, NO, 1}}, 1, 0},
	{"store-forward", CONFIG(store_forward_penalty), 0, {{1, PROBE_PASS_HALVES, NO, NO, NO, 2}},
		1, 0},
	{"forward", CONFIG(execution.forward), CONFIG(l1d.latency),
		{{2, PROBE_PASS, NO, NO, NO, 1}}, 0, 0},
	{"forward-renamed", CONFIG(execution.forward_renamed), 0,
		{{1, PROBE_PASS_SAME, NO, NO, NO, 1}}, 0, 40},
	{"vector-forward", CONFIG(execution.vector_forward), 0,
		{{1, PROBE_PASS_VECTOR, NO, NO, NO, 0}}, 1, 40},
	{"scaled-load", CONFIG(execution.scaled_load), 0,
		{{1, PROBE_CHASE_SCALED, AT(CHASE, L1), NO, NO, 0}}, 0, 4},
	{"long-address", CONFIG(execution.long_address), 0, {{1, PROBE_ADDRESSES, NO, NO, NO, 0}},
		1, 4},
	{"locked", CONFIG(lock_latency), 0, {{1, PROBE_EXCHANGE, NO, NO, NO, 0}}, 1, 0},
	{"divide", CONFIG(divide_latency), 0,
		{{0.5, PROBE_DIVIDE_FREE, NO, NO, PROBE_DIVIDE_FREE_LARGE, 0}}, 1, 0},
	{"divide-latency", CONFIG(execution.divide), 0,
		{{0.5, PROBE_DIVIDE_CHAIN_SMALL, NO, NO, PROBE_DIVIDE_CHAIN_LARGE, 2}}, 1, 0},
	{"fp-divide", CONFIG(fp_divide_latency), 0, {{1, PROBE_FP_DIVIDE_FREE, NO, NO, NO, 0}}, 1,
		0},
	{"fp-divide-latency", CONFIG(execution.fp_divide), 0,
		{{1, PROBE_FP_DIVIDE_CHAIN, NO, NO, NO, 0}}, 1, 0},
	{"fp-root-latency", CONFIG(execution.fp_root), 0, {{1, PROBE_ROOTS, NO, NO, NO, 0}}, 1,
		100},
	{"fp-add-chain", CONFIG(execution.fp_add_chain), 0,
		{{1, PROBE_FP_ADD_CHAIN, NO, NO, NO, 0}}, 1, 0},
	{"taken", CONFIG(taken_interval), 0, {{1, PROBE_CODE + CODE_JUMPS_L1, NO, NO, NO, 0}}, 1,
		0},
	/* The call takes the time of any taken branch. */
	{"taken-return", CONFIG(return_interval), 0, {{1, PROBE_RETURNS, NO, NO, NO, 1}}, 1, 20},
	{"taken-indirect", CONFIG(indirect_interval), 0, {{1, PROBE_TARGETS, NO, NO, NO, 0}}, 1,
		20},
	/* From no probe: constants_measure_user. */
	{"system-call", CONFIG(execution.system_call), 0, {{0, NO, NO, NO, NO, 0}}, 0, 50000},
	{"page-fault", CONFIG(execution.page_fault), 0, {{0, NO, NO, NO, NO, 0}}, 0, 500000},
	{"kernel-flush", CONFIG(execution.kernel_flush), 0, {{0, NO, NO, NO, NO, 0}}, 0, 10000},
	{"steal", CONFIG(execution.steal), 0, {{0, NO, NO, NO, NO, 0}}, 0, 900},
};
/* clang-format on */

bool constant_scatters(const struct figure *f)
{
	return !(f->least_spread <= SPREAD * fmax(f->value, 1));
}

/* LL-later as what was measured: the part of the lines that is gone. */
double constants_gone(const struct constant_figures *f)
{
	double ll = FIGURE(f, ll.latency).value, memory = FIGURE(f, memory_latency).value;
	double gone = (FIGURE(f, ll_later).value - ll) / (memory - ll);

	return gone > 1 ? 1 : gone < 0 ? 0 : gone;
}

/* Those take as long as memory, the others as LL: with whatever these are taken to be. That rounds
 * differ says nothing against it. */
void constants_put_gone(struct constant_figures *f, double gone)
{
	double ll = FIGURE(f, ll.latency).value, memory = FIGURE(f, memory_latency).value;

	if (!isnan(ll + gone * (memory - ll)))
		FIGURE(f, ll_later) = (struct figure){ll + gone * (memory - ll), 0, 0};
}

static uint32_t *constant_of(struct model_config *c, size_t offset)
{
	return (uint32_t *)((char *)c + offset);
}

/* ---- as text ---- */

/* Lines that are something else are for others, or for people. */
bool constants_scan(const char *text, struct constant_figures *f)
{
	bool any = false;

	f->at = 0;
	f->clock_hz = 0;
	for (int i = 0; i < CONSTANTS; i++)
		f->figure[i] = (struct figure){NAN, NAN, NAN};
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct figure one = {0, 0, 0};
		char key[32];

		if (sscanf(line, "taken at %lld", &f->at) == 1 ||
			sscanf(line, "clock %" SCNu64 " Hz", &f->clock_hz) == 1)
			continue;
		if (sscanf(line, "%31s %lf cycles, spread %lf", key, &one.value,
			    &one.least_spread) != 3)
			continue;
		for (int i = 0; i < CONSTANTS; i++)
			if (strcmp(key, constants_table[i].key) == 0 && one.value >= 0 &&
				one.value < 1e6 && one.least_spread >= 0) {
				f->figure[i] = one;
				any = true;
			}
	}
	return any;
}

void constants_print(const struct constant_figures *f, struct strbuf *out)
{
	strbuf_puts(out, PROBES);
	if (f->at)
		strbuf_printf(out, "taken at %lld\n", f->at);
	if (f->clock_hz)
		strbuf_printf(out, "clock %" PRIu64 " Hz\n", f->clock_hz);
	for (int i = 0; i < CONSTANTS; i++)
		if (!isnan(f->figure[i].value))
			strbuf_printf(out, "%s %.2f cycles, spread %.2f\n", constants_table[i].key,
				f->figure[i].value, f->figure[i].least_spread);
}

/* ---- into the machine ---- */

static bool constant_possible(
	const struct constant *k, const struct figure *f, struct model_config *c)
{
	uint32_t described = *constant_of(c, k->offset);
	double whole = round(f->value);

	if (k->most ? whole > k->most
		    : whole > (double)TIMES * described || fmax(whole, 1) * TIMES < described)
		return false;
	return !constant_scatters(f) && (!k->above || whole > *constant_of(c, k->above));
}

void constants_apply(struct machine *m, const struct constant_figures *f)
{
	struct model_config described = m->model;

	for (int i = 0; i < CONSTANTS; i++) {
		const struct constant *k = &constants_table[i];

		/* 0: without the level, or without a limit */
		if (isnan(f->figure[i].value) || (!k->most && !*constant_of(&described, k->offset)))
			continue;
		if (!constant_possible(k, &f->figure[i], &m->model)) {
			m->refused |= UINT32_C(1) << i;
			continue;
		}
		*constant_of(&m->model, k->offset) =
			(uint32_t)fmax(round(f->figure[i].value), k->least);
		m->measured |= UINT32_C(1) << i;
	}
}

void machine_take_constants(struct machine *m, const char *text)
{
	struct constant_figures f;

	if (constants_scan(text, &f))
		constants_apply(m, &f);
}

void machine_change_constants(struct machine *m, const struct model_config *before)
{
	struct model_config was = *before;

	for (int i = 0; i < CONSTANTS; i++)
		if (*constant_of(&m->model, constants_table[i].offset) !=
			*constant_of(&was, constants_table[i].offset)) {
			m->measured &= ~(UINT32_C(1) << i);
			m->refused &= ~(UINT32_C(1) << i);
		}
}

bool machine_constant(const struct machine *m, size_t i, struct machine_constant *out)
{
	uint32_t bit = UINT32_C(1) << i;
	struct model_config c = m->model;

	if (i >= CONSTANTS)
		return false;
	out->key = constants_table[i].key;
	out->value = *constant_of(&c, constants_table[i].offset);
	out->from = m->measured & bit  ? MACHINE_CONSTANT_MEASURED
		    : m->refused & bit ? MACHINE_CONSTANT_REFUSED
				       : MACHINE_CONSTANT_DESCRIBED;
	return true;
}
