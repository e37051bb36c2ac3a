/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the retirement clock computes before a program runs: the machine, the latency and ports of
 * each class of instructions, and blocks prepared for its loop when they are translated. Results
 * that no instruction reads are not kept; those of the same block are read from registers.
 *
 * Each class has units of its own: a number of ports. Units that do not fit into the 31 ports of a
 * calendar's entry are unlimited. Some of the units for arithmetic do more than others.
 */
#include "model/retire_loop.h"

enum unit {
	LOADS,
	STORES,
	ALUS,
	MULTIPLIERS,
	FP_ADDERS,
	FP_MULTIPLIERS,
	VECTORS,
	SHUFFLES,
	BRANCHES, /* conditional */
	COUNTED_UNITS,
	LONG_ADDRESSES = COUNTED_UNITS, /* this and what follows: some of ALUS */
	SHIFTERS,
	FLAGS_MOVERS,
	UNITS,
	NO_UNIT = UNITS
};

static const uint8_t unit_of[MODEL_LATENCIES] = {
	[MODEL_LATENCY_NONE] = NO_UNIT,
	[MODEL_LATENCY_ALU] = ALUS,
	[MODEL_LATENCY_STORE] = STORES,
	[MODEL_LATENCY_VECTOR_LOAD] = NO_UNIT,
	[MODEL_LATENCY_MULTIPLY] = MULTIPLIERS,
	[MODEL_LATENCY_FP_ADD] = FP_ADDERS,
	[MODEL_LATENCY_FP_MULTIPLY] = FP_MULTIPLIERS,
	[MODEL_LATENCY_FUSED] = FP_MULTIPLIERS,
	[MODEL_LATENCY_CONVERT] = FP_ADDERS,
	[MODEL_LATENCY_CONVERT_IN] = FP_ADDERS,
	[MODEL_LATENCY_COMPARE] = FP_ADDERS,
	[MODEL_LATENCY_X87] = FP_MULTIPLIERS,
	[MODEL_LATENCY_VECTOR] = VECTORS,
	[MODEL_LATENCY_VECTOR_MULTIPLY] = FP_MULTIPLIERS,
	[MODEL_LATENCY_SHUFFLE] = SHUFFLES,
	[MODEL_LATENCY_MOVE] = VECTORS,
	[MODEL_LATENCY_MOVE_IN] = VECTORS,
	[MODEL_LATENCY_EXTRACT] = SHUFFLES,
	[MODEL_LATENCY_CRYPTO] = SHUFFLES,
	[MODEL_LATENCY_LONG_ADDRESS] = LONG_ADDRESSES,
	[MODEL_LATENCY_SCALED_ADDRESS] = ALUS,
	[MODEL_LATENCY_SHIFT] = SHIFTERS,
	[MODEL_LATENCY_FLAGS_MOVE] = FLAGS_MOVERS,
	[MODEL_LATENCY_MULTIPLY_HIGH] = MULTIPLIERS,
	[MODEL_LATENCY_X87_LONG] = NO_UNIT,
	[MODEL_LATENCY_MICROCODE] = NO_UNIT,
	[MODEL_LATENCY_DIVIDE] = NO_UNIT,
	[MODEL_LATENCY_FP_DIVIDE] = NO_UNIT,
	[MODEL_LATENCY_FP_ROOT] = NO_UNIT,
	[MODEL_LATENCY_LOCKED] = NO_UNIT,
	[MODEL_LATENCY_SERIALISING] = NO_UNIT,
	[MODEL_LATENCY_SYSTEM_CALL] = NO_UNIT,
	[MODEL_LATENCY_STRING] = NO_UNIT,
};

/* The last `count` of some ports, which others take last; 0: all. */
static uint32_t last_ports(uint32_t ports, uint32_t count)
{
	uint32_t most = (uint32_t)__builtin_popcount(ports);

	for (; count && most > count; most--)
		ports &= ports - 1;
	return ports;
}

