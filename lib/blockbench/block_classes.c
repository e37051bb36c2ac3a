/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blockbench/blockbench.h"

static const struct {
	const char *name, *text;
} classes[BLOCK_CLASS_COUNT] = {
	[BLOCK_OK] = {"ok", "measured"},
	[BLOCK_EMPTY] = {"empty", "no instructions to measure"},
	[BLOCK_NOT_HEX] = {"not-hex", "not a string of hexadecimal bytes"},
	[BLOCK_UNDECODABLE] = {"undecodable", "bytes that are not an instruction"},
	[BLOCK_TOO_LONG] = {"too-long", "longer than 16384 bytes"},
	[BLOCK_BRANCH] = {"branch", "a branch before its end"},
	[BLOCK_SYSTEM_CALL] = {"system-call", "makes a system call"},
	[BLOCK_PRIVILEGED] = {"privileged", "a privileged instruction"},
	[BLOCK_STOPS] = {"stops", "an instruction that stops or traps"},
	[BLOCK_SEGMENT] = {"segment", "writes a segment register or its base"},
	[BLOCK_UNSUPPORTED] = {"unsupported", "an instruction that this processor does not have"},
	[BLOCK_DIVIDE_ERROR] = {"divide-error", "divides by zero or overflows in dividing"},
	[BLOCK_PROTECTION] = {"protection", "an address that is not canonical or not aligned"},
	[BLOCK_ADDRESS] = {"address", "touches a page that cannot be mapped"},
	[BLOCK_OWN_CODE] = {"own-code", "writes to its own code"},
	[BLOCK_PAGES] = {"pages", "touches too many pages"},
	[BLOCK_TRAP_FLAG] = {"trap", "sets the trap flag"},
	[BLOCK_ALIGNMENT] = {"alignment", "turns on the alignment check and fails it"},
	[BLOCK_ARITHMETIC] = {"arithmetic", "an unmasked floating-point exception"},
	[BLOCK_TIMEOUT] = {"timeout", "runs too long"},
	[BLOCK_CRASHED] = {"crashed", "ended the process that it ran in"},
	[BLOCK_UNSTEADY] = {"unsteady", "does not run the same way twice"},
};

static const char *const block_warnings[BLOCK_WARN_COUNT] = {
	"another thread used the core",
	"the interval is wider than 10% of the figure",
	"all its pages are one physical page: loads may hit stores to other pages",
	"few copies, because it is long or faults with more: the figure may include start-up",
	"the branch at its end was left out",
	"the branch at its end was replaced by the loop's",
	"no register is free: the loop counts in memory",
	"misses the first-level data cache",
	"misaligned accesses",
	"a serialising instruction",
	"faults in the usual initial state",
	"registers in addresses are set before each copy, which costs an instruction each",
};

const char *block_class_name(enum block_class c)
{
	return c < BLOCK_CLASS_COUNT ? classes[c].name : "";
}

const char *block_class_text(enum block_class c)
{
	return c < BLOCK_CLASS_COUNT ? classes[c].text : "";
}

const char *block_warning_text(unsigned i)
{
	return i < BLOCK_WARN_COUNT ? block_warnings[i] : "";
}
