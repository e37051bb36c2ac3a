/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor's name in /proc/cpuinfo, and the description of ours for it. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/private.h"

/*
 * The description of ours that a processor starts from. The first row that matches counts. Features
 * that a hypervisor does not invent (marks) come first; it may invent model numbers.
 */
static const struct family {
	const char *vendor; /* vendor_id, or "CPU implementer" */
	unsigned family_low, family_high, model_low, model_high;
	const char *name;
	bool exact; /* the description is of this very processor; else the nearest that we have */
	/* Marks: a word among cpuinfo's flags, and bytes of first-level instruction cache; NULL and
	 * 0: any. */
	const char *flag;
	uint32_t l1i;
} families[] = {
	/* Sources of the numbers: arch/x86/include/asm/intel-family.h, arch/x86/kernel/cpu/amd.c
	 * and arch/arm64/include/asm/cputype.h of Linux. */
	{"AuthenticAMD", 0x17, 0x17, 0x30, 0xff, "zen2", true, NULL, 0},
	{"AuthenticAMD", 0x17, 0x18, 0, 0xff, "zen2", false, NULL, 0},
	{"HygonGenuine", 0x18, 0x18, 0, 0xff, "zen2", false, NULL, 0},
	{"AuthenticAMD", 0x19, 0x19, 0x10, 0x1f, "zen4", true, NULL, 0},
	{"AuthenticAMD", 0x19, 0x19, 0x60, 0xaf, "zen4", true, NULL, 0},
	{"AuthenticAMD", 0x19, 0x19, 0, 0x5f, "zen3", true, NULL, 0},
	{"AuthenticAMD", 0x1a, 0x1a, 0x00, 0x4f, "zen5", true, NULL, 0},
	{"AuthenticAMD", 0x1a, 0x1a, 0x60, 0x7f, "zen5", true, NULL, 0},
	{"AuthenticAMD", 0x1a, UINT_MAX, 0, 0xff, "zen5", false, NULL, 0},
	/* Servers with AMX: Redwood Cove has 64K of instruction cache, Golden and Raptor Cove 32K.
	 */
	{"GenuineIntel", 6, 6, 0, 0xff, "gnr", true, "amx_tile", 64 << 10},
	{"GenuineIntel", 6, 6, 0xcf, 0xcf, "emr", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x8f, 0x8f, "spr", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0xad, 0xae, "gnr", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0, 0xff, "spr", false, "amx_tile", 0},
	{"GenuineIntel", 6, 6, 0x55, 0x55, "skl", false, NULL,
		0}, /* Skylake and Cascade Lake servers */
	{"GenuineIntel", 6, 6, 0x4e, 0x4e, "skl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x5e, 0x5e, "skl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x8e, 0x8e, "skl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x9e, 0x9e, "skl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0xa5, 0xa6, "skl", true, NULL, 0}, /* Comet Lake */
	{"GenuineIntel", 6, 6, 0x6a, 0x6c, "icx", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x7d, 0x7e, "icx", false, NULL, 0}, /* Ice Lake client */
	{"GenuineIntel", 6, 6, 0x8c, 0x8d, "icx", false, NULL, 0}, /* Tiger Lake */
	{"GenuineIntel", 6, 6, 0xa7, 0xa7, "icx", false, NULL, 0}, /* Rocket Lake */
	{"GenuineIntel", 6, 6, 0x97, 0x97, "adl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x9a, 0x9a, "adl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0xb7, 0xb7, "rpl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0xba, 0xba, "rpl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0xbf, 0xbf, "rpl", true, NULL, 0},
	{"GenuineIntel", 6, 6, 0x97, 0xff, "rpl", false, NULL, 0}, /* Meteor Lake and later */
	{"GenuineIntel", 6, 6, 0, 0x5d, "skl", false, NULL, 0},
	{"GenuineIntel", 7, UINT_MAX, 0, 0xff, "gnr", false, NULL, 0},
	{"0x41", 0, UINT_MAX, 0xd0c, 0xd0c, "neoverse-n1", true, NULL, 0},
	{"0x41", 0, UINT_MAX, 0xd49, 0xd49, "neoverse-n2", true, NULL, 0},
	{"0x6d", 0, UINT_MAX, 0xd49, 0xd49, "neoverse-n2", true, NULL, 0}, /* Cobalt 100 */
	{"0x41", 0, UINT_MAX, 0xd4f, 0xd4f, "neoverse-v2", true, NULL, 0},
	{"0x41", 0, UINT_MAX, 0xd40, 0xd40, "neoverse-v2", false, NULL, 0}, /* Neoverse V1 */
	{"0x41", 0, UINT_MAX, 0xd44, 0xd44, "neoverse-v2", false, NULL, 0}, /* Cortex-X1 */
	{"0x41", 0, UINT_MAX, 0xd47, 0xd47, "neoverse-n2", false, NULL, 0}, /* Cortex-A710 */
	{"0x41", 0, UINT_MAX, 0xd48, 0xd48, "neoverse-v2", false, NULL, 0}, /* Cortex-X2 */
	{"0x41", 0, UINT_MAX, 0xd4e, 0xd4e, "neoverse-v2", false, NULL, 0}, /* Cortex-X3 */
	{"0x41", 0, UINT_MAX, 0xd84, 0xd84, "neoverse-v2", false, NULL, 0}, /* Neoverse V3 */
	{"0x41", 0, UINT_MAX, 0xd8e, 0xd8e, "neoverse-n2", false, NULL, 0}, /* Neoverse N3 */
	{"0x41", 0, UINT_MAX, 0, UINT_MAX, "neoverse-n1", false, NULL, 0},
	{"0xc0", 0, UINT_MAX, 0, UINT_MAX, "neoverse-n1", false, NULL, 0}, /* Ampere */
};

