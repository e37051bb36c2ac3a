/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: which description a host gets, from copies of /sys and recorded cpuid leaves. */
#include "../tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_data.h"
#include "machine/kept.h"

static struct machine m;
static struct error e;

static char root[64];

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	f = fopen(full, "w");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

static void put_cache(int index, const char *level, const char *type, const char *size,
	const char *ways, const char *line)
{
	const char *names[] = {
		"level", "type", "size", "ways_of_associativity", "coherency_line_size"};
	const char *values[] = {level, type, size, ways, line};
	char path[128], text[64];

	for (int i = 0; i < 5; i++) {
		if (!values[i])
			continue;
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
			names[i]);
		snprintf(text, sizeof(text), "%s\n", values[i]);
		put(path, text);
	}
}

static void new_root(void)
{
	char command[100];

	if (root[0]) {
		snprintf(command, sizeof(command), "rm -rf '%s'", root);
		if (system(command))
			printf("# cannot remove %s\n", root);
	}
	snprintf(root, sizeof(root), "/tmp/test_machine.XXXXXX");
	if (!mkdtemp(root))
		root[0] = '\0';
}

static void host_zen4(void)
{
	new_root();
	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: "
			    "25\nmodel\t\t: 17\nmodel name\t: AMD "
			    "EPYC # 9R14\ncpu MHz\t\t: 2596.142\n");
	put("sys/devices/system/cpu/online", "0-3,8-15\n");
	put_cache(0, "1", "Data", "32K", "8", "64");
	put_cache(1, "1", "Instruction", "32K", "8", "64");
	put_cache(2, "2", "Unified", "1024K", "8", "64");
	put_cache(3, "3", "Unified", "16384K", "16", "64");
	is_int(machine_host(root, &m, &e), 0, "a Zen 4 host: %s", e.message);
	is_str(m.costs, "zen4", "by its family");
	ok(m.model.ll.size == 16 << 20 && m.model.ll.latency == 50,
		"the L3 as sysfs says, its latency the family's");
	is_int(m.model.cores, 12, "cores from a list of ranges");
	ok(m.model.clock_hz == 2596000000, "clock from cpuinfo");
	ok(m.model.dtlb.entries == 72, "TLBs of the family");
	ok(strstr(m.description, "AMD EPYC") && strstr(m.origin, "sysfs"), "%s; %s", m.description,
		m.origin);
	m.model.policy[MODEL_L1D] = m.model.policy[MODEL_L2] = MODEL_QLRU;
	m.model.l1d.ways = 48;
	m.model.ll.line = 128;
	m.model.ll_inclusion = MODEL_EXCLUSIVE;
	machine_fit(&m.model);
	ok(m.model.policy[MODEL_L1D] == MODEL_LRU && m.model.policy[MODEL_L2] == MODEL_QLRU &&
			m.model.ll_inclusion == MODEL_NEITHER,
		"what a geometry cannot have is let go");
	put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3711000\n");
	machine_host(root, &m, &e);
	ok(m.model.clock_hz == 3711000000, "clock from cpufreq");
}

/* A virtual machine of a Granite Rapids whose model number is another's. */
static void host_gnr(void)
{
	new_root();
	put("proc/cpuinfo",
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: "
		"6\nmodel\t\t: 167\nmodel name\t: Intel(R) Xeon(R) "
		"Processor\nflags\t\t: fpu vme amx_bf16 avx512_fp16 amx_tile amx_int8\n");
	put_cache(0, "1", "Data", "48K", "12", "64");
	put_cache(1, "1", "Instruction", "64K", "16", "64");
	put_cache(2, "2", "Unified", "2048K", "16", "64");
	put_cache(3, "3", "Unified", "491520K", "16", "64");
	is_int(machine_host(root, &m, &e), 0, "a Granite Rapids host: %s", e.message);
	is_str(m.family, "gnr", "by its instructions and caches");
	ok(!strstr(m.description, "nearest") && strstr(m.description, "gnr"),
		"and not as nearest: %s", m.description);
	ok(m.model.ll.size == 480u << 20 && m.model.dtlb.entries == 96, "caches and TLBs");
	put("proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 80\n");
	machine_host(root, &m, &e);
	ok(strcmp(m.family, "zen5") == 0 && strstr(m.description, "nearest known: zen5"),
		"one newer than we know: %s", m.description);
}

