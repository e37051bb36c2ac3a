/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a machine description: one table for parsing, printing and checking. */
#include "machine/private.h"

#define AT(member)    .offset = offsetof(struct machine, member)
#define MODEL(member) AT(model.member)
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
	{"machine", "name", FIELD_WORD, AT(name), .low = 1, .high = ROOM(name)},
	{"machine", "description", FIELD_TEXT, AT(description), .high = ROOM(description)},
	{"machine", "costs", FIELD_WORD, AT(costs), .low = 1, .high = ROOM(costs)},
	{"machine", "core", FIELD_WORD, AT(core), .low = 1, .high = ROOM(core)},
	{"machine", "clock", FIELD_HZ, MODEL(clock_hz), .low = 1000, .high = 100000000000},
	{"machine", "cores", FIELD_COUNT, MODEL(cores), .low = 1, .high = MODEL_CORES_MAX},
	{"machine", "semantics", FIELD_CHOICE, MODEL(flavour), .choices = {"native", "cachegrind"}},

	{"caches", "L1I", FIELD_CACHE, MODEL(l1i), .high = 10000},
	{"caches", "L1D", FIELD_CACHE, MODEL(l1d), .high = 10000},
	{"caches", "L2", FIELD_CACHE, MODEL(l2), .high = 10000},
	{"caches", "LL", FIELD_CACHE, MODEL(ll), .high = 10000},
	{"caches", "memory", FIELD_CYCLES, MODEL(memory_latency), .low = 1, .high = 100000},
	{"caches", "L2-line", FIELD_CYCLES, MODEL(l2_interval), .high = 1000},
	{"caches", "LL-line", FIELD_CYCLES, MODEL(ll_interval), .high = 1000},
	{"caches", "L2-write-back", FIELD_CHOICE, MODEL(l2_write_back), .choices = {"shared", "own"}},
	{"caches", "memory-line", FIELD_CYCLES, MODEL(memory_interval), .high = 10000},
	{"caches", "intervention", FIELD_CYCLES, MODEL(intervention_latency), .high = 100000},
	{"caches", "L1I-policy", FIELD_CHOICE, MODEL(policy[MODEL_L1I]), .choices = POLICIES},
	{"caches", "L1D-policy", FIELD_CHOICE, MODEL(policy[MODEL_L1D]), .choices = POLICIES},
	{"caches", "L2-policy", FIELD_CHOICE, MODEL(policy[MODEL_L2]), .choices = POLICIES},
	{"caches", "LL-policy", FIELD_CHOICE, MODEL(policy[MODEL_LL]), .choices = POLICIES},
	{"caches", "L2-inclusion", FIELD_CHOICE, MODEL(l2_inclusion), .choices = INCLUSIONS},
	{"caches", "LL-inclusion", FIELD_CHOICE, MODEL(ll_inclusion), .choices = INCLUSIONS},

	{"prefetch", "L1I-next", FIELD_PREFETCH, MODEL(l1i_next), .low = PREFETCH_LINES},
	{"prefetch", "L1D-next", FIELD_PREFETCH, MODEL(l1d_next), .low = PREFETCH_LINES},
	{"prefetch", "L1D-stride", FIELD_PREFETCH, MODEL(l1d_stride), .low = PREFETCH_ENTRIES | PREFETCH_AHEAD},
	{"prefetch", "L2-adjacent", FIELD_CHOICE, MODEL(l2_adjacent), .choices = {"off", "on"}},
	{"prefetch", "L2-stream", FIELD_PREFETCH, MODEL(l2_stream), .low = PREFETCH_ENTRIES | PREFETCH_AHEAD | PREFETCH_LINES},
	{"prefetch", "stream-pages", FIELD_CHOICE, MODEL(stream_pages), .choices = {"stop", "cross"}},

	{"tlbs", "page", FIELD_SIZE, MODEL(page_size), .low = 4096, .high = 1u << 30},
	{"tlbs", "ITLB", FIELD_TLB, MODEL(itlb)},
	{"tlbs", "DTLB", FIELD_TLB, MODEL(dtlb)},
	{"tlbs", "STLB", FIELD_TLB, MODEL(stlb), .latency = offsetof(struct machine, model.stlb_latency), .high = 10000},
	{"tlbs", "ITLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_ITLB]), .choices = POLICIES},
	{"tlbs", "DTLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_DTLB]), .choices = POLICIES},
	{"tlbs", "STLB-policy", FIELD_CHOICE, MODEL(policy[MODEL_STLB]), .choices = POLICIES},
	{"tlbs", "large-pages", FIELD_CHOICE, MODEL(large_pages), .choices = {"never", "kernel"}},
	{"tlbs", "ITLB-2M", FIELD_LARGE, MODEL(large_itlb)},
	{"tlbs", "DTLB-2M", FIELD_LARGE, MODEL(large_dtlb)},
	{"tlbs", "STLB-2M", FIELD_LARGE, MODEL(large_stlb)},
	{"tlbs", "walk", FIELD_CYCLES, MODEL(walk_latency), .high = 10000},

	{"pipeline", "width", FIELD_COUNT, MODEL(width), .low = 1, .high = 32},
	{"pipeline", "window", FIELD_COUNT, MODEL(window), .low = 1, .high = 4096},
	{"pipeline", "store-buffer", FIELD_COUNT, MODEL(store_buffer), .low = 1, .high = 256},
	{"pipeline", "misses", FIELD_COUNT, MODEL(misses), .high = 64},
	{"pipeline", "fetches", FIELD_COUNT, MODEL(fetches), .high = 16},
	{"pipeline", "jump-fetches", FIELD_COUNT, MODEL(jump_fetches), .high = 16},
	{"pipeline", "divide", FIELD_CYCLES, MODEL(divide_latency), .high = 1000},
	{"pipeline", "fp-divide", FIELD_CYCLES, MODEL(fp_divide_latency), .high = 1000},
	{"pipeline", "store-forward", FIELD_CYCLES, MODEL(store_forward_penalty), .high = 1000},
	{"pipeline", "locked", FIELD_CYCLES, MODEL(lock_latency), .high = 1000},

	{"execution", "loads", FIELD_COUNT, MODEL(execution.loads), .high = 15},
	{"execution", "stores", FIELD_COUNT, MODEL(execution.stores), .high = 15},
	{"execution", "alus", FIELD_COUNT, MODEL(execution.alus), .high = 15},
	{"execution", "multipliers", FIELD_COUNT, MODEL(execution.multipliers), .high = 15},
	{"execution", "fp-adders", FIELD_COUNT, MODEL(execution.fp_adders), .high = 15},
	{"execution", "fp-multipliers", FIELD_COUNT, MODEL(execution.fp_multipliers), .high = 15},
	{"execution", "vectors", FIELD_COUNT, MODEL(execution.vectors), .high = 15},
	{"execution", "shuffles", FIELD_COUNT, MODEL(execution.shuffles), .high = 15},
	{"execution", "multiply", FIELD_CYCLES, MODEL(execution.multiply), .high = 1000},
	{"execution", "fp-add", FIELD_CYCLES, MODEL(execution.fp_add), .high = 1000},
	{"execution", "fp-add-chain", FIELD_CYCLES, MODEL(execution.fp_add_chain), .high = 1000},
	{"execution", "fp-multiply", FIELD_CYCLES, MODEL(execution.fp_multiply), .high = 1000},
	{"execution", "fused", FIELD_CYCLES, MODEL(execution.fused), .high = 1000},
	{"execution", "convert", FIELD_CYCLES, MODEL(execution.convert), .high = 1000},
	{"execution", "vector", FIELD_CYCLES, MODEL(execution.vector), .high = 1000},
	{"execution", "vector-multiply", FIELD_CYCLES, MODEL(execution.vector_multiply), .high = 1000},
	{"execution", "shuffle", FIELD_CYCLES, MODEL(execution.shuffle), .high = 1000},
	{"execution", "move", FIELD_CYCLES, MODEL(execution.move), .high = 1000},
	{"execution", "crypto", FIELD_CYCLES, MODEL(execution.crypto), .high = 1000},
	{"execution", "microcode", FIELD_CYCLES, MODEL(execution.microcode), .high = 1000},
	{"execution", "divide-latency", FIELD_CYCLES, MODEL(execution.divide), .high = 1000},
	{"execution", "fp-divide-latency", FIELD_CYCLES, MODEL(execution.fp_divide), .high = 1000},
	{"execution", "vector-load", FIELD_CYCLES, MODEL(execution.vector_load), .high = 1000},
	{"execution", "vector-loads", FIELD_COUNT, MODEL(execution.vector_loads), .high = 15},
	{"execution", "forward", FIELD_CYCLES, MODEL(execution.forward), .high = 1000},
	{"execution", "forward-renamed", FIELD_CYCLES, MODEL(execution.forward_renamed), .high = 1000},
	{"execution", "bank-loads", FIELD_COUNT, MODEL(execution.bank_loads), .high = 3},
	{"execution", "store-lines", FIELD_COUNT, MODEL(execution.store_lines), .high = 15},
	{"execution", "string-start", FIELD_CYCLES, MODEL(execution.string_start), .high = 1000},
	{"execution", "string-bytes", FIELD_COUNT, MODEL(execution.string_bytes), .high = 256},

	{"branches", "predictor", FIELD_CHOICE, MODEL(predictor_kind), .choices = {"two-bit", "tagged", "cachegrind"}},
	{"branches", "entries", FIELD_LOG2, MODEL(predictor_bits), .low = 16, .high = 1u << 20},
	{"branches", "return-stack", FIELD_COUNT, MODEL(return_stack), .low = 1, .high = 256},
	{"branches", "taken", FIELD_CYCLES, MODEL(taken_interval), .high = 100},
	{"branches", "taken-long", FIELD_CYCLES, MODEL(taken_long), .high = 100},
	{"branches", "mispredict", FIELD_CYCLES, MODEL(mispredict_penalty), .high = 1000},
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
			.parts = MODEL_PARTS_ALL,
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
				.forward = 5,
				/* As Intel's optimization manual has them for fast strings. */
				.string_start = 30,
				.string_bytes = 32},
		},
};

void machine_defaults(struct machine *m)
{
	*m = defaults;
}
