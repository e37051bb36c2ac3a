/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/counted.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "model/fast.h"
#include "valgrind/tool.h"

#define CHUNK      4096u /* rows; a superblock has fewer */
#define CHUNK_LINE 8     /* looked at at once */
#define SIZES      64    /* of superblocks whose counters are reused */

/* The counters are at the beginning, and a chunk is aligned to its size, so that a row is found by
 * its counter. */
struct chunk {
	uint64_t counts[CHUNK];
	int16_t statics[CHUNK][COUNTED_STATICS];
	struct chunk *next;
	UInt used;
};
#define CHUNK_SIZE ((SizeT)1 << 18)
_Static_assert(sizeof(struct chunk) <= CHUNK_SIZE, "a chunk has its place");

struct counted {
	VgHashNode node; /* by key */
	uint64_t *counters;
	UInt rows;
	struct counted *unused; /* the next unused one */
};

static struct chunk *chunks; /* the first is the one being filled */
static VgHashTable *blocks;
static struct counted *unused[SIZES];
static int64_t discarded[COUNTED_STATICS];

static struct chunk *chunk_of(const uint64_t *counter)
{
	return (struct chunk *)((UWord)counter & ~(CHUNK_SIZE - 1));
}

int16_t *counted_statics(uint64_t *counter)
{
	struct chunk *c = chunk_of(counter);

	return c->statics[counter - c->counts];
}

static void add_chunk(void)
{
	/* Address space; memory around the chunk is never touched. */
	UWord memory = (UWord)VG_(am_shadow_alloc)(2 * CHUNK_SIZE);
	struct chunk *c = (struct chunk *)((memory + CHUNK_SIZE - 1) & ~(CHUNK_SIZE - 1));

	if (!memory)
		VG_(out_of_memory_NORETURN)("perfexmodel", 2 * CHUNK_SIZE);
	c->next = chunks;
	chunks = c;
}

uint64_t *counted_new(Addr key, UInt rows)
{
	struct counted *b = rows < SIZES ? unused[rows] : NULL;

	tl_assert(rows <= CHUNK);
	if (b) {
		unused[rows] = b->unused;
	} else {
		if (!chunks || chunks->used + rows > CHUNK)
			add_chunk();
		b = VG_(malloc)("counted", sizeof(*b));
		b->counters = chunks->counts + chunks->used;
		b->rows = rows;
		chunks->used += rows;
	}
	b->node.key = key;
	if (!blocks)
		blocks = VG_(HT_construct)("counted");
	VG_(HT_add_node)(blocks, b);
	return b->counters;
}

Bool counted_knows(Addr key)
{
	return blocks && VG_(HT_lookup)(blocks, key);
}

static void counted_take_one(uint64_t *counter, int64_t *sums)
{
	const int16_t *statics = counted_statics(counter);
	int64_t n = (int64_t)*counter;

	*counter = 0;
	for (UInt i = 0; i < COUNTED_STATICS; i++)
		sums[i] += n * statics[i];
}

void counted_discard(Addr key)
{
	struct counted *b = blocks ? VG_(HT_remove)(blocks, key) : NULL;

	if (!b)
		return;
	for (UInt i = 0; i < b->rows; i++) {
		counted_take_one(&b->counters[i], discarded);
		VG_(memset)
		(counted_statics(&b->counters[i]), 0, COUNTED_STATICS * sizeof(int16_t));
	}
	if (b->rows < SIZES) {
		b->unused = unused[b->rows];
		unused[b->rows] = b;
	} else {
		VG_(free)(b);
	}
}

void counted_take(int64_t sums[COUNTED_STATICS])
{
	for (UInt i = 0; i < COUNTED_STATICS; i++) {
		sums[i] += discarded[i];
		discarded[i] = 0;
	}
	for (struct chunk *c = chunks; c; c = c->next)
		for (UInt i = 0; i < c->used; i += CHUNK_LINE) {
			uint64_t any = 0;

			for (UInt k = 0; k < CHUNK_LINE; k++)
				any |= c->counts[i + k];
			for (UInt k = 0; any && k < CHUNK_LINE; k++)
				if (c->counts[i + k])
					counted_take_one(&c->counts[i + k], sums);
		}
}

