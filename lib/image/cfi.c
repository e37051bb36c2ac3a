/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/debug.h"
#include "image/private.h"

struct cfi {
	Dwarf_CFI *eh;
	Dwarf *dwarf; /* for .debug_frame, opened if .eh_frame has no rule */
	Dwarf_CFI *debug;
	bool debug_sought;
};

static struct cfi *cfi_of(struct image *image)
{
	struct cfi *c = image->cfi;

	if (c)
		return c;
	c = image->cfi = calloc(1, sizeof(*c));
	if (c && image->elf->header.e_type != ET_REL)
		c->eh = dwarf_getcfi_elf(image->elf->elf);
	return c;
}

static Dwarf_CFI *debug_frame(struct image *image, struct cfi *c)
{
	struct elf_file *f = image->elf;

	if (c->debug_sought)
		return c->debug;
	c->debug_sought = true;
	if (!elf_file_section(f, ".debug_frame"))
		f = elf_file_section(f, ".debug_info") ? NULL : image_separate(image);
	if (f && elf_file_section(f, ".debug_frame"))
		c->dwarf = debug_begin(f);
	if (c->dwarf)
		c->debug = dwarf_getcfi(c->dwarf);
	return c->debug;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	if (c->eh)
		dwarf_cfi_end(c->eh);
	if (c->dwarf)
		dwarf_end(c->dwarf);
	free(c);
}

static long keep_expression(struct cfi_pool *pool, const Dwarf_Op *ops, size_t count)
{
	struct cfi_expression *x = vec_push(&pool->expressions);

	if (!x)
		return -1;
	x->ops = malloc(count * sizeof(*ops));
	if (!x->ops)
		return -1;
	memcpy(x->ops, ops, count * sizeof(*ops));
	x->count = count;
	return (long)(pool->expressions.count - 1);
}

/* libdw gives every rule as operations; the usual ones are recognised. */
static void recognise(const Dwarf_Op *ops, size_t count, struct cfi_save *save)
{
	bool value = count > 1 && ops[count - 1].atom == DW_OP_stack_value;
	size_t rest = count - value;

	save->how = CFI_EXPRESSION;
	if (count == 1 && ops[0].atom == DW_OP_regx) {
		save->how = CFI_REGISTER;
		save->offset = (int32_t)ops[0].number;
	} else if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		save->how = CFI_REGISTER;
		save->offset = ops[0].atom - DW_OP_reg0;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && rest == 1) {
		save->how = value ? CFI_VALUE : CFI_MEMORY;
		save->offset = 0;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && rest == 2 &&
		   ops[1].atom == DW_OP_plus_uconst) {
		save->how = value ? CFI_VALUE : CFI_MEMORY;
		save->offset = (int32_t)ops[1].number;
	}
}

static int keep_register(
	Dwarf_Frame *frame, int number, uint64_t kept, struct cfi_pool *pool, struct cfi_rule *rule)
{
	struct cfi_save save = {.number = (uint8_t)number}, *slot;
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return 0;
	if (count == 0 && ops != memory)
		return 0; /* it has the same value, or there is no rule for it */
	if (count == 0) {
		save.how = CFI_UNDEFINED;
	} else {
		recognise(ops, count, &save);
		if (save.how == CFI_EXPRESSION) {
			long x = keep_expression(pool, ops, count);

			if (x < 0)
				return -1;
			save.offset = (int32_t)x;
		}
	}
	if (number == rule->return_register && save.how == CFI_UNDEFINED)
		rule->outermost = true;
	if (save.how == CFI_UNDEFINED && !(kept >> number & 1))
		return 0;
	slot = vec_push(&pool->saves);
	if (!slot)
		return -1;
	*slot = save;
	rule->count++;
	return 0;
}

static int keep_cfa(Dwarf_Frame *frame, struct cfi_pool *pool, struct cfi_rule *rule)
{
	Dwarf_Op *ops;
	size_t count;
	long x;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
		return -1;
	if (count == 1 && ops[0].atom == DW_OP_bregx) {
		rule->cfa_register = (uint8_t)ops[0].number;
		rule->cfa_offset = (int32_t)ops[0].number2;
		return ops[0].number < 64 ? 0 : -1;
	}
	if (count == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		rule->cfa_register = (uint8_t)(ops[0].atom - DW_OP_breg0);
		rule->cfa_offset = (int32_t)ops[0].number;
		return 0;
	}
	x = keep_expression(pool, ops, count);
	rule->cfa_expression = true;
	rule->cfa_offset = (int32_t)x;
	return x < 0 ? -1 : 0;
}

static int keep_frame(Dwarf_Frame *frame, enum image_machine machine, uint64_t kept,
	struct cfi_pool *pool, struct cfi_rule *rule)
{
	int registers = machine == IMAGE_AARCH64 ? 32 : 17;
	int number = dwarf_frame_info(frame, NULL, NULL, &rule->signal);

	if (number < 0 || number > 32)
		return -1;
	rule->return_register = (uint8_t)number;
	rule->first = (uint32_t)pool->saves.count;
	if (keep_cfa(frame, pool, rule))
		return -1;
	for (int i = 0; i < registers; i++)
		if (keep_register(frame, i, kept, pool, rule))
			return -1;
	return 0;
}

int cfi_rule_at(struct image *image, uint64_t address, uint64_t kept, struct cfi_pool *pool,
	struct cfi_rule *rule)
{
	struct cfi *c = cfi_of(image);
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *debug;
	int failed;

	*rule = (struct cfi_rule){0};
	if (!c || image->machine == IMAGE_OTHER)
		return -1;
	if (!c->eh || dwarf_cfi_addrframe(c->eh, address, &frame) != 0) {
		debug = debug_frame(image, c);
		if (!debug || dwarf_cfi_addrframe(debug, address, &frame) != 0)
			return -1;
	}
	failed = keep_frame(frame, image->machine, kept, pool, rule);
	free(frame);
	return failed;
}

void cfi_pool_fini(struct cfi_pool *pool)
{
	for (size_t i = 0; i < pool->expressions.count; i++)
		free(pool->expressions.data[i].ops);
	vec_fini(&pool->expressions);
	vec_fini(&pool->saves);
}
