/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for instructions: lines of the section [instructions] of perfex-core(5). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "schedule/core_private.h"

static int read_operand(struct core_reader *r, const char *word, struct core_signature *s)
{
	static const struct {
		const char *word;
		uint8_t kind;
		uint16_t bits;
	} table[] = {
		{"*", CORE_ANY, 0},
		{"r", CORE_GENERAL, 0},
		{"r8", CORE_GENERAL, 8},
		{"r8h", CORE_HIGH, 8},
		{"r16", CORE_GENERAL, 16},
		{"r32", CORE_GENERAL, 32},
		{"r64", CORE_GENERAL, 64},
		{"v", CORE_VECTOR, 0},
		{"x", CORE_VECTOR, 128},
		{"y", CORE_VECTOR, 256},
		{"z", CORE_VECTOR, 512},
		{"k", CORE_MASK, 0},
		{"mm", CORE_MMX, 0},
		{"st", CORE_X87, 0},
		{"ms", CORE_SCALED, 0},
		{"m3", CORE_THREE, 0},
		{"m", CORE_MEMORY, 0},
		{"m8", CORE_MEMORY, 8},
		{"m16", CORE_MEMORY, 16},
		{"m32", CORE_MEMORY, 32},
		{"m64", CORE_MEMORY, 64},
		{"m80", CORE_MEMORY, 80},
		{"m128", CORE_MEMORY, 128},
		{"m256", CORE_MEMORY, 256},
		{"m512", CORE_MEMORY, 512},
		{"i", CORE_IMMEDIATE, 0},
		{"same", CORE_SAME, 0},
		{"none", CORE_NOTHING, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].word, word) == 0) {
			s->kind = table[i].kind;
			s->bits = table[i].bits;
			return 0;
		}
	}
	core_fail(r, "unknown operand kind '%s'", word);
	return error_hint(r->e, "r r8 r16 r32 r64 v x y z k mm st m m8..m512 i same none *");
}

static int read_signature(struct core_reader *r, char *text, struct core_rule *rule)
{
	for (char *save, *w = strtok_r(text, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save)) {
		if (rule->operands == CORE_OPERANDS_MAX)
			return core_fail(r, "more than %d operands", CORE_OPERANDS_MAX);
		if (read_operand(r, w, &rule->signature[rule->operands]))
			return -1;
		rule->memory |= rule->signature[rule->operands].kind == CORE_MEMORY ||
				rule->signature[rule->operands].kind == CORE_SCALED ||
				rule->signature[rule->operands].kind == CORE_THREE;
		rule->operands++;
	}
	return 0;
}

/* [N*]GROUP[/BUSY], "slots=N", "whole", or "-" for none. */
static int read_uops(struct core_reader *r, char *word, struct core_rule *rule)
{
	struct core_uops *u = &rule->uops[rule->kinds];
	char *star = strchr(word, '*'), *slash = strchr(word, '/');
	const struct core_group *group;
	unsigned number = 1;

	if (strcmp(word, "-") == 0)
		return 0;
	if (strcmp(word, "reads-flags") == 0) {
		rule->reads_flags = true;
		return 0;
	}
	if (strcmp(word, "whole") == 0) {
		rule->whole = true;
		return 0;
	}
	if (strncmp(word, "slots=", 6) == 0) {
		if (core_read_number(r, word + 6, 255, &number))
			return -1;
		rule->slots = (uint8_t)number;
		return 0;
	}
	if (rule->kinds == CORE_UOPS_MAX)
		return core_fail(r, "more than %d kinds of micro-operations", CORE_UOPS_MAX);
	if (star) {
		*star = '\0';
		if (core_read_number(r, word, 255, &number) || !number)
			return number ? -1 : core_fail(r, "no micro-operation");
		word = star + 1;
	}
	u->count = (uint8_t)number;
	number = 1;
	if (slash) {
		*slash = '\0';
		if (core_read_number(r, slash + 1, 255, &number))
			return -1;
	}
	u->busy = (uint8_t)(number ? number : 1);
	group = core_find_group(r->core, word);
	if (!group)
		return core_unknown_group(r, word);
	u->ports = group->ports;
	rule->kinds++;
	return 0;
}