/* The value of the first line "key : value" of cpuinfo, "" if there is none. */
static void cpuinfo_value(const char *cpuinfo, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	value[0] = '\0';
	for (const char *line = cpuinfo; line && *line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = line + length;

		if (strncmp(line, key, length))
			continue;
		at += strspn(at, " \t");
		if (*at++ != ':')
			continue;
		at += strspn(at, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
		return;
	}
}

static void identify_by_cpuinfo(const char *root, struct machine_identity *id)
{
	char path[PATH_MAX], text[96], *cpuinfo;

	memset(id, 0, sizeof(*id));
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	cpuinfo = file_read(path, 0, NULL, NULL);
	if (!cpuinfo)
		return;
	cpuinfo_value(cpuinfo, "vendor_id", id->vendor, sizeof(id->vendor));
	if (id->vendor[0]) {
		cpuinfo_value(cpuinfo, "cpu family", text, sizeof(text));
		id->family = (unsigned)strtoul(text, NULL, 0);
		cpuinfo_value(cpuinfo, "model", text, sizeof(text));
		id->model = (unsigned)strtoul(text, NULL, 0);
		cpuinfo_value(cpuinfo, "model name", id->name, sizeof(id->name));
		cpuinfo_value(cpuinfo, "flags", id->flags, sizeof(id->flags));
	} else {
		cpuinfo_value(cpuinfo, "CPU implementer", id->vendor, sizeof(id->vendor));
		cpuinfo_value(cpuinfo, "CPU part", text, sizeof(text));
		id->model = (unsigned)strtoul(text, NULL, 0);
		if (id->vendor[0])
			snprintf(id->name, sizeof(id->name), "Arm processor %.20s/%.20s",
				id->vendor, text);
	}
	/* Whole megahertz: the rest differs from boot to boot. */
	cpuinfo_value(cpuinfo, "cpu MHz", text, sizeof(text));
	id->hz = (uint64_t)strtoul(text, NULL, 10) * 1000000;
	free(cpuinfo);
}

static struct machine_identity identity_here;

static void identify_here(void)
{
	identify_by_cpuinfo("", &identity_here);
}

/* The kernel writes cpuinfo anew for each reader, for all processors. */
void machine_identify(const char *root, struct machine_identity *id)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (*root) {
		identify_by_cpuinfo(root, id);
		return;
	}
	pthread_once(&once, identify_here);
	*id = identity_here;
}

/* Whether flag is one of the words in flags, which are separated by blanks. */
static bool has_flag(const char *flags, const char *flag)
{
	size_t length = strlen(flag);

	for (const char *at = flags; (at = strstr(at, flag)); at += length)
		if ((at == flags || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

const char *machine_family(const struct machine_identity *id, uint32_t l1i, bool *exact)
{
	*exact = false;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct family *f = &families[i];

		if (strcmp(f->vendor, id->vendor) || id->family < f->family_low ||
			id->family > f->family_high || id->model < f->model_low ||
			id->model > f->model_high || (f->l1i && f->l1i != l1i) ||
			(f->flag && !has_flag(id->flags, f->flag)))
			continue;
		*exact = f->exact;
		return f->name;
	}
	return "generic";
}