/* Ports by unit, from the lowest bit on. */
static void init_ports(const struct model_execution_config *e, uint32_t ports[UNITS + 1])
{
	const uint32_t count[COUNTED_UNITS] = {e->loads, e->stores, e->alus, e->multipliers,
		e->fp_adders, e->fp_multipliers, e->vectors, e->shuffles, e->branches};
	uint32_t used = 0;
	int i;

	for (i = 0; i <= UNITS; i++)
		ports[i] = RETIRE_NO_PORT;
	for (i = 0; i < COUNTED_UNITS; i++) {
		if (!count[i] || count[i] > 31 - used)
			continue;
		ports[i] = ((UINT32_C(1) << count[i]) - 1) << used;
		used += count[i];
	}
	if (!count[FP_ADDERS])
		ports[FP_ADDERS] = ports[FP_MULTIPLIERS];
	ports[LONG_ADDRESSES] = last_ports(ports[ALUS], e->long_addresses);
	ports[SHIFTERS] = last_ports(ports[ALUS], e->shifters);
	ports[FLAGS_MOVERS] = last_ports(ports[ALUS], e->flags_moves);
}

/* Half slots that take all cycles of dispatch for a time. */
static uint8_t long_slots(uint32_t cycles, uint32_t width)
{
	uint64_t half_slots = UINT64_C(2) * cycles * width;

	return (uint8_t)(half_slots < UINT8_MAX ? half_slots : UINT8_MAX);
}

/* The least latency is a cycle. */
/* The pipeline is refilled after it. */
static uint32_t system_call_latency(uint32_t cycles, uint32_t refill)
{
	if (!cycles)
		return 0;
	return cycles > refill ? cycles - refill : 1;
}

static uint32_t at_least_one(uint32_t cycles)
{
	return cycles ? cycles : 1;
}

/* One that the description does not have is that of the more general kind. */
static uint32_t or_else(uint32_t cycles, uint32_t general)
{
	return at_least_one(cycles ? cycles : general);
}

/* Of forms that have what others have not. */
static void init_particular(struct retire *t, const struct model_config *config)
{
	const struct model_execution_config *e = &config->execution;
	int i;

	for (i = MODEL_LATENCY_VECTOR_LOAD; i <= MODEL_LATENCY_CRYPTO; i++)
		if (i != MODEL_LATENCY_MULTIPLY && e->vector_loads && e->vector_loads < e->loads)
			t->form[i].load_ports &=
				~((UINT32_C(1) << (e->loads - e->vector_loads)) - 1);
	t->form[MODEL_LATENCY_FP_DIVIDE].load_ports = t->form[MODEL_LATENCY_FP_ROOT].load_ports =
		t->form[MODEL_LATENCY_FP_ADD].load_ports;
	t->form[MODEL_LATENCY_DIVIDE].busy = config->divide_latency;
	t->form[MODEL_LATENCY_FP_DIVIDE].busy = config->fp_divide_latency;
	t->form[MODEL_LATENCY_FP_ROOT].busy =
		e->fp_root_busy ? e->fp_root_busy : config->fp_divide_latency;
	if (e->x87_long)
		t->form[MODEL_LATENCY_X87_LONG].half_slots = long_slots(e->x87_long, config->width);
}