/* LATENCY, "flags=N", "N=LATENCY" from operand N (1 is the first). */
static int read_latency(struct core_reader *r, char *word, struct core_rule *rule)
{
	char *equal = strchr(word, '=');
	unsigned operand = 0, number;

	if (!equal) {
		if (core_read_number(r, word, 255, &number))
			return -1;
		rule->latency = (uint8_t)number;
		return 0;
	}
	*equal = '\0';
	if (core_read_number(r, equal + 1, 255, &number))
		return -1;
	if (strcmp(word, "flags") == 0) {
		rule->flags_latency = (uint8_t)number;
		return 0;
	}
	if (core_read_number(r, word, CORE_OPERANDS_MAX, &operand) || !operand)
		return core_fail(r, "'%s' is neither flags nor the number of an operand", word);
	rule->late[operand - 1] = (uint8_t)(number ? number : 1);
	return 0;
}

static int add_rule(struct core_reader *r, const struct core_rule *rule, int mnemonic)
{
	struct core *c = r->core;
	struct core_rule *own = vec_push(&c->rules);
	int32_t *first = mnemonic < 0 ? &c->fallback : &c->first[mnemonic];

	if (!own)
		return error_nomem(r->e);
	*own = *rule;
	own->mnemonic = (uint16_t)(mnemonic < 0 ? 0 : mnemonic);
	own->line = r->line;
	own->next = *first;
	*first = (int32_t)c->rules.count - 1;
	return 0;
}

/* NAME, PREFIX*, [v]NAME: calls add_rule for each that there is. */
static int add_rules(struct core_reader *r, const struct core_rule *rule, const char *pattern)
{
	struct core *c = r->core;
	size_t length = strlen(pattern);
	bool any = length && pattern[length - 1] == '*', found = false;
	int number;

	if (strcmp(pattern, "*") == 0)
		return add_rule(r, rule, -1);
	if (strncmp(pattern, "[v]", 3) == 0) {
		char with[64];

		snprintf(with, sizeof(with), "v%s", pattern + 3);
		return add_rules(r, rule, with) || add_rules(r, rule, pattern + 3) ? -1 : 0;
	}
	if (!any) {
		number = core_mnemonic(c, pattern);
		if (number < 0 && !c->x86) {
			char **own = vec_push(&c->own_mnemonics);

			if (!own || !(*own = strdup(pattern)))
				return error_nomem(r->e);
			number = (int)c->own_mnemonics.count - 1;
		}
		if (number < 0 || number >= CORE_MNEMONICS_MAX)
			return core_fail(r, "unknown instruction '%s'", pattern);
		return add_rule(r, rule, number);
	}
	for (unsigned i = 1; i < CORE_MNEMONICS_MAX && c->x86; i++) {
		const char *name = isa_mnemonic(ISA_X86_64, i);

		if (!name || strncmp(name, pattern, length - 1))
			continue;
		found = true;
		if (add_rule(r, rule, (int)i))
			return -1;
	}
	return found ? 0
		     : core_fail(r, "no instruction begins with '%.*s'", (int)length - 1, pattern);
}

int core_read_instruction(struct core_reader *r, char *line)
{
	char *part[4], *words[WORDS_MAX], *at = line;
	struct core_rule rule = {0};
	size_t count;

	for (int i = 0; i < 4; i++) {
		part[i] = at;
		at = strchr(at, ':');
		if (!at != (i == 3))
			return core_fail(
				r, "expected MNEMONICS : OPERANDS : MICRO-OPERATIONS : LATENCY");
		if (at)
			*at++ = '\0';
	}
	if (read_signature(r, part[1], &rule))
		return -1;
	count = core_split(part[2], words, WORDS_MAX);
	for (size_t i = 0; i < count; i++)
		if (read_uops(r, words[i], &rule))
			return -1;
	count = core_split(part[3], words, WORDS_MAX);
	for (size_t i = 0; i < count; i++)
		if (read_latency(r, words[i], &rule))
			return -1;
	count = core_split(part[0], words, WORDS_MAX);
	if (!count)
		return core_fail(r, "no mnemonic");
	for (size_t i = 0; i < count; i++)
		if (add_rules(r, &rule, words[i]))
			return -1;
	return 0;
}
