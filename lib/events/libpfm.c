/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/libpfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int status;

/* The library reads its environment only here. It must encode for processors other than this one,
 * and our program and its children must not see the variable that requests it. */
static void initialise(void)
{
	static const char variable[] = "LIBPFM_ENCODE_INACTIVE";
	bool ours = getenv(variable) == NULL;

	if (ours)
		setenv(variable, "1", 1);
	status = pfm_initialize();
	if (ours)
		unsetenv(variable);
}

static int ready(struct error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, initialise);
	if (status != PFM_SUCCESS)
		return error_set(e, ERR_UNSUPPORTED, "libpfm4: %s", pfm_strerror(status));
	return 0;
}

/* The attr of text; levels apply where text sets none. NULL, or the canonical name, to be freed,
 * in *name; the event's index in *index. */
static int libpfm_encode_name(
	const char *text, int levels, struct perf_event_attr *attr, char **name, int *index)
{
	pfm_perf_encode_arg_t arg = {.attr = attr, .fstr = name, .size = sizeof(arg)};
	int result;

	memset(attr, 0, sizeof(*attr));
	*name = NULL;
	result = pfm_get_os_event_encoding(text, levels, PFM_OS_PERF_EVENT, &arg);
	*index = arg.idx;
	return result;
}

/* Whether the event's PMU is of this machine, and the PMU's name. */
static bool present(int index, const char **pmu_name)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

	*pmu_name = "this PMU";
	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS ||
		pfm_get_pmu_info(event.pmu, &pmu) != PFM_SUCCESS)
		return false;
	*pmu_name = pmu.name;
	return pmu.is_present;
}

static int libpfm_explain(int result, const char *text, struct error *e)
{
	switch (result) {
	case PFM_ERR_NOTFOUND:
		return error_set(e, ERR_NOT_FOUND, "libpfm4 has no event '%s'", text);
	case PFM_ERR_NOMEM:
		return error_nomem(e);
	default:
		error_set(e, ERR_PARSE, "event '%s': %s", text, pfm_strerror(result));
		return error_hint(e, "the form is PMU::EVENT:UNIT_MASK:MODIFIER, as showevtinfo of "
				     "libpfm4 prints it");
	}
}

int libpfm_encode(const char *text, bool host, struct event_code *code, struct error *e)
{
	struct perf_event_attr attr, other;
	const char *pmu_name;
	char *name = NULL, *other_name = NULL;
	int result, index;

	if (ready(e))
		return -1;
	result = libpfm_encode_name(text, PFM_PLM3, &attr, &name, &index);
	free(name);
	if (result != PFM_SUCCESS)
		return libpfm_explain(result, text, e);
	if (host && !present(index, &pmu_name)) {
		error_set(e, ERR_UNSUPPORTED, "event '%s' is for another processor, %s", text,
			pmu_name);
		return error_hint(e, "`perfex -list` shows what can be counted here");
	}
	memset(code, 0, sizeof(*code));
	code->type = attr.type;
	code->config = attr.config;
	code->config1 = attr.config1;
	code->config2 = attr.config2;
	/* Levels that do not depend on the default are the string's own. */
	if (libpfm_encode_name(text, PFM_PLM0, &other, &other_name, &index) == PFM_SUCCESS &&
		attr.exclude_user == other.exclude_user &&
		attr.exclude_kernel == other.exclude_kernel)
		code->levels = (attr.exclude_user ? 0 : EVENT_USER) |
			       (attr.exclude_kernel ? 0 : EVENT_KERNEL);
	free(other_name);
	snprintf(code->text, sizeof(code->text), "%s", text);
	return 0;
}

void libpfm_offer(struct nearest *n)
{
	pfm_pmu_info_t pmu;
	pfm_event_info_t event;
	int p, i;

	if (ready(NULL))
		return;
	pfm_for_all_pmus(p)
	{
		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		if (pfm_get_pmu_info(p, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		for (i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			if (pfm_get_event_info(i, PFM_OS_PERF_EVENT, &event) == PFM_SUCCESS)
				nearest_offer(n, event.name);
		}
	}
}

const char *libpfm_library(void)
{
	static char text[32];
	int version = pfm_get_version();

	snprintf(text, sizeof(text), "libpfm4 %d.%d", version >> 16 & 0xffff, version & 0xffff);
	return text;
}