static bool figure(const char *text)
{
	return strncmp(text, "figure ", 7) == 0;
}

static const struct kept_file thing = {"thing", figure};

static bool holds(const struct machine_identity *id, enum kept_how_long how_long, const char *want)
{
	char *text = kept_read(&thing, id, how_long);
	bool same = want ? text && strcmp(text, want) == 0 : !text;

	if (!same)
		printf("# kept: %s\n", text ? text : "nothing");
	free(text);
	return same;
}

/* The only file below directory whose name begins so. */
static const char *path_in(const char *directory, const char *begin)
{
	static char path[600];
	DIR *d = opendir(directory);

	path[0] = '\0';
	for (struct dirent *f; d && (f = readdir(d));)
		if (strncmp(f->d_name, begin, strlen(begin)) == 0)
			snprintf(path, sizeof(path), "%s/%s", directory, f->d_name);
	if (d)
		closedir(d);
	return path;
}

/* What was measured once holds until the next boot, for all users. */
static void kept(void)
{
	struct machine_identity id = {.vendor = "Maker", .name = "Some processor"}, other = id;
	static char shared[80], lasting[80], nowhere[80]; /* used later */
	char heading[300] = "";
	const char *path;
	FILE *f;

	other.model = 1;
	snprintf(shared, sizeof(shared), "%s/shared", root);
	snprintf(lasting, sizeof(lasting), "%s/lasting", root);
	snprintf(nowhere, sizeof(nowhere), "%s/shared/x", root);
	put("shared/x", "");
	put("lasting/x", "");
	kept_directories(shared, lasting);
	setenv("XDG_CACHE_HOME", root, 1);
	ok(holds(&id, KEPT_BOOT, NULL), "nothing is kept yet");
	ok(kept_write(&thing, &id, KEPT_BOOT, "figure 1\n") && holds(&id, KEPT_BOOT, "figure 1\n"),
		"something is");
	ok(kept_write(&thing, &id, KEPT_BOOT, "figure 2\n") && holds(&id, KEPT_BOOT, "figure 1\n"),
		"and stays when it is measured again");
	ok(holds(&other, KEPT_BOOT, NULL), "it is that processor's only");
	ok(holds(&id, KEPT_LASTING, NULL), "and of this boot");
	ok(kept_write(&thing, &id, KEPT_LASTING, "figure 3\n") &&
			kept_write(&thing, &id, KEPT_LASTING, "figure 4\n") &&
			holds(&id, KEPT_LASTING, "figure 4\n"),
		"what lasts is replaced");
	setenv("XDG_CACHE_HOME", nowhere, 1);
	ok(holds(&id, KEPT_BOOT, "figure 1\n"), "another home has the same");
	setenv("XDG_CACHE_HOME", root, 1);

	path = path_in(shared, "perfex-thing-");
	f = fopen(path, "r");
	ok(f && fgets(heading, sizeof(heading), f) && strstr(heading, "Some processor, boot "),
		"the file says what it is of: %s", heading);
	if (f)
		fclose(f);
	chmod(path, 0666);
	ok(holds(&id, KEPT_BOOT, NULL), "a file that anybody may write is not read");
	chmod(path, 0644);
	if (geteuid() == 0 && chown(path, 65534, 65534) == 0) {
		char *text = kept_read_of_any_user(&thing, &id, KEPT_BOOT);

		ok(holds(&id, KEPT_BOOT, NULL), "nor a stranger's");
		is_str(text ? text : "", "figure 1\n", "which can be compared with");
		free(text);
		if (chown(path, 0, 0))
			abort();
	}
	f = fopen(path, "w");
	if (f) {
		fprintf(f, "%snonsense\n", heading);
		fclose(f);
	}
	ok(holds(&id, KEPT_BOOT, NULL), "nor one without a figure");
	ok(kept_write(&thing, &id, KEPT_BOOT, "figure 5\n") && holds(&id, KEPT_BOOT, "figure 5\n"),
		"it is replaced");
	unlink(path);
	put("target", "");
	f = fopen(nowhere, "w");
	if (f) {
		fprintf(f, "%sfigure 6\n", heading);
		fclose(f);
	}
	ok(symlink(nowhere, path) == 0 && holds(&id, KEPT_BOOT, NULL), "links are not followed");
	unlink(path);
	mkfifo(path, 0644);
	ok(holds(&id, KEPT_BOOT, NULL), "nor is a pipe waited for");
	unlink(path);
	kept_directories(nowhere, NULL);
	ok(kept_write(&thing, &id, KEPT_BOOT, "figure 7\n") && holds(&id, KEPT_BOOT, "figure 7\n"),
		"where there is no directory for all, the user's is used");
	ok(!kept_write(&thing, &id, KEPT_LASTING, "figure 7\n"), "and nothing lasts");
	setenv("XDG_CACHE_HOME", nowhere, 1);
	ok(!kept_write(&thing, &id, KEPT_BOOT, "figure 8\n") && holds(&id, KEPT_BOOT, NULL),
		"where nothing can be kept, nothing is");
	chmod(shared, 0777);
	kept_directories(shared, NULL);
	ok(!kept_write(&thing, &id, KEPT_BOOT, "figure 9\n"),
		"a directory where others can replace our files is not used");
	chmod(shared, 0755);
	kept_directories(shared, lasting);
}

