/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This host as a machine: the description of its family, with the caches that sysfs states (else
 * cpuid), the TLBs that cpuid states, and its own clock.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "machine/kept.h"
#include "machine/private.h"

/* The text of a small file below root, without its newline; false if it cannot be read. */
static bool read_small(const char *root, const char *path, char *text, size_t size)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       file_line(full, text, size);
}

static bool host_read_number(const char *root, int index, const char *what, uint64_t *value)
{
	char path[128], text[64], *end;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
	if (!read_small(root, path, text, sizeof(text)))
		return false;
	*value = strtoull(text, &end, 10);
	if (end == text)
		return false;
	if (*end == 'K')
		*value <<= 10;
	else if (*end == 'M')
		*value <<= 20;
	return true;
}

static struct model_cache_config *cache_slot(
	struct model_config *c, uint64_t level, const char *type)
{
	switch (level) {
	case 1:
		return strcmp(type, "Instruction") == 0 ? &c->l1i : &c->l1d;
	case 2:
		return &c->l2;
	case 3:
		return &c->ll;
	default:
		return NULL;
	}
}

/* One cache directory. sysfs has 0 ways for unknown: then the family's number is used, if it fits,
 * else the nearest common divisor. */
static bool sysfs_cache(const char *root, int index, struct model_config *c, bool present[4])
{
	uint64_t level, size, ways = 0, line = 64;
	char path[128], type[32], why[200];
	struct model_cache_config *to, new;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
	if (!read_small(root, path, type, sizeof(type)) ||
		!host_read_number(root, index, "level", &level) ||
		!host_read_number(root, index, "size", &size) || size == 0 || size > 1u << 30)
		return false;
	host_read_number(root, index, "ways_of_associativity", &ways);
	host_read_number(root, index, "coherency_line_size", &line);
	to = cache_slot(c, level, type);
	if (!to)
		return false;
	new = (struct model_cache_config){
		(uint32_t)size, (uint32_t)ways, (uint32_t)line, to->latency};
	if (ways == 0)
		new.ways = to->ways;
	for (uint32_t try = 16;
		machine_check_cache(&new, MODEL_NATIVE, why, sizeof(why)) && ways == 0 && try;
		try /= 2)
		new.ways = try;
	if (machine_check_cache(&new, MODEL_NATIVE, why, sizeof(why)))
		return false;
	*to = new;
	present[level] = true;
	return true;
}

/* Did sysfs list at least the first level? Levels that it does not list then do not exist. */
static bool sysfs_caches(const char *root, struct model_config *c)
{
	struct model_config found = *c;
	bool present[4] = {false};

	for (int i = 0; i < 16; i++)
		sysfs_cache(root, i, &found, present);
	if (!present[1])
		return false;
	if (!present[2])
		found.l2 = (struct model_cache_config){0, 0, 0, 0};
	if (!present[3])
		found.ll = (struct model_cache_config){0, 0, 0, 0};
	*c = found;
	return true;
}

/* Highest number in a list such as "0-3,8", plus one. */
static uint32_t online_processors(const char *root)
{
	char text[256];
	uint32_t count = 0;

	if (!read_small(root, "/sys/devices/system/cpu/online", text, sizeof(text)))
		return 0;
	for (char *at = text; *at >= '0' && *at <= '9';) {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		if (last >= first && last - first < 65536)
			count += (uint32_t)(last - first + 1);
		if (*at == ',')
			at++;
	}
	return count;
}

/* The highest clock that cpufreq or cpuid states; 0: none. */
static uint64_t stated_hz(const char *root, cpuid_function *cpuid)
{
	char text[64];
	uint64_t hz = 0;

	if (read_small(root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text,
		    sizeof(text)))
		hz = strtoull(text, NULL, 10) * 1000;
	if (!machine_plausible_hz(hz) && cpuid)
		hz = machine_cpuid_hz(cpuid);
	return machine_plausible_hz(hz) ? hz : 0;
}

/* Threads of a program are to have a core each, as they would on a larger machine: never fewer than
 * this. */
enum { CORES_MIN = 8 };

static uint32_t host_cores(const char *root, const struct model_config *c)
{
	struct model_config fewer = *c;

	fewer.cores = online_processors(root);
	if (fewer.cores < CORES_MIN)
		fewer.cores = CORES_MIN;
	if (fewer.cores > MODEL_CORES_MAX)
		fewer.cores = MODEL_CORES_MAX;
	while (fewer.cores > CORES_MIN && model_check(&fewer))
		fewer.cores /= 2; /* too large to model */
	return fewer.cores;
}

/* The file of figures, if the user gives one. */
static bool given_is_readable(struct error *e)
{
	struct error why;

	free(kept_given(&why));
	if (why.code == ERR_NONE)
		return true;
	if (e)
		*e = why;
	return false;
}

int machine_host(const char *root, struct machine *m, struct error *e)
{
	cpuid_function *cpuid = root[0] ? NULL : machine_cpuid();
	const char *base, *caches = "its family's", *clock;
	struct machine_fault fault;
	struct model_config seen = {0};
	struct machine_identity id;
	bool exact = false, tlbs;
	int found;

	if (!root[0] && !given_is_readable(e))
		return -1;
	if (!sysfs_caches(root, &seen) && cpuid)
		machine_cpuid_caches(cpuid, &seen);
	machine_identify(root, &id);
	base = machine_family(&id, seen.l1i.size, &exact);
	found = machine_ours(base, m, e);
	if (found > 0)
		machine_ours_missing(base, e);
	if (found)
		return -1;
	if (sysfs_caches(root, &m->model))
		caches = "from sysfs";
	else if (cpuid && machine_cpuid_caches(cpuid, &m->model))
		caches = "from cpuid";
	/* Some cpuids have too small values (64 of Golden Cove's 96); a description of exactly this
	 * processor is better. */
	tlbs = !exact && cpuid && machine_cpuid_tlbs(cpuid, &m->model);
	m->clock_from =
		machine_host_clock(&id, stated_hz(root, cpuid), !root[0], &m->model, &clock);
	if (!root[0] && sysconf(_SC_PAGESIZE) >= 4096)
		m->model.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	if (!root[0])
		machine_host_constants(m, &id);
	machine_fit(&m->model);
	m->model.cores = host_cores(root, &m->model);
	snprintf(m->name, sizeof(m->name), "host");
	snprintf(m->family, sizeof(m->family), "%.31s", base);
	snprintf(m->description, sizeof(m->description), "this host: %.60s (%s%.20s)",
		id.name[0] ? id.name : "unknown processor",
		exact || strcmp(base, "generic") == 0 ? "" : "nearest known: ", base);
	snprintf(m->origin, sizeof(m->origin),
		"this host: caches %s, TLBs %s, %s, %sthe rest from %s", caches,
		tlbs ? "from cpuid" : "its family's", clock,
		m->measured ? "latencies measured, " : "", base);
	if (!machine_find_fault(m, &fault))
		return 0;
	error_set(e, ERR_UNSUPPORTED, "this host cannot be modelled: %s", fault.text);
	return error_hint(e, "choose a machine with -machine");
}
