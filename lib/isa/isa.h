/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions in terms of this project: length, kind, possible targets, registers and memory that
 * they read and write. Other libraries' decoders (Zydis) are visible only inside this module.
 *
 * x86-64 is complete. Of AArch64, lengths, branches and their targets, loads, stores and the main
 * classes are decoded; registers and memory operands are not (operands_known is false), and the
 * text of instructions other than branches is ".inst" with the word.
 *
 * No function allocates or keeps state: all may be called from any thread.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa_machine { ISA_NONE, ISA_X86_64, ISA_AARCH64 };

enum insn_class {
	INSN_BAD = 1 << 0,         /* not a valid instruction */
	INSN_LOAD = 1 << 1,        /* reads memory; also implicitly (pop, ret) */
	INSN_STORE = 1 << 2,       /* writes memory; also implicitly (push, call) */
	INSN_BRANCH = 1 << 3,      /* any change of flow that follows, with the four below */
	INSN_CONDITIONAL = 1 << 4, /* a branch that may fall through */
	INSN_INDIRECT = 1 << 5,    /* a branch to an address in a register or memory */
	INSN_CALL = 1 << 6,
	INSN_RETURN = 1 << 7,
	INSN_STOPS = 1 << 8,        /* no instruction follows it: hlt, ud2, int3 */
	INSN_SYSCALL = 1 << 9,      /* enters the kernel and returns */
	INSN_PRIVILEGED = 1 << 10,  /* user code may not */
	INSN_LOCK = 1 << 11,        /* locked: the prefix, or xchg with memory */
	INSN_FENCE = 1 << 12,       /* orders memory: mfence, lfence, sfence, dmb */
	INSN_SERIALISING = 1 << 13, /* cpuid, serialize, isb ... */
	INSN_REP = 1 << 14,         /* repeats itself by a count */
	INSN_NOP = 1 << 15,         /* also endbr64 and hints */
	INSN_PREFETCH = 1 << 16,
	INSN_DIVIDE = 1 << 17, /* and square roots */
	INSN_MULTIPLY = 1 << 18,
	INSN_FP = 1 << 19,      /* arithmetic on floating-point numbers */
	INSN_VECTOR = 1 << 20,  /* uses vector registers, scalars in them included; vector_bits */
	INSN_X87 = 1 << 21,     /* x87 or MMX */
	INSN_MOVE = 1 << 22,    /* register to register, nothing else: may be eliminated */
	INSN_ZEROES = 1 << 23,  /* its result is 0 whatever it reads (xor %eax,%eax) */
	INSN_ADDRESS = 1 << 24, /* lea: computes an address, touches no memory */
	INSN_STACK = 1 << 25,   /* push, pop, call, ret, leave: moves the stack pointer by itself */
	INSN_GATHER = 1 << 26,  /* one load or store an element */
	INSN_SEGMENT = 1 << 27, /* writes a segment register or its base */
	INSN_CLASSES = 28
};

/* Registers as numbers of a set.  Parts of a register are the register; flags are single. */
enum insn_register {
	REG_GENERAL = 0, /* rax rcx rdx rbx rsp rbp rsi rdi r8..r15; x0..x30, sp */
	REG_RSP = REG_GENERAL + 4,
	REG_VECTOR = 32, /* zmm0..zmm31; v0..v31 */
	REG_MASK = 64,   /* k0..k7 */
	REG_X87 = 72,    /* st(0)..st(7): as named, the stack is not followed; mm0..mm7 */
	REG_CARRY = 80,
	REG_PARITY,
	REG_ADJUST,
	REG_ZERO,
	REG_SIGN,
	REG_OVERFLOW,
	REG_DIRECTION,
	REG_OTHER_FLAGS,
	REG_MXCSR,
	REG_X87_STATE,    /* control and status */
	REG_SEGMENT_BASE, /* fs and gs */
	REG_SYSTEM,       /* control, debug, tables, bounds, tiles: taken together */
	REG_COUNT,
	REG_NONE = 255
};

struct insn_registers {
	uint64_t word[2];
};

#define INSN_MEMORY_MAX   2
#define INSN_LENGTH_MAX   16
#define INSN_MNEMONIC_MAX 24
#define INSN_TEXT_MAX     160

struct insn_memory {
	uint8_t base, index; /* enum insn_register or REG_NONE */
	uint8_t scale;       /* 1, 2, 4, 8; 0 without index */
	bool absolute;       /* address is known: relative to the program counter, or constant */
	bool segment;        /* fs or gs is added */
	bool reads, writes;
	uint32_t size; /* bytes; of a repeated instruction, of one element */
	int64_t displacement;
	uint64_t address; /* where absolute */
};

enum insn_operand_kind {
	OPERAND_NONE,
	OPERAND_GENERAL,
	OPERAND_VECTOR,
	OPERAND_MASK,
	OPERAND_MMX,
	OPERAND_X87,
	OPERAND_MEMORY, /* of an address only (lea), too */
	OPERAND_IMMEDIATE,
	OPERAND_OTHER
};

#define INSN_OPERANDS_MAX 5