void counted_reset(void)
{
	int64_t nobody[COUNTED_STATICS] = {0};

	counted_take(nobody);
}

/* ---- from descriptors ---- */

void counted_sum(
	const struct model_block *b, const struct model_segment *s, int32_t sums[COUNTED_STATICS])
{
	for (UInt i = 0; i < COUNTED_STATICS; i++)
		sums[i] = i < MODEL_STATICS ? s->statics[i] : 0;
	for (UInt k = 0; k < b->special_count && b->specials[k] < s->insn_count; k++) {
		UInt bits = b->insns[b->specials[k]].class_bits;

		sums[COUNTED_LOCKED] += (bits & MODEL_LOCKED) != 0;
		sums[COUNTED_PREFETCHES] += (bits & MODEL_PREFETCH) != 0;
		sums[COUNTED_SYSTEM_CALLS] += (bits & MODEL_SYSCALL) != 0;
		if (bits & MODEL_DIVIDE)
			sums[COUNTED_DIVIDES]++;
		else
			sums[COUNTED_FP_DIVIDES] += (bits & MODEL_FP_DIVIDE) != 0;
	}
}

/* Of an execution that ends in the segment. */
static void sum_segment(
	const struct model_block *b, const struct model_segment *s, int32_t sums[COUNTED_STATICS])
{
	const struct model_insn *last = &b->insns[s->insn_count ? s->insn_count - 1u : 0];

	counted_sum(b, s, sums);
	/* A further iteration follows, which does not count as an instruction. */
	if (s->insn_count && (last->class_bits & MODEL_STEPPED) && s->next == last->address) {
		sums[MODEL_STATIC_INSTRUCTIONS]--;
		sums[MODEL_STATIC_MICRO_OPS] -= last->uops;
	}
}

void counted_describe(const struct model_block *block, uint64_t *counters)
{
	int32_t before[COUNTED_STATICS] = {0}, now[COUNTED_STATICS];

	for (UInt i = 0; i < block->segment_count; i++) {
		int16_t *statics = counted_statics(&counters[i]);

		sum_segment(block, &block->segments[i], now);
		for (UInt k = 0; k < COUNTED_STATICS; k++) {
			statics[k] = (int16_t)(now[k] - before[k]);
			before[k] = now[k];
		}
	}
}

/* ---- events ---- */

Bool counted_exists(UInt which)
{
	return which <= MODEL_STATIC_RETURNS ||
	       (which >= COUNTED_LOCKED && which <= COUNTED_FP_DIVIDES);
}

unsigned counted_event(UInt which)
{
	static const uint8_t event[COUNTED_STATICS] = {
		[COUNTED_LOCKED] = EV_LOCKED_INSTRUCTIONS,
		[COUNTED_PREFETCHES] = EV_SOFTWARE_PREFETCHES,
		[COUNTED_SYSTEM_CALLS] = EV_SYSTEM_CALLS,
		[COUNTED_DIVIDES] = EV_DIVIDES,
		[COUNTED_FP_DIVIDES] = EV_DIVIDES,
	};

	return which < MODEL_STATICS ? model_static_event(which) : event[which];
}

void counted_add(const int64_t sums[COUNTED_STATICS])
{
	int64_t counts[EVENT_LIMIT] = {0};

	for (UInt i = 0; i < COUNTED_STATICS; i++)
		if (counted_exists(i))
			counts[counted_event(i)] += sums[i];
	model_fast_count(
		model, counts, (uint64_t)sums[COUNTED_DIVIDES], (uint64_t)sums[COUNTED_FP_DIVIDES]);
}
