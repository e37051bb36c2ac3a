/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lays out the code that runs: two preludes, then few copies and an end, many copies and an end.
 * They begin at corresponding addresses: entering the many in the middle would cost some cycles
 * more if fetching limits them. In loop mode there is one copy, and the preludes differ in the
 * counter's initial value.
 *
 *     prelude:  general registers; lfence; stamp -> image.begin; the last registers; flags; lfence;
 *               jmp into the copies
 *     end:      lfence; stamp -> image.end; jmp worker_back
 */
#include "blockbench/worker.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP };

struct writer {
	uint8_t *at;
};

static void code_put(struct writer *w, const void *bytes, size_t n)
{
	__builtin_memcpy(w->at, bytes, n);
	w->at += n;
}

#define PUT(w, ...)                                                                                \
	code_put(w, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put32(struct writer *w, uint32_t x)
{
	code_put(w, &x, 4);
}

static void put64(struct writer *w, uint64_t x)
{
	code_put(w, &x, 8);
}

/* The address of w in the executable view. */
static uint64_t code_address_of(const uint8_t *at)
{
	return CODE_ADDRESS + (uint64_t)(at - (uint8_t *)CODE_WRITABLE);
}

static void code_move(struct writer *w, unsigned reg, uint64_t value)
{
	PUT(w, reg & 8 ? 0x49 : 0x48, 0xb8 + (reg & 7));
	put64(w, value);
}

static void stamp(struct writer *w, int counter, uint32_t *to)
{
	PUT(w, 0x0f, 0xae, 0xe8); /* lfence */
	if (counter >= 0) {
		PUT(w, 0xb9); /* mov $counter,%ecx */
		put32(w, (uint32_t)counter);
		PUT(w, 0x0f, 0x33); /* rdpmc */
	} else {
		PUT(w, 0x0f, 0x31); /* rdtsc */
	}
	PUT(w, 0xa3); /* mov %eax,(to) */
	put64(w, (uint64_t)to);
}

static uint64_t code_value_of(const struct job *j, const struct state *s, unsigned reg)
{
	bool stack = reg == RSP || reg == RBP;

	if (reg == RCX && s->rcx >= 0)
		return (uint64_t)s->rcx;
	if (reg == RDX && s->rdx >= 0)
		return (uint64_t)s->rdx;
	if ((s->others_zero && !stack) || (s->indexes_zero && j->indexes >> reg & 1))
		return 0;
	return s->base + s->step * reg + j->low[reg] + (stack ? (uint64_t)s->stack : 0);
}

/* Returns the place of its jump's displacement. */
static uint8_t *prelude(struct writer *w, const struct job *j, const struct state *s, int counter,
	uint32_t count, bool repeats)
{
	static const uint8_t last[] = {RAX, RCX, RDX}; /* the stamp needs these */

	for (unsigned reg = RBX; reg < 16; reg++)
		code_move(w, reg, reg == j->counter ? count : code_value_of(j, s, reg));
	stamp(w, counter, &image.begin);
	if (repeats && j->counter == NO_REGISTER) {
		PUT(w, 0xc7, 0x05); /* movl $count,COUNTER(%rip) */
		put32(w, (uint32_t)(COUNTER_ADDRESS - code_address_of(w->at + 8)));
		put32(w, count);
	}
	PUT(w, 0x29, 0xc0); /* sub %eax,%eax: flags */
	for (unsigned i = 0; i < sizeof(last); i++)
		code_move(w, last[i], last[i] == j->counter ? count : code_value_of(j, s, last[i]));
	PUT(w, 0x0f, 0xae, 0xe8, 0xe9); /* lfence; jmp */
	put32(w, 0);
	return w->at - 4;
}

static void patch(uint8_t *at, const uint8_t *target)
{
	int32_t d = (int32_t)(target - (at + 4));

	__builtin_memcpy(at, &d, 4);
}

/* Relocates the copy at `at`, so that it has the same operands as all others. */
static void code_relocate(uint8_t *at, const struct channel *c, const struct job *j)
{
	const struct relocation *r = &c->relocations[j->relocation];
	uint64_t address = code_address_of(at);

	for (uint32_t i = 0; i < j->relocations; i++, r++) {
		int32_t d = (int32_t)(RELATIVE_ADDRESS + (int64_t)r->target -
				      (int64_t)(address + r->end));

		__builtin_memcpy(at + r->at, &d, 4);
	}
}

static void lay_copies(struct writer *w, const struct channel *c, const struct job *j, unsigned n)
{
	size_t size = (size_t)n * j->length, done = j->length;
	uint8_t *first = w->at;

	__builtin_memcpy(first, &c->bytes[j->code], done);
	while (done < size) {
		size_t more = done < size - done ? done : size - done;

		__builtin_memcpy(first + done, first, more);
		done += more;
	}
	for (unsigned i = 0; j->relocations && i < n; i++)
		code_relocate(first + (size_t)i * j->length, c, j);
	w->at += size;
}

static void lay_loop_end(struct writer *w, const struct job *j, const uint8_t *top)
{
	if (j->counter == NO_REGISTER) {
		PUT(w, 0x83, 0x2d); /* subl $1,COUNTER(%rip) */
		put32(w, (uint32_t)(COUNTER_ADDRESS - code_address_of(w->at + 5)));
		PUT(w, 1);
	} else {
		/* dec %reg */
		PUT(w, j->counter & 8 ? 0x49 : 0x48, 0xff, 0xc8 + (j->counter & 7));
	}
	PUT(w, 0x0f, 0x85, 0, 0, 0, 0); /* jnz top */
	patch(w->at - 4, top);
}

static void align(struct writer *w)
{
	w->at = (uint8_t *)(((uintptr_t)w->at + 63) & -64ull);
}

static void lay_end(struct writer *w, int counter)
{
	stamp(w, counter, &image.end);
	PUT(w, 0x48, 0xb8); /* mov $worker_back,%rax; jmp *%rax */
	put64(w, (uint64_t)worker_back);
	PUT(w, 0xff, 0xe0);
}

/* In loop mode, and after the many copies if there are several passes. */
static bool is_repeated(const struct job *j, const struct plan *plan)
{
	return j->flags & JOB_LOOP || plan->passes > 1;
}

void code_lay(struct layout *l, const struct channel *c, const struct job *j, const struct state *s,
	const struct plan *plan, int counter, unsigned shift)
{
	struct writer w = {(uint8_t *)CODE_WRITABLE};
	bool loop = j->flags & JOB_LOOP;
	const unsigned n[2] = {plan->few, plan->many};
	const unsigned count[2] = {loop ? n[0] : 1, loop ? n[1] : plan->passes};
	uint8_t *jump[2];

	for (int i = 0; i < 2; i++) {
		l->unroll[i] = loop ? n[i] : n[i] * count[i];
		l->entry[i] = (const void *)code_address_of(w.at);
		jump[i] = prelude(&w, j, s, counter, count[i], is_repeated(j, plan));
	}
	align(&w);
	w.at += shift;
	for (int i = 0; i < 2; i++) {
		uint8_t *top = w.at;

		patch(jump[i], top);
		lay_copies(&w, c, j, loop ? 1 : n[i]);
		if (loop)
			patch(jump[1], top);
		if (loop || (i == 1 && plan->passes > 1))
			lay_loop_end(&w, j, top);
		lay_end(&w, counter);
		if (loop)
			break;
		align(&w);
		w.at += shift % 64;
	}
}

int code_reset(struct channel *c, const struct job *j, const struct state *s, struct job *made)
{
	struct writer w = {c->bytes + JOB_BYTES};
	const struct relocation *from = &c->relocations[j->relocation];
	struct relocation *to = &c->relocations[JOB_RELOCATIONS];
	size_t before;

	for (unsigned reg = 0; reg < 16; reg++)
		if (j->resets >> reg & 1)
			code_move(&w, reg, code_value_of(j, s, reg));
	before = (size_t)(w.at - (c->bytes + JOB_BYTES));
	if (!before || before + j->length > BLOCK_BYTES_MAX)
		return -1;
	code_put(&w, &c->bytes[j->code], j->length);
	*made = *j;
	made->code = JOB_BYTES;
	made->length += (uint32_t)before;
	made->relocation = JOB_RELOCATIONS;
	for (uint32_t i = 0; i < j->relocations; i++) {
		to[i] = from[i];
		to[i].at += (uint16_t)before;
		to[i].end += (uint16_t)before;
	}
	return 0;
}