static uint64_t burst[1000];

static struct machine_clock_timing judge(uint64_t quick, uint64_t slow, int slow_of_10)
{
	for (int i = 0; i < 1000; i++)
		burst[i] = i % 10 < slow_of_10 ? slow : quick + (uint64_t)i % 7;
	return machine_judge_clock(burst, 1000, 30000);
}

static void clock_judged(void)
{
	struct machine_clock_timing t = judge(10000, 0, 0);

	ok(t.hz > 2998000000 && t.hz < 3001000000 && t.scatter < 0.001, "a steady clock: %llu, %g",
		(unsigned long long)t.hz, t.scatter);
	t = judge(10000, 25000, 3);
	ok(t.hz > 2998000000 && t.hz < 3001000000 && t.scatter < 0.001,
		"three of ten bursts were interrupted: %llu", (unsigned long long)t.hz);
	t = judge(10000, 25000, 8);
	ok(t.scatter == 1, "most were: nothing is known");
	t = judge(10000, 11500, 5);
	ok(t.scatter > 0.1, "two speeds: it scatters by %g", t.scatter);
	t = machine_judge_clock(burst, 0, 30000);
	ok(t.hz == 0 && t.scatter == 1, "no burst");
	t = judge(0, 0, 10);
	ok(t.hz == 0, "no time");
}

/* The clock of a host that measures, with what was kept. */
static void clock_kept(void)
{
	struct machine_identity id = {.vendor = "Maker", .name = "Clockwork"};
	struct model_config c = {.clock_hz = 1};
	const char *how, *path;
	char shared[80], text[400];
	FILE *f;

	snprintf(shared, sizeof(shared), "%s/shared", root);
	is_int(machine_host_clock(&id, 0, false, &c, &how), MACHINE_CLOCK_ASSUMED,
		"nothing is known");
	ok(c.clock_hz == 1, "%s", how);
	id.hz = 2500000000;
	is_int(machine_host_clock(&id, 0, false, &c, &how), MACHINE_CLOCK_STATED, "the kernel's");
	ok(c.clock_hz == 2500000000, "%s", how);
	is_int(machine_host_clock(&id, 4000000000, false, &c, &how), MACHINE_CLOCK_STATED,
		"the highest");
	ok(c.clock_hz == 4000000000, "%s", how);
	if (machine_time_clock().hz == 0)
		return;
	unsetenv("PERFEX_HOST");
	machine_host_clock(&id, 0, true, &c, &how);
	path = path_in(shared, "perfex-clock-");
	f = fopen(path, "r+");
	ok(f && fgets(text, sizeof(text), f), "measured, and kept: %s", how);
	if (!f)
		return;
	fseek(f, 0, SEEK_CUR);
	fprintf(f, "clock 3300000000 Hz, scatter 0.500\n");
	fclose(f);
	is_int(machine_host_clock(&id, 0, true, &c, &how), MACHINE_CLOCK_UNKNOWN,
		"what is kept counts");
	ok(c.clock_hz == 3300000000, "%s", how);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%sclock 33000000000000 Hz, scatter 0.001\n", text);
	fclose(f);
	machine_host_clock(&id, 0, true, &c, &how);
	ok(machine_plausible_hz(c.clock_hz), "unless it cannot be");
}

