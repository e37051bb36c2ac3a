/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the machine for the user's name of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/progress.h"
#include "base/say.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "machine/private.h"

int machine_walk(void (*each)(const char *name, void *context), void *context, struct error *e)
{
	return names_walk("machines", MACHINE_SUFFIX, each, context, e);
}

static int not_found(const char *name, struct error *e)
{
	name_list names;
	struct strbuf all = {0};
	struct nearest n;

	error_set(e, ERR_NOT_FOUND, "'%s' is neither a machine nor a file", name);
	if (names_list(&names, "machines", MACHINE_SUFFIX, NULL))
		return -1;
	nearest_init(&n, name);
	nearest_offer(&n, "host");
	nearest_offer(&n, "cachegrind");
	for (size_t i = 0; i < names.count; i++) {
		nearest_offer(&n, names.data[i]);
		strbuf_printf(&all, ", %s", names.data[i]);
	}
	nearest_hint(&n, e,
		"give one of host%s, cachegrind:I1=...:D1=...:LL=... or the path of a file",
		strbuf_text(&all));
	strbuf_fini(&all);
	names_fini(&names);
	return -1;
}

/* SIZE,WAYS,LINE as in cachegrind's options. */
static int cachegrind_cache(
	const char *part, const char *text, struct model_cache_config *c, struct error *e)
{
	char *end, why[200], hint[100];
	uint64_t value[3] = {0};

	for (int i = 0; i < 3; i++) {
		if (*text < '0' || *text > '9')
			goto malformed;
		value[i] = strtoull(text, &end, 10);
		if (i == 0 && (*end == 'K' || *end == 'M')) {
			value[i] = value[i] > 1 << 30 ? UINT64_MAX
						      : value[i] << (*end == 'K' ? 10 : 20);
			end++;
		}
		if (*end != (i < 2 ? ',' : '\0') || value[i] > UINT32_MAX)
			goto malformed;
		text = end + 1;
	}
	c->size = (uint32_t)value[0];
	c->ways = (uint32_t)value[1];
	c->line = (uint32_t)value[2];
	if (c->size == 0)
		return error_set(e, ERR_PARSE, "%s of cachegrind: a cache of 0 bytes", part);
	if (!machine_check_cache(c, MODEL_CACHEGRIND, why, sizeof(why)))
		return 0;
	error_set(e, ERR_PARSE, "invalid %s of cachegrind: %s", part, why);
	return error_hint(e, "%s", machine_hint_cache(c, MODEL_CACHEGRIND, hint, sizeof(hint)));
malformed:
	error_set(e, ERR_PARSE, "%s of cachegrind takes SIZE,WAYS,LINE in bytes, not '%s'", part,
		text);
	return error_hint(
		e, "write it as in cachegrind:I1=32768,8,64:D1=32768,8,64:LL=8388608,16,64");
}

/* Cachegrind treats a host's LL whose number of sets is not a power of two as one with fewer sets,
 * more ways, and the same size. */
static void round_sets(struct model_cache_config *c)
{
	uint32_t sets = c->line && c->ways ? c->size / c->line / c->ways : 0, fewer;

	if (!sets || !(sets & (sets - 1)))
		return;
	fewer = 1u << (31 - __builtin_clz(sets));
	c->ways = c->size / c->line / fewer;
	c->size = fewer * c->ways * c->line;
}

