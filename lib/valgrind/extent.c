/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/extent.h"

#include "pub_tool_machine.h"
#include "valgrind/decode.h"

static void measure_instruction(struct extent *e, const IRStmt *mark)
{
	Addr address = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
	UInt length = mark->Ist.IMark.len ? mark->Ist.IMark.len : VG_MIN_INSTR_SZB;
	Addr first = address / instrument_fetch_line,
	     last_line = (address + length - 1) / instrument_fetch_line;
	struct decoded d;

	decode((const uint8_t *)address, length, address, &d);
	e->fetches += (UInt)(last_line - first) + !(e->insns && first == e->line);
	e->line = last_line;
	e->insns++;
	e->branches += d.branch != MODEL_NO_BRANCH;
	e->accesses += (d.class_bits & MODEL_PREFETCH) != 0;
}

struct extent extent_of(const IRSB *in)
{
	struct extent e = {.insns = 0};

	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *st = in->stmts[i];

		switch (st->tag) {
		case Ist_IMark:
			measure_instruction(&e, st);
			break;
		case Ist_WrTmp:
			e.accesses += st->Ist.WrTmp.data->tag == Iex_Load;
			break;
		case Ist_Exit:
			e.exits++;
			break;
		case Ist_Store:
			e.accesses++;
			break;
		case Ist_LoadG:
		case Ist_StoreG:
			e.accesses++;
			e.guards++;
			break;
		case Ist_CAS:
			e.accesses += 2;
			break;
		case Ist_Dirty:
			e.accesses += 2;
			e.guards += 2;
			break;
		default:
			break;
		}
	}
	return e;
}
