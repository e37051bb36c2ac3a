/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By tables: a letter for each opcode. What has no letter is left to the general decoder: all that
 * is rare, changes by its operands, or has prefixes other than an operand size and REX.
 */
#include "isa/brief.h"

#include <string.h>

#define CARRY     0x01
#define PARITY    0x02
#define ZERO      0x08
#define SIGN      0x10
#define OVERFLOW  0x20
#define ALL       0x3f /* of the six */
#define NARROW    0x66
#define WIDE      8 /* of REX */
#define REGISTERS 3 /* mod */

/* Sets of letters: without operands; with the carry; whose operation is in ModRM. */
#define LETTER(c) (1u << ((c) - 'a'))
#define CARRIES   (LETTER('d') | LETTER('e') | LETTER('f'))
#define BARE      (LETTER('n') | LETTER('w') | LETTER('b') | LETTER('c') | LETTER('e') | LETTER('f'))
#define GROUPS                                                                                     \
	(LETTER('g') | LETTER('h') | LETTER('s') | LETTER('t') | LETTER('u') | LETTER('v') |       \
		LETTER('o') | LETTER('x') | LETTER('y'))

/*
 * n nothing follows; m operands (ModRM); q, z, w, i, k immediates: of a byte, of 32 bits, of all
 * bits, of a byte and of 32 bits after operands. They have no flags, or some are unsure.
 * a, b, c, g, h write all flags: operands; immediates of a byte, of 32 bits; both after operands.
 * d, e, f the first three of these, with the carry.
 * l only an address; s, t shifts; x, y moves of immediates; u, v, o groups of others.
 * B, J branches of 8 and 32 bits.
 */
static const char plain[256 + 1] = "aaaabc..aaaabc.."  /* 00 */
				   "ddddef..ddddef.."  /* 10 */
				   "aaaabc..aaaabc.."  /* 20 */
				   "aaaabc..aaaabc.."  /* 30 */
				   "................"  /* 40 */
				   "nnnnnnnnnnnnnnnn"  /* 50 */
				   "...m....zkqi...."  /* 60 */
				   "BBBBBBBBBBBBBBBB"  /* 70 */
				   "gh.gaa..mmmm.l.."  /* 80 */
				   "nnnnnnnnnn......"  /* 90 */
				   "........bc......"  /* a0 */
				   "qqqqqqqqwwwwwwww"  /* b0 */
				   "ss.B..xy.n......"  /* c0 */
				   "tttt............"  /* d0 */
				   "........JJ.B...."  /* e0 */
				   "......uv......oo"; /* f0 */

/* After 0f: also r, those that read flags by a condition. */
static const char second[256 + 1] = "................"  /* 00 */
				    "...............m"  /* 10 */
				    "................"  /* 20 */
				    "................"  /* 30 */
				    "rrrrrrrrrrrrrrrr"  /* 40 */
				    "................"  /* 50 */
				    "................"  /* 60 */
				    "................"  /* 70 */
				    "JJJJJJJJJJJJJJJJ"  /* 80 */
				    "rrrrrrrrrrrrrrrr"  /* 90 */
				    "...............m"  /* a0 */
				    "......mm......mm"  /* b0 */
				    "........nnnnnnnn"  /* c0 */
				    "................"  /* d0 */
				    "................"  /* e0 */
				    "................"; /* f0 */

/* Of vector registers, after 0f: the sum of the prefixes with which they are valid: none 1, 66 2,
 * f3 4, f2 8. */
static const char vectors[256 + 1] = "................"  /* 00 */
				     "ff1.33.........."  /* 10 */
				     "........33c.cc33"  /* 20 */
				     "................"  /* 30 */
				     "................"  /* 40 */
				     ".f..3333fff7ffff"  /* 50 */
				     "2222222222222226"  /* 60 */
				     "e...222.......66"  /* 70 */
				     "................"  /* 80 */
				     "................"  /* 90 */
				     "................"  /* a0 */
				     "................"  /* b0 */
				     "......3........."  /* c0 */
				     ".222222222222222"  /* d0 */
				     "222222e.22222222"  /* e0 */
				     ".222222.2222222."; /* f0 */

struct brief {
	const uint8_t *bytes;
	size_t at; /* of the next byte */
	uint8_t prefix, rex, op, reg, mod;
	uint8_t head, displacement; /* bytes before that, and of it */
	bool long_op;               /* after 0f */
};

static uint8_t of_condition(uint8_t op)
{
	static const uint8_t read[8] = {OVERFLOW, CARRY, ZERO, CARRY | ZERO, SIGN, PARITY,
		SIGN | OVERFLOW, ZERO | SIGN | OVERFLOW};

	return read[op >> 1 & 7];
}

static void take_prefixes(struct brief *b)
{
	uint8_t byte = b->bytes[b->at];

	if (byte == NARROW || byte == 0xf2 || byte == 0xf3)
		b->prefix = b->bytes[b->at++];
	if ((b->bytes[b->at] & 0xf0) == 0x40)
		b->rex = b->bytes[b->at++];
	b->op = b->bytes[b->at++];
	b->long_op = b->op == 0x0f;
	if (b->long_op)
		b->op = b->bytes[b->at++];
	b->head = (uint8_t)b->at;
}

