/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of jumps, in the forms that gcc and clang make on x86-64:
 *
 *	lea TABLE(%rip),B; movslq (B,I,4),T; add B,T; jmp *T     4-byte offsets from the table
 *	the same with lea 0(,I,4),J; mov (B,J),T; cltq           without optimisation
 *	jmp *TABLE(,I,8), or through a register                  8-byte addresses
 *
 * with a bound on I before it: cmp $N,I; ja or jae, or and $N,I. Registers are followed backwards
 * over the instructions before, as far as LOOK_BACK; the table's address, which compilers move out
 * of loops, further. A table without bound ends at an entry that is not an address of the
 * procedure, or at the next table.
 */
#include <string.h>

#include "base/order.h"
#include "flow/private.h"

#define LOOK_BACK     32
#define LOOK_FAR      4096
#define ENTRIES_MAX   4096 /* of a table */
#define ENTRIES_SHARE 8    /* of all tables together, per instruction; and a constant */
#define ENTRIES_MORE  65536

struct shape {
	uint32_t jump;
	uint64_t table, base; /* base: what 4-byte entries are added to */
	unsigned width;       /* bytes of an entry; 0: no table was found */
	uint32_t bound;       /* entries; 0: unknown */
	bool leaves;          /* not a table: a tail call through a pointer */
};

struct finder {
	const struct flow *f;
	const struct flow_request *r;
	struct flow_tables *t;
	VEC(struct shape) shapes;
	uint64_t *starts; /* of tables, in order */
	size_t start_count;
	uint32_t *seen; /* of each instruction: the last table, + 1, that leads to it */
	size_t budget;
	size_t next; /* of r->seen */
};

static const struct insn *at(const struct finder *x, uint32_t i)
{
	return &x->f->insns.data[i];
}

/* The last instruction before `before` that writes reg, not before `limit` and with only
 * fall-through between; FLOW_NONE. */
static uint32_t definition(const struct finder *x, uint32_t before, unsigned reg, uint32_t limit)
{
	for (uint32_t n = 0; before-- > 0 && n < limit; n++) {
		if (insn_registers_have(&at(x, before)->writes, reg))
			return before;
		if (!insn_falls_through(at(x, before)))
			break;
	}
	return FLOW_NONE;
}

/* The constant address in reg before instruction `before`: from lea or mov of a constant. */
static bool constant(const struct finder *x, uint32_t before, unsigned reg, uint64_t *value)
{
	for (uint32_t n = 0; before-- > 0 && n < LOOK_FAR; n++) {
		const struct insn *insn = at(x, before);

		if (!insn_registers_have(&insn->writes, reg))
			continue;
		if (insn->classes & INSN_ADDRESS && insn->memory[0].absolute) {
			*value = insn->memory[0].address;
			return true;
		}
		if (insn->has_immediate && !insn->memories &&
			!insn_registers_have(&insn->reads, reg)) {
			*value = (uint64_t)insn->immediate;
			return true;
		}
		if (n < LOOK_BACK)
			return false; /* another register nearby */
	}
	return false;
}

/* The register, other than but, that insn reads; REG_NONE. */
static unsigned other_source(const struct insn *insn, unsigned but)
{
	for (unsigned reg = REG_GENERAL; reg < REG_GENERAL + 16; reg++)
		if (reg != but && insn_registers_have(&insn->reads, reg))
			return reg;
	return REG_NONE;
}

static bool is_scaled_load(const struct insn *insn, unsigned scale)
{
	return insn->classes & INSN_LOAD && insn->memories >= 1 && insn->memory[0].scale == scale &&
	       insn->memory[0].index != REG_NONE;
}

/* The address of the table of a scaled operand. */
static bool table_of(
	const struct finder *x, uint32_t user, const struct insn_memory *m, uint64_t *table)
{
	*table = 0;
	if (m->base != REG_NONE && !constant(x, user, m->base, table))
		return false;
	*table += (uint64_t)m->displacement;
	return *table != 0;
}

