/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Core descriptions: whatever is accepted schedules a block of every kind without complaint. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* add %rbx,%rax; mov (%rax),%rcx; mov %rcx,8(%rsp); push %rax; vaddps %ymm0,%ymm1,%ymm2;
	 * div %rcx; jne */
	static const uint8_t block[] = {0x48, 0x01, 0xd8, 0x48, 0x8b, 0x08, 0x48, 0x89, 0x4c, 0x24,
		0x08, 0x50, 0xc5, 0xf4, 0x58, 0xd0, 0x48, 0xf7, 0xf1, 0x75, 0xe9};
	static const struct schedule_options options = {.loop = true};
	static struct schedule_work *work;
	static struct core core;
	struct schedule_row rows[16];
	struct insn insns[16];
	struct schedule s;
	struct error e = {0};
	size_t count = 0;

	if (!work)
		work = schedule_work_new(&e);
	if (core_parse(&core, (const char *)data, size, "fuzz", &e)) {
		if (!e.message[0])
			abort();
		return 0;
	}
	for (size_t at = 0; at < sizeof(block); count++)
		at += isa_decode(ISA_X86_64, block + at, sizeof(block) - at, at, &insns[count]);
	if (schedule_block(work, &core, insns, count, &options, &s, rows, &e) || !(s.cycles >= 0))
		abort();
	core_fini(&core);
	return 0;
}