static void init_forms(struct retire *t, const struct model_config *config)
{
	const struct model_execution_config *e = &config->execution;
	const uint32_t cycles[MODEL_LATENCIES] = {
		[MODEL_LATENCY_NONE] = 0,
		[MODEL_LATENCY_ALU] = 1,
		[MODEL_LATENCY_STORE] = 0,
		[MODEL_LATENCY_VECTOR_LOAD] = e->vector_load,
		[MODEL_LATENCY_MULTIPLY] = at_least_one(e->multiply),
		[MODEL_LATENCY_FP_ADD] = at_least_one(e->fp_add),
		[MODEL_LATENCY_FP_MULTIPLY] = at_least_one(e->fp_multiply),
		[MODEL_LATENCY_FUSED] = at_least_one(e->fused),
		[MODEL_LATENCY_CONVERT] = at_least_one(e->convert),
		[MODEL_LATENCY_CONVERT_IN] = or_else(e->convert_in, e->convert),
		[MODEL_LATENCY_COMPARE] = or_else(e->compare, e->move),
		[MODEL_LATENCY_X87] = or_else(e->x87, e->fp_add),
		[MODEL_LATENCY_VECTOR] = at_least_one(e->vector),
		[MODEL_LATENCY_VECTOR_MULTIPLY] = at_least_one(e->vector_multiply),
		[MODEL_LATENCY_SHUFFLE] = at_least_one(e->shuffle),
		[MODEL_LATENCY_MOVE] = at_least_one(e->move),
		[MODEL_LATENCY_MOVE_IN] = or_else(e->move_in, e->move),
		[MODEL_LATENCY_EXTRACT] = at_least_one(e->move + e->shuffle),
		[MODEL_LATENCY_CRYPTO] = at_least_one(e->crypto),
		[MODEL_LATENCY_LONG_ADDRESS] = at_least_one(e->long_address),
		[MODEL_LATENCY_SCALED_ADDRESS] = or_else(e->scaled_address, e->long_address),
		[MODEL_LATENCY_SHIFT] = 1,
		[MODEL_LATENCY_FLAGS_MOVE] = 1,
		[MODEL_LATENCY_MULTIPLY_HIGH] = or_else(e->multiply_high, e->multiply),
		[MODEL_LATENCY_X87_LONG] = 0,
		[MODEL_LATENCY_MICROCODE] = at_least_one(e->microcode),
		[MODEL_LATENCY_DIVIDE] = at_least_one(e->divide),
		[MODEL_LATENCY_FP_DIVIDE] = at_least_one(e->fp_divide),
		[MODEL_LATENCY_FP_ROOT] = at_least_one(e->fp_root),
		[MODEL_LATENCY_LOCKED] = config->lock_latency > config->l1d.latency
						 ? config->lock_latency - config->l1d.latency
						 : 1,
		[MODEL_LATENCY_SERIALISING] = 1,
		[MODEL_LATENCY_SYSTEM_CALL] =
			system_call_latency(e->system_call, config->mispredict_penalty),
		[MODEL_LATENCY_STRING] = 1,
	};
	uint32_t ports[UNITS + 1];
	int i;

	init_ports(e, ports);
	t->branch_ports = e->branches ? ports[BRANCHES] : 0;
	if (e->branch_units == MODEL_BRANCHES_BY_SHIFTERS)
		t->branch_ports = ports[SHIFTERS];
	t->fused_ports = e->branch_units == MODEL_BRANCHES_BY_SHIFTERS ? t->branch_ports : 0;
	t->store_ports = e->store_address == MODEL_ADDRESS_SHARED ? ports[LOADS] : RETIRE_NO_PORT;
	for (i = 0; i < MODEL_LATENCIES; i++)
		t->form[i] = (struct retire_form){
			.ports = ports[unit_of[i]],
			.load_ports = ports[LOADS],
			.latency = cycles[i],
			.load = at_least_one(config->l1d.latency),
			.special = (uint8_t)(i < MODEL_LATENCY_SPECIAL || !cycles[i] ? 0 : i),
			.half_slots = 2,
		};
	init_particular(t, config);
}

/* Parts by which such a branch takes longer than any taken one. `others` before it take their
 * interval, too, of which fetch can pass several. */
static uint32_t taken_more(const struct retire *t, const struct model_config *config,
	uint32_t interval, uint32_t others)
{
	return interval > config->taken_interval
		       ? (interval + others * config->taken_interval) * RETIRE_CYCLE -
				 (1 + others) * t->taken
		       : 0;
}

static void init_places(struct retire *t, const struct model_execution_config *e)
{
	const uint32_t counts[] = {e->alu_scheduler, e->address_scheduler,
		e->vector_scheduler ? e->vector_queue : 0, e->registers};
	unsigned i;

	t->place_hold = e->scheduler_hold;
	t->vector_places = e->vector_scheduler;
	t->places = RETIRE_PLACES_FREE;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		t->places += (uint64_t)counts[i] << 16 * i;
		t->limited |= counts[i] ? UINT64_C(0x8000) << 16 * i : 0;
	}
}

