/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The retirement clock on random machines, whose millions of random instructions are also timed by
 * a slow restatement of the same definition. Each machine has a number, from which all of it
 * follows: RETIRE_MACHINES=N runs as many of them, RETIRE_FIRST=K from K on. make check takes 150,
 * make check-long 600. */
/* The reference first: names of its parameters are names of the block. */
#include "retire_reference.h"

#include "retire_block.h"

static struct retire_form forms[MODEL_BLOCK_INSNS_MAX];
static uint32_t keys[MODEL_BLOCK_INSNS_MAX];

static uint64_t seed = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	return (uint32_t)random_below(&seed, n);
}

static uint8_t random_slot(int index)
{
	switch (below(5)) {
	case 0:
		return MODEL_SLOT_NONE;
	case 1:
	case 2:
		return index ? (uint8_t)(MODEL_RESULT + below((uint32_t)index)) : MODEL_SLOT_NONE;
	default:
		return (uint8_t)below(MODEL_REGISTERS);
	}
}

/* Of a scheduler, or registers; 0: no limit. */
static uint32_t random_places(void)
{
	return below(2) ? 0 : 1 + below(below(2) ? 20 : 200);
}

static struct model_config random_config(void)
{
	struct model_config c = zen4();
	uint32_t *e = (uint32_t *)&c.execution;

	c.cores = 1;
	c.width = 1 + below(10);
	c.window = below(4) ? 1 + below(500) : 4096;
	c.misses = below(3) ? below(40) : 0;
	c.miss_hold = c.window % 5 * 8;
	c.walkers = c.window % 7;
	c.store_buffer = below(3) ? 1 + below(70) : below(257);
	c.l1d.latency = 1 + below(8);
	c.mispredict_penalty = below(30);
	c.divide_latency = below(30);
	c.fp_divide_latency = below(30);
	c.lock_latency = below(30);
	c.taken_interval = below(3);
	c.fetch_groups = c.width & 2;
	c.l1d_conflict = c.width & 4 ? 20 : 0;
	c.fetches = below(20);
	c.l2_interval = below(4);
	c.ll_interval = below(6);
	c.memory_interval = below(20);
	for (size_t i = 0; i < sizeof(c.execution) / sizeof(*e); i++)
		e[i] = below(2) ? below(5) : below(20);
	c.execution.alu_scheduler = random_places();
	c.execution.address_scheduler = random_places();
	c.execution.vector_scheduler = random_places();
	c.execution.vector_queue = random_places();
	c.execution.registers = random_places();
	return c;
}

/* What the core does with each: mostly what its class says. */
static void random_forms(void)
{
	for (int i = 0; i < block.insn_count; i++) {
		struct retire_form *f = &forms[i];

		*f = clock_.form[insns[i].latency];
		keys[i] = below(3) ? 0 : 1 + below(3);
		if (below(3) || f->special)
			continue;
		f->half_slots = (uint8_t)below(5);
		f->latency = below(4) ? below(6) : below(300);
		f->ports = below(5) ? 1 + below(1 << 12) : RETIRE_NO_PORT;
		f->more_count = (uint8_t)(below(4) ? 0 : below(RETIRE_MORE + 1));
		for (int k = 0; k < f->more_count; k++)
			f->more[k] = 1 + below(1 << 12);
	}
}

/* Where the block may be left. */
static void random_ends(void)
{
	block.segment_count = 0;
	for (int i = 1, all = below(2) == 0; i <= block.insn_count; i++)
		if (all || i == block.insn_count || !below(6))
			ends[block.segment_count++].insn_count = (uint16_t)i;
}

static uint64_t random_address(void)
{
	uint64_t a = below(4) ? 0x10000 + below(2048) : 0x20000 + below(1 << 20);

	return below(50) ? a : UINT64_MAX - 40;
}

static void random_block(void)
{
	int count = 1 + (int)below(below(10) ? 20 : MODEL_BLOCK_INSNS_MAX);

	clear();
	for (int i = 0; i < count; i++) {
		uint32_t kind =
			below(20) ? below(MODEL_LATENCY_SPECIAL) : below(MODEL_LATENCY_STRING);
		struct model_insn *insn = add((enum model_latency)kind, random_slot(i),
			below(4) ? (int)below(MODEL_REGISTERS) : MODEL_SLOT_SINK);

		insn->source[1] = random_slot(i);
		insn->traits = (uint8_t)(below(3) ? 0 : below(2 * MODEL_TRAIT_COMPARES));
		if (!below(4)) {
			insn->source[2] = (uint8_t)below(MODEL_REGISTERS);
			insn->source[3] = random_slot(i);
		}
		if (!below(3)) {
			insn->result[1] = (uint8_t)below(MODEL_REGISTERS);
			insn->result[2] =
				below(3) ? MODEL_SLOT_SINK : (uint8_t)below(MODEL_REGISTERS);
		}
		for (uint32_t n = below(3) ? 0 : 1 + below(3) * below(2); n > 0; n--) {
			struct model_access *a = &accesses[segment.access_count];

			add_access(insn, (enum model_access_kind)below(4), random_slot(i), 0);
			a->guarded = !below(6);
			a->size = (uint16_t)(1u << below(6));
		}
		if (insn->access_count)
			insn->for_address[1] = random_slot(i);
	}
	block.insn_count = segment.insn_count;
	random_forms();
	random_ends();
	retire_prepare(&clock_, &block, forms, keys);
}

static struct reference reference;
static struct retire_note notes[RETIRE_NOTES_MAX];
static size_t note_count;

