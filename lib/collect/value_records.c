/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/value_records.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "experiment/branches.h"

#define VALUES_AHEAD 4  /* of these, what is remembered is fetched */
#define SPARE_MOST   32 /* windows: as many as come between two looks at them */

static int note_value_names(struct value_records *r, int kind, struct error *e)
{
	char key[32];

	for (int v = 0; v < VP_NAMED; v++) {
		const char *name = r->module.value_names[kind][v];

		snprintf(key, sizeof(key), EXPERIMENT_VALUE_NAMED, kind, v);
		if (name[0] && experiment_fact(r->experiment, key, name, e))
			return -1;
	}
	return 0;
}

int value_records_load(struct value_records *r, const char *which,
	const struct values_config *config, double rate, struct error *e)
{
	const struct vp_config wanted = {config->skip, config->length, rate};
	char key[32];

	if (value_module_open(&r->module, which, &wanted, e) ||
		experiment_fact(r->experiment, "values.module", r->module.path, e))
		return -1;
	for (int k = 0; k < VP_KINDS; k++) {
		snprintf(key, sizeof(key), EXPERIMENT_VALUE_NAME, k);
		if ((r->module.names[k][0] &&
			    experiment_fact(r->experiment, key, r->module.names[k], e)) ||
			note_value_names(r, k, e))
			return -1;
	}
	return 0;
}

int value_records_begin(
	struct value_records *r, const struct values_config *config, struct error *e)
{
	r->values = values_new(config, e);
	if (!r->values)
		return -1;
	pthread_mutex_init(&r->lock, NULL);
	value_sites_init(&r->sites);
	return value_places_init(&r->places, r->spaces, r->experiment) ? error_nomem(e) : 0;
}

int value_records_begin_lists(struct value_records *r, struct error *e)
{
	r->lists = true;
	value_sites_init(&r->sites);
	return value_places_init(&r->places, r->spaces, r->experiment) ? error_nomem(e) : 0;
}

int value_records_begin_log(struct value_records *r, struct error *e)
{
	return value_records_begin_lists(r, e) ||
			       experiment_fact(r->experiment, EXPERIMENT_VALUE_SOURCE,
				       EXPERIMENT_VALUE_BURSTS, e)
		       ? -1
		       : 0;
}

int value_records_watch(struct value_records *r, struct error *e)
{
	return watches_begin(&r->watches, e) ||
			       experiment_fact(r->experiment, EXPERIMENT_VALUE_WATCH,
				       r->watches.kernel ? EXPERIMENT_VALUE_WATCH_ALL
							 : EXPERIMENT_VALUE_WATCH_USER,
				       e)
		       ? -1
		       : 0;
}

/* ---- the thread that traces ---- */

static void window_free(struct value_window *w)
{
	vec_fini(&w->seen);
	vec_fini(&w->trace);
	vec_fini(&w->touches);
}

static struct value_window window_new(struct value_records *r, uint64_t time)
{
	struct value_window w = {0};

	pthread_mutex_lock(&r->lock);
	if (r->spare.count)
		w = r->spare.data[--r->spare.count];
	pthread_mutex_unlock(&r->lock);
	w.time = time;
	w.seen.count = w.trace.count = w.touches.count = 0;
	return w;
}

/* Locked. */
static void window_spare(struct value_records *r, struct value_window *w)
{
	if (r->spare.count >= SPARE_MOST || vec_add(&r->spare, *w))
		window_free(w);
}

static void value_count(struct value_records *r, const struct value_window *w, bool any)
{
	static const enum experiment_value_tally_kind ends[] = {
		[VALUES_CALL] = VALUE_TALLY_ENDED_CALL,
		[VALUES_FAULT] = VALUE_TALLY_ENDED_FAULT,
		[VALUES_REFUSED] = VALUE_TALLY_ENDED_REFUSED,
		[VALUES_ROOM] = VALUE_TALLY_ENDED_ROOM};

	r->tallies[any ? VALUE_TALLY_MOMENTS : VALUE_TALLY_EMPTY]++;
	r->tallies[VALUE_TALLY_INSTRUCTIONS] += w->instructions;
	r->tallies[VALUE_TALLY_VALUES] += w->seen.count;
	if (any && w->end != VALUES_WHOLE)
		r->tallies[ends[w->end]]++;
}

static void take_windows(struct value_records *r)
{
	for (size_t i = 0; i < VALUE_TALLIES; i++) {
		r->tallies[i] += r->watches.told[i];
		r->watches.told[i] = 0;
	}
}

struct branches_charge value_records_visit(void *context, const struct branches_visit *visit)
{
	struct value_records *r = context;
	struct values_thread thread = {.pid = visit->pid,
		.memory = visit->memory,
		.registers = visit->registers,
		.state = visit->state,
		.size = visit->size};
	struct value_window w = window_new(r, visit->time);
	struct branches_charge spent;
	uint64_t watched = 0;
	bool any;

	any = visit->registers && values_interpret(r->values, &thread, &w);
	if (any && r->watches.wanted)
		watched = watches_visit(&r->watches, visit, &w);
	pthread_mutex_lock(&r->lock);
	value_count(r, &w, any);
	take_windows(r);
	if ((!w.seen.count && !w.trace.count) || vec_add(&r->queue, w))
		window_spare(r, &w);
	spent = r->spent;
	r->spent = (struct branches_charge){0};
	pthread_mutex_unlock(&r->lock);
	spent.others += watched;
	return spent;
}

void value_records_renewed(void *context, pid_t pid)
{
	struct value_records *r = context;

	values_renew(r->values, pid);
	watches_renew(&r->watches, pid);
}

/* ---- its owner ---- */