static void init_fetch(struct retire *t, const struct model_config *config)
{
	t->fetches = config->fetches < RETIRE_FETCHES ? config->fetches : RETIRE_FETCHES;
	t->jump_fetches =
		config->jump_fetches < RETIRE_FETCHES ? config->jump_fetches : RETIRE_FETCHES;
	t->fetch_group = config->fetch_group;
	t->group_time = RETIRE_CYCLE / at_least_one(config->fetch_groups);
	t->fetch_line = config->fetch_line ? config->fetch_line : UINT64_MAX;
	t->fetch_across = config->fetch_across;
	t->long_groups = at_least_one(config->fetch_groups);
	t->long_time = config->fetch_long * RETIRE_CYCLE;
	t->single_time = config->fetch_single * RETIRE_CYCLE / 100;
	t->single_time -= t->single_time < t->group_time ? t->single_time : t->group_time;
	t->jumped = 1;
	t->op_cache = config->fetch_group && config->decode ? config->op_cache : 0;
	t->decode = config->decode;
	t->op_cache_fields = config->op_cache_fields;
	t->decode_change = config->decode_change * RETIRE_CYCLE;
	t->fetch_ahead = (uint64_t)config->fetch_queue * t->slot;
	t->btb_second = config->btb_second * RETIRE_CYCLE;
	t->taken = config->taken_interval * t->group_time;
	t->taken_return = taken_more(t, config, config->return_interval, 1); /* the call */
	t->taken_indirect = taken_more(t, config, config->indirect_interval, 0);
	t->code_bits = 31 - (uint32_t)__builtin_clz(config->l1i.line | 1);
}

void retire_init(struct retire *t, const struct model_config *config)
{
	const struct model_execution_config *e = &config->execution;
	uint32_t width = config->width;

	t->width = width;
	t->row_weight = 1;
	t->slot = (RETIRE_CYCLE + width / 2) / width;
	t->window = config->window < RETIRE_WINDOW_MAX ? config->window : RETIRE_WINDOW_MAX;
	t->retired_mask = RETIRE_RETIRED_MIN - 1;
	while (t->retired_mask + 1 < t->window)
		t->retired_mask = 2 * t->retired_mask + 1;
	t->misses = config->misses;
	t->miss_hold = config->miss_hold;
	t->walkers = config->walkers;
	t->second_tlb = config->stlb_latency;
	init_fetch(t, config);
	t->write_back_own = config->l2_write_back == MODEL_WAY_OWN;
	t->add_chain = e->fp_add_chain ? e->fp_add_chain : at_least_one(e->fp_add);
	t->string_start = e->string_start;
	t->string_bytes = e->string_bytes;
	t->store_buffer = config->store_buffer ? config->store_buffer : RETIRE_STORES_MAX;
	init_forms(t, config);
	t->forward = e->forward;
	t->renamed = e->forward_renamed < e->forward ? e->forward_renamed : e->forward;
	t->links = e->renaming == MODEL_RENAMING_STORES;
	/* Without what a load to a vector register takes longer. */
	t->vector_forward = e->vector_forward ? e->vector_forward : e->forward;
	t->vector_forward -=
		e->vector_load < t->vector_forward ? e->vector_load : t->vector_forward;
	t->scaled_load = e->scaled_load;
	t->vector_load = e->vector_load;
	t->fusion = e->fusion == MODEL_FUSION_NONE ? 0
		    : e->fusion == MODEL_FUSION_COMPARE
			    ? MODEL_TRAIT_AFTER_COMPARE
			    : MODEL_TRAIT_AFTER_COMPARE | MODEL_TRAIT_AFTER_ARITHMETIC;
	t->mispredict = config->mispredict_penalty;
	t->drain = e->stores ? RETIRE_CYCLE / e->stores : 0;
	t->drain_line = e->store_lines ? RETIRE_CYCLE / e->store_lines : 0;
	t->drain_line = t->drain > t->drain_line ? t->drain : t->drain_line;
	t->conflict = config->l1d_conflict;
	t->interval[0] = config->l2_interval;
	t->interval[1] = config->ll_interval;
	t->interval[2] = config->memory_interval;
	t->bank_loads = e->bank_loads < 4 ? (1u << e->bank_loads) - 1 : 0;
	init_places(t, e);
	t->line_bits = 31 - (uint32_t)__builtin_clz(config->l1d.line | 1);
}