static void note(const struct model_insn *insn, enum retire_what what, enum model_cause cause,
	uint64_t address)
{
	uint32_t latency = below(3) ? 1 + below(60) : 1 + below(500);

	notes[note_count++] =
		(struct retire_note){insn, address, latency, (uint8_t)what, (uint8_t)cause, 0};
	retire_note(&clock_, insn, what, cause, latency, address);
	if (!below(4))
		retire_note_turn(&clock_, (enum retire_turn)below(4));
	notes[note_count - 1].turn = clock_.note[clock_.notes - 1].turn;
	if (latency % 4 == 0) {
		retire_leaves(&clock_, address);
		reference.leaving[address / config.l1d.line % RETIRE_SETS]++;
	}
}

static int loads(const struct model_insn *insn)
{
	const struct model_access *a = &accesses[insn->first_access];

	for (unsigned i = 0; i < insn->access_count; i++)
		if ((a[i].kind == MODEL_ACCESS_LOAD || a[i].kind == MODEL_ACCESS_MODIFY) &&
			(!a[i].guarded || record[1 + insn->first_access + i]))
			return 1;
	return 0;
}

static void random_notes(const struct model_insn *insn)
{
	const struct model_access *a = &accesses[insn->first_access];
	const uint64_t *address = &record[1 + insn->first_access];

	for (unsigned i = 0; i < insn->access_count; i++) {
		int level = (int)MODEL_CAUSE_L2 + (int)below(4);
		int happens = !a[i].guarded || address[i];
		int cause = below(4) ? level : (int)MODEL_CAUSE_DTLB;

		if (!happens || below(3))
			continue;
		if (a[i].kind == MODEL_ACCESS_PREFETCH)
			note(insn, RETIRE_PREFETCH, (enum model_cause)level, address[i]);
		if (a[i].kind == MODEL_ACCESS_LOAD || a[i].kind == MODEL_ACCESS_MODIFY)
			note(insn, RETIRE_LOAD, (enum model_cause)cause, address[i]);
		if (a[i].kind == MODEL_ACCESS_STORE || a[i].kind == MODEL_ACCESS_MODIFY)
			note(insn, RETIRE_STORE, (enum model_cause)cause, address[i]);
	}
	if (insn->access_count && loads(insn) && !below(20))
		note(insn, RETIRE_FORWARD, MODEL_CAUSE_FORWARD, 0);
	else if (insn->access_count && loads(insn) && !below(20))
		note(insn, RETIRE_ALIAS, MODEL_CAUSE_ALIAS, 1 + below(RETIRE_STORES_MAX));
	if (!below(20))
		note(insn, RETIRE_FETCH, (enum model_cause)(MODEL_CAUSE_FETCH_L2 + below(5)),
			64 * (uint64_t)below(3));
	if (!below(20))
		note(insn, RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0);
}

/* One block a few times, left early at times, differently each time. */
static int random_runs(int quiet)
{
	int whole = segment.insn_count;

	for (int run = (int)below(20); run > 0; run--) {
		segment.insn_count = ends[below(block.segment_count)].insn_count;
		if (below(4))
			segment.insn_count = (uint16_t)whole;
		segment.statics[MODEL_STATIC_TAKEN] = (uint16_t)below(3);
		note_count = 0;
		for (int i = 0; i < segment.access_count; i++)
			record[1 + i] = accesses[i].guarded && below(2) ? 0 : random_address();
		for (int i = segment.insn_count; i-- > 0 && !quiet;)
			random_notes(&insns[i]);
		ref_record(&reference, notes, note_count, &segment, record);
		retire_record(&clock_, &segment, record, segment.insn_count);
		if (reference.last_gone != clock_.gone || reference.came != clock_.came)
			return 0;
	}
	segment.insn_count = (uint16_t)whole;
	return 1;
}

struct outcome {
	int agrees, causes, sums, whole;
};

/* Machine number k runs as many blocks. */
static struct outcome random_machine(uint64_t k, int blocks)
{
	struct outcome o = {.agrees = 1};
	uint64_t slots = 0, sum, cycles_of[MODEL_CAUSES];

	seed = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
	begin(random_config());
	ref_begin(&reference, &config);
	reference.forms = forms;
	reference.keys = keys;
	for (int j = 0; j < blocks && o.agrees; j++) {
		random_block();
		o.agrees = random_runs(below(3) == 0);
	}
	clock_.slots[MODEL_CAUSE_BASE] = base();
	o.causes = !memcmp(reference.slots, clock_.slots, sizeof(clock_.slots));
	for (int c = 0; c < MODEL_CAUSES; c++)
		slots += reference.slots[c];
	o.sums = slots == clock_.gone;
	sum = retire_cycles(&clock_, cycles_of);
	o.whole = sum <= clock_.gone / RETIRE_CYCLE &&
		  clock_.gone / RETIRE_CYCLE - sum < MODEL_CAUSES;
	ref_end(&reference);
	return o;
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *value = getenv(variable);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

int main(void)
{
	uint64_t first = number_of("RETIRE_FIRST", 0),
		 machines = number_of("RETIRE_MACHINES", tap_amount(150, 600));
	uint64_t instructions = 0;
	int good = 0, causes = 0, sums = 0, whole = 0;

	for (uint64_t k = first; k < first + machines; k++) {
		struct outcome o = random_machine(k, 100);

		if (!o.agrees || !o.causes)
			printf("# machine %llu disagrees\n", (unsigned long long)k);
		good += o.agrees;
		causes += o.causes;
		sums += o.sums;
		whole += o.whole;
		instructions += clock_.instructions;
	}
	ok(good == (int)machines, "%.1f million random instructions on %llu machines: %d agree",
		(double)instructions / 1e6, (unsigned long long)machines, good);
	is_int(causes, (int)machines, "and their causes");
	is_int(sums, (int)machines, "every slot has one cause");
	is_int(whole, (int)machines, "so has nearly every cycle");
	return done();
}
