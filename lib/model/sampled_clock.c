/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sampled_clock.h"

#include "model/opcache.h"
#include "model/random.h"
#include "model/run.h"

/* Windows between computations of the estimates. */
#define PUBLISH_EACH 64
/* The share of the last window in the rates. */
#define NEW_RATE 0.25

/* In place of events: branches of which the branch target buffer did not know, or only in its
 * second level. */
#define UNKNOWN_BRANCHES EV_CYCLES
#define SECOND_BRANCHES  EV_CYCLES_16

/* Events that explain cycles: [0] stands for instructions, which the order counts. */
static const uint8_t explaining[SAMPLED_EVENTS] = {
	EV_INSTRUCTIONS,
	EV_MISPREDICTED_CONDITIONALS,
	EV_MISPREDICTED_INDIRECTS,
	EV_MISPREDICTED_RETURNS,
	EV_L1I_MISSES,
	EV_L2I_MISSES,
	EV_L1D_MISSES,
	EV_L2D_MISSES,
	EV_LL_DATA_MISSES,
	EV_DTLB_MISSES,
	EV_DTLB_WALKS,
	EV_ITLB_WALKS,
	EV_STORES_TO_SHARED,
	EV_HARDWARE_PREFETCHES,
	EV_SYSTEM_CALLS,
	UNKNOWN_BRANCHES,
	SECOND_BRANCHES,
};

/* ---- priors ---- */

static void expect(struct sampled_clock *c, unsigned event, double cycles, enum model_cause cause)
{
	for (unsigned i = 0; i < SAMPLED_EVENTS; i++)
		if (explaining[i] == event) {
			c->prior[i] = cycles;
			c->prior_cause[i] = (uint8_t)cause;
		}
}

/* Of a data miss, half of the latency is hidden. */
#define HIDDEN 0.5

void sampled_clock_init(struct sampled_clock *c, const struct model_config *config)
{
	double memory = config->memory_latency, ll = config->ll.latency, l2 = config->l2.latency;
	double mispredict = config->mispredict_penalty, walk = config->walk_latency;

	c->exact = SAMPLED_EXACT;
	expect(c, EV_INSTRUCTIONS, 1, MODEL_CAUSE_BASE);
	expect(c, EV_MISPREDICTED_CONDITIONALS, mispredict, MODEL_CAUSE_MISPREDICT);
	expect(c, EV_MISPREDICTED_INDIRECTS, mispredict, MODEL_CAUSE_MISPREDICT);
	expect(c, EV_MISPREDICTED_RETURNS, mispredict, MODEL_CAUSE_MISPREDICT);
	expect(c, EV_L1I_MISSES, l2, MODEL_CAUSE_FETCH_L2);
	expect(c, UNKNOWN_BRANCHES, config->btb_miss, MODEL_CAUSE_TAKEN);
	expect(c, SECOND_BRANCHES, config->btb_second, MODEL_CAUSE_TAKEN);
	expect(c, EV_L2I_MISSES, ll, MODEL_CAUSE_FETCH_LL);
	expect(c, EV_L1D_MISSES, HIDDEN * l2, MODEL_CAUSE_L2);
	expect(c, EV_L2D_MISSES, HIDDEN * ll, MODEL_CAUSE_LL);
	expect(c, EV_LL_DATA_MISSES, HIDDEN * memory, MODEL_CAUSE_MEMORY);
	expect(c, EV_DTLB_MISSES, config->stlb_latency, MODEL_CAUSE_DTLB);
	expect(c, EV_DTLB_WALKS, walk, MODEL_CAUSE_DTLB);
	expect(c, EV_ITLB_WALKS, walk, MODEL_CAUSE_ITLB);
	expect(c, EV_STORES_TO_SHARED, config->intervention_latency, MODEL_CAUSE_INTERVENTION);
	expect(c, EV_SYSTEM_CALLS, config->execution.system_call, MODEL_CAUSE_SYSTEM_CALL);
	expect(c, EV_HARDWARE_PREFETCHES, config->memory_interval, MODEL_CAUSE_MEMORY);
}

/* ---- counts ---- */

