/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/call_sites.h"

#include <string.h>

#if defined(__x86_64__)

#include "isa/isa.h"

enum { SYSCALL_BYTES = 2, MOVE_BYTES = 5, NUMBERS = 1024 };

/* Is rax at the end what it is at the start? All must be whole instructions, in a straight line. */
static bool keeps_number(const uint8_t *code, size_t size)
{
	struct insn i;

	for (size_t at = 0; at < size; at += i.length)
		if (!isa_decode(ISA_X86_64, code + at, size - at, 0, &i) ||
			i.classes & (INSN_BAD | INSN_BRANCH | INSN_SYSCALL) ||
			insn_registers_have(&i.writes, REG_GENERAL))
			return false;
	return true;
}

/* The nearest that holds: mov number, eax; or xor eax, eax. */
bool call_site(const uint8_t *code, size_t size, long *number)
{
	size_t end = size - SYSCALL_BYTES;
	uint32_t value;

	*number = -1;
	if (size < SYSCALL_BYTES || code[end] != 0x0f || code[end + 1] != 0x05)
		return false;
	for (size_t at = end; at-- > 0;) {
		if (end - at >= 2 && code[at] == 0x31 && code[at + 1] == 0xc0 &&
			keeps_number(code + at + 2, end - at - 2)) {
			*number = 0;
			return true;
		}
		if (end - at < MOVE_BYTES || code[at] != 0xb8)
			continue;
		memcpy(&value, code + at + 1, sizeof(value));
		if (value < NUMBERS &&
			keeps_number(code + at + MOVE_BYTES, end - at - MOVE_BYTES)) {
			*number = (long)value;
			return true;
		}
	}
	return true;
}

#else

/* Of AArch64, the number is in a register that the kernel leaves alone. */
bool call_site(const uint8_t *code, size_t size, long *number)
{
	uint32_t last;

	*number = -1;
	if (size < sizeof(last))
		return false;
	memcpy(&last, code + size - sizeof(last), sizeof(last));
	return last == 0xd4000001u; /* svc 0 */
}

#endif