/* ModRM, an index, a displacement. */
static void take_operands(struct brief *b, struct insn *insn)
{
	uint8_t modrm = b->bytes[b->at++], base = modrm & 7;

	b->mod = modrm >> 6;
	b->reg = modrm >> 3 & 7;
	if (b->mod != REGISTERS && base == 4)
		base = b->bytes[b->at++] & 7;
	else if (b->mod == 0 && base == 5)
		insn->relative_at = (uint8_t)b->at;
	b->head = (uint8_t)b->at;
	if (b->mod == 1)
		b->displacement = 1;
	else if (b->mod == 2 || (b->mod == 0 && base == 5))
		b->displacement = 4;
	b->at += b->displacement;
}

static size_t immediate_size(const struct brief *b)
{
	return b->prefix == NARROW && !(b->rex & WIDE) ? 2 : 4;
}

static void take_branch(struct brief *b, struct insn *insn, struct insn_flags *flags, bool near)
{
	int32_t to = (int8_t)b->bytes[b->at];

	insn->classes = INSN_BRANCH;
	if (b->op == 0xc3) {
		insn->classes |= INSN_RETURN;
		return;
	}
	if (near)
		memcpy(&to, b->bytes + b->at, sizeof(to));
	b->at += near ? 4 : 1;
	insn->has_target = true;
	insn->target = insn->address + b->at + (uint64_t)(int64_t)to;
	if (b->long_op || b->op < 0x80) {
		insn->classes |= INSN_CONDITIONAL;
		flags->reads = of_condition(b->op);
	} else if (b->op == 0xe8) {
		insn->classes |= INSN_CALL;
	}
}

/* Groups: the operation is in ModRM. */
static bool take_group(struct brief *b, char letter, struct insn_flags *flags)
{
	switch (letter) {
	case 'g':
	case 'h':
		flags->kills = ALL;
		flags->reads = b->reg == 2 || b->reg == 3 ? CARRY : 0; /* adc, sbb */
		b->at += letter == 'g' ? 1 : immediate_size(b);
		return true;
	case 's':
	case 't':
		b->at += letter == 's';
		return b->reg != 2 && b->reg != 3 && b->reg != 6; /* by the carry; undocumented */
	case 'x':
	case 'y':
		b->at += letter == 'x' ? 1 : immediate_size(b);
		return b->reg == 0;
	case 'u':
	case 'v': /* test, not, neg, multiplications and divisions */
		if (b->reg == 0)
			b->at += letter == 'u' ? 1 : immediate_size(b);
		flags->kills = b->reg == 0 || b->reg == 3 ? ALL : 0;
		return b->reg != 1;
	case 'o': /* inc and dec, push */
		flags->kills = ALL & ~CARRY;
		if (b->op == 0xff && b->reg == 6) {
			flags->kills = 0;
			return true;
		}
		return b->reg < 2;
	default:
		return false;
	}
}

static bool take_by_letter(
	struct brief *b, char letter, struct insn *insn, struct insn_flags *flags)
{
	uint32_t one = LETTER(letter);

	if (!(one & (BARE | LETTER('q') | LETTER('z'))))
		take_operands(b, insn);
	if (one & (LETTER('q') | LETTER('b') | LETTER('e') | LETTER('i')))
		b->at++;
	else if (one & (LETTER('z') | LETTER('c') | LETTER('f') | LETTER('k')))
		b->at += immediate_size(b);
	else if (letter == 'w')
		b->at += b->rex & WIDE ? 8 : immediate_size(b);
	if (one & (LETTER('a') | LETTER('b') | LETTER('c') | CARRIES))
		flags->kills = ALL;
	if (one & CARRIES)
		flags->reads = CARRY;
	if (letter == 'r')
		flags->reads = of_condition(b->op);
	if (letter == 'l')
		return b->mod != REGISTERS;
	return !(one & GROUPS) || take_group(b, letter, flags);
}

static unsigned prefix_bit(uint8_t prefix)
{
	return prefix == NARROW ? 2 : prefix == 0xf3 ? 4 : prefix == 0xf2 ? 8 : 1;
}

static bool take_vector(struct brief *b, struct insn *insn, struct insn_flags *flags)
{
	char valid = vectors[b->op];
	unsigned with =
		valid == '.' ? 0 : (unsigned)(valid <= '9' ? valid - '0' : valid - 'a' + 10);

	if (!(with & prefix_bit(b->prefix)))
		return false;
	take_operands(b, insn);
	if (b->op == 0x70 || b->op == 0xc6) /* shuffles */
		b->at++;
	if (b->op == 0x2e || b->op == 0x2f) /* ucomis, comis */
		flags->kills = ALL;
	return b->op != 0xd7 || b->mod == REGISTERS;
}

static bool is_landing(const uint8_t *bytes)
{
	return bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e &&
	       bytes[3] == 0xfa; /* endbr64 */
}