static uint64_t sampled_event(const struct core *core, unsigned i)
{
	switch (explaining[i]) {
	case EV_INSTRUCTIONS:
		return core->clock.order;
	case UNKNOWN_BRANCHES:
		return core->btb.found[BTB_UNKNOWN];
	case SECOND_BRANCHES:
		return core->btb.found[BTB_SECOND];
	default:
		return core->counts[explaining[i]];
	}
}

/* Events since the last time become a part of the sums of the process. */
static void sampled_take(struct model *m, struct core *core)
{
	struct sampled_core *s = &core->sampled;

	btb_catch_up(&core->btb);
	for (unsigned i = 0; i < SAMPLED_EVENTS; i++) {
		uint64_t now = sampled_event(core, i);

		m->sampled->all[i] += (double)(int64_t)(now - s->last[i]);
		s->last[i] = now;
	}
}

void sampled_clock_counts(struct core *core)
{
	struct sampled_core *s = &core->sampled;

	btb_catch_up(&core->btb);
	for (unsigned i = 1; i < SAMPLED_EVENTS; i++)
		s->last[i] = sampled_event(core, i);
}

static void credit(struct core *core, unsigned which, unsigned event, double instructions)
{
	struct sampled_core *s = &core->sampled;
	double cycles = s->rest[which] + s->rate[which] * instructions;
	uint64_t whole = cycles > 0 ? (uint64_t)cycles : 0;

	core->counts[event] += whole;
	s->rest[which] = cycles - (double)whole;
}

/* Of instructions that were not clocked. */
static void credit_all(struct core *core)
{
	struct sampled_core *s = &core->sampled;
	double instructions = (double)(core->clock.order - s->credited);

	s->credited = core->clock.order;
	credit(core, 0, EV_CYCLES, instructions);
	credit(core, 1, EV_FRONTEND_STALLS, instructions);
	credit(core, 2, EV_BACKEND_STALLS, instructions);
}

void sampled_clock_flush(struct model *m, struct core *core)
{
	if (core->sampled.phase >= SAMPLED_MEASURES)
		clock_flush_retired(m, core);
	else
		credit_all(core);
	sampled_take(m, core);
	if (m->sampled->windows >= m->sampled->published + PUBLISH_EACH)
		sampled_clock_publish(m);
}

void model_clock_finish(struct model *m)
{
	if (!m->sampled)
		return;
	model_sync(m);
	sampled_clock_publish(m);
}

/* ---- phases ---- */

static void begin_measuring(struct core *core)
{
	struct sampled_core *s = &core->sampled;
	struct retire *t = core->clocked;

	s->window_counts = core->counts;
	for (unsigned i = 0; i < SAMPLED_EVENTS; i++)
		s->begun[i] = sampled_event(core, i);
	s->gone = t->gone;
	for (unsigned i = 0; i < MODEL_CAUSES; i++)
		s->slots[i] = t->slots[i];
}

/* What was measured: events, and cycles by cause and in all. Returns the number of instructions. */
static double measured(const struct core *core, double *events, double *cycles)
{
	const struct sampled_core *s = &core->sampled;
	const struct retire *t = core->clocked;
	double sum = 0;
	unsigned i;

	for (i = 0; i < SAMPLED_EVENTS; i++)
		events[i] = (double)(sampled_event(core, i) - s->begun[i]);
	for (i = 0; i < MODEL_CAUSES; i++) {
		cycles[i] = (double)(t->slots[i] - s->slots[i]) / RETIRE_CYCLE;
		sum += i == MODEL_CAUSE_BASE ? 0 : cycles[i];
	}
	cycles[MODEL_CAUSES] = (double)(t->gone - s->gone) / RETIRE_CYCLE;
	cycles[MODEL_CAUSE_BASE] = cycles[MODEL_CAUSES] - sum;
	return events[0];
}

static void add_clocked(struct sampled_clock *c, const double *events, const double *cycles)
{
	unsigned i;

	for (i = 0; i < SAMPLED_EVENTS; i++)
		c->clocked[i] += events[i];
	for (i = 0; i < SAMPLED_RESULTS; i++)
		c->cycles[i] += cycles[i];
}

