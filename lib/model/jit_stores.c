/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/jit_stores.h"

#include "model/run.h"

#if JIT

#define STORED(scale, field) jit_indexed(R12, RSI, scale, offsetof(struct core, stores.field))
/* Of the granule whose first byte has the low bits of its address in rdx, or of the i-th after it.
 */
#define NEAR_STORE(field, i)                                                                       \
	jit_indexed(R12, RDX, 0, offsetof(struct core, stores.field) + (i) * sizeof(uint64_t))

/* forward_exact of the address in rax. */
static struct jit_memory jit_exact(unsigned size)
{
	return jit_indexed(NO_BASE, RAX, 3, size - 1);
}

/* A load that may begin anywhere is taken to span as many granules as it can. */
void jit_far_from_stores(struct jit *e, struct jit_slow *slow, const struct model_access *a)
{
	unsigned most = (a->size + 2 * STORE_GRANULE - 2) / STORE_GRANULE;

	jit_registers(e, OP_MOV, RDX, RAX);
	jit_constant(e, IMM_AND, 0, RDX, STORE_BYTES - STORE_GRANULE);
	for (unsigned i = 0; i < (a->way == WIDE_LOADS ? most : 1); i++) {
		jit_memory(e, OP_CMP | WIDE, R14, NEAR_STORE(near_until, i));
		slow->near[slow->near_count++] = jit_jump_ahead(e, BELOW);
	}
	slow->far = e->at;
}

/* It needs nothing more if the last store to its granule was to its bytes and no others. If it was
 * to those of another page, and is in the buffer, that is an alias. */
static void jit_near_same(struct jit *e, const struct jit_slow *slow, const struct model *m,
	const struct model_access *a)
{
	uint8_t *differs;

	jit_memory(e, OP_LEA | WIDE, RDI, jit_exact(a->size));
	jit_memory(e, OP_XOR | WIDE, RDI, NEAR_STORE(near_exact, 0));
	jit_jump_if(e, EQUAL, slow->far);
	if (m->watch)
		return;
	jit_registers(e, 0xf7, 0, RDI); /* test edi, ... */
	jit_word(e, STORE_BYTES * STORE_GRANULE - 1);
	differs = jit_jump_ahead(e, NOT_EQUAL);
	jit_registers(e, OP_MOV, RSI, RBP);
	jit_memory(e, OP_LEA | WIDE, RDI, jit_at(R14, a->insn + 1u));
	jit_memory(e, OP_SUB, RSI, NEAR_STORE(near_number, 0));
	jit_constant(e, IMM_CMP, 0, RSI, (int32_t)m->config.store_buffer);
	jit_jump_if(e, ABOVE, slow->far);
	jit_memory(e, OP_CMP | WIDE, RDI, NEAR_STORE(near_until, 0));
	jit_jump_if(e, ABOVE, slow->far);
	jit_memory(e, OP_INC | WIDE, 0, CORE(stores.aliases));
	jit_jump(e, slow->far);
	jit_land(e, differs);
}

void jit_near(struct jit *e, const struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a)
{
	for (unsigned k = 0; k < slow->near_count; k++)
		jit_land(e, slow->near[k]);
	if (a->way != WIDE_LOADS)
		jit_near_same(e, slow, m, a);
	jit_call_access(e, jit_near_routine(a), i, a->insn);
	jit_line(e, i);
	jit_jump(e, slow->far);
}

void jit_remember(struct jit *e, const struct model *m, unsigned insn, unsigned size)
{
	jit_registers(e, OP_MOVZX_BYTE | WIDE, RSI, RBP); /* modulo STORES_MAX */
	jit_memory(e, OP_LEA | WIDE, RDI, jit_at(R14, insn + 1u + m->config.window));
	jit_registers(e, OP_MOV, RDX, RAX);
	jit_constant(e, IMM_AND, 0, RDX, STORE_BYTES - STORE_GRANULE);
	jit_memory(e, OP_MOV_TO | WIDE, RAX, STORED(3, address));
	jit_memory(e, OP_MOV_TO | WIDE, RDI, STORED(3, until));
	jit_byte(e, OPERANDS_16);
	jit_memory(e, OP_MOV_TO, RAX, STORED(1, low));
	jit_byte(e, OPERANDS_16);
	jit_memory(e, OP_MOV_CONSTANT, 0, STORED(1, size));
	jit_byte(e, size);
	jit_byte(e, 0);
	if (size <= STORE_GRANULE) {
		jit_memory(e, OP_MOV | WIDE, R8, NEAR_STORE(near_number, 0));
		jit_memory(e, OP_MOV_TO | WIDE, R8, STORED(3, before));
	} else {
		jit_memory(e, OP_MOV_CONSTANT | WIDE, 0, STORED(3, before));
		jit_word(e, UINT32_MAX); /* MANY_BEFORE */
	}
	for (unsigned i = 0; i == 0 || i < size / STORE_GRANULE; i++) {
		jit_memory(e, OP_MOV_TO | WIDE, RDI, NEAR_STORE(near_until, i));
		jit_memory(e, OP_MOV_TO | WIDE, RBP, NEAR_STORE(near_number, i));
		if (size <= STORE_GRANULE)
			continue;
		jit_memory(e, OP_MOV_CONSTANT | WIDE, 0, NEAR_STORE(near_exact, i));
		jit_word(e, UINT32_MAX); /* NEVER_EXACT */
	}
	if (size <= STORE_GRANULE) {
		jit_memory(e, OP_LEA | WIDE, RDI, jit_exact(size));
		jit_memory(e, OP_MOV_TO | WIDE, RDI, NEAR_STORE(near_exact, 0));
	}
	jit_registers(e, OP_INC | WIDE, 0, RBP);
}

#endif