int value_records_take(struct value_records *r)
{
	int rc = 0;

	if (!r->values)
		return 0;
	if (r->pending.count)
		memmove(r->pending.data, r->pending.data + r->next,
			(r->pending.count - r->next) * sizeof(*r->pending.data));
	r->pending.count -= r->next;
	r->next = 0;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->queue.count; i++)
		if (rc || vec_add(&r->pending, r->queue.data[i])) {
			window_free(&r->queue.data[i]);
			rc = -1;
		}
	r->queue.count = 0;
	for (uint32_t i = 0; i < VALUE_TALLIES; i++) {
		if (r->tallies[i] && experiment_add_value_tally(r->experiment, i, r->tallies[i]))
			rc = -1;
		r->tallies[i] = 0;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static int add_value_seen(
	struct value_records *r, const struct process *p, const struct value_seen *s)
{
	struct value_place place = {.address = s->value};
	long site;

	if (value_places_site(&r->places, &r->sites, p, s, &site))
		return -1;
	if (site < 0)
		return 0;
	if (s->class == VALUE_PLACE && value_places_find(&r->places, p, s->value, &place))
		return -1;
	return value_sites_add_to(&r->sites, site, s->value, place.address, place.image);
}

static int value_log_place(struct value_records *r, const struct process *p,
	const struct branch_value_place *of, const uint64_t *values)
{
	struct value_told told = {.kind = of->kind,
		.operand = of->operand,
		.form = (uint32_t)of->bits << 8 | of->class};
	struct value_place place;

	if (value_places_find(&r->places, p, of->pc, &place))
		return -1;
	told.image = place.image;
	told.address = place.address;
	return place.image ? value_sites_add_run(&r->sites, &told, values, of->count) : 0;
}

int value_records_log(
	struct value_records *r, const struct process *p, const struct branch_values *values)
{
	uint64_t began = clock_of(CLOCK_THREAD_CPUTIME_ID), all = 0;

	value_sites_moment(&r->sites);
	value_places_begin(&r->places);
	for (size_t i = 0; i < values->places; i++) {
		if (value_log_place(r, p, &values->place[i], values->value + all))
			return -1;
		all += values->place[i].count;
	}
	r->spent.own += clock_of(CLOCK_THREAD_CPUTIME_ID) - began;
	return experiment_add_value_tally(r->experiment, VALUE_TALLY_MOMENTS, 1) ||
			       experiment_add_value_tally(r->experiment, VALUE_TALLY_VALUES, all)
		       ? -1
		       : 0;
}

int value_records_window(struct value_records *r, struct value_window *w)
{
	struct process *p = spaces_process(r->spaces, w->pid, w->time);

	if (!p)
		return -1;
	if (r->module.path)
		value_module_look(&r->module, w);
	value_sites_moment(&r->sites);
	value_places_begin(&r->places);
	for (size_t i = 0; i < w->seen.count; i++) {
		size_t later = i + VALUES_AHEAD;

		if (later < w->seen.count)
			value_places_fetch(&r->places, &r->sites, p, &w->seen.data[later],
				w->seen.count - later);
		if (add_value_seen(r, p, &w->seen.data[i]))
			return -1;
	}
	return 0;
}

bool value_records_due(const struct value_records *r, uint64_t time)
{
	return r->next < r->pending.count && r->pending.data[r->next].time < time;
}

int value_records_advance(struct value_records *r, uint64_t time)
{
	uint64_t began, before = r->module.spent;
	int rc = 0;

	if (!value_records_due(r, time))
		return 0;
	began = clock_of(CLOCK_THREAD_CPUTIME_ID);
	for (; rc == 0 && value_records_due(r, time); r->next++) {
		rc = value_records_window(r, &r->pending.data[r->next]);
		pthread_mutex_lock(&r->lock);
		window_spare(r, &r->pending.data[r->next]);
		pthread_mutex_unlock(&r->lock);
	}
	pthread_mutex_lock(&r->lock);
	r->spent.own += clock_of(CLOCK_THREAD_CPUTIME_ID) - began;
	r->spent.others += r->module.spent - before;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int value_records_tally(struct value_records *r, enum experiment_tally_kind kind, uint64_t count)
{
	switch (kind) {
	case TALLY_PROGRAM_NS:
		return experiment_add_value_tally(r->experiment, VALUE_TALLY_PROGRAM_NS, count);
	case TALLY_COST_NS:
		return experiment_add_value_tally(r->experiment, VALUE_TALLY_COST_NS, count);
	case TALLY_STOP_NS:
		return experiment_add_value_tally(r->experiment, VALUE_TALLY_STOP_NS, count);
	default:
		return 0;
	}
}

int value_records_put(struct value_records *r)
{
	return r->values || r->lists ? value_sites_put(&r->sites, r->experiment) : 0;
}

void value_records_fini(struct value_records *r)
{
	if (r->module.path)
		value_module_close(&r->module);
	value_places_fini(&r->places);
	if (r->lists)
		value_sites_fini(&r->sites);
	if (!r->values)
		return;
	values_free(r->values);
	for (; r->next < r->pending.count; r->next++)
		window_free(&r->pending.data[r->next]);
	for (size_t i = 0; i < r->queue.count; i++)
		window_free(&r->queue.data[i]);
	for (size_t i = 0; i < r->spare.count; i++)
		window_free(&r->spare.data[i]);
	vec_fini(&r->spare);
	vec_fini(&r->pending);
	vec_fini(&r->queue);
	value_sites_fini(&r->sites);
	watches_fini(&r->watches);
	pthread_mutex_destroy(&r->lock);
	memset(r, 0, sizeof(*r));
}