void sampled_clock_window(
	struct sampled_clock *c, const double *events, const double *cycles, double weight)
{
	unsigned i, j;

	add_clocked(c, events, cycles);
	c->windows++;
	c->weights += weight;
	c->squared_weights += weight * weight;
	for (i = 0; i < SAMPLED_EVENTS; i++) {
		if (events[i] == 0)
			continue;
		for (j = 0; j < SAMPLED_EVENTS; j++)
			c->events_events[i][j] += weight * events[i] * events[j];
		for (j = 0; j < SAMPLED_RESULTS; j++)
			c->events_results[i][j] += weight * events[i] * cycles[j];
	}
	for (j = 0; j < SAMPLED_RESULTS; j++)
		c->results_squared[j] += weight * cycles[j] * cycles[j];
}

static double sampled_stalls(const double *cycles, int is(unsigned cause))
{
	double sum = 0;

	for (unsigned i = 0; i < MODEL_CAUSES; i++)
		sum += is(i) ? cycles[i] : 0;
	return sum;
}

static void note_rate(struct sampled_core *s, const double *cycles, double instructions)
{
	const double now[] = {cycles[MODEL_CAUSES], sampled_stalls(cycles, model_cause_is_front),
		sampled_stalls(cycles, model_cause_is_back)};

	for (unsigned i = 0; i < 3; i++) {
		double rate = now[i] / instructions;

		s->rate[i] = s->rate[i] > 0 ? s->rate[i] + NEW_RATE * (rate - s->rate[i]) : rate;
	}
}

/* A window, or the beginning, ends. A window in which the core changed its thread is not used. */
static void end_measuring(struct model *m, struct core *core)
{
	struct sampled_core *s = &core->sampled;
	double events[SAMPLED_EVENTS], cycles[SAMPLED_RESULTS];
	double instructions;

	if (s->window_counts != core->counts)
		return;
	instructions = measured(core, events, cycles);
	if (instructions <= 0)
		return;
	note_rate(s, cycles, instructions);
	if (s->phase == SAMPLED_MEASURES)
		sampled_clock_window(
			m->sampled, events, cycles, (double)s->period / (double)SAMPLED_PERIOD);
	else
		add_clocked(m->sampled, events, cycles);
}

void sampled_clock_partial(const struct core *core, struct sampled_clock *c)
{
	double events[SAMPLED_EVENTS], cycles[SAMPLED_RESULTS];

	if (core->sampled.phase >= SAMPLED_MEASURES &&
		core->sampled.window_counts == core->counts && measured(core, events, cycles) > 0)
		add_clocked(c, events, cycles);
}

/* Lines that were prefetched, or came from memory. */
static uint64_t streamed(const struct core *core)
{
	return core->counts[EV_HARDWARE_PREFETCHES] + core->counts[EV_LL_DATA_MISSES];
}

static uint64_t ahead_of(uint64_t at, uint64_t now, uint64_t length)
{
	return at > now + length ? at - length : now;
}

static uint64_t next_period(const struct sampled_clock *c)
{
	uint64_t period = SAMPLED_PERIOD;

	for (uint64_t many = SAMPLED_MANY; c->windows >= many; many *= 4)
		period *= 2;
	return period;
}

static void leave_window(struct model *m, struct core *core)
{
	struct sampled_core *s = &core->sampled;
	uint64_t order = core->clock.order;

	s->phase = SAMPLED_AWAY;
	if (s->period_end < order)
		s->period_end = order;
	s->period = next_period(m->sampled);
	s->measure_at =
		s->period_end + model_random_below(&s->random, s->period - SAMPLED_MEASURED);
	s->period_end += s->period;
	s->length = SAMPLED_MEASURED;
	s->next = ahead_of(s->measure_at, order, SAMPLED_WARM_STREAM);
	s->credited = order;
	if (core->retire)
		lasting_learn(&m->lasting, core->clocked->gone >> RETIRE_CYCLE_BITS, order);
	core->retire = (struct retire *)0;
	m->parts = m->parts_away;
}