/* Parts that are not given are this host's, as with cachegrind itself. */
static int find_cachegrind(const char *arguments, struct machine *m, struct error *e)
{
	struct model_config *c = &m->model;
	struct machine host;
	struct machine_fault fault;
	char *copy, *rest, *part;
	int status = 0;

	if (machine_host("", &host, e))
		return -1;
	machine_defaults(m);
	c->flavour = MODEL_CACHEGRIND;
	c->l1i = host.model.l1i;
	c->l1d = host.model.l1d;
	c->ll = host.model.ll.size ? host.model.ll : host.model.l2;
	round_sets(&c->ll);
	c->l2 = (struct model_cache_config){0, 0, 0, 0};
	c->large_pages = MODEL_PAGES_SMALL;
	c->predictor_kind = MODEL_PREDICTOR_CACHEGRIND;
	c->predictor_bits = 14;
	c->clock_hz = host.model.clock_hz;
	m->clock_from = host.clock_from;
	copy = rest = strdup(arguments);
	if (!copy)
		return error_nomem(e);
	while (status == 0 && (part = strsep(&rest, ":"))) {
		char *value = strchr(part, '=');

		if (*part == '\0')
			continue;
		if (value)
			*value++ = '\0';
		if (value && (strcmp(part, "I1") == 0 || strcmp(part, "D1") == 0 ||
				     strcmp(part, "LL") == 0)) {
			status = cachegrind_cache(part, value,
				*part == 'I'   ? &c->l1i
				: *part == 'D' ? &c->l1d
					       : &c->ll,
				e);
			continue;
		}
		status = error_set(e, ERR_PARSE,
			"'%s' is not one of cachegrind's caches, I1=, D1= and LL=", part);
		error_hint(e,
			"write it as in cachegrind:I1=32768,8,64:D1=32768,8,64:LL=8388608,16,64");
	}
	free(copy);
	if (status)
		return status;
	if (machine_find_fault(m, &fault)) {
		error_set(e, ERR_PARSE, "invalid cachegrind machine: %s", fault.text);
		return error_hint(e, "%s", fault.hint);
	}
	snprintf(m->name, sizeof(m->name), "cachegrind");
	snprintf(m->description, sizeof(m->description),
		"cachegrind's caches: I1=%u,%u,%u D1=%u,%u,%u LL=%u,%u,%u", c->l1i.size,
		c->l1i.ways, c->l1i.line, c->l1d.size, c->l1d.ways, c->l1d.line, c->ll.size,
		c->ll.ways, c->ll.line);
	snprintf(m->origin, sizeof(m->origin), "-machine cachegrind");
	return 0;
}

static int find_whole(const char *name, struct machine *m, struct error *e)
{
	struct stat st;
	int status;

	if (!name || strcmp(name, "host") == 0)
		return machine_host("", m, e);
	if (strcmp(name, "cachegrind") == 0)
		return find_cachegrind("", m, e);
	if (strncmp(name, "cachegrind:", 11) == 0)
		return find_cachegrind(name + 11, m, e);
	status = machine_ours(name, m, e);
	if (status <= 0)
		return status;
	if (strchr(name, '/') || stat(name, &st) == 0)
		return machine_load(name, m, e);
	return not_found(name, e);
}

/* The ':' before changes, NULL: there are none. Text after "cachegrind:" is not a change, and the
 * name of a file may contain one. */
static const char *changes_of(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL, *colon;
	struct stat st;

	if (!name || strncmp(name, "cachegrind:", 11) == 0)
		return NULL;
	colon = strchr(slash ? slash : name, ':');
	return colon && stat(name, &st) ? colon : NULL;
}

int machine_find(const char *name, struct machine *m, struct error *e)
{
	const char *changes = changes_of(name);
	char *base;
	int status;

	if (!changes)
		return find_whole(name, m, e);
	base = strndup(name, (size_t)(changes - name));
	if (!base)
		return error_nomem(e);
	status = find_whole(base, m, e);
	free(base);
	return status ? status : machine_change(m, changes + 1, e);
}

const char *const machine_clocks[] = {"first-order", "retirement", "sampled", NULL};

int machine_find_clock(const char *name, const char *clock, struct machine *m, struct error *e)
{
	const char *wrong = NULL;
	uint32_t i = 0;

	if (machine_find(name, m, e))
		return -1;
	while (clock && machine_clocks[i] && strcmp(clock, machine_clocks[i]) != 0)
		i++;
	if (clock && !machine_clocks[i])
		return error_set(e, ERR_RANGE,
			"-clock takes sampled, retirement or first-order, not '%s'", clock);
	m->model.clock = clock ? i : MODEL_CLOCK_SAMPLED;
	wrong = model_check(&m->model);
	if (wrong && !clock) { /* by default, the best that the machine can have */
		m->model.clock = MODEL_CLOCK_FIRST_ORDER;
		wrong = model_check(&m->model);
	}
	return wrong ? error_set(e, ERR_CONFLICT, "-clock %s with machine %s: %s",
			       machine_clocks[m->model.clock], m->name, wrong)
		     : 0;
}

int machine_measure_before(
	const char *name, const char *clock, bool quiet, struct machine *m, struct error *e)
{
	struct progress progress;
	struct error ignored;
	struct machine host;

	if (!machine_measure_due(name))
		return 0;
	if (!quiet)
		say("measuring latencies of this host, a few times until it boots again");
	progress_begin(&progress, !quiet);
	if (machine_host("", &host, &ignored) == 0)
		machine_measure_constants(&host, &progress, &ignored);
	progress_end(&progress);
	return machine_find_clock(name, clock, m, e);
}

const char *machine_called(const struct machine *m)
{
	return strcmp(m->name, "host") == 0 ? "this host" : m->name;
}
