/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeats a block (follow.c) until its timing repeats, and computes the schedule from that. */
#include "schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/follow.h"
#include "schedule/private.h"

#define REPEAT_MIN   12
#define REPEAT_MAX   400
#define EQUAL_WANTED 12 /* repetitions of the same length */
/* Instructions after which a block that does not repeat itself is given up. */
#define OPS_WANTED 2000

struct schedule_work *schedule_work_new(struct error *e)
{
	struct schedule_work *w = calloc(1, sizeof(*w));

	if (!w) {
		error_nomem(e);
		return NULL;
	}
	w->ops = malloc(SCHEDULE_BLOCK_MAX * sizeof(*w->ops));
	w->retired = calloc(4096, sizeof(*w->retired));
	if (!w->ops || !w->retired) {
		schedule_work_free(w);
		error_nomem(e);
		return NULL;
	}
	return w;
}

void schedule_work_free(struct schedule_work *w)
{
	if (!w)
		return;
	free(w->ops);
	free(w->retired);
	free(w);
}

struct lengths {
	uint32_t begin[REPEAT_MAX + 1]; /* retirement of the end of each repetition */
	unsigned count;
};

/* The period of the lengths, up to 8 repetitions, when the last EQUAL_WANTED of it agree. */
static unsigned period_of(const struct lengths *l)
{
	unsigned n = l->count;

	for (unsigned period = 1; period <= 8; period++) {
		unsigned wanted = period * 3 > EQUAL_WANTED ? period * 3 : EQUAL_WANTED, i;

		if (n < wanted + period + 2)
			return 0;
		for (i = 0; i < wanted; i++) {
			uint32_t a = l->begin[n - i] - l->begin[n - i - 1];
			uint32_t b = l->begin[n - i - period] - l->begin[n - i - period - 1];

			if (a != b)
				break;
		}
		if (i == wanted)
			return period;
	}
	return 0;
}

static void note_rows(const struct times *t, size_t count, uint32_t before,
	struct schedule_row *rows, uint32_t (*causes)[SCHEDULE_CAUSES])
{
	uint32_t begin = t[0].rename;

	for (size_t i = 0; i < count; i++) {
		uint32_t gap = t[i].retire - before;

		rows[i].mi += gap;
		rows[i].issue = t[i].issue - begin;
		rows[i].complete = t[i].complete - begin;
		rows[i].retire = t[i].retire - begin;
		if (gap) {
			causes[i][t[i].cause] += gap;
			if (causes[i][t[i].cause] >= causes[i][rows[i].cause] ||
				rows[i].cause == SCHEDULE_NONE) {
				rows[i].cause = t[i].cause;
				rows[i].blame = t[i].blame == UINT32_MAX ? -1 : (int)t[i].blame;
				rows[i].ports = t[i].ports;
			}
		}
		before = t[i].retire;
	}
}

/*
 * Of the instructions that wait for results, the one that delays retirement most waits for the
 * chain that binds. Others, such as a branch that waits for its comparison, wait beside it.
 */
static int binding_chain(const struct schedule_row *rows, size_t count)
{
	double most = -1;
	int chain = -1;

	for (size_t i = 0; rows && i < count; i++)
		if ((rows[i].cause == SCHEDULE_INPUT || rows[i].cause == SCHEDULE_MEMORY) &&
			rows[i].mi > most) {
			most = rows[i].mi;
			chain = rows[i].blame;
		}
	return chain;
}

/* What holds the whole up: the fullest of what there is, else a chain of results. */
static void schedule_judge(const struct core *c, const struct op *ops, size_t count,
	const struct schedule_options *options, const struct schedule_row *rows,
	const struct times *t, struct schedule *s)
{
	double fullest = 0;
	unsigned bytes = 0;

	s->chain = -1;
	for (unsigned p = 0; p < c->ports; p++)
		if (s->port_use[p] > fullest)
			fullest = s->port_use[p];
	for (size_t i = 0; i < count; i++)
		bytes += ops[i].length;
	if (s->cycles <= 0) {
		s->bound = SCHEDULE_NONE;
	} else if (fullest >= 0.97 * s->cycles) {
		s->bound = SCHEDULE_PORT;
		for (unsigned p = 0; p < c->ports; p++)
			if (s->port_use[p] >= 0.95 * fullest)
				s->bound_ports |= 1u << p;
	} else if (s->slots / c->rename >= 0.97 * s->cycles) {
		s->bound = SCHEDULE_FRONT_END;
	} else if (c->fetch && !options->loop && bytes >= 0.97 * s->cycles * c->fetch) {
		s->bound = SCHEDULE_FETCH;
	} else {
		uint32_t worst[SCHEDULE_CAUSES] = {0};

		s->bound = SCHEDULE_INPUT;
		for (size_t i = 0; i < count; i++)
			worst[t[i].cause]++;
		if (worst[SCHEDULE_STORES])
			s->bound = SCHEDULE_STORES;
		else if (worst[SCHEDULE_SERIAL])
			s->bound = SCHEDULE_SERIAL;
		s->chain = binding_chain(rows, count);
	}
}