/* The registers that hold the index, going backwards; a bound on one of them bounds it. */
struct aliases {
	struct insn_registers set;
	bool memory; /* it was loaded: compared in memory */
};

static bool any_of(const struct insn_registers *a, const struct insn_registers *b)
{
	return (a->word[0] & b->word[0] & 0xffff) != 0;
}

/* Copies with or without extension, and address arithmetic by which cases are shifted to 0. */
static bool is_copy(const struct insn *insn)
{
	static const struct insn_registers flags = {
		{0, 1ull << (REG_CARRY - 64) | 1ull << (REG_ZERO - 64)}};

	return !(insn->writes.word[1] & flags.word[1]) &&
	       !(insn->classes & (INSN_BRANCH | INSN_STORE | INSN_ADDRESS));
}

/* The mask of and $N,I; or the compare that decides the jump past the table. */
static uint32_t bound_of(const struct finder *x, uint32_t user, unsigned index)
{
	struct aliases a = {0};
	uint32_t more = FLOW_NONE; /* 1: ja was found, 0: jae */

	insn_registers_add(&a.set, index);
	for (uint32_t n = 0; user-- > 0 && n < LOOK_BACK; n++) {
		const struct insn *insn = at(x, user);
		bool reads_carry = insn_registers_have(&insn->reads, REG_CARRY);
		bool named =
			any_of(&insn->reads, &a.set) || (a.memory && insn->classes & INSN_LOAD);

		if (insn->classes & INSN_CONDITIONAL && reads_carry && more == FLOW_NONE) {
			more = insn_registers_have(&insn->reads, REG_ZERO);
			continue;
		}
		if (insn->has_immediate && insn_registers_have(&insn->writes, REG_CARRY) && named &&
			insn->immediate >= 0 && insn->immediate < ENTRIES_MAX) {
			const char *name = isa_mnemonic(x->f->machine, insn->mnemonic);

			if (strcmp(name, "and") == 0)
				return (uint32_t)insn->immediate + 1;
			if (strcmp(name, "cmp") == 0 && more != FLOW_NONE)
				return (uint32_t)insn->immediate + more;
		}
		if (any_of(&insn->writes, &a.set)) {
			if (!is_copy(insn))
				return 0;
			a.set.word[0] &= ~insn->writes.word[0];
			a.set.word[0] |= insn->memories ? 0 : insn->reads.word[0];
			a.memory |= (insn->classes & INSN_LOAD) != 0;
		}
		if (!insn_falls_through(insn))
			return 0;
	}
	return 0;
}

static void addresses(const struct finder *x, uint32_t user, struct shape *s)
{
	const struct insn_memory *m = &at(x, user)->memory[0];

	if (!is_scaled_load(at(x, user), 8) || !table_of(x, user, m, &s->table))
		return;
	s->width = 8;
	s->bound = bound_of(x, user, m->index);
}

/* Without optimisation: mov (B,J),T; cltq. Converts it to the form of a scaled load. */
static bool unscaled(const struct finder *x, uint32_t load, struct insn_memory *m)
{
	const struct insn_memory *from = &at(x, load)->memory[0];
	unsigned pair[2] = {from->base, from->index};
	uint64_t table;

	if (!is_scaled_load(at(x, load), 1) || from->size != 4)
		return false;
	for (int i = 0; i < 2; i++) {
		uint32_t scaling = definition(x, load, pair[i], LOOK_BACK);

		if (scaling == FLOW_NONE || !(at(x, scaling)->classes & INSN_ADDRESS) ||
			at(x, scaling)->memory[0].scale != 4 ||
			!constant(x, load, pair[!i], &table))
			continue;
		*m = at(x, scaling)->memory[0];
		m->displacement += (int64_t)table;
		return true;
	}
	return false;
}

