/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of lib/model: machines, a model with its memory, and random numbers that are the
 * same every time. */
#ifndef TESTS_MODEL_MACHINE_H
#define TESTS_MODEL_MACHINE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/model.h"
#include "model/trace.h"

__attribute__((unused)) static struct model_config zen4(void)
{
	return (struct model_config){
		.version = MODEL_CONFIG_VERSION,
		.parts = MODEL_PARTS_ALL,
		.clock_hz = 3700000000,
		.cores = 8,
		.page_size = 4096,
		.l1i = {32768, 8, 64, 4},
		.l1d = {32768, 8, 64, 4},
		.l2 = {1 << 20, 8, 64, 14},
		.ll = {32 << 20, 16, 64, 50},
		.itlb = {64, 64},
		.dtlb = {72, 72},
		.stlb = {3072, 24},
		.memory_latency = 400,
		.stlb_latency = 7,
		.walk_latency = 30,
		.width = 6,
		.window = 320,
		.mispredict_penalty = 13,
		.divide_latency = 10,
		.fp_divide_latency = 13,
		.store_forward_penalty = 14,
		.intervention_latency = 110,
		.lock_latency = 16,
		.predictor_bits = 12,
		.predictor_kind = 1,
		.return_stack = 32,
		.store_buffer = 64,
		.execution = {.loads = 3,
			.stores = 2,
			.alus = 4,
			.multipliers = 1,
			.fp_adders = 2,
			.fp_multipliers = 2,
			.vectors = 4,
			.shuffles = 2,
			.multiply = 3,
			.fp_add = 3,
			.fp_multiply = 3,
			.fused = 4,
			.convert = 7,
			.vector = 1,
			.vector_multiply = 3,
			.shuffle = 1,
			.move = 1,
			.crypto = 4,
			.microcode = 30,
			.divide = 12,
			.fp_divide = 13,
			.vector_load = 3,
			.forward = 7},
	};
}

__attribute__((unused)) static struct model_config r10000(void)
{
	return (struct model_config){
		.version = MODEL_CONFIG_VERSION,
		.parts = MODEL_PARTS_ALL,
		.clock_hz = 195000000,
		.cores = 4,
		.page_size = 16384,
		.l1i = {32768, 2, 64, 2},
		.l1d = {32768, 2, 32, 2},
		.l2 = {4 << 20, 2, 128, 10},
		.itlb = {8, 8},
		.stlb = {64, 64},
		.memory_latency = 61,
		.stlb_latency = 2,
		.walk_latency = 57,
		.width = 4,
		.window = 32,
		.mispredict_penalty = 5,
		.divide_latency = 35,
		.fp_divide_latency = 19,
		.store_forward_penalty = 4,
		.intervention_latency = 120,
		.lock_latency = 10,
		.predictor_bits = 9,
		.predictor_kind = 0,
		.return_stack = 1,
		.store_buffer = 16,
	};
}

struct run {
	struct model *model;
	void *memory;
	uint64_t counts[EVENT_LIMIT]; /* of thread 0 */
	uint64_t others[MODEL_CORES_MAX][EVENT_LIMIT];
	void *code; /* null: none */
};

/* The model in its own memory, with thread 0 running.  Keep the run where it is: the model knows
 * its counts. */
__attribute__((unused)) static void run_begin(struct run *r, const struct model_config *config)
{
	size_t size = (model_size(config) + 63) & ~(size_t)63;
	const char *why = model_check(config);

	if (why) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	memset(r, 0, sizeof(*r));
	r->memory = aligned_alloc(64, size);
	if (!r->memory)
		abort();
	memset(r->memory, 0, size);
	r->model = model_init(r->memory, config);
	model_switch_thread(r->model, 0, r->counts);
}

/* The model of a run that has begun gets memory for the code of segments: little, so that it fills
 * up. */
#define RUN_CODE_BYTES ((size_t)128 << 10)
__attribute__((unused)) static void run_with_code(struct run *r)
{
	r->code = mmap(NULL, RUN_CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->code == MAP_FAILED) {
		printf("Bail out! no memory for code: %s\n", strerror(errno));
		exit(1);
	}
	model_set_code(r->model, r->code, RUN_CODE_BYTES);
}

__attribute__((unused)) static void run_thread(struct run *r, unsigned thread)
{
	model_switch_thread(r->model, thread, thread ? r->others[thread] : r->counts);
}

__attribute__((unused)) static void run_end(struct run *r)
{
	free(r->memory);
	if (r->code)
		munmap(r->code, RUN_CODE_BYTES);
}

/* xorshift64* (Vigna, 2016). */
__attribute__((unused)) static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

__attribute__((unused)) static uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (random_next(state) >> 11) % n;
}

#endif
