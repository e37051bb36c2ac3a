/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wants_hardware(const struct event_spec *spec)
{
	return !spec->event || !(spec->event->flags & EVENT_OS);
}

static bool model_knows(const struct event_spec *spec)
{
	return spec->event && (spec->event->flags & EVENT_MODEL);
}

static void plan_refuse(struct plan_entry *entry, const char *message, const char *hint)
{
	entry->source = NULL;
	error_set(&entry->why, ERR_UNSUPPORTED, "%s", message);
	error_hint(&entry->why, "%s", hint);
}

static void offer(struct plan_entry *entry, const struct source_ops *source,
	const struct source_options *options, struct event_spec *spec)
{
	if (source->accepts(options, spec, &entry->why) == 0)
		entry->source = source;
}

/* The user named the source. */
static int assign_one(struct plan *p, const struct source_ops *source,
	const struct source_options *options, struct event_spec *specs, struct error *e)
{
	if (source->probe(options, e)) {
		size_t n = strlen(e->hint);

		if (source == &source_pmu)
			snprintf(e->hint + n, sizeof(e->hint) - n,
				"%scount on a modelled processor with -source model",
				n ? ", or " : "");
		return -1;
	}
	for (size_t i = 0; i < p->count; i++)
		offer(&p->entries[i], source, options, &specs[i]);
	return 0;
}

/* No counters, and the model does not have the event: its own reason names what comes nearest. */
static void refuse_model(struct plan *p, struct plan_entry *entry,
	const struct source_options *options, struct event_spec *spec)
{
	size_t n;

	offer(entry, &source_model, options, spec);
	n = strlen(entry->why.message);
	snprintf(entry->why.message + n, sizeof(entry->why.message) - n,
		", and there are no hardware counters");
	if (!entry->why.hint[0])
		error_hint(&entry->why, "%s", p->reason.hint);
}

/* No counters: the model counts the events it has. The kernel's events besides it need -passes. */
static int assign_without_pmu(struct plan *p, const struct plan_request *request,
	const struct source_options *options, struct event_spec *specs, bool os_only,
	struct error *e)
{
	struct error model_why;
	bool model_works =
		!os_only && !request->attach && source_model.probe(options, &model_why) == 0;
	bool os_works = source_os.probe(options, &(struct error){0}) == 0;

	for (size_t i = 0; i < p->count; i++) {
		struct plan_entry *entry = &p->entries[i];
		bool os_event;

		if (model_works)
			event_user_row(&specs[i]);
		os_event = !wants_hardware(&specs[i]);
		if (os_event && os_works && (!model_works || request->passes))
			offer(entry, &source_os, options, &specs[i]);
		else if (model_works && model_knows(&specs[i]))
			offer(entry, &source_model, options, &specs[i]);
		else if (os_event)
			plan_refuse(entry, "the kernel would count the model's own too",
				"use -passes, which counts it in another run, or -source os");
		else if (model_works)
			refuse_model(p, entry, options, &specs[i]);
		else
			plan_refuse(entry,
				p->fell_back ? p->reason.message : "there are no counters here",
				request->attach ? "the model cannot attach to a running process"
						: model_why.hint);
	}
	if (!os_only && !model_works && !request->attach && !os_works) {
		*e = model_why;
		return -1;
	}
	return 0;
}

static int assign_auto(struct plan *p, const struct plan_request *request,
	const struct source_options *options, struct event_spec *specs, struct error *e)
{
	bool hardware = false, missing = false;

	for (size_t i = 0; i < p->count; i++)
		hardware |= wants_hardware(&specs[i]);
	if (!hardware)
		return assign_without_pmu(p, request, options, specs, true, e);
	if (source_pmu.probe(options, &p->reason)) {
		p->fell_back = true;
		return assign_without_pmu(p, request, options, specs, false, e);
	}
	for (size_t i = 0; i < p->count; i++) {
		offer(&p->entries[i], wants_hardware(&specs[i]) ? &source_pmu : &source_os, options,
			&specs[i]);
		missing |= !p->entries[i].source;
	}
	if (!missing || !request->passes || request->attach ||
		source_model.probe(options, &(struct error){0}))
		return 0;
	for (size_t i = 0; i < p->count; i++)
		if (!p->entries[i].source && model_knows(&specs[i]))
			offer(&p->entries[i], &source_model, options, &specs[i]);
	return 0;
}