/* As written, the destination first (Intel's order); a mask that selects elements is none. */
struct insn_operand {
	uint8_t kind; /* enum insn_operand_kind */
	uint8_t reg;  /* enum insn_register, or REG_NONE */
	bool reads, writes;
	bool high; /* ah, bh, ch or dh */
	uint16_t bits;
};

enum insn_encoding { ENCODING_PLAIN, ENCODING_VEX, ENCODING_EVEX, ENCODING_OTHER };

struct insn {
	uint64_t address;
	uint64_t target;      /* of a direct branch; 0 and !has_target otherwise */
	uint32_t classes;     /* enum insn_class */
	uint16_t vector_bits; /* of its widest vector operand; 64, 32 ... for scalars in one */
	uint16_t mnemonic;    /* index for isa_mnemonic */
	uint8_t length;       /* bytes; never 0 */
	uint8_t memories;     /* how many of memory[] are there */
	uint8_t encoding;     /* enum insn_encoding */
	uint8_t relative_at;  /* of a displacement relative to the program counter: its place, four
				 bytes in all; 0: there is none */
	bool has_target;
	bool operands_known; /* what follows is complete */
	bool more_memory;    /* it has more memory operands than memory[] */
	bool has_immediate;
	int64_t immediate; /* the last one */
	struct insn_memory memory[INSN_MEMORY_MAX];
	uint8_t operands; /* how many of operand[] are there */
	struct insn_operand operand[INSN_OPERANDS_MAX];
	struct insn_registers reads, writes;
	/* Of those written, the ones whose old value is needed for the new one though the
	 * instruction does not compute with it: written in part, or only if a condition holds. */
	struct insn_registers merges;
};

static inline bool insn_registers_have(const struct insn_registers *set, unsigned reg)
{
	return reg < REG_COUNT && (set->word[reg / 64] >> (reg % 64) & 1);
}

static inline void insn_registers_add(struct insn_registers *set, unsigned reg)
{
	if (reg < REG_COUNT)
		set->word[reg / 64] |= 1ull << (reg % 64);
}

/* Takes the lowest register out of the set; REG_NONE: it is empty. */
static inline unsigned insn_registers_take(struct insn_registers *set)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t word = set->word[i];

		set->word[i] &= word - 1;
		if (word)
			return i * 64 + (unsigned)__builtin_ctzll(word);
	}
	return REG_NONE;
}

/* Whether control can continue at the next instruction (of a call: after its return). */
static inline bool insn_falls_through(const struct insn *i)
{
	if (i->classes & (INSN_STOPS | INSN_BAD))
		return false;
	return !(i->classes & INSN_BRANCH) || i->classes & (INSN_CONDITIONAL | INSN_CALL);
}

/* Jumps and conditional branches: what ends a block, calls apart. */
static inline bool insn_jumps(const struct insn *i)
{
	return (i->classes & INSN_BRANCH) && !(i->classes & (INSN_CALL | INSN_RETURN));
}

/* Whether processors fuse these two into one operation, of which the second is a conditional
 * branch: a compare, test or simple arithmetic that sets the flags it reads, without both a memory
 * operand and an immediate (Intel since Sandy Bridge, AMD since Zen 3; older ones fuse fewer). */
bool isa_fuses(enum isa_machine machine, const struct insn *first, const struct insn *branch);

/* The first register that it writes: general, but not rsp, or a vector register. False: there is
 * none, or its text has the value. */
bool isa_result(const struct insn *i, struct insn_operand *result);
/* Bytes of its floating-point elements in vector registers; 0: it has none. */
unsigned isa_element(const struct insn *i);

/* Decodes the first instruction of bytes. An invalid one gets INSN_BAD and the length of the
 * smallest one, so that a sweep continues after it. Returns its length; 0 only for size 0. */
size_t isa_decode(enum isa_machine machine, const void *bytes, size_t size, uint64_t address,
	struct insn *insn);

/* Only its length, which is faster; *bad (may be NULL) is set if it is invalid. */
size_t isa_length(enum isa_machine machine, const void *bytes, size_t size, bool *bad);

enum isa_style { ISA_ATT, ISA_INTEL };

/* Its text, without address, into text; ".byte 0x.." and ".inst 0x........" for what has none.
 * Returns text. */
char *isa_text(enum isa_machine machine, const void *bytes, size_t size, uint64_t address,
	enum isa_style style, char text[INSN_TEXT_MAX]);

/* Writes the shortest x86-64 instruction of this mnemonic with these registers and immediates
 * (kind, reg and bits are used; all immediates are `immediate`) to bytes; returns its length, 0 if
 * there is none. */
size_t isa_encode(unsigned mnemonic, const struct insn_operand *operands, size_t count,
	int64_t immediate, uint8_t bytes[INSN_LENGTH_MAX]);

/* "add", "movsd"; "(bad)".  Static. */
const char *isa_mnemonic(enum isa_machine machine, unsigned mnemonic);
/* "rax", "zmm3", "zf"; static.  NULL: no such register. */
const char *isa_register_name(enum isa_machine machine, unsigned reg);
/* "load", "divide"; of one class bit's number.  Static. */
const char *isa_class_name(unsigned bit);

/* "Zydis 4.0.0": the library in use. Static. */
const char *isa_library(void);

#endif