/* ---- blocks ---- */

static int reads(const struct model_block *b, unsigned i, unsigned slot)
{
	const struct retire_op *op = &b->ops[i];
	unsigned k;

	for (k = 0; k < MODEL_SOURCES_MAX; k++)
		if (op->source[k] == slot)
			return 1;
	return op->for_address[0] == slot || op->for_address[1] == slot;
}

static int writes(const struct model_block *b, unsigned i, unsigned slot)
{
	const uint8_t *r = b->insns[i].result;

	return r[0] == slot || r[1] == slot || r[2] == slot;
}

/* The register from which instruction i can read a result of the block, if it still has that value.
 */
static uint8_t register_of(const struct model_block *b, unsigned i, uint8_t slot)
{
	unsigned from = slot - (unsigned)MODEL_RESULT, k, later;

	if (slot < MODEL_RESULT || from >= i)
		return slot;
	for (k = 0; k < MODEL_RESULTS_MAX; k++) {
		uint8_t r = b->insns[from].result[k];

		if (r >= MODEL_REGISTERS)
			continue;
		for (later = from + 1; later < i && !writes(b, later, r); later++)
			;
		if (later == i)
			return r;
	}
	return slot;
}

/* Is the register read, or can the block be left, before it is written again? */
static int is_wanted(const struct model_block *b, unsigned i, unsigned slot)
{
	unsigned k;

	for (k = i + 1; k < b->insn_count; k++) {
		unsigned s;

		for (s = 0; s < b->segment_count; s++)
			if (b->segments[s].insn_count == k)
				return 1;
		if (reads(b, k, slot))
			return 1;
		if (writes(b, k, slot))
			return 0;
	}
	return 1;
}

static int is_read(const struct model_block *b, unsigned slot)
{
	unsigned i;

	for (i = 0; i < b->insn_count; i++)
		if (reads(b, i, slot))
			return 1;
	return 0;
}

/* The two places for its result; 0: two are not enough. */
static int put_results(const struct model_block *b, unsigned i, struct retire_op *op)
{
	const struct model_insn *n = &b->insns[i];
	uint8_t to[MODEL_RESULTS_MAX + 1];
	unsigned k, used = 0;

	for (k = 0; k < MODEL_RESULTS_MAX; k++)
		if (n->result[k] != MODEL_SLOT_SINK && is_wanted(b, i, n->result[k]))
			to[used++] = n->result[k];
	if (is_read(b, MODEL_RESULT + i))
		to[used++] = (uint8_t)(MODEL_RESULT + i);
	op->result[0] = used > 0 ? to[0] : MODEL_SLOT_SINK;
	op->result[1] = used > 1 ? to[1] : MODEL_SLOT_SINK;
	return used <= 2;
}

/* ---- places ---- */