static void hosts(void)
{
	struct machine_fault fault;

	host_zen4();
	host_gnr();

	new_root();
	put("proc/cpuinfo",
		"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon\n");
	put_cache(0, "1", "Data", "48K", "12", "64");
	put_cache(1, "1", "Instruction", "32K", "8", "64");
	put_cache(2, "2", "Unified", "2048K", "16", "64");
	is_int(machine_host(root, &m, &e), 0, "a virtual machine without a third level: %s",
		e.message);
	ok(strcmp(m.costs, "spr") == 0 && m.model.l2.size == 2 << 20 && m.model.ll.size == 0,
		"has none");
	ok(m.model.clock_hz == 3600000000 && m.model.cores == 8,
		"clock of the family, cores at least eight");
	put_cache(3, "3", "Unified", "107520K", "15", "64");
	is_int(machine_host(root, &m, &e), 0, "an L3 whose sets are not a power of two: %s",
		e.message);
	ok(m.model.ll.size == 107520 << 10 && m.model.ll.ways == 15,
		"keeps its geometry (%u bytes, %u ways)", m.model.ll.size, m.model.ll.ways);

	new_root();
	put("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
	put_cache(0, "1", "Data", "64K", "0", "64");
	put_cache(1, "1", "Instruction", "64K", NULL, NULL);
	put_cache(2, "2", "Unified", "1000000K", "3", "64");
	is_int(machine_host(root, &m, &e), 0, "an Arm host whose sysfs knows half and lies: %s",
		e.message);
	ok(strcmp(m.costs, "neoverse-n1") == 0 && m.model.l1d.ways == 4 && m.model.l1i.line == 64,
		"gets the family's ways and a usual line");
	is_int(m.model.l2.size, 0, "an impossible level is left out");

	new_root();
	is_int(machine_host(root, &m, &e), 0, "a host that says nothing: %s", e.message);
	ok(strcmp(m.costs, "generic") == 0 && m.model.l1d.size == 32768, "is generic: %s",
		m.origin);

	new_root();
	kept();
	clock_judged();
	clock_kept();
	setenv("PERFEX_HOST", "none", 1);

	is_int(machine_host("", &m, &e), 0, "this host: %s", e.message);
	printf("# %s\n# %s\n", m.description, m.origin);
	ok(!machine_find_fault(&m, &fault) && m.model.clock_hz > 100000000,
		"is one that can be, at %llu Hz", (unsigned long long)m.model.clock_hz);
	{
		struct machine twin;

		machine_find(NULL, &twin, &e);
		ok(memcmp(&m, &twin, sizeof(m)) == 0, "and the same each time");
	}
	new_root();
	rmdir(root);
}

/* ---- families ---- */

static const struct known {
	const char *vendor, *flags;
	unsigned family, model;
	uint32_t l1i; /* K */
	const char *name;
	bool exact;
} known[] = {
	{"AuthenticAMD", "", 0x17, 0x31, 32, "zen2", true},
	{"AuthenticAMD", "", 0x17, 0x71, 32, "zen2", true},
	{"AuthenticAMD", "", 0x17, 0x01, 64, "zen2", false},
	{"HygonGenuine", "", 0x18, 0x01, 64, "zen2", false},
	{"AuthenticAMD", "", 0x19, 0x01, 32, "zen3", true},
	{"AuthenticAMD", "", 0x19, 0x50, 32, "zen3", true},
	{"AuthenticAMD", "", 0x19, 0x11, 32, "zen4", true},
	{"AuthenticAMD", "", 0x19, 0xa0, 32, "zen4", true},
	{"AuthenticAMD", "", 0x1a, 0x02, 32, "zen5", true},
	{"AuthenticAMD", "", 0x1a, 0x44, 32, "zen5", true},
	{"AuthenticAMD", "", 0x1a, 0x50, 32, "zen5", false}, /* its successor */
	{"GenuineIntel", "avx2", 6, 0x5e, 32, "skl", true},
	{"GenuineIntel", "avx512f", 6, 0x55, 32, "skl", false},
	{"GenuineIntel", "avx512f", 6, 0x6a, 32, "icx", true},
	{"GenuineIntel", "avx512f", 6, 0xa7, 32, "icx", false},
	{"GenuineIntel", "amx_bf16 amx_tile amx_int8", 6, 0x8f, 32, "spr", true},
	{"GenuineIntel", "amx_bf16 amx_tile amx_int8", 6, 0xcf, 32, "emr", true},
	{"GenuineIntel", "amx_bf16 amx_tile amx_int8", 6, 0xad, 64, "gnr", true},
	{"GenuineIntel", "", 6, 0xae, 64, "gnr", true},
	/* Model numbers that a hypervisor made up. */
	{"GenuineIntel", "fpu amx_tile", 6, 0xa7, 64, "gnr", true},
	{"GenuineIntel", "amx_tile fpu", 6, 0xa7, 32, "spr", false},
	{"GenuineIntel", "not_amx_tile amx_tiles", 6, 0xa7, 64, "icx", false},
	{"GenuineIntel", "", 6, 0x97, 32, "adl", true},
	{"GenuineIntel", "", 6, 0x9a, 32, "adl", true},
	{"GenuineIntel", "", 6, 0xb7, 32, "rpl", true},
	{"GenuineIntel", "", 6, 0xaa, 64, "rpl", false},
	{"GenuineIntel", "", 6, 0x3c, 32, "skl", false},
	{"GenuineIntel", "", 18, 1, 64, "gnr", false},
	{"0x41", "", 0, 0xd0c, 64, "neoverse-n1", true},
	{"0x41", "", 0, 0xd49, 64, "neoverse-n2", true},
	{"0x6d", "", 0, 0xd49, 64, "neoverse-n2", true},
	{"0x41", "", 0, 0xd4f, 64, "neoverse-v2", true},
	{"0x41", "", 0, 0xd40, 64, "neoverse-v2", false},
	{"0x41", "", 0, 0xd08, 48, "neoverse-n1", false},
	{"0xc0", "", 0, 0xac3, 64, "neoverse-n1", false},
	{"CentaurHauls", "", 6, 0x5e, 32, "generic", false},
	{"", "", 0, 0, 0, "generic", false},
};

static void families(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];
		struct machine_identity id = {.family = k->family, .model = k->model};
		const char *name;
		bool exact;

		snprintf(id.vendor, sizeof(id.vendor), "%s", k->vendor);
		snprintf(id.flags, sizeof(id.flags), "%s", k->flags);
		name = machine_family(&id, k->l1i << 10, &exact);
		ok(strcmp(name, k->name) == 0 && exact == k->exact, "%s %x/%x%s%s is %s%s (%s%s)",
			k->vendor, k->family, k->model, k->flags[0] ? ", " : "", k->flags,
			k->exact ? "" : "nearest to ", k->name, exact ? "" : "nearest to ", name);
		ok(machine_find(name, &m, &e) == 0, "which is one of ours: %s", e.message);
	}
}

