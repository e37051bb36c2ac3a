/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLBs, caches and clock of x86 processors, from CPUID. Sources: AMD64 Architecture Programmer's
 * Manual vol. 3, appendix E (leaves 8000_0005, 8000_0006, 8000_001D, 8000_0021); Intel SDM vol. 2,
 * CPUID (leaves 4, 16H, 18H). Hypervisors pass these through, blank them or invent them: impossible
 * values are ignored.
 */
#include "machine/private.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static struct cpuid real_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid r = {0, 0, 0, 0};

	__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
	return r;
}

cpuid_function *machine_cpuid(void)
{
	return real_cpuid;
}
#else
cpuid_function *machine_cpuid(void)
{
	return NULL;
}
#endif

/* Leaves beyond the highest answer with another leaf's content on Intel. */
static bool has_leaf(cpuid_function *cpuid, uint32_t leaf)
{
	return cpuid(leaf & 0x80000000, 0).eax >= leaf;
}

static bool take_tlb(struct model_tlb_config *to, uint32_t entries, uint32_t ways)
{
	struct model_tlb_config t = {entries, ways};
	char why[200];

	if (!entries || machine_check_tlb(&t, why, sizeof(why)))
		return false;
	*to = t;
	return true;
}

/* Leaf 18H, one structure a subleaf: EDX type 1 data, 2 instructions, 3 unified, 4 loads; EBX bit
 * 0: 4K pages. */
static bool intel_tlbs(cpuid_function *cpuid, struct model_config *c)
{
	uint32_t last = cpuid(0x18, 0).eax;
	bool taken = false;

	for (uint32_t i = 0; i <= last && i < 32; i++) {
		struct cpuid r = cpuid(0x18, i);
		uint32_t type = r.edx & 31, level = r.edx >> 5 & 7, ways = r.ebx >> 16,
			 entries = ways * r.ecx;
		struct model_tlb_config *to = NULL;

		if (!(r.ebx & 1) || r.ecx > 65536)
			continue;
		if (r.edx & 1 << 8)
			ways = entries;
		if (level == 1)
			to = type == 2 ? &c->itlb : type == 1 || type == 4 ? &c->dtlb : NULL;
		else if (level == 2 && (type == 1 || type == 3))
			to = &c->stlb;
		if (to)
			taken |= take_tlb(to, entries, ways);
	}
	return taken;
}

/* From Zen 5 on the second level's sizes are in units of 32 entries; leaf 8000_0021 has a bit for
 * it. */
static uint32_t amd_stlb_unit(cpuid_function *cpuid)
{
	return has_leaf(cpuid, 0x80000021) && cpuid(0x80000021, 0).eax >> 14 & 1 ? 32 : 1;
}

/* Leaf 8000_0006 gives the associativity as one of these ranges, each from its entry up to below
 * the next larger. The result is the first number in the range that makes the number of sets a
 * power of two. 0: none, or given in another leaf. */
static uint32_t amd_ways(uint32_t code, uint32_t entries)
{
	static const uint32_t from[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
	static const uint32_t below[16] = {
		0, 2, 3, 4, 6, 8, 16, 0, 32, 0, 48, 64, 96, 128, 4096, 0};
	char why[200];

	if (code == 15)
		return entries;
	for (uint32_t ways = from[code]; ways < below[code]; ways++)
		if (!machine_check_tlb(&(struct model_tlb_config){entries, ways}, why, sizeof(why)))
			return ways;
	return 0;
}

/* The second level is two TLBs; the larger, for data, is used for the unified one of the model. */
static bool amd_tlbs(cpuid_function *cpuid, struct model_config *c)
{
	uint32_t first = cpuid(0x80000005, 0).ebx, second = cpuid(0x80000006, 0).ebx;
	uint32_t itlb = first & 255, itlb_ways = first >> 8 & 255, dtlb = first >> 16 & 255,
		 dtlb_ways = first >> 24;
	uint32_t stlb = (second >> 16 & 4095) * amd_stlb_unit(cpuid);
	bool taken;

	taken = take_tlb(&c->itlb, itlb, itlb_ways == 255 ? itlb : itlb_ways);
	taken |= take_tlb(&c->dtlb, dtlb, dtlb_ways == 255 ? dtlb : dtlb_ways);
	taken |= take_tlb(&c->stlb, stlb, amd_ways(second >> 28, stlb));
	return taken;
}

/* "AuthenticAMD" and its licensee "HygonGenuine". */
static bool is_amd(cpuid_function *cpuid)
{
	uint32_t ebx = cpuid(0, 0).ebx;

	return ebx == 0x68747541 || ebx == 0x6f677948;
}

bool machine_cpuid_tlbs(cpuid_function *cpuid, struct model_config *c)
{
	if (is_amd(cpuid))
		return has_leaf(cpuid, 0x80000006) && amd_tlbs(cpuid, c);
	return has_leaf(cpuid, 0x18) && intel_tlbs(cpuid, c);
}

bool machine_cpuid_caches(cpuid_function *cpuid, struct model_config *c)
{
	uint32_t leaf = is_amd(cpuid) ? 0x8000001d : 4;
	bool taken = false;

	if (!has_leaf(cpuid, leaf))
		return false;
	for (uint32_t i = 0; i < 16; i++) {
		struct cpuid r = cpuid(leaf, i);
		uint32_t type = r.eax & 31, level = r.eax >> 5 & 7;
		uint32_t ways = (r.ebx >> 22) + 1, parts = (r.ebx >> 12 & 1023) + 1,
			 line = (r.ebx & 4095) + 1;
		uint64_t size = (uint64_t)ways * parts * line * ((uint64_t)r.ecx + 1);
		struct model_cache_config *to = level == 1   ? (type == 2 ? &c->l1i : &c->l1d)
						: level == 2 ? &c->l2
						: level == 3 ? &c->ll
							     : NULL;
		struct model_cache_config new;
		char why[200];

		if (type == 0)
			break;
		if (!to || size > 1u << 30)
			continue;
		new = (struct model_cache_config){(uint32_t)size, ways, line, to->latency};
		if (machine_check_cache(&new, MODEL_NATIVE, why, sizeof(why)))
			continue;
		*to = new;
		taken = true;
	}
	return taken;
}

uint64_t machine_cpuid_hz(cpuid_function *cpuid)
{
	if (is_amd(cpuid) || !has_leaf(cpuid, 0x16))
		return 0;
	return (uint64_t)(cpuid(0x16, 0).ebx & 0xffff) * 1000000;
}