/* In which scheduler it waits for its operands; a store, for its data. */
static uint64_t forms_waits(const struct model_insn *n)
{
	switch ((enum model_latency)n->latency) {
	case MODEL_LATENCY_NONE:
	case MODEL_LATENCY_VECTOR_LOAD:
	case MODEL_LATENCY_LOCKED:
	case MODEL_LATENCY_SERIALISING:
	case MODEL_LATENCY_SYSTEM_CALL:
	case MODEL_LATENCY_STRING:
	case MODEL_LATENCIES:
		return 0;
	case MODEL_LATENCY_STORE:
		return n->traits & MODEL_TRAIT_VECTOR ? 0 : RETIRE_PLACE_ALU;
	case MODEL_LATENCY_FP_ADD:
	case MODEL_LATENCY_FP_MULTIPLY:
	case MODEL_LATENCY_FUSED:
	case MODEL_LATENCY_CONVERT:
	case MODEL_LATENCY_CONVERT_IN:
	case MODEL_LATENCY_COMPARE:
	case MODEL_LATENCY_X87:
	case MODEL_LATENCY_X87_LONG:
	case MODEL_LATENCY_VECTOR:
	case MODEL_LATENCY_VECTOR_MULTIPLY:
	case MODEL_LATENCY_SHUFFLE:
	case MODEL_LATENCY_MOVE:
	case MODEL_LATENCY_MOVE_IN:
	case MODEL_LATENCY_EXTRACT:
	case MODEL_LATENCY_CRYPTO:
	case MODEL_LATENCY_FP_DIVIDE:
	case MODEL_LATENCY_FP_ROOT:
		return RETIRE_PLACE_VECTOR;
	default:
		return RETIRE_PLACE_ALU;
	}
}

/* Does it write a general register? Moves between registers are renamed. */
static int forms_renames(const struct model_block *b, const struct model_insn *n)
{
	const struct model_access *a = &b->accesses[n->first_access];

	if (n->branch != MODEL_NO_BRANCH || n->latency == MODEL_LATENCY_STORE ||
		n->traits & (MODEL_TRAIT_VECTOR | MODEL_TRAIT_COMPARES))
		return 0;
	if (n->access_count && a->kind != MODEL_ACCESS_LOAD)
		return 0;
	return n->latency == MODEL_LATENCY_NONE ? n->access_count > 0
						: forms_waits(n) != RETIRE_PLACE_VECTOR;
}

static void forms_take_places(const struct retire *t, const struct model_block *b,
	const struct model_insn *n, struct retire_op *op)
{
	uint64_t limited = t->limited / 0x8000 * 0xffff;

	if (op->cost)
		op->waits = forms_waits(n) & limited;
	op->addresses = n->access_count ? RETIRE_PLACE_ADDRESS & limited : 0;
	op->renames = forms_renames(b, n) ? RETIRE_PLACE_REGISTER & limited : 0;
}

/* Accesses and what else there is that the loop does not do itself. */
static uint8_t forms_way_of(const struct model_block *b, const struct model_insn *n,
	const struct retire_form *f, uint32_t line)
{
	const struct model_access *a = &b->accesses[n->first_access];

	if (f->special || f->more_count || n->access_count > 1)
		return RETIRE_GENERALLY;
	if (!n->access_count)
		return RETIRE_PLAIN;
	if (a->guarded || a->size > line)
		return RETIRE_GENERALLY;
	return a->kind == MODEL_ACCESS_LOAD    ? RETIRE_LOADS
	       : a->kind == MODEL_ACCESS_STORE ? RETIRE_STORES
					       : RETIRE_GENERALLY;
}

/* Is the result of an addition next read by another one? A block is taken to follow itself. */
static int forms_adds_on(const struct model_block *b, unsigned i)
{
	unsigned slot = b->insns[i].result[0], k, n;

	for (n = 1; n <= b->insn_count; n++) {
		k = (i + n) % b->insn_count;
		if (reads(b, k, slot) || (k > i && reads(b, k, MODEL_RESULT + i)))
			return b->insns[k].latency == MODEL_LATENCY_FP_ADD;
		if (writes(b, k, slot))
			return 0;
	}
	return 0;
}

/* A repetition of a string instruction that stores takes the time of its bytes. */
static void forms_prepare_string(const struct retire *t, const struct model_block *b, unsigned i)
{
	const struct model_insn *n = &b->insns[i];
	const struct model_access *a = &b->accesses[n->first_access];
	struct retire_op *op = &b->ops[i];
	unsigned k;

	for (k = 0; k < n->access_count && a[k].kind != MODEL_ACCESS_STORE; k++)
		;
	if (k == n->access_count)
		return;
	op->way = RETIRE_GENERALLY;
	op->special = MODEL_LATENCY_STRING;
	op->cost = (uint32_t)a[k].size * RETIRE_CYCLE / t->string_bytes;
}

