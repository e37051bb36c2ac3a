/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One block after the other: find a state in which it runs, choose the numbers of copies, measure
 * the time.
 *
 * Time stamps may be coarse (steps of some ten cycles), so each run starts after a random delay,
 * and figures are trimmed means, not minima, which are too small with a coarse clock. Runs come in
 * series. Before each series the block's lines are flushed and touched again, since their place in
 * the cache may persist otherwise. The copies are moved twelve times, because copies at one place
 * agree with each other to 0.1% and with copies elsewhere to 5% only. The small number of copies
 * exceeds what is decoded while the time stamp waits; else blocks bound by fetching come out 10%
 * too fast.
 *
 * A canary before and after each series shows whether another thread shares the core: nops, which
 * need the core's whole issue width and always take the same time. A chain of dependent additions
 * of registers, which neighbours do not slow down, gives core cycles per tick. (Additions of
 * constants take no time on some processors.)
 */
#include "blockbench/worker.h"

#define CHAIN_LONG   72 /* times 64 */
#define CHAIN_SHORT  8
#define RATIOS       9
#define RUNS         9
#define RUNS_COARSE  4
#define QUICK_SERIES 3
#define WARM_ROUNDS  20

static uint32_t clock_step; /* resolution of the clock: step, or 1 for a cycle counter */
static uint32_t tsc_step;   /* step of the time stamp counter, in ticks */
static uint32_t random = 2463534242u;
static double tsc_ratios[RATIOS];
static unsigned ratio_count, ratio_at;
static double tsc_ratio;   /* core cycles per tick */
static double canary_best; /* core cycles */
static uint32_t wait_left;

static uint32_t measure_random_below(uint32_t n)
{
	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return n ? random % n : 0;
}

static void measure_sort(double *x, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		double v = x[i];
		unsigned k = i;

		for (; k && x[k - 1] > v; k--)
			x[k] = x[k - 1];
		x[k] = v;
	}
}

/* Mean of values near the median: interruptions and misses are outliers, but differences by the
 * clock's steps all count, since its phase is random. */
static double trimmed(double *x, unsigned n)
{
	double sum = 0, near;
	unsigned count = 0;

	measure_sort(x, n);
	near = 1.2 * clock_step + 0.01 * x[n / 2];
	for (unsigned i = 0; i < n; i++) {
		if (x[i] < x[n / 2] - near || x[i] > x[n / 2] + near)
			continue;
		sum += x[i];
		count++;
	}
	return sum / count;
}

static void delay(void)
{
	for (uint32_t n = measure_random_below(2 * tsc_step + 3); n; n--)
		__asm__ volatile("");
}

/* Ticks of a chain of additions, one cycle each. Of registers: adding a constant takes no time on
 * some processors. */
static double chain(unsigned sixty_fours)
{
	uint64_t begin, x = 0, y = 1;

	delay();
	begin = rdtsc();
	for (unsigned i = 0; i < sixty_fours; i++)
		__asm__ volatile(".rept 64; add %1,%0; .endr" : "+r"(x) : "r"(y));
	return (double)(rdtsc() - begin);
}

/* Ticks of a mixture that fills the issue width. */
static double canary(void)
{
	uint64_t begin;

	delay();
	begin = rdtsc();
	for (int i = 0; i < 16; i++)
		__asm__ volatile(".rept 384; nop; .endr");
	return (double)(rdtsc() - begin);
}

/* From the difference of a long and a short chain, as with blocks. */
static void update_ratio(void)
{
	double x[RATIOS];

	tsc_ratios[ratio_at] = chain(CHAIN_LONG) - chain(CHAIN_SHORT);
	ratio_at = (ratio_at + 1) % RATIOS;
	if (ratio_count < RATIOS)
		ratio_count++;
	__builtin_memcpy(x, tsc_ratios, sizeof(x));
	tsc_ratio = (CHAIN_LONG - CHAIN_SHORT) * 64 / trimmed(x, ratio_count);
}