/* The load of a 4-byte offset into reg, with or without a later extension: its operand. */
static uint32_t offset_load(
	const struct finder *x, uint32_t before, unsigned reg, struct insn_memory *m)
{
	uint32_t load = definition(x, before, reg, LOOK_BACK);

	if (load != FLOW_NONE && !at(x, load)->memories && is_copy(at(x, load)) &&
		insn_registers_have(&at(x, load)->reads, reg))
		load = definition(x, load, reg, LOOK_BACK);
	if (load == FLOW_NONE || !(at(x, load)->classes & INSN_LOAD))
		return FLOW_NONE;
	*m = at(x, load)->memory[0];
	return is_scaled_load(at(x, load), 4) || unscaled(x, load, m) ? load : FLOW_NONE;
}

/* add B,T before the jump; either may be the base. */
static void offsets(const struct finder *x, uint32_t add, unsigned reg, struct shape *s)
{
	unsigned pair[2] = {reg, other_source(at(x, add), reg)};

	for (int i = 0; i < 2 && pair[1] != REG_NONE; i++) {
		struct insn_memory m;
		uint32_t load = offset_load(x, add, pair[i], &m);

		if (load == FLOW_NONE)
			continue;
		if (!constant(x, add, pair[!i], &s->base) || !table_of(x, load, &m, &s->table))
			return;
		s->width = 4;
		s->bound = bound_of(x, load, m.index);
		return;
	}
}

/* A jump right after the stack frame is released is a tail call, at the end of the procedure. */
static bool behind_frame(const struct finder *x, uint32_t jump)
{
	return jump && insn_registers_have(&at(x, jump - 1)->writes, REG_RSP) &&
	       !(at(x, jump - 1)->classes & (INSN_STORE | INSN_BRANCH));
}

static struct shape shape_of(const struct finder *x, uint32_t jump)
{
	const struct insn *insn = at(x, jump);
	struct shape s = {.jump = jump, .leaves = behind_frame(x, jump)};
	uint32_t from;
	unsigned reg;

	if (!insn->operands_known || s.leaves)
		return s;
	if (insn->memories) {
		addresses(x, jump, &s);
		s.leaves = insn->memory[0].index == REG_NONE;
		return s;
	}
	reg = other_source(insn, REG_NONE);
	from = definition(x, jump, reg, LOOK_BACK);
	if (from == FLOW_NONE)
		return s;
	insn = at(x, from);
	if (insn->classes & INSN_LOAD && insn->memories) {
		addresses(x, from, &s);
		s.leaves = insn->memory[0].index == REG_NONE && !(insn->classes & INSN_STACK);
	} else if (strcmp(isa_mnemonic(x->f->machine, insn->mnemonic), "add") == 0) {
		offsets(x, from, reg, &s);
	}
	return s;
}

/* Bytes up to the next table. */
static uint64_t room_after(const struct finder *x, uint64_t table)
{
	size_t low = vec_search(i, x->start_count, x->starts[i] <= table);

	return low < x->start_count ? x->starts[low] - table : UINT64_MAX;
}

static int tables_add_target(struct finder *x, struct flow_table *t, uint32_t insn)
{
	if (x->seen[insn] == (uint32_t)x->t->tables.count)
		return 0;
	x->seen[insn] = (uint32_t)x->t->tables.count;
	if (vec_add(&x->t->targets, insn))
		return -1;
	t->count++;
	return 0;
}

/* The address in entry i of the table; false if it cannot be read. */
static bool tables_read_entry(struct finder *x, const struct shape *s, uint32_t i, uint64_t *to)
{
	uint64_t address = s->table + (uint64_t)i * s->width;
	uint8_t raw[8];

	if (!x->budget || x->r->read(x->r->context, address, raw, s->width) != s->width)
		return false;
	x->budget--;
	*to = 0;
	for (unsigned k = s->width; k-- > 0;)
		*to = *to << 8 | raw[k];
	if (s->width == 4)
		*to = s->base + (uint64_t)(int64_t)(int32_t)*to;
	return true;
}

/* Reads the entries of s into t. Entries out of the procedure are those of its parts elsewhere:
 * few different ones, else this is not a table. */