/* ---- cpuid ---- */

struct leaf {
	uint32_t leaf, subleaf;
	struct cpuid r;
};
static const struct leaf *leaves;

static struct cpuid play(uint32_t leaf, uint32_t subleaf)
{
	for (const struct leaf *l = leaves; l->leaf || l->r.eax; l++)
		if (l->leaf == leaf && l->subleaf == subleaf)
			return l->r;
	return (struct cpuid){0, 0, 0, 0};
}

/* Zen 4's and Zen 5's, and after them a client with leaves 4, 16H and 18H. */
static const struct leaf amd[] = {
	{0, 0, {0x10, 0x68747541, 0x444d4163, 0x69746e65}},
	{0x80000000, 0, {0x80000028, 0, 0, 0}},
	{0x80000005, 0, {0xff48ff40, 0xff48ff40, 0x20080140, 0x20080140}},
	{0x80000006, 0, {0x5c002200, 0x6c004200, 0x04006140, 0x02009140}},
	{0x8000001d, 0, {0x00004121, 0x01c0003f, 0x3f, 0}},
	{0x8000001d, 1, {0x00004122, 0x01c0003f, 0x3f, 0}},
	{0x8000001d, 2, {0x00004143, 0x01c0003f, 0x7ff, 0}},
	{0x8000001d, 3, {0x0001c163, 0x03c0003f, 0x7fff, 1}},
	{0, 0, {0, 0, 0, 0}},
};
static const struct leaf amd_newer[] = {
	{0, 0, {0x10, 0x68747541, 0x444d4163, 0x69746e65}},
	{0x80000000, 0, {0x80000028, 0x68747541, 0x444d4163, 0x69746e65}},
	{0x80000005, 0, {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140}},
	{0x80000006, 0, {0x40802040, 0x60804040, 0x04008140, 0x02009140}},
	{0x80000021, 0, {0x593fffcf, 0x00080382, 0, 0}},
	{0, 0, {0, 0, 0, 0}},
};
static const struct leaf intel[] = {
	{0, 0, {0x18, 0x756e6547, 0x6c65746e, 0x49656e69}},
	{4, 0, {0x1c004121, 0x02c0003f, 0x3f, 0}},
	{4, 1, {0x1c004122, 0x01c0003f, 0x3f, 0}},
	{4, 2, {0x1c004143, 0x03c0003f, 0x7ff, 0}},
	{0x16, 0, {3000, 4800, 100, 0}},
	{0x18, 0, {4, 0, 0, 0}},
	{0x18, 1, {0, 0x00080001, 32, 0x22}},  /* instructions, level 1: 8 ways, 32 sets */
	{0x18, 2, {0, 0x00060001, 16, 0x24}},  /* loads, level 1 */
	{0x18, 3, {0, 0x00100001, 128, 0x43}}, /* unified, level 2 */
	{0x18, 4, {0, 0x00040004, 8, 0x21}},   /* data, level 1, but of 2M pages only */
	{0, 0, {0, 0, 0, 0}},
};

