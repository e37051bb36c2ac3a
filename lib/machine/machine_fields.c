/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a machine description: one table for parsing, printing and checking. */
#include "machine/private.h"

#define AT(member)    offsetof(struct machine, member)
#define MODEL(member) offsetof(struct machine, model.member)
#define ROOM(member)  sizeof(((struct machine *)0)->member)

#define POLICIES                                                                                   \
	{                                                                                          \
		"lru", "tree-plru", "bit-plru", "random", "srrip", "qlru"                          \
	}
#define INCLUSIONS                                                                                 \
	{                                                                                          \
		"neither", "inclusive", "exclusive"                                                \
	}

/* clang-format off */
const struct field machine_fields[] = {
	{"machine", "name", FIELD_WORD, AT(name), 0, 1, ROOM(name), {0}},
	{"machine", "description", FIELD_TEXT, AT(description), 0, 0, ROOM(description), {0}},
	{"machine", "costs", FIELD_WORD, AT(costs), 0, 1, ROOM(costs), {0}},
	{"machine", "core", FIELD_WORD, AT(core), 0, 1, ROOM(core), {0}},
	{"machine", "clock", FIELD_HZ, MODEL(clock_hz), 0, 1000, 100000000000, {0}},
	{"machine", "cores", FIELD_COUNT, MODEL(cores), 0, 1, MODEL_CORES_MAX, {0}},
	{"machine", "semantics", FIELD_CHOICE, MODEL(flavour), 0, 0, 0, {"native", "cachegrind"}},

	{"caches", "L1I", FIELD_CACHE, MODEL(l1i), 0, 0, 10000, {0}},
	{"caches", "L1D", FIELD_CACHE, MODEL(l1d), 0, 0, 10000, {0}},
	{"caches", "L2", FIELD_CACHE, MODEL(l2), 0, 0, 10000, {0}},
	{"caches", "LL", FIELD_CACHE, MODEL(ll), 0, 0, 10000, {0}},
	{"caches", "memory", FIELD_CYCLES, MODEL(memory_latency), 0, 1, 100000, {0}},
	{"caches", "L2-line", FIELD_CYCLES, MODEL(l2_interval), 0, 0, 1000, {0}},
	{"caches", "LL-line", FIELD_CYCLES, MODEL(ll_interval), 0, 0, 1000, {0}},
	{"caches", "memory-line", FIELD_CYCLES, MODEL(memory_interval), 0, 0, 10000, {0}},
	{"caches", "intervention", FIELD_CYCLES, MODEL(intervention_latency), 0, 0, 100000, {0}},
	{"caches", "L1I-policy", FIELD_CHOICE, MODEL(policy[MODEL_L1I]), 0, 0, 0, POLICIES},
	{"caches", "L1D-policy", FIELD_CHOICE, MODEL(policy[MODEL_L1D]), 0, 0, 0, POLICIES},
	{"caches", "L2-policy", FIELD_CHOICE, MODEL(policy[MODEL_L2]), 0, 0, 0, POLICIES},
	{"caches", "LL-policy", FIELD_CHOICE, MODEL(policy[MODEL_LL]), 0, 0, 0, POLICIES},
	{"caches", "L2-inclusion", FIELD_CHOICE, MODEL(l2_inclusion), 0, 0, 0, INCLUSIONS},
	{"caches", "LL-inclusion", FIELD_CHOICE, MODEL(ll_inclusion), 0, 0, 0, INCLUSIONS},

	{"prefetch", "L1I-next", FIELD_PREFETCH, MODEL(l1i_next), 0, PREFETCH_LINES, 0, {0}},
	{"prefetch", "L1D-next", FIELD_PREFETCH, MODEL(l1d_next), 0, PREFETCH_LINES, 0, {0}},
	{"prefetch", "L1D-stride", FIELD_PREFETCH, MODEL(l1d_stride), 0, PREFETCH_ENTRIES | PREFETCH_AHEAD, 0, {0}},
	{"prefetch", "L2-adjacent", FIELD_CHOICE, MODEL(l2_adjacent), 0, 0, 0, {"off", "on"}},
	{"prefetch", "L2-stream", FIELD_PREFETCH, MODEL(l2_stream), 0,
		PREFETCH_ENTRIES | PREFETCH_AHEAD | PREFETCH_LINES, 0, {0}},

	{"tlbs", "page", FIELD_SIZE, MODEL(page_size), 0, 4096, 1u << 30, {0}},
	{"tlbs", "ITLB", FIELD_TLB, MODEL(itlb), 0, 0, 0, {0}},
	{"tlbs", "DTLB", FIELD_TLB, MODEL(dtlb), 0, 0, 0, {0}},
	{"tlbs", "STLB", FIELD_TLB, MODEL(stlb), MODEL(stlb_latency), 0, 10000, {0}},
	{"tlbs", "ITLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_ITLB]), 0, 0, 0, POLICIES},
	{"tlbs", "DTLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_DTLB]), 0, 0, 0, POLICIES},
	{"tlbs", "STLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_STLB]), 0, 0, 0, POLICIES},
	{"tlbs", "large-pages", FIELD_CHOICE, MODEL(large_pages), 0, 0, 0, {"never", "kernel"}},
	{"tlbs", "ITLB-2M", FIELD_LARGE, MODEL(large_itlb), 0, 0, 0, {0}},
	{"tlbs", "DTLB-2M", FIELD_LARGE, MODEL(large_dtlb), 0, 0, 0, {0}},
	{"tlbs", "STLB-2M", FIELD_LARGE, MODEL(large_stlb), 0, 0, 0, {0}},
	{"tlbs", "walk", FIELD_CYCLES, MODEL(walk_latency), 0, 0, 10000, {0}},

	{"pipeline", "width", FIELD_COUNT, MODEL(width), 0, 1, 32, {0}},
	{"pipeline", "window", FIELD_COUNT, MODEL(window), 0, 1, 4096, {0}},
	{"pipeline", "store-buffer", FIELD_COUNT, MODEL(store_buffer), 0, 1, 256, {0}},
	{"pipeline", "misses", FIELD_COUNT, MODEL(misses), 0, 0, 64, {0}},
	{"pipeline", "fetches", FIELD_COUNT, MODEL(fetches), 0, 0, 16, {0}},
	{"pipeline", "divide", FIELD_CYCLES, MODEL(divide_latency), 0, 0, 1000, {0}},
	{"pipeline", "fp-divide", FIELD_CYCLES, MODEL(fp_divide_latency), 0, 0, 1000, {0}},
	{"pipeline", "store-forward", FIELD_CYCLES, MODEL(store_forward_penalty), 0, 0, 1000, {0}},
	{"pipeline", "locked", FIELD_CYCLES, MODEL(lock_latency), 0, 0, 1000, {0}},

	{"execution", "loads", FIELD_COUNT, MODEL(execution.loads), 0, 0, 15, {0}},
	{"execution", "stores", FIELD_COUNT, MODEL(execution.stores), 0, 0, 15, {0}},
	{"execution", "alus", FIELD_COUNT, MODEL(execution.alus), 0, 0, 15, {0}},
	{"execution", "multipliers", FIELD_COUNT, MODEL(execution.multipliers), 0, 0, 15, {0}},
	{"execution", "fp-adders", FIELD_COUNT, MODEL(execution.fp_adders), 0, 0, 15, {0}},
	{"execution", "fp-multipliers", FIELD_COUNT, MODEL(execution.fp_multipliers), 0, 0, 15, {0}},
	{"execution", "vectors", FIELD_COUNT, MODEL(execution.vectors), 0, 0, 15, {0}},
	{"execution", "shuffles", FIELD_COUNT, MODEL(execution.shuffles), 0, 0, 15, {0}},
	{"execution", "multiply", FIELD_CYCLES, MODEL(execution.multiply), 0, 0, 1000, {0}},
	{"execution", "fp-add", FIELD_CYCLES, MODEL(execution.fp_add), 0, 0, 1000, {0}},
	{"execution", "fp-multiply", FIELD_CYCLES, MODEL(execution.fp_multiply), 0, 0, 1000, {0}},
	{"execution", "fused", FIELD_CYCLES, MODEL(execution.fused), 0, 0, 1000, {0}},
	{"execution", "convert", FIELD_CYCLES, MODEL(execution.convert), 0, 0, 1000, {0}},
	{"execution", "vector", FIELD_CYCLES, MODEL(execution.vector), 0, 0, 1000, {0}},
	{"execution", "vector-multiply", FIELD_CYCLES, MODEL(execution.vector_multiply), 0, 0, 1000, {0}},
	{"execution", "shuffle", FIELD_CYCLES, MODEL(execution.shuffle), 0, 0, 1000, {0}},
	{"execution", "move", FIELD_CYCLES, MODEL(execution.move), 0, 0, 1000, {0}},
	{"execution", "crypto", FIELD_CYCLES, MODEL(execution.crypto), 0, 0, 1000, {0}},
	{"execution", "microcode", FIELD_CYCLES, MODEL(execution.microcode), 0, 0, 1000, {0}},
	{"execution", "divide-latency", FIELD_CYCLES, MODEL(execution.divide), 0, 0, 1000, {0}},
	{"execution", "fp-divide-latency", FIELD_CYCLES, MODEL(execution.fp_divide), 0, 0, 1000, {0}},
	{"execution", "vector-load", FIELD_CYCLES, MODEL(execution.vector_load), 0, 0, 1000, {0}},
	{"execution", "forward", FIELD_CYCLES, MODEL(execution.forward), 0, 0, 1000, {0}},
	{"execution", "forward-renamed", FIELD_CYCLES, MODEL(execution.forward_renamed), 0, 0, 1000, {0}},
	{"execution", "bank-loads", FIELD_COUNT, MODEL(execution.bank_loads), 0, 0, 3, {0}},
	{"execution", "store-lines", FIELD_COUNT, MODEL(execution.store_lines), 0, 0, 15, {0}},

	{"branches", "predictor", FIELD_CHOICE, MODEL(predictor_kind), 0, 0, 0, {"two-bit", "tagged"}},
	{"branches", "entries", FIELD_LOG2, MODEL(predictor_bits), 0, 16, 1u << 20, {0}},
	{"branches", "return-stack", FIELD_COUNT, MODEL(return_stack), 0, 1, 256, {0}},
	{"branches", "taken", FIELD_CYCLES, MODEL(taken_interval), 0, 0, 100, {0}},
	{"branches", "mispredict", FIELD_CYCLES, MODEL(mispredict_penalty), 0, 0, 1000, {0}},
};
/* clang-format on */
const size_t machine_field_count = sizeof(machine_fields) / sizeof(machine_fields[0]);

static const struct machine defaults = {
	.name = "custom",
	.costs = "generic",
	.core = "none",
	.model =
		{
			.version = MODEL_CONFIG_VERSION,
			.flavour = MODEL_NATIVE,
			.clock_hz = 3000000000,
			.cores = 8,
			.page_size = 4096,
			.l1i = {32 << 10, 8, 64, 4},
			.l1d = {32 << 10, 8, 64, 4},
			.l2 = {1 << 20, 8, 64, 14},
			.ll = {16 << 20, 16, 64, 50},
			.itlb = {64, 64},
			.dtlb = {64, 64},
			.stlb = {2048, 16},
			.large_pages = MODEL_PAGES_KERNEL,
			.memory_latency = 280,
			.stlb_latency = 7,
			.walk_latency = 30,
			.width = 4,
			.window = 224,
			.mispredict_penalty = 16,
			.divide_latency = 18,
			.fp_divide_latency = 5,
			.store_forward_penalty = 13,
			.intervention_latency = 100,
			.lock_latency = 18,
			.predictor_bits = 12,
			.predictor_kind = 1,
			.return_stack = 32,
			.store_buffer = 56,
			.misses = 16,
			.l2_interval = 2,
			.ll_interval = 4,
			.memory_interval = 10,
			.taken_interval = 1,
			.execution = {.loads = 3,
				.stores = 2,
				.alus = 4,
				.multipliers = 1,
				.fp_adders = 2,
				.fp_multipliers = 2,
				.vectors = 3,
				.shuffles = 2,
				.multiply = 3,
				.fp_add = 4,
				.fp_multiply = 4,
				.fused = 4,
				.convert = 6,
				.vector = 1,
				.vector_multiply = 4,
				.shuffle = 1,
				.move = 3,
				.crypto = 4,
				.microcode = 20,
				.divide = 18,
				.fp_divide = 13,
				.vector_load = 2,
				.forward = 5},
		},
};

void machine_defaults(struct machine *m)
{
	*m = defaults;
}