static int read_entries(struct finder *x, const struct shape *s, struct flow_table *t)
{
	uint32_t limit = s->bound ? s->bound : ENTRIES_MAX, good = 0, middle = 0, outside = 0;
	uint64_t room = room_after(x, s->table) / s->width, to, last = 0;

	if (!s->bound && room < limit)
		limit = (uint32_t)room;
	for (uint32_t i = 0; i < limit && tables_read_entry(x, s, i, &to); i++) {
		uint32_t insn = flow_insn_at(x->f, to);

		if (insn == FLOW_NONE && !s->bound)
			break;
		if (insn != FLOW_NONE) {
			good++;
			if (tables_add_target(x, t, insn))
				return -1;
		} else if (to >= x->f->begin && to < x->f->end) {
			middle++;
		} else {
			outside += !outside || to != last;
			last = to;
		}
	}
	t->flags = (middle ? FLOW_MIDDLE : 0) | (outside ? FLOW_LEAVES : 0) |
		   (s->bound ? 0 : FLOW_GUESSED);
	if (good < (s->bound ? 1 : 2) || middle > good / 4 || outside > good + 2) {
		while (t->count) {
			t->count--;
			x->seen[x->t->targets.data[--x->t->targets.count]] = 0;
		}
		t->flags = FLOW_UNKNOWN;
	}
	return 0;
}

/* Targets seen in a run: the only ones of a jump whose table was not found, and additional ones if
 * the table has no bound. */
static int add_seen(struct finder *x, struct flow_table *t)
{
	const struct flow_jump *seen = x->r->seen;
	uint64_t from = at(x, t->jump)->address;

	for (; x->next < x->r->seen_count && seen[x->next].from <= from; x->next++) {
		uint32_t insn = flow_insn_at(x->f, seen[x->next].to);

		if (seen[x->next].from != from || insn == FLOW_NONE)
			continue;
		if (tables_add_target(x, t, insn))
			return -1;
		if (t->flags & FLOW_UNKNOWN)
			t->flags ^= FLOW_UNKNOWN | FLOW_SEEN;
	}
	return 0;
}

static int find_shapes(struct finder *x)
{
	for (uint32_t i = 0; i < x->f->insns.count; i++) {
		const struct insn *insn = at(x, i);

		if (insn_jumps(insn) && insn->classes & INSN_INDIRECT &&
			vec_add(&x->shapes, shape_of(x, i)))
			return -1;
	}
	x->starts = calloc(x->shapes.count + 1, sizeof(*x->starts));
	if (!x->starts)
		return -1;
	for (size_t i = 0; i < x->shapes.count; i++)
		if (x->shapes.data[i].width)
			x->starts[x->start_count++] = x->shapes.data[i].table;
	qsort(x->starts, x->start_count, sizeof(*x->starts), order_u64);
	return 0;
}

static int find_all(struct finder *x)
{
	if (find_shapes(x))
		return -1;
	for (size_t i = 0; i < x->shapes.count; i++) {
		const struct shape *s = &x->shapes.data[i];
		struct flow_table *t = vec_push(&x->t->tables);

		if (!t)
			return -1;
		t->jump = s->jump;
		t->first = (uint32_t)x->t->targets.count;
		if (!s->width || !x->r->read)
			t->flags = s->leaves ? FLOW_LEAVES : FLOW_UNKNOWN;
		else if (read_entries(x, s, t))
			return -1;
		if (add_seen(x, t))
			return -1;
	}
	return 0;
}

int flow_tables_find(
	const struct flow *f, const struct flow_request *r, struct flow_tables *t, struct error *e)
{
	struct finder x = {.f = f, .r = r, .t = t};
	int status = -1;

	x.budget = f->insns.count * ENTRIES_SHARE + ENTRIES_MORE;
	x.seen = calloc(f->insns.count + 1, sizeof(*x.seen));
	if (!x.seen || find_all(&x))
		error_nomem(e);
	else
		status = 0;
	free(x.seen);
	free(x.starts);
	vec_fini(&x.shapes);
	return status;
}
