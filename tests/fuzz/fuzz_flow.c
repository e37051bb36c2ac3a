/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures: any bytes make a graph whose parts agree, for either machine; its own bytes serve as
 * its tables of jumps.  The first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/flow_check.h"
#include "../unit/flow_dump.h"

#define AT 0x401000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size;
};

/* Small addresses are read as offsets, so that made-up displacements hit something. */
static size_t read_bytes(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct bytes *b = context;
	uint64_t at = address >= AT ? address - AT : address;

	if (at >= b->size)
		return 0;
	size = size < b->size - at ? size : (size_t)(b->size - at);
	memcpy(bytes, b->data + at, size);
	return size;
}

static bool odd_target(void *context, const struct insn *call)
{
	(void)context;
	return !(call->target & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data + 1, size - 1};
	uint64_t entries[2] = {AT + 5, AT - 1};
	struct flow_request r = {.begin = AT,
		.bytes = data + 1,
		.context = &b,
		.read = read_bytes,
		.returns = odd_target,
		.entries = entries};
	struct flow_jump seen[4];
	struct strbuf text = {0};
	struct error e;
	struct flow *f;

	if (size < 1)
		return 0;
	r.machine = data[0] & 1 ? ISA_AARCH64 : ISA_X86_64;
	r.entry_count = data[0] & 2 ? 2 : 0;
	r.size = b.size;
	for (size_t i = 0; data[0] & 4 && i < 4; i++)
		seen[i] = (struct flow_jump){AT + 3 * i, AT + data[i % size] % 64};
	r.seen = seen;
	r.seen_count = data[0] & 4 ? 4 : 0;
	f = flow_new(&r, &e);
	if (!f || flow_check(f, f->blocks.count < 60))
		abort();
	flow_dump(f, &text);
	for (size_t i = 0; i < f->insns.count; i++) {
		const struct insn *insn = &f->insns.data[i];
		char line[INSN_TEXT_MAX];
		size_t at = (size_t)(insn->address - AT);

		isa_text(r.machine, b.data + at, b.size - at, insn->address, ISA_ATT, line);
		if (r.machine == ISA_X86_64 && !(insn->classes & INSN_BAD) && line[0] == '.')
			abort();
		if (!line[0] || flow_insn_over(f, insn->address + insn->length - 1) != i)
			abort();
	}
	strbuf_fini(&text);
	flow_free(f);
	return 0;
}
