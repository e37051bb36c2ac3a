/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The classic five calls, and their Fortran versions. Each thread has a pair of counters of its
 * own; costs are per process.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs/costs.h"
#include "machine/machine.h"
#include "perfex/private.h"

/* The public functions for Fortran: names with an underscore, arguments by reference. */
#pragma GCC visibility push(default)
int start_counters_(const int *e0, const int *e1);
int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1);
int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1);
int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1);
int load_costs_(const char *file, size_t length);
#pragma GCC visibility pop

static _Thread_local struct {
	struct perfex *counters;
	int event[2];
	int generation;
	unsigned char label[EVENT_LIMIT]; /* of each event when last read; LABEL_NONE: never */
	struct perfex_error last;
} mine;

static int classic_fail(const struct error *e)
{
	perfex_export_error(e, &mine.last);
	switch (e->code) {
	case ERR_NOMEM:
		errno = ENOMEM;
		break;
	case ERR_UNSUPPORTED:
		errno = ENOTSUP;
		break;
	case ERR_PERMISSION:
		errno = EPERM;
		break;
	case ERR_BUSY:
		errno = EBUSY;
		break;
	default:
		errno = e->errnum ? e->errnum : EINVAL;
	}
	return -1;
}

const struct perfex_error *perfex_last_error(void)
{
	return &mine.last;
}

/* The event for this place: the environment's, if that names one. */
static int effective(int which, int number, int *event, struct error *e)
{
	const char *name = which ? "T5_EVENT1" : "T5_EVENT0", *text = getenv(name);
	struct event_spec spec;
	char given[16];

	memset(&spec, 0, sizeof(spec));
	snprintf(given, sizeof(given), "%d", number);
	if (event_parse(text && *text ? text : given, &spec, e))
		return -1;
	if (!spec.event) {
		error_set(e, ERR_RANGE, "%s=%.100s is not an event of the table", name,
			text ? text : given);
		return error_hint(e, "`perfex -list` shows all events");
	}
	*event = spec.event->number;
	return 0;
}

static int effective_pair(int e0, int e1, int *event, struct error *e)
{
	return effective(0, e0, &event[0], e) || effective(1, e1, &event[1], e) ? -1 : 0;
}

int start_counters(int e0, int e1)
{
	static int generations;
	struct error e = {0};

	perfex_close(mine.counters);
	mine.counters = NULL;
	if (effective_pair(e0, e1, mine.event, &e))
		return classic_fail(&e);
	mine.counters = session_open(PERFEX_THREAD, &e);
	if (!mine.counters)
		return classic_fail(&e);
	if (session_add_number(mine.counters, mine.event[0], &e) < 0 ||
		session_add_number(mine.counters, mine.event[1], &e) < 0 ||
		session_start(mine.counters, &e)) {
		perfex_close(mine.counters);
		mine.counters = NULL;
		return classic_fail(&e);
	}
	mine.generation = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
	return mine.generation;
}