static void scale_rows(struct schedule_row *rows, size_t count, double cycles)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += rows[i].mi;
	for (size_t i = 0; i < count && sum > 0; i++)
		rows[i].mi *= cycles / sum;
}

static void schedule_run(struct schedule_work *w, const struct core *c, const struct op *ops,
	size_t count, const struct schedule_options *options, struct schedule *s,
	struct schedule_row *rows, struct times *t, uint32_t (*causes)[SCHEDULE_CAUSES])
{
	struct walk k = {.w = w, .c = c, .options = options};
	struct lengths l = {.count = 0};
	unsigned limit = (unsigned)(OPS_WANTED / count), period = 0, from;
	uint32_t used[CORE_PORTS_MAX];

	limit = limit < REPEAT_MIN ? REPEAT_MIN : limit > REPEAT_MAX ? REPEAT_MAX : limit;
	follow_begin(w, options, c->window);
	l.begin[0] = 0;
	while (l.count < limit && !period) {
		follow(&k, ops, count, options->loop, t);
		l.begin[++l.count] = k.last_retire;
		period = period_of(&l);
	}
	from = period ? l.count - period : l.count / 2;
	s->cycles = (double)(l.begin[l.count] - l.begin[from]) / (l.count - from);
	memcpy(used, w->used, sizeof(used));
	/* A burst can look like a steady state; widths hold all the same. */
	if (s->cycles < s->slots / c->rename)
		s->cycles = s->slots / c->rename;
	if (rows) {
		unsigned more = period ? period : l.count / 2 ? l.count / 2 : 1;

		memset(rows, 0, count * sizeof(*rows));
		memset(causes, 0, count * sizeof(*causes));
		for (size_t i = 0; i < count; i++)
			rows[i].blame = -1;
		for (unsigned n = 0; n < more; n++) {
			uint32_t before = k.last_retire;

			follow(&k, ops, count, options->loop, t);
			note_rows(t, count, before, rows, causes);
		}
		scale_rows(rows, count, s->cycles);
	}
	for (unsigned p = 0; p < c->ports; p++)
		s->port_use[p] = (double)used[p] / l.count;
	schedule_judge(c, ops, count, options, rows, t, s);
}

int schedule_ops(struct schedule_work *w, const struct core *c, const struct op *ops, size_t count,
	const struct schedule_options *options, struct schedule *s, struct schedule_row *rows,
	struct error *e)
{
	uint32_t(*causes)[SCHEDULE_CAUSES] = NULL;
	struct times *t;

	memset(s, 0, sizeof(*s));
	s->chain = -1;
	if (!count || count > SCHEDULE_BLOCK_MAX)
		return error_set(e, ERR_RANGE, "a block has 1 to %d instructions, not %zu",
			SCHEDULE_BLOCK_MAX, count);
	if (options->in_order || c->in_order) {
		schedule_in_order(c, ops, count, s, rows);
		return 0;
	}
	t = malloc(count * sizeof(*t));
	if (rows)
		causes = malloc(count * sizeof(*causes));
	if (!t || (rows && !causes)) {
		free(t);
		free(causes);
		return error_nomem(e);
	}
	for (size_t i = 0; i < count; i++) {
		s->slots += ops[i].half_slots / 2.0;
		s->guessed += ops[i].guessed;
	}
	schedule_run(w, c, ops, count, options, s, rows, t, causes);
	free(t);
	free(causes);
	return 0;
}

int schedule_block(struct schedule_work *w, const struct core *c, const struct insn *insns,
	size_t count, const struct schedule_options *options, struct schedule *s,
	struct schedule_row *rows, struct error *e)
{
	if (!count || count > SCHEDULE_BLOCK_MAX)
		return error_set(e, ERR_RANGE, "a block has 1 to %d instructions, not %zu",
			SCHEDULE_BLOCK_MAX, count);
	for (size_t i = 0; i < count; i++)
		if (insns[i].classes & INSN_BAD)
			return error_set(
				e, ERR_PARSE, "instruction %zu of the block is invalid", i + 1);
	op_make_block(c, insns, count, true, w->ops);
	return schedule_ops(w, c, w->ops, count, options, s, rows, e);
}

const char *schedule_cause_name(enum schedule_cause cause)
{
	static const char *const names[] = {
		[SCHEDULE_NONE] = "none",
		[SCHEDULE_FRONT_END] = "front end",
		[SCHEDULE_FETCH] = "fetch",
		[SCHEDULE_WINDOW] = "window",
		[SCHEDULE_INPUT] = "dependency",
		[SCHEDULE_MEMORY] = "dependency through memory",
		[SCHEDULE_PORT] = "port",
		[SCHEDULE_STORES] = "stores",
		[SCHEDULE_RETIREMENT] = "retirement",
		[SCHEDULE_LATENCY] = "latency",
		[SCHEDULE_SERIAL] = "serialisation",
	};

	return cause < SCHEDULE_CAUSES ? names[cause] : "?";
}