static bool take_brief(struct brief *b, struct insn *insn, struct insn_flags *flags)
{
	char letter;
	bool known;

	take_prefixes(b);
	letter = (b->long_op ? second : plain)[b->op];
	if (b->long_op && letter == '.') {
		known = take_vector(b, insn, flags);
		if (!known && is_landing(b->bytes)) {
			insn->relative_at = b->displacement = 0;
			b->at = b->head = 4;
			known = true;
		}
	} else if (letter == 'B' || letter == 'J') {
		take_branch(b, insn, flags, letter == 'J');
		known = !b->prefix && !b->rex;
	} else {
		known = letter != '.' && (!b->prefix || b->prefix == NARROW) &&
			take_by_letter(b, letter, insn, flags);
	}
	insn->length = (uint8_t)b->at;
	return known;
}

bool isa_brief(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn,
	struct insn_flags *flags)
{
	struct brief b = {.bytes = bytes};

	/* So nothing that follows is beyond the end. */
	if (size < INSN_LENGTH_MAX)
		return false;
	insn->address = address;
	insn->target = 0;
	insn->classes = 0;
	insn->memories = insn->operands = insn->relative_at = 0;
	insn->encoding = ENCODING_PLAIN;
	insn->has_target = insn->more_memory = insn->has_immediate = false;
	insn->operands_known = true;
	*flags = (struct insn_flags){0};
	return take_brief(&b, insn, flags);
}

bool isa_brief_shape(const uint8_t *bytes, size_t size, struct insn_shape *shape)
{
	struct brief b = {.bytes = bytes};
	struct insn_flags flags;
	struct insn insn;

	if (size < INSN_LENGTH_MAX)
		return false;
	insn.address = 0;
	insn.relative_at = 0;
	if (!take_brief(&b, &insn, &flags))
		return false;
	*shape = (struct insn_shape){insn.length, b.head, b.displacement, insn.relative_at != 0};
	return true;
}

/* The register fields of an instruction, with the bits of its REX prefix. */
struct fields {
	unsigned mode, reg, rm, base, index; /* base and index: NO_FIELD if there is none */
};

#define NO_FIELD 16u
#define STACK    4u
#define FRAME    5u

/* At ModRM. false: it does not fit. */
static bool fields_at(const uint8_t *bytes, size_t size, unsigned rex, struct fields *f)
{
	unsigned low;

	if (!size)
		return false;
	f->mode = bytes[0] >> 6;
	f->reg = (bytes[0] >> 3 & 7u) | (rex & 4) << 1;
	low = bytes[0] & 7u;
	f->rm = low | (rex & 1) << 3;
	f->base = f->mode == 0 && low == 5 ? NO_FIELD : f->rm;
	f->index = NO_FIELD;
	if (f->mode == 3 || low != 4)
		return true;
	if (size < 2)
		return false;
	low = bytes[1] & 7u;
	f->base = f->mode == 0 && low == 5 ? NO_FIELD : low | (rex & 1) << 3;
	f->index = (bytes[1] >> 3 & 7u) | (rex & 2) << 2;
	if (f->index == 4)
		f->index = NO_FIELD;
	return true;
}

static int other_than(unsigned written, unsigned read, unsigned read_too)
{
	if (written == read || written == read_too || written == STACK || written == FRAME)
		return -1;
	return (int)written;
}

/* movzx, movsx. The high bytes of the first registers have numbers of their own. */
static int overwritten_extended(const uint8_t *bytes, size_t size, unsigned rex)
{
	struct fields f;
	bool narrow;

	if (!size || (bytes[0] & 0xf6) != 0xb6 || !fields_at(bytes + 1, size - 1, rex, &f) ||
		f.mode != 3)
		return -1;
	narrow = !(bytes[0] & 1) && !rex;
	return other_than(f.reg, narrow && f.rm > 3 ? f.rm - 4 : f.rm, NO_FIELD);
}

int isa_brief_overwritten(const uint8_t *bytes, size_t size)
{
	unsigned rex = size && (bytes[0] & 0xf0) == 0x40 ? bytes[0] : 0;
	size_t at = rex ? 1 : 0;
	struct fields f;
	uint8_t op;

	if (at >= size)
		return -1;
	op = bytes[at++];
	if (op == 0x0f)
		return overwritten_extended(bytes + at, size - at, rex);
	if ((op & 0xf8) == 0xb8)
		return other_than((op & 7u) | (rex & 1) << 3, NO_FIELD, NO_FIELD);
	if ((op != 0x89 && op != 0x8b && op != 0x8d && op != 0xc7 && op != 0x63) ||
		!fields_at(bytes + at, size - at, rex, &f))
		return -1;
	if (op == 0x8d)
		return f.mode == 3 ? -1 : other_than(f.reg, f.base, f.index);
	if (f.mode != 3)
		return -1;
	if (op == 0xc7)
		return f.reg & 7 ? -1 : other_than(f.rm, NO_FIELD, NO_FIELD);
	return op == 0x89 ? other_than(f.rm, f.reg, NO_FIELD) : other_than(f.reg, f.rm, NO_FIELD);
}