static int classic_take(struct error *e, struct perfex_value *values)
{
	if (session_stop(mine.counters, e) || session_read(mine.counters, values, 2, e) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (values[i].label == PERFEX_NONE)
			return error_set(e, ERR_UNSUPPORTED, "%s was not counted: %.300s",
				event_by_number(mine.event[i])->name, values[i].why);
	return 0;
}

int read_counters(int e0, long long *c0, int e1, long long *c1)
{
	struct perfex_value values[2];
	struct error e = {0};
	int event[2], status;

	*c0 = *c1 = -1;
	if (!mine.counters) {
		error_set(&e, ERR_CONFLICT, "nothing is being counted in this thread");
		error_hint(&e, "call start_counters first, each time");
		return classic_fail(&e);
	}
	if (effective_pair(e0, e1, event, &e))
		return classic_fail(&e);
	if (event[0] != mine.event[0] || event[1] != mine.event[1]) {
		error_set(&e, ERR_CONFLICT, "events %d and %d are read, but %d and %d were started",
			event[0], event[1], mine.event[0], mine.event[1]);
		return classic_fail(&e);
	}
	status = classic_take(&e, values);
	perfex_close(mine.counters);
	mine.counters = NULL;
	if (status)
		return classic_fail(&e);
	*c0 = llround(values[0].value);
	*c1 = llround(values[1].value);
	for (int i = 0; i < 2; i++)
		mine.label[event[i]] = (unsigned char)values[i].label;
	return mine.generation;
}

/* Counts that this thread never read have no label but the caller's values. */
static const char *classic_label_of(int event)
{
	return mine.label[event] ? label_name((enum label)mine.label[event]) : "as given";
}

static void dotted(FILE *out, int event, int width)
{
	const char *name = event_by_number(event)->name;

	fprintf(out, "%2d %s", event, name);
	for (int i = (int)strlen(name); i < width; i++)
		putc('.', out);
}

int print_counters(int e0, long long c0, int e1, long long c1)
{
	long long count[2] = {c0, c1};
	struct error e = {0};
	int event[2];

	if (effective_pair(e0, e1, event, &e))
		return classic_fail(&e);
	for (int i = 0; i < 2; i++) {
		dotted(stderr, event[i], 50);
		fprintf(stderr, " %16lld %s\n", count[i], classic_label_of(event[i]));
	}
	return 0;
}

/* The costs in force: loaded at the first need, or by load_costs. */
static struct {
	pthread_mutex_t lock;
	bool loaded;
	struct cost_table table;
} costs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int classic_find_costs(const char *file, struct cost_table *table, struct error *e)
{
	struct machine host;

	memset(table, 0, sizeof(*table));
	if (machine_host("", &host, e) || costs_find(host.costs, true, file, table, e))
		return -1;
	if (counter_model_present())
		table->clock_hz = counter_model_clock();
	else if (table->clock_hz <= 0)
		table->clock_hz = (double)host.model.clock_hz;
	return 0;
}

int load_costs(char *file)
{
	struct cost_table *table = malloc(sizeof(*table));
	struct error e = {0};
	int status;

	if (!table) {
		error_nomem(&e);
		return classic_fail(&e);
	}
	status = classic_find_costs(file, table, &e);
	if (status == 0) {
		pthread_mutex_lock(&costs.lock);
		costs.table = *table;
		costs.loaded = true;
		pthread_mutex_unlock(&costs.lock);
	}
	free(table);
	return status ? classic_fail(&e) : 0;
}

/* Under costs.lock. */
static void print_cost(int event, long long count)
{
	const struct cost *c = &costs.table.cost[event];
	double hz = costs.table.clock_hz;

	dotted(stderr, event, 42);
	fprintf(stderr, " %14lld %-8s", count, classic_label_of(event));
	if (!c->known || (c->unit == COST_CYCLES && hz <= 0))
		fprintf(stderr, "  its cost is not known\n");
	else
		fprintf(stderr, " %11.6f %11.6f %11.6f\n",
			cost_seconds(c, (double)count * c->typical, hz),
			cost_seconds(c, (double)count * c->minimum, hz),
			cost_seconds(c, (double)count * c->maximum, hz));
}

int print_costs(int e0, long long c0, int e1, long long c1)
{
	struct error e = {0};
	bool loaded;
	int event[2];

	if (effective_pair(e0, e1, event, &e))
		return classic_fail(&e);
	pthread_mutex_lock(&costs.lock);
	loaded = costs.loaded;
	pthread_mutex_unlock(&costs.lock);
	if (!loaded && load_costs(NULL))
		return -1;
	pthread_mutex_lock(&costs.lock);
	fprintf(stderr, "%-45s %14s %-8s %11s %11s %11s\n", "estimated seconds", "count", "label",
		"typical", "minimum", "maximum");
	print_cost(event[0], c0);
	print_cost(event[1], c1);
	fprintf(stderr, "costs of %s at %.0f MHz\n",
		costs.table.name[0] ? costs.table.name : costs.table.origin,
		costs.table.clock_hz / 1e6);
	pthread_mutex_unlock(&costs.lock);
	return 0;
}

int start_counters_(const int *e0, const int *e1)
{
	return start_counters(*e0, *e1);
}

int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1)
{
	return read_counters(*e0, c0, *e1, c1);
}

int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return print_counters(*e0, *c0, *e1, *c1);
}

int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1)
{
	return print_costs(*e0, *c0, *e1, *c1);
}

/* Fortran passes the length, with blanks up to it. */
int load_costs_(const char *file, size_t length)
{
	char *name;
	int status;

	while (length && (file[length - 1] == ' ' || file[length - 1] == '\0'))
		length--;
	name = strndup(file, length);
	if (!name) {
		errno = ENOMEM;
		return -1;
	}
	status = load_costs(name);
	free(name);
	return status;
}
