/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "browse/switches.h"

static const struct tui_switch switches[] = {
	{"inclusive", "inclusive figures of functions", 'i'},
	{"inlines", "give inlined functions rows of their own", 'u'},
	{"threads", "rows for each thread, process or rank", 0},
	{"raw", "leave samples where interrupts found them", 0},
	{"intel", "disassembly in Intel's syntax", 0},
	{"whole", "disassembly of large functions in full", 0},
	{"classic", "calc: estimate executions as for cores that issue in order", 0},
	{NULL, NULL, 0},
};

enum { SWITCHES = sizeof(switches) / sizeof(*switches) - 1 };

/* Their options, bool each. */
static const size_t switch_fields[SWITCHES] = {
	offsetof(struct prof_request, inclusive),
	offsetof(struct prof_request, inlines),
	offsetof(struct prof_request, threads),
	offsetof(struct prof_request, raw),
	offsetof(struct prof_request, intel),
	offsetof(struct prof_request, whole),
	offsetof(struct prof_request, classic),
};

const struct tui_switch *browse_switches(void)
{
	return switches;
}

void browse_switches_set(struct prof_request *r, uint32_t on)
{
	for (size_t i = 0; i < SWITCHES; i++)
		*(bool *)((char *)r + switch_fields[i]) = on >> i & 1;
}

uint32_t browse_switches_of(const struct prof_request *r)
{
	uint32_t on = 0;

	for (size_t i = 0; i < SWITCHES; i++)
		if (*(const bool *)((const char *)r + switch_fields[i]))
			on |= 1u << i;
	return on;
}
