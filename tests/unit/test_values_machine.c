/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions rewritten with their memory operand elsewhere, against the originals: all that this
 * program's code and libraries have, each form with several random states. Hexadecimal code on
 * standard input is taken instead where there is an argument.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "../tap.h"
#include "isa/redirect.h"
#include "values/private.h"

#define STATES 3
#define HEADER 512 /* of extended state: where components are listed */

struct form { /* table entry */
	struct {
		uint64_t hash;
	} key;
};

static struct machine m;
static struct table forms;
static unsigned long decoded, executed, refused, differ, faulted, skipped;

struct state {
	uint64_t general[GENERALS], flags, fault;
	uint8_t operand[OPERAND];
	uint8_t extended[VALUES_STATE];
};

/* Of numbers of all sizes. */
static void randomise(struct state *s)
{
	uint32_t mxcsr = 0x1f80;
	uint16_t control = 0x37f;
	uint64_t components = m.supported;

	for (unsigned k = 0; k < GENERALS; k++)
		s->general[k] = chance_mixed() >> chance_mixed() % 64;
	/* Some hypervisors return to no other from an interrupt. */
	s->general[4] &= (UINT64_C(1) << 47) - 1;
	s->flags = 2 | (chance_mixed() & 0x8d5);
	for (unsigned k = 0; k < OPERAND; k++)
		s->operand[k] = (uint8_t)chance_mixed();
	memset(s->extended, 0, sizeof(s->extended));
	memcpy(s->extended, &control, 2);
	memcpy(s->extended + 24, &mxcsr, 4);
	for (unsigned k = 160; k < 416; k++)
		s->extended[k] = (uint8_t)chance_mixed();
	for (unsigned k = 576; k < 832; k++)
		s->extended[k] = (uint8_t)chance_mixed();
	memcpy(s->extended + HEADER, &components, 8);
}

static void run_one(const struct state *from, struct state *to, uint64_t thunk, unsigned state)
{
	struct machine_state *s = m.state;

	memcpy(s->general, from->general, sizeof(s->general));
	memcpy(s->operand, from->operand, sizeof(s->operand));
	memcpy(s->extended, from->extended, sizeof(s->extended));
	s->flags = from->flags;
	to->fault = !machine_run(&m, thunk, state);
	memcpy(to->general, s->general, sizeof(s->general));
	memcpy(to->operand, s->operand, sizeof(s->operand));
	memcpy(to->extended, s->extended, sizeof(s->extended));
	memset(to->extended + 6, 0, 18); /* x87's last instruction and operand */
	to->flags = s->flags;
}

/* Points the original's memory operand to ours.  False: it cannot. */
static bool place(const struct insn *i, const struct isa_redirect *r, struct state *s)
{
	const struct insn_memory *at = &i->memory[0];

	if (!r->displacement)
		return true;
	if (at->absolute || at->base >= GENERALS || at->segment || r->narrow ||
		at->index == at->base)
		return false;
	if (at->index < GENERALS)
		s->general[at->index] = 0;
	s->general[at->base] = (uint64_t)(uintptr_t)m.state->operand - (uint64_t)at->displacement;
	return true;
}

static void compare(const uint8_t *bytes, const struct insn *i, const struct isa_redirect *r)
{
	static struct state from, a, b;
	uint64_t original, rewritten;
	char text[INSN_TEXT_MAX];

	machine_clear(&m);
	original = machine_add(&m, bytes, i->length, 0, 0);
	rewritten = machine_add(&m, r->bytes, r->length, r->displacement, 0);
	for (int k = 0; k < STATES; k++) {
		randomise(&from);
		if (!place(i, r, &from)) {
			skipped++;
			return;
		}
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		run_one(&from, &a, original, r->state);
		run_one(&from, &b, rewritten, r->state);
		executed++;
		faulted += a.fault;
		/* What a fault leaves is not used. */
		if (a.fault ? b.fault : memcmp(&a, &b, sizeof(a)) == 0)
			continue;
		if (differ++ < 10)
			printf("# differs: %s\n",
				isa_text(ISA_X86_64, bytes, i->length, 0, ISA_ATT, text));
		return;
	}
}

/* Registers of different kinds are encoded alike; what an encoding is, is not. */
static bool is_new(const struct insn *i, const struct isa_redirect *r, const uint8_t *bytes)
{
	uint64_t text[16] = {i->mnemonic, i->encoding, i->operands, r->displacement != 0,
		bytes[0] & 0xf0, r->opcode, i->vector_bits};
	uint64_t hash;

	for (unsigned k = 0; k < i->operands; k++)
		text[7 + k] = (uint64_t)i->operand[k].kind << 32 | i->operand[k].bits << 8 |
			      (i->operand[k].reg < REG_NONE && i->operand[k].reg % 32 > 7);
	if (r->displacement)
		text[12] = (uint64_t)(i->memory[0].base & 7) << 8 | (i->memory[0].index < REG_NONE);
	hash = table_hash(text, sizeof(text));
	if (table_find(&forms, &hash))
		return false;
	return table_add(&forms, &hash) != NULL;
}

static void sweep(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + INSN_LENGTH_MAX < size;) {
		struct isa_redirect r;
		struct insn i;

		if (isa_redirect(bytes + at, size - at, 0x1000, &i, &r)) {
			decoded++;
			if (r.refused)
				refused++;
			else if (!(i.classes & (INSN_NOP | INSN_PREFETCH)) && !r.unknown &&
				 is_new(&i, &r, bytes + at))
				compare(bytes + at, &i, &r);
		}
		at += i.length ? i.length : 1;
	}
}

static void own_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t begin, end;
	char mode[8];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, mode) == 3 &&
			strncmp(mode, "r-x", 3) == 0 && !strstr(line, "[v") &&
			!strstr(line, "memfd"))
			sweep((const uint8_t *)(uintptr_t)begin, end - begin);
	if (maps)
		fclose(maps);
}

static void given_code(void)
{
	static char line[65536];
	static uint8_t bytes[32768 + INSN_LENGTH_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		size_t n = 0;
		unsigned byte;

		while (sscanf(line + 2 * n, "%2x", &byte) == 1 && line[2 * n] != '\n')
			bytes[n++] = (uint8_t)byte;
		memset(bytes + n, 0x90, INSN_LENGTH_MAX + 1);
		sweep(bytes, n + INSN_LENGTH_MAX);
	}
}

int main(int argc, char **argv)
{
	struct error e = {0};

	(void)argv;
	forms = TABLE_OF(struct form);
	if (machine_init(&m, &e)) {
		printf("ok 1 - the interpreter # SKIP %s\n1..1\n", e.message);
		return 0;
	}
	if (argc > 1)
		given_code();
	else
		own_code();
	printf("# %lu instructions, %zu forms, %lu executions (%lu faulted), %lu not placed, %lu "
	       "refused\n",
		decoded, forms.count, executed, faulted, skipped, refused);
	ok(executed > 100 * (argc == 1), "instructions were executed");
	ok(differ == 0, "rewritten ones do what the originals do");
	machine_fini(&m);
	table_fini(&forms);
	return done();
}