static void forms_prepare(const struct retire *t, const struct model_block *b, unsigned i,
	const struct retire_form *f, uint32_t key)
{
	const struct model_insn *n = &b->insns[i];
	struct retire_op *op = &b->ops[i];
	unsigned k;

	*op = (struct retire_op){.way = forms_way_of(b, n, f, 1u << t->line_bits),
		.special = f->special,
		.more_count = f->more_count,
		.first_access = n->first_access,
		.size = n->access_count ? b->accesses[n->first_access].size : 0,
		.cost = t->slot * f->half_slots / 2,
		.ports = f->ports,
		.load_ports = f->load_ports,
		.latency = f->latency,
		.load = f->load,
		.busy = f->busy,
		.forward = t->forward,
		.renamed = t->renamed,
		.key = n->access_count == 1 ? key : 0,
		.link = retire_link(n->address)};
	for (k = 0; k < MODEL_SOURCES_MAX; k++)
		op->source[k] = register_of(b, i, n->source[k]);
	for (k = 0; k < 2; k++)
		op->for_address[k] = register_of(b, i, n->for_address[k]);
	for (k = 0; k < RETIRE_MORE; k++)
		op->more[k] = f->more[k];
	op->many = n->source[2] != MODEL_SLOT_NONE || n->source[3] != MODEL_SLOT_NONE;
}

/* What is particular about it, besides its class. */
static void forms_take_traits(
	const struct retire *t, const struct model_insn *n, struct retire_op *op)
{
	if (n->traits & MODEL_TRAIT_SCALED)
		op->load += t->scaled_load;
	if (n->traits & MODEL_TRAIT_VECTOR)
		op->forward = op->renamed = t->vector_forward;
	if (n->branch == MODEL_CONDITIONAL && op->way == RETIRE_PLAIN) {
		int fused = (n->traits & t->fusion) != 0;

		if (fused) {
			op->ports = RETIRE_NO_PORT;
			op->cost = op->latency = 0;
		}
		if (fused && t->fused_ports)
			op[-1].ports = t->fused_ports;
		else if (t->branch_ports)
			op->ports = t->branch_ports;
	}
	/* Vectors have more latency in their caches and when they are forwarded. */
	if (n->latency == MODEL_LATENCY_VECTOR_LOAD)
		op->latency = 0;
	if (n->latency == MODEL_LATENCY_VECTOR_LOAD || n->latency == MODEL_LATENCY_X87_LONG ||
		(n->traits & MODEL_TRAIT_VECTOR)) {
		op->load += t->vector_load;
		op->into_vector = t->vector_load;
		op->load_ports = t->form[MODEL_LATENCY_VECTOR_LOAD].load_ports;
	}
}

void retire_prepare(const struct retire *t, struct model_block *block,
	const struct retire_form *forms, const uint32_t *keys)
{
	unsigned i;

	for (i = 0; i < block->insn_count; i++)
		forms_prepare(t, block, i, forms ? &forms[i] : &t->form[block->insns[i].latency],
			keys ? keys[i] : 0);
	for (i = 0; !forms && i < block->insn_count; i++)
		forms_take_traits(t, &block->insns[i], &block->ops[i]);
	for (i = 0; i < block->insn_count; i++) {
		if (!put_results(block, i, &block->ops[i]))
			block->ops[i].way = RETIRE_GENERALLY;
		forms_take_places(t, block, &block->insns[i], &block->ops[i]);
		block->ops[i].places =
			retire_places(&block->ops[i]) + (i ? block->ops[i - 1].places : 0);
		if (t->string_bytes && (block->insns[i].class_bits & MODEL_STEPPED))
			forms_prepare_string(t, block, i);
		if (!forms && block->insns[i].latency == MODEL_LATENCY_FP_ADD &&
			forms_adds_on(block, i))
			block->ops[i].latency = t->add_chain;
	}
	for (i = 0; t->fetch_group && i < block->segment_count; i++)
		retire_prepare_groups(t, block, &block->segments[i]);
	if (t->op_cache)
		retire_prepare_fetches(t, block);
}
