/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which family of processors this host is: x86 by CPUID's vendor, family and model (a hypervisor
 * passes them on, so they do not show whether there is a PMU), Arm by the main ID register of the
 * first processor. Models with the same events share a family: Skylake to Comet Lake and their
 * servers are skl, Ice Lake to Rocket Lake icx, Sapphire, Emerald and Granite Rapids spr. Hybrid
 * processors are "generic": their cores count differently.
 *
 * Hypervisors invent models (Granite Rapids has been seen as Ice Lake), but not AMX, which only the
 * servers of spr have.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "events/encodings.h"
#include "events/event.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

struct model_range {
	const char *name;
	const char *vendor;
	unsigned family, first, last;
};

static const struct model_range ranges[] = {
	{"zen2", "AuthenticAMD", 0x17, 0x30, 0x4f},
	{"zen2", "AuthenticAMD", 0x17, 0x60, 0x7f},
	{"zen2", "AuthenticAMD", 0x17, 0x84, 0x87},
	{"zen2", "AuthenticAMD", 0x17, 0x90, 0xaf},
	{"zen3", "AuthenticAMD", 0x19, 0x00, 0x0f},
	{"zen3", "AuthenticAMD", 0x19, 0x20, 0x5f},
	{"zen4", "AuthenticAMD", 0x19, 0x10, 0x1f},
	{"zen4", "AuthenticAMD", 0x19, 0x60, 0x7f},
	{"zen4", "AuthenticAMD", 0x19, 0xa0, 0xaf},
	{"skl", "GenuineIntel", 6, 0x4e, 0x4e},
	{"skl", "GenuineIntel", 6, 0x55, 0x55},
	{"skl", "GenuineIntel", 6, 0x5e, 0x5e},
	{"skl", "GenuineIntel", 6, 0x8e, 0x8e},
	{"skl", "GenuineIntel", 6, 0x9e, 0x9e},
	{"skl", "GenuineIntel", 6, 0xa5, 0xa6},
	{"icx", "GenuineIntel", 6, 0x6a, 0x6a},
	{"icx", "GenuineIntel", 6, 0x6c, 0x6c},
	{"icx", "GenuineIntel", 6, 0x7d, 0x7e},
	{"icx", "GenuineIntel", 6, 0x8c, 0x8d},
	{"icx", "GenuineIntel", 6, 0xa7, 0xa7},
	{"spr", "GenuineIntel", 6, 0x8f, 0x8f},
	{"spr", "GenuineIntel", 6, 0xad, 0xae}, /* Granite Rapids has the same events */
	{"spr", "GenuineIntel", 6, 0xcf, 0xcf},
};

static const char generic[] = "generic";

const char *host_family_x86(const char *vendor, unsigned family, unsigned model, bool amx)
{
	if (amx && strcmp(vendor, "GenuineIntel") == 0)
		return "spr";
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (family == ranges[i].family && model >= ranges[i].first &&
			model <= ranges[i].last && strcmp(vendor, ranges[i].vendor) == 0)
			return ranges[i].name;
	return generic;
}

const char *host_family_arm(uint64_t midr)
{
	unsigned implementer = midr >> 24 & 0xff, part = midr >> 4 & 0xfff;

	return implementer == 0x41 && part == 0xd0c ? "neoverse-n1" : generic;
}

/* The number after the first line that begins with key; 0 if there is none. */
static uint64_t cpuinfo_number(const char *text, const char *key)
{
	const char *line = strstr(text, key), *colon = line ? strchr(line, ':') : NULL;

	return colon ? strtoull(colon + 1, NULL, 0) : 0;
}

const char *host_family_cpuinfo(const char *text)
{
	return host_family_arm(cpuinfo_number(text, "CPU implementer") << 24 |
			       cpuinfo_number(text, "CPU part") << 4);
}

#if defined(__x86_64__) || defined(__i386__)
static const char *host_identify(void)
{
	enum { AMX_TILE = 1 << 24 }; /* leaf 7, edx */
	unsigned eax, ebx, ecx, edx, family, model;
	char vendor[13];
	bool amx;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
		return generic;
	memcpy(vendor, &ebx, 4);
	memcpy(vendor + 4, &edx, 4);
	memcpy(vendor + 8, &ecx, 4);
	vendor[12] = '\0';
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return generic;
	family = eax >> 8 & 0xf;
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	if (family == 0xf)
		family += eax >> 20 & 0xff;
	amx = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx & AMX_TILE;
	return host_family_x86(vendor, family, model, amx);
}
#elif defined(__aarch64__)
static const char *host_identify(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
	const char *name = generic;
	char *text;

	if ((text = file_read(path, 0, NULL, NULL)))
		name = host_family_arm(strtoull(text, NULL, 16));
	else if ((text = file_read("/proc/cpuinfo", 0, NULL, NULL)))
		name = host_family_cpuinfo(text);
	free(text);
	return name;
}
#else
static const char *host_identify(void)
{
	return generic;
}
#endif

static const char *family;

static void host_find(void)
{
	family = host_identify();
}

const char *event_host_family(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, host_find);
	return family;
}