/* Core cycles; the best of three, since an interrupt is not a neighbour. */
static double canary_cycles(void)
{
	double a = canary(), b = canary();

	return (a < b ? a : b) * tsc_ratio;
}

#define CANARY_SLOW 1.08

static bool neighbour(void)
{
	double now = canary_cycles();

	if (canary_best <= 0 || now < canary_best)
		canary_best = now;
	/* The clock's steps are not a neighbour. */
	return now > canary_best * CANARY_SLOW + tsc_step * tsc_ratio;
}

/* Waits until the canary is fast again, as long as the bench permits; true: it is still slow. */
static bool wait_out(struct answer *a)
{
	if (!neighbour())
		return false;
	for (uint32_t nap = 100; wait_left; nap = nap < 10000 ? nap * 2 : nap) {
		nap = nap < wait_left ? nap : wait_left;
		a->waited++;
		worker_sleep(nap);
		wait_left -= nap;
		neighbour(); /* warm */
		if (!neighbour())
			return false;
	}
	return true;
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static void cpuid(uint32_t leaf, uint32_t r[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
			 : "a"(leaf), "c"(0));
}

/* Vector registers that processor and system offer: 0: SSE, 1: AVX, 2: AVX-512 with its masks of
 * 64 bits and shorter vectors. */
static unsigned vectors(void)
{
	uint32_t one[4], seven[4], xcr0, high;
	const uint32_t wanted = 1u << 16 | 1u << 30 | 1u << 31; /* F, BW, VL */

	cpuid(1, one);
	if ((one[2] >> 26 & 7) != 7) /* XSAVE, OSXSAVE, AVX */
		return 0;
	__asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
	if ((xcr0 & 6) != 6)
		return 0;
	cpuid(7, seven);
	return (seven[1] & wanted) == wanted && (xcr0 & 0xe6) == 0xe6 ? 2 : 1;
}

#define MXCSR 0x9fc0 /* all exceptions masked, denormals are zero, results flushed to zero */

void measure_init(struct channel *c)
{
	uint64_t first = rdtsc();

	random ^= (uint32_t)first;
	image.mxcsr = MXCSR;
	image.mask = ~0ull;
	image.has = vectors();
	for (int i = 0; i < 200; i++)
		tsc_step = greatest_divisor(tsc_step, (uint32_t)(rdtsc() - first));
	clock_step = tsc_step;
	ratio_count = 0;
	for (unsigned i = 0; i < RATIOS + 5; i++)
		update_ratio();
	if (c->pmu && !pmu_counts())
		c->pmu = 0;
	canary_best = c->canary_best;
	wait_left = c->wait_left;
	for (int i = 0; i < 4; i++)
		canary();
	neighbour();
}

/* ---- one block ------------------------------------------------------------------------------- */

struct attempt {
	struct channel *c;
	const struct job *job;
	struct answer *answer;
	const struct state *state;
	struct plan plan;
	struct layout layout;
	int counter;  /* for rdpmc; -1: time stamps */
	double ratio; /* core cycles per unit of that */
};

/* Runs the longer version until all pages that it touches are mapped. */
static enum block_class map_all(struct attempt *t)
{
	struct answer *a = t->answer;
	enum block_class class;

	for (;;) {
		if (t->job->flags & JOB_STORES)
			pages_fill(t->state->fill);
		if (expired)
			return BLOCK_TIMEOUT;
		if (!worker_run(t->layout.entry[1]))
			break;
		a->trap = trap.number;
		a->address = trap.address;
		if (trap.number != 14)
			return trap_class(trap.number);
		class = pages_map(trap.address, trap.write, t->c->distinct);
		if (class == BLOCK_PAGES && !pages.single)
			pages_clear(true);
		else if (class)
			return class;
		pages_fill_last(t->state->fill);
	}
	pages_note(t->state->fill);
	return BLOCK_OK;
}

static void lay(struct attempt *t)
{
	code_lay(&t->layout, t->c, t->job, t->state, &t->plan, t->counter, 0);
}

/* Ticks, or below 0 when a trap ended it. */
static double timed(const struct attempt *t, int which)
{
	pages_restore(t->state->fill);
	delay();
	if (worker_run(t->layout.entry[which])) {
		t->answer->trap = trap.number;
		t->answer->address = trap.address;
		return -1;
	}
	return (double)(uint32_t)(image.end - image.begin);
}

/* A coarse clock does not measure some hundred cycles well: runs are longer, and fewer. */
static bool coarse(void)
{
	return clock_step > 8;
}

/* Ticks per copy of the current layout, through *ticks; -1 when a trap ended it. They may be
 * negative, if runs differ by more than a copy takes. */
static int series(const struct attempt *t, double *ticks)
{
	double x[2][RUNS];
	unsigned runs = coarse() ? RUNS_COARSE : RUNS;

	for (unsigned i = 0; i < runs; i++)
		for (int k = 0; k < 2; k++)
			if ((x[k][i] = timed(t, k)) < 0)
				return -1;
	*ticks = (trimmed(x[1], runs) - trimmed(x[0], runs)) /
		 (t->layout.unroll[1] - t->layout.unroll[0]);
	return 0;
}

/* Caches of decoded instructions and predictors of addresses and of loads' dependences learn for
 * tens of runs: so runs are repeated until they get no faster. */
static int warm_up(const struct attempt *t)
{
	unsigned runs = coarse() ? RUNS_COARSE / 2 : RUNS / 2;
	double before = 0, now = 0;

	for (unsigned round = 0, steady = 0; round < WARM_ROUNDS && steady < 1; round++) {
		double x[RUNS];

		for (unsigned i = 0; i < runs; i++)
			if (timed(t, 0) < 0 || (x[i] = timed(t, 1)) < 0)
				return -1;
		now = trimmed(x, runs);
		steady = before && now > before * 0.995 ? steady + 1 : 0;
		before = now;
	}
	return 0;
}

static double measure_clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* While the stamp delays execution, up to this number of instructions are fetched and decoded
 * ahead; the steady state begins after them. */
#define RUN_AHEAD 288

/* The numbers of copies: enough cycles between few and many for the clock's steps, but few enough
 * for the instruction cache, and with start-up over in the first copies. */
static struct plan measure_choose(const struct job *j, double cycles)
{
	bool loop = j->flags & JOB_LOOP;
	double wanted = (j->flags & JOB_QUICK ? 100 : 300) + (coarse() ? 36.0 : 12.0) * clock_step;
	double room = loop ? 1e6
			   : measure_clamp(COPIES_WANTED / (double)j->instructions, 2,
				     CODE_WANTED / (double)j->length);
	double first, more, unit, passes = 1;

	/* The same block always gets the same numbers. */
	for (unit = 0.25; unit * 1.414 < cycles; unit *= 2)
		;
	/* Predictors of loads' dependences on stores learn for many iterations of a loop. */
	first = loop ? measure_clamp(400 / unit, 64, 256) : measure_clamp(100 / unit, 4, 256);
	more = loop ? measure_clamp(3 * wanted / unit, 64, 512)
		    : measure_clamp(wanted / unit, 8, 400);
	if (unit < 0.6 * j->instructions && first * j->instructions < RUN_AHEAD)
		first = RUN_AHEAD / j->instructions;
	if (first + more > room) {
		room = room < 2 ? 2 : room;
		first = room / 4;
		more = room - first;
	}
	first = first < 1 ? 1 : first;
	more = more < 1 ? 1 : more;
	if (!loop && coarse() && more * unit < wanted)
		passes = measure_clamp(
			(wanted / unit + first) / (first + more) + 0.5, 1, 1500 / (first + more));
	return (struct plan){(unsigned)first, (unsigned)first + (unsigned)more, (unsigned)passes};
}

/* most: the greatest number of copies without a fault; 0: no limit. */
static enum block_class try_state(struct attempt *t, unsigned most)
{
	const struct job *j = t->job;
	unsigned many = j->flags & JOB_LOOP ? 8 : CODE_WANTED / j->length;
	enum block_class class;
	double ticks;

	many = many > 8 ? 8 : many < 2 ? 2 : many;
	if (most && many > most)
		many = most;
	t->plan = (struct plan){many > 4 ? 2 : 1, many, 1};
	pages_clear(false);
	lay(t);
	class = map_all(t);
	/* The first estimate, from few copies, is inaccurate. */
	for (int guess = 0; guess < 2 && !most && !class; guess++) {
		if (warm_up(t) || series(t, &ticks))
			return expired ? BLOCK_TIMEOUT : BLOCK_UNSTEADY;
		t->plan = measure_choose(j, ticks * t->ratio < 0.1 ? 0.1 : ticks * t->ratio);
		lay(t);
		class = map_all(t);
		if (!class && pages.single && t->plan.passes > 1) {
			t->plan.passes = 1;
			pages_clear(false);
			lay(t);
			class = map_all(t);
		}
	}
	return class;
}

/*
 * The place and number of copies affect fetching and decoding, by some percent if these limit the
 * block. So series differ in both, always in the same way: their median does not depend on one
 * place.
 */
static void lay_series(struct attempt *t, unsigned number)
{
	struct plan plan = t->plan;

	plan.many -= (plan.many - plan.few) / 32 * (number % 4);
	code_lay(&t->layout, t->c, t->job, t->state, &plan, t->counter, number * 80);
}

static enum block_class take_series(struct attempt *t)
{
	struct answer *a = t->answer;
	bool quick = t->job->flags & JOB_QUICK;
	unsigned wanted = quick ? QUICK_SERIES : SERIES_MAX, again = 6;
	bool slow = wait_out(a);

	while (a->series < wanted) {
		long switches = worker_switches();
		double ticks;

		lay_series(t, a->series);
		if (!quick && a->series % 7 == 0)
			pages_flush();
		if (warm_up(t) || series(t, &ticks))
			return expired ? BLOCK_TIMEOUT : BLOCK_UNSTEADY;
		if (neighbour() || slow) {
			slow = wait_out(a);
			if (!slow && again) {
				again--;
				continue;
			}
			a->disturbed++;
		}
		if (again && worker_switches() != switches) {
			again--;
			continue;
		}
		a->runs += 2 * (coarse() ? RUNS_COARSE : RUNS);
		if (a->series % 4 == 0) /* the clock may change its frequency meanwhile */
			update_ratio();
		a->cycles[a->series++] = ticks * (t->counter < 0 ? tsc_ratio : 1);
	}
	return BLOCK_OK;
}

/* With counters: misses and line crossings per copy, in thousandths of an event. */
static uint32_t spoilers(struct attempt *t, enum pmu_counter which)
{
	double events = 0;

	t->counter = pmu_number(which);
	if (t->counter < 0)
		return 0;
	lay(t);
	if (series(t, &events) || events < 0)
		return 0;
	return (uint32_t)(events * 1000 + 0.5);
}

static void count_spoilers(struct attempt *t)
{
	int cycles = t->counter;

	t->answer->misses = spoilers(t, PMU_MISSES);
	t->answer->misaligned = spoilers(t, PMU_CROSSING);
	t->counter = cycles;
}

/* The order of states: first those that its instructions need. */
static unsigned order_states(const struct job *j, uint8_t *order)
{
	unsigned n = 0, first = (j->flags & JOB_REPEATS ? 1 : 0) + (j->flags & JOB_DIVIDES ? 2 : 0);

	if (j->flags & JOB_X87)
		order[n++] = (uint8_t)(STATE_FLOATS);
	order[n++] = (uint8_t)first;
	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (i != first && !(j->flags & JOB_X87 && i == STATE_FLOATS))
			order[n++] = (uint8_t)i;
	return n;
}

#define LIMIT_MS     50
#define TIMEOUTS_MAX 3

static enum block_class attempt(struct attempt *t, unsigned state, unsigned most)
{
	struct answer *a = t->answer;
	const struct answer fresh = {0};

	expired = false;
	worker_limit(LIMIT_MS);
	t->state = &block_states[state];
	for (int k = 0; k < 8; k++)
		__builtin_memcpy(image.vector + 8 * k, &t->state->vector, 8);
	*a = fresh;
	a->state = state;
	a->class = try_state(t, most);
	if (!a->class)
		a->class = take_series(t);
	return a->class;
}

/* The values that the block leaves in its address registers may be invalid addresses for the next
 * copy: they are set again before each copy. */
static bool attempt_reset(struct attempt *t, const uint8_t *order, unsigned n)
{
	const struct job *whole = t->job;
	struct job made;

	for (unsigned k = 0; k < n && whole->resets; k++) {
		if (code_reset(t->c, whole, &block_states[order[k]], &made))
			break;
		t->job = &made;
		attempt(t, order[k], 0);
		t->job = whole;
		if (!t->answer->class) {
			t->answer->reset = 1;
			return true;
		}
	}
	return false;
}

/* Tries one state after the other. If all fault, it tries few copies: pointers that grow from copy
 * to copy are valid at first. */
static void attempt_all(struct attempt *t)
{
	static const uint8_t few[] = {6, 3};
	struct answer *a = t->answer, usual = {0};
	uint8_t order[STATE_COUNT];
	unsigned n = order_states(t->job, order), timeouts = 0;

	for (unsigned i = 0; i < n && timeouts < TIMEOUTS_MAX; i++) {
		enum block_class class = attempt(t, order[i], 0);

		if (!class || class == BLOCK_UNSUPPORTED)
			return;
		timeouts += class == BLOCK_TIMEOUT;
		if (i == 0)
			usual = *a;
	}
	if (!timeouts && attempt_reset(t, order, n))
		return;
	for (unsigned i = 0; i < sizeof(few) && !timeouts; i++)
		for (unsigned k = 0; k < n; k++)
			if (!attempt(t, order[k], few[i])) {
				a->few = 1;
				return;
			}
	/* The result in the usual state is reported. */
	*a = usual;
}

static void measure_job(struct channel *c, const struct job *j, struct answer *a)
{
	struct attempt t = {.c = c, .job = j, .answer = a};

	image.vectors = j->flags & JOB_AVX512 ? 2 : j->flags & JOB_WIDE ? 1 : 0;
	image.x87 = !!(j->flags & JOB_X87);
	if (image.vectors > image.has) {
		a->class = BLOCK_UNSUPPORTED;
		return;
	}
	for (int i = 0; i < 3; i++)
		update_ratio();
	t.counter = c->pmu ? pmu_number(PMU_CYCLES) : -1;
	t.ratio = t.counter < 0 ? tsc_ratio : 1;
	clock_step = t.counter < 0 ? tsc_step : 1;
	attempt_all(&t);
	if (!a->class && t.counter >= 0)
		count_spoilers(&t);
	worker_limit(0);
	a->unroll[0] = t.plan.few;
	a->unroll[1] = t.plan.many * (j->flags & JOB_LOOP ? 1 : t.plan.passes);
	a->pages = pages.count;
	a->physical_pages = pages.single ? 1 : pages.count;
	a->ratio = tsc_ratio;
	a->pmu = t.counter >= 0;
}

void measure_batch(struct channel *c)
{
	for (uint32_t i = c->begun; i < c->jobs; i++) {
		c->begun = i + 1;
		measure_job(c, &c->job[i], &c->answer[i]);
	}
	pages_clear(false);
	c->ratio = tsc_ratio;
	c->canary_best = canary_best;
	c->wait_left = wait_left;
	c->begun = 0;
}