static void cpuid(void)
{
	machine_defaults(&m);
	leaves = amd;
	ok(machine_cpuid_caches(play, &m.model), "AMD: caches");
	ok(m.model.l1d.size == 32768 && m.model.l2.size == 1 << 20 && m.model.ll.size == 32 << 20 &&
			m.model.ll.ways == 16,
		"32K, 1M, 32M of 16 ways");
	ok(machine_cpuid_tlbs(play, &m.model), "AMD: TLBs");
	ok(m.model.itlb.entries == 64 && m.model.dtlb.entries == 72 && m.model.dtlb.ways == 72,
		"first level");
	ok(m.model.stlb.entries == 3072 && m.model.stlb.ways == 12,
		"a second level of 3072 in 8 to 15 ways has 12, which makes 256 sets (%u/%u)",
		m.model.stlb.entries, m.model.stlb.ways);
	is_int(machine_cpuid_hz(play), 0, "AMD states no frequency");
	leaves = amd_newer;
	ok(machine_cpuid_tlbs(play, &m.model) && m.model.dtlb.entries == 96 &&
			m.model.stlb.entries == 4096 && m.model.stlb.ways == 8,
		"a second level stated in units of 32 entries (%u/%u)", m.model.stlb.entries,
		m.model.stlb.ways);

	machine_defaults(&m);
	leaves = intel;
	ok(machine_cpuid_caches(play, &m.model), "Intel: caches");
	ok(m.model.l1d.size == 49152 && m.model.l1d.ways == 12 && m.model.l2.size == 2 << 20,
		"48K, 2M");
	ok(machine_cpuid_tlbs(play, &m.model), "Intel: TLBs");
	ok(m.model.itlb.entries == 256 && m.model.itlb.ways == 8 && m.model.dtlb.entries == 96 &&
			m.model.dtlb.ways == 6 && m.model.stlb.entries == 2048,
		"256 of 8 ways, 96 of 6, 2048; those of other page sizes left aside");
	ok(machine_cpuid_hz(play) == 4800000000, "highest frequency");

	static const struct leaf blank[] = {{0, 0, {0, 0x756e6547, 0, 0}}, {0, 0, {0, 0, 0, 0}}};
	leaves = blank;
	ok(!machine_cpuid_caches(play, &m.model) && !machine_cpuid_tlbs(play, &m.model) &&
			machine_cpuid_hz(play) == 0,
		"a hypervisor that blanks the leaves tells nothing");
}

int main(void)
{
	build_data();
	hosts();
	families();
	cpuid();
	return done();
}