/* Whether this set is counted all the time when opened together. */
static bool plan_fits(const struct source_ops *source, const struct source_options *options,
	struct event_spec *set, size_t count)
{
	void *session = source->open(options, set, count, &(struct error){0});
	bool together;

	if (!session)
		return false;
	together = !source->groups || source->groups(session) <= 1;
	source->close(session);
	return together;
}

static bool assigned(const struct plan *p, const struct source_ops *source)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->entries[i].source == source)
			return true;
	return false;
}

/* Fills passes with sets of events that fit the counters together, greedily in the order given. */
static int spread_over_passes(struct plan *p, const struct source_options *options,
	struct event_spec *specs, struct error *e)
{
	struct event_spec *set = calloc(p->count ? p->count : 1, sizeof(*set));
	unsigned pass = 0;
	bool used = false;

	if (!set)
		return error_nomem(e);
	for (const struct source_ops *const *s = sources; *s; s++) {
		size_t held = 0;

		if (!assigned(p, *s))
			continue;
		/* A native source continues in the pass of the source before it. */
		if (used && !(*s)->native)
			pass++;
		for (size_t i = 0; i < p->count; i++) {
			if (p->entries[i].source != *s)
				continue;
			set[held++] = specs[i];
			if (held > 1 && !plan_fits(*s, options, set, held)) {
				pass++;
				set[0] = specs[i];
				held = 1;
			}
			p->entries[i].pass = pass;
			used = true;
		}
		if (held && !(*s)->native)
			pass++, used = false;
	}
	free(set);
	for (size_t i = 0; i < p->count; i++)
		if (p->entries[i].source && p->entries[i].pass + 1 > p->passes)
			p->passes = p->entries[i].pass + 1;
	return 0;
}

int plan_make(struct plan *p, const struct plan_request *request,
	const struct source_options *options, struct event_spec *specs, size_t count,
	struct error *e)
{
	bool any = false;

	memset(p, 0, sizeof(*p));
	p->count = count;
	p->passes = 1;
	p->entries = calloc(count ? count : 1, sizeof(*p->entries));
	if (!p->entries)
		return error_nomem(e);
	if (strcmp(request->source, "auto") == 0) {
		if (assign_auto(p, request, options, specs, e))
			goto fail;
	} else {
		const struct source_ops *source = source_find(request->source);

		if (!source) {
			error_set(e, ERR_NOT_FOUND, "no source '%s'", request->source);
			error_hint(e, "use auto, pmu, os or model");
			goto fail;
		}
		if (assign_one(p, source, options, specs, e))
			goto fail;
	}
	for (size_t i = 0; i < count; i++) {
		any |= p->entries[i].source != NULL;
		if (p->entries[i].source || request->all)
			continue;
		error_set(e, p->entries[i].why.code, "cannot count %s: %s", specs[i].name,
			p->entries[i].why.message);
		error_hint(e, "%s", p->entries[i].why.hint);
		goto fail;
	}
	if (!any) {
		error_set(e, ERR_UNSUPPORTED, "no event given can be counted here");
		error_hint(e, "perfex -list shows which events can, and the reasons");
		goto fail;
	}
	if (request->passes && spread_over_passes(p, options, specs, e))
		goto fail;
	return 0;
fail:
	plan_fini(p);
	return -1;
}

void plan_join(const struct plan *p, unsigned pass, struct reading *run, struct reading *part)
{
	if (p->passes == 1) {
		reading_fini(run);
		*run = *part;
		memset(part, 0, sizeof(*part));
		return;
	}
	for (size_t i = 0; i < p->count; i++)
		if (p->entries[i].pass == pass)
			run->counts[i] = part->counts[i];
	if (part->clocked) {
		run->clocked = true;
		memcpy(run->causes, part->causes, sizeof(run->causes));
	}
}

void plan_fini(struct plan *p)
{
	free(p->entries);
	memset(p, 0, sizeof(*p));
}