void sampled_clock_rows(struct model *m, struct core *core)
{
	struct model_rows *rows = m->watch ? &m->watch->rows : (struct model_rows *)0;
	struct retire *t = core->clocked;

	t->rows = rows && rows->row && core->sampled.phase >= SAMPLED_MEASURES
			  ? rows
			  : (struct model_rows *)0;
	t->row_weight = core->sampled.phase == SAMPLED_MEASURES
				? core->sampled.period / SAMPLED_MEASURED
				: 1;
}

static void enter_window(
	struct model *m, struct core *core, enum sampled_phase phase, uint64_t until)
{
	struct sampled_core *s = &core->sampled;

	s->phase = phase;
	s->next = until;
	sampled_clock_rows(m, core);
	btb_catch_up(&core->btb);
	if (!core->retire)
		lasting_begin(
			&m->lasting, core->clocked->gone >> RETIRE_CYCLE_BITS, core->clock.order);
	if (!core->retire)
		opcache_begin(core);
	core->retire = core->clocked;
	m->parts = m->parts_clocked;
}

/* Is a short time to warm up enough, after what was executed since the last window was due? */
static int may_wait(struct core *core)
{
	struct sampled_core *s = &core->sampled;
	uint64_t order = core->clock.order, since = order - s->looked_at;
	uint64_t now = streamed(core), lines = now - s->streamed;

	if (s->measure_at <= order + SAMPLED_WARM || !since)
		return 0;
	s->looked_at = order;
	s->streamed = now;
	if (lines * 1000 >= since * SAMPLED_STREAMS)
		return 0;
	s->next = s->measure_at - SAMPLED_WARM;
	return 1;
}

void sampled_clock_core(struct model *m, struct core *core)
{
	struct sampled_core *s = &core->sampled;

	if (s->random)
		return; /* it has begun */
	s->random = core->number + 1;
	s->credited = s->last[0] = core->clock.order;
	retire_cycles(core->clocked, core->clocked->counted);
	if (m->sampled->exact) {
		enter_window(m, core, SAMPLED_BEGINS, core->clock.order + m->sampled->exact);
		begin_measuring(core);
	} else {
		leave_window(m, core);
	}
}

void sampled_clock_step(struct model *m, struct core *core)
{
	struct sampled_core *s = &core->sampled;

	sampled_clock_flush(m, core);
	switch (s->phase) {
	case SAMPLED_AWAY:
		if (may_wait(core))
			break;
		enter_window(m, core, SAMPLED_WARMS, s->measure_at);
		break;
	case SAMPLED_WARMS:
		retire_cycles(core->clocked, core->clocked->counted);
		enter_window(m, core, SAMPLED_MEASURES, core->clock.order + s->length);
		begin_measuring(core);
		break;
	default:
		end_measuring(m, core);
		if (s->phase == SAMPLED_BEGINS)
			m->sampled->exact = 0;
		leave_window(m, core);
	}
}

void sampled_clock_stretch(struct model *m, struct core *core, uint64_t half)
{
	struct sampled_core *s = &core->sampled;

	if (!s->random || s->phase == SAMPLED_BEGINS)
		return;
	sampled_clock_flush(m, core);
	leave_window(m, core);
	s->period = SAMPLED_PERIOD;
	s->measure_at = core->clock.order + half;
	s->length = half;
	s->period_end = s->measure_at + half;
	s->next = ahead_of(s->measure_at, core->clock.order, SAMPLED_WARM);
	for (unsigned i = 0; i < 3; i++)
		s->rate[i] = 0;
}

/* Each core begins anew when a thread of the child runs there. */
void model_clock_forked(struct model *m)
{
	if (!m->sampled)
		return;
	*m->sampled = (struct sampled_clock){0};
	sampled_clock_init(m->sampled, &m->config);
	for (uint64_t active = m->active; active; active &= active - 1) {
		struct core *core = &m->cores[__builtin_ctzll(active)];

		core->sampled = (struct sampled_core){.credited = core->clock.order};
		core->sampled.last[0] = core->clock.order;
		core->retire = (struct retire *)0;
		sampled_clock_counts(core);
	}
}
