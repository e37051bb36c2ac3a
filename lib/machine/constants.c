/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this host was found to need: latencies, and distances in time, of which its description has
 * those of another specimen. Virtual machines walk two page tables, servers have slower memory than
 * the processor's maker states. Figures are taken with kernels of lib/kernels, several times a boot
 * for all users, minutes apart: a neighbour on the same core lengthens what all rounds of one time
 * find (front ends by a half, L2 by a fifth), so the least of the times counts that another one
 * found, too: a difference of two kernels is too small where the second was lengthened. Three times
 * are enough if two of them found the least of each figure; otherwise there are more, at growing
 * distances. They change cycles, and no count of anything else: the geometry is not measured.
 * What others do with the last level (LL-later) goes on all the time: its usual time counts.
 *
 * A figure that cannot be is refused, and the description's stays: one that is not above that of
 * the next nearer level, ten times the description's, less than a tenth of it, or that scatters.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "kernels/sample.h"
#include "machine/kept.h"

#define NO      (-1)
#define SECONDS 1.3 /* together */
#define ROUNDS  5
#define TIMES   10   /* of the description's, or a part of it, at most */
#define SPREAD  0.25 /* of the figure, at most */
#define SAME    0.1  /* a figure so near to an earlier boot's is that one's */
#define NEAR    0.3  /* cycles: or within these */
#define SUMS    3    /* of a constant, at most */
#define APART   120  /* seconds between the first times; then twice the distance before */

#define CONFIG(field)      offsetof(struct model_config, field)
#define AT(kind, place)    (PROBE_##kind + PLACE_##place)
#define ALONE(kind, place) 1, AT(kind, place), NO, NO, NO, 0

/* scale * ((a - b) - (c - d)) - less: the part of a turn of the kernel that is something else. */
struct sum {
	double scale;
	int a, b, c, d;
	double less;
};

static const struct constant {
	const char *key;      /* of the description, perfex-machine(5) */
	size_t offset;        /* of its uint32_t */
	size_t above;         /* of what it must exceed; 0: nothing */
	struct sum sum[SUMS]; /* the least counts; scale 0: there is none */
	uint32_t least;       /* a figure below is taken for this */
	uint32_t most;        /* what it can be at all; 0: depends on the description's */
} constants[] = {
	{"L2", CONFIG(l2.latency), CONFIG(l1d.latency), {{1, AT(CHASE, L2), NO, NO, NO, 0}}, 1, 0},
	{"LL", CONFIG(ll.latency), CONFIG(l2.latency),
		{{1, AT(CHASE, LL), NO, AT(CHASE, STLB), AT(CHASE, L1), 0}}, 1, 0},
	{"memory", CONFIG(memory_latency), CONFIG(ll.latency),
		{{1, PROBE_SCATTERED, NO, NO, NO, 0}}, 1, 0},
	{"LL-later", CONFIG(ll_later), 0, {{1, PROBE_LL_GONE, NO, NO, NO, 0}}, 1,
		10000}, /* see constants_put_gone */
	{"L2-line", CONFIG(l2_interval), 0,
		{{ALONE(SWEEP, L2)}, {ALONE(FREE, L2)}, {ALONE(STORES, L2)}}, 1, 0},
	{"LL-line", CONFIG(ll_interval), 0, {{ALONE(SWEEP, LL)}, {ALONE(FREE, LL)}}, 1, 0},
	{"memory-line", CONFIG(memory_interval), 0, {{ALONE(SWEEP, MEMORY)}, {ALONE(FREE, MEMORY)}},
		1, 0},
	{"intervention", CONFIG(intervention_latency), CONFIG(l2.latency),
		{{1, PROBE_TRANSFER_CHASE, NO, NO, NO, 0}}, 1, 0},
	{"STLB", CONFIG(stlb_latency), 0, {{1, AT(CHASE, STLB), AT(CHASE, L1), NO, NO, 0}}, 1, 0},
	{"walk", CONFIG(walk_latency), CONFIG(stlb_latency),
		{{1, AT(CHASE, WALK), AT(CHASE, WALK_PACKED), NO, NO, 0}}, 1, 0},
	{"mispredict", CONFIG(mispredict_penalty), 0,
		{{2, PROBE_DECISIONS, PROBE_NO_DECISIONS, NO, NO, 1}}, 1, 0},
	{"store-forward", CONFIG(store_forward_penalty), 0, {{1, PROBE_PASS_HALVES, NO, NO, NO, 2}},
		1, 0},
	{"forward", CONFIG(execution.forward), CONFIG(l1d.latency),
		{{2, PROBE_PASS, NO, NO, NO, 1}}, 0, 0},
	{"forward-renamed", CONFIG(execution.forward_renamed), 0,
		{{1, PROBE_PASS_SAME, NO, NO, NO, 1}}, 0, 40},
	{"vector-forward", CONFIG(execution.vector_forward), 0,
		{{1, PROBE_PASS_VECTOR, NO, NO, NO, 0}}, 1, 40},
	{"scaled-load", CONFIG(execution.scaled_load), 0,
		{{1, PROBE_CHASE_SCALED, AT(CHASE, L1), NO, NO, 0}}, 0, 4},
	{"long-address", CONFIG(execution.long_address), 0, {{1, PROBE_ADDRESSES, NO, NO, NO, 0}},
		1, 4},
	{"locked", CONFIG(lock_latency), 0, {{1, PROBE_EXCHANGE, NO, NO, NO, 0}}, 1, 0},
	{"divide", CONFIG(divide_latency), 0,
		{{0.5, PROBE_DIVIDE_FREE, NO, NO, PROBE_DIVIDE_FREE_LARGE, 0}}, 1, 0},
	{"divide-latency", CONFIG(execution.divide), 0,
		{{0.5, PROBE_DIVIDE_CHAIN_SMALL, NO, NO, PROBE_DIVIDE_CHAIN_LARGE, 2}}, 1, 0},
	{"fp-divide", CONFIG(fp_divide_latency), 0, {{1, PROBE_FP_DIVIDE_FREE, NO, NO, NO, 0}}, 1,
		0},
	{"fp-divide-latency", CONFIG(execution.fp_divide), 0,
		{{1, PROBE_FP_DIVIDE_CHAIN, NO, NO, NO, 0}}, 1, 0},
	{"fp-root-latency", CONFIG(execution.fp_root), 0, {{1, PROBE_ROOTS, NO, NO, NO, 0}}, 1,
		100},
	{"fp-add-chain", CONFIG(execution.fp_add_chain), 0,
		{{1, PROBE_FP_ADD_CHAIN, NO, NO, NO, 0}}, 1, 0},
	{"taken", CONFIG(taken_interval), 0, {{1, PROBE_CODE + CODE_JUMPS_L1, NO, NO, NO, 0}}, 1,
		0},
	/* The call takes the time of any taken branch. */
	{"taken-return", CONFIG(return_interval), 0, {{1, PROBE_RETURNS, NO, NO, NO, 1}}, 1, 20},
	{"taken-indirect", CONFIG(indirect_interval), 0, {{1, PROBE_TARGETS, NO, NO, NO, 0}}, 1,
		20},
};
/* Increase it when a probe finds something else: kept figures of other probes are measured again.
 */
#define PROBES "probes 7\n"

enum { CONSTANTS = sizeof(constants) / sizeof(constants[0]) };
_Static_assert(CONSTANTS <= 32, "bits of struct machine");

struct constant_figures {
	struct figure figure[CONSTANTS]; /* value NaN: there is none */
	long long at;                    /* when, in seconds of the system's clock; 0: unknown */
	uint64_t clock_hz;               /* the core's, at that time; 0: unknown */
};

/* By what neighbours do: an earlier boot's is another one. */
static bool constant_changes(const struct constant *k)
{
	return k->offset == CONFIG(ll_later);
}

static int constant_number(size_t offset)
{
	int i = 0;

	while (constants[i].offset != offset)
		i++;
	return i;
}
#define FIGURE(f, field) (f)->figure[constant_number(CONFIG(field))]

/* LL-later as what was measured: the part of the lines that is gone. */
static double constants_gone(const struct constant_figures *f)
{
	double ll = FIGURE(f, ll.latency).value, memory = FIGURE(f, memory_latency).value;
	double gone = (FIGURE(f, ll_later).value - ll) / (memory - ll);

	return gone > 1 ? 1 : gone < 0 ? 0 : gone;
}

/* Those take as long as memory, the others as LL: with whatever these are taken to be. That rounds
 * differ says nothing against it. */
static void constants_put_gone(struct constant_figures *f, double gone)
{
	double ll = FIGURE(f, ll.latency).value, memory = FIGURE(f, memory_latency).value;

	if (!isnan(ll + gone * (memory - ll)))
		FIGURE(f, ll_later) = (struct figure){ll + gone * (memory - ll), 0, 0};
}

static uint32_t *constant_of(struct model_config *c, size_t offset)
{
	return (uint32_t *)((char *)c + offset);
}

/* ---- as text ---- */

/* Lines that are something else are for others, or for people. */
static bool constants_scan(const char *text, struct constant_figures *f)
{
	bool any = false;

	f->at = 0;
	f->clock_hz = 0;
	for (int i = 0; i < CONSTANTS; i++)
		f->figure[i] = (struct figure){NAN, NAN, NAN};
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct figure one = {0, 0, 0};
		char key[32];

		if (sscanf(line, "taken at %lld", &f->at) == 1 ||
			sscanf(line, "clock %" SCNu64 " Hz", &f->clock_hz) == 1)
			continue;
		if (sscanf(line, "%31s %lf cycles, spread %lf", key, &one.value,
			    &one.least_spread) != 3)
			continue;
		for (int i = 0; i < CONSTANTS; i++)
			if (strcmp(key, constants[i].key) == 0 && one.value >= 0 &&
				one.value < 1e6 && one.least_spread >= 0) {
				f->figure[i] = one;
				any = true;
			}
	}
	return any;
}

static void constants_print(const struct constant_figures *f, struct strbuf *out)
{
	strbuf_puts(out, PROBES);
	if (f->at)
		strbuf_printf(out, "taken at %lld\n", f->at);
	if (f->clock_hz)
		strbuf_printf(out, "clock %" PRIu64 " Hz\n", f->clock_hz);
	for (int i = 0; i < CONSTANTS; i++)
		if (!isnan(f->figure[i].value))
			strbuf_printf(out, "%s %.2f cycles, spread %.2f\n", constants[i].key,
				f->figure[i].value, f->figure[i].least_spread);
}

static bool constants_usable(const char *text)
{
	struct constant_figures f;

	return strncmp(text, PROBES, strlen(PROBES)) == 0 && constants_scan(text, &f);
}

enum { TIMES_ENOUGH = 3, TIMES_A_BOOT = 8 };

/* One for each time. The first of them lasts beyond the boot, too. */
static const struct kept_file constants_files[TIMES_A_BOOT] = {{"host", constants_usable},
	{"host-2", constants_usable}, {"host-3", constants_usable}, {"host-4", constants_usable},
	{"host-5", constants_usable}, {"host-6", constants_usable}, {"host-7", constants_usable},
	{"host-8", constants_usable}};

/* ---- the times of one boot ---- */

/* Returns how many there are. */
static int constants_times(
	const struct machine_identity *id, struct constant_figures times[TIMES_A_BOOT])
{
	int n = 0;

	while (n < TIMES_A_BOOT) {
		char *text = kept_read(&constants_files[n], id, KEPT_BOOT);
		bool any = text && constants_scan(text, &times[n]);

		free(text);
		if (!any)
			break;
		n++;
	}
	return n;
}

static bool constants_near(double value, double other)
{
	return fabs(value - other) <= fmax(SAME * other, NEAR);
}

/* A figure that its rounds do not agree on says nothing, also if it is the least. */
static bool constant_scatters(const struct figure *f)
{
	return !(f->least_spread <= SPREAD * fmax(f->value, 1));
}

/* Has each figure been found twice, the least one and another near it? */
static bool constants_agree(const struct constant_figures *times, int n)
{
	for (int i = 0; i < CONSTANTS; i++) {
		double least = NAN;
		int found = 0, any = 0;

		for (int k = 0; k < n; k++)
			if (!constant_scatters(&times[k].figure[i]))
				least = fmin(least, times[k].figure[i].value);
		for (int k = 0; k < n; k++) {
			any += !isnan(times[k].figure[i].value);
			found += !constant_scatters(&times[k].figure[i]) &&
				 constants_near(times[k].figure[i].value, least);
		}
		if (any > 1 && found < 2 && !constant_changes(&constants[i]))
			return false;
	}
	return true;
}

/* When to measure again: the least distance from the last of n times, in seconds; 0: not again. */
static long long constants_wait(const struct constant_figures *times, int n)
{
	if (n >= TIMES_A_BOOT || (n >= TIMES_ENOUGH && constants_agree(times, n)))
		return 0;
	return n < TIMES_ENOUGH ? APART : (long long)APART << (n - TIMES_ENOUGH + 1);
}

/* Figure i: did another time find what time k did? What neighbours change need not be found
 * twice. */
static bool constant_confirmed(const struct constant_figures *times, int n, int i, int k)
{
	for (int other = 0; other < n; other++)
		if (other != k && !constant_scatters(&times[other].figure[i]) &&
			constants_near(times[other].figure[i].value, times[k].figure[i].value))
			return true;
	return constant_changes(&constants[i]);
}

/* How far time k is to be believed: those of the most count. */
static int constant_standing(const struct constant_figures *times, int n, int i, int k)
{
	if (isnan(times[k].figure[i].value))
		return 0;
	if (constant_scatters(&times[k].figure[i]))
		return 1;
	return constant_confirmed(times, n, i, k) ? 3 : 2;
}

/* The usual one of n times: the lower median. */
static double constants_usual_gone(const struct constant_figures *times, int n)
{
	double x[TIMES_A_BOOT];
	int any = 0;

	for (int k = 0; k < n; k++)
		any += !isnan(x[any] = constants_gone(&times[k]));
	stats_median(x, (size_t)any); /* sorts */
	return any ? x[(any - 1) / 2] : NAN;
}

/* The least of n times, of each figure, and the fastest clock; of those that no other time found,
 * or that scatter, only where there are no others. */
static void constants_join(
	const struct constant_figures *times, int n, struct constant_figures *out)
{
	*out = times[0];
	for (int k = 1; k < n; k++) {
		out->at = times[k].at;
		if (times[k].clock_hz > out->clock_hz)
			out->clock_hz = times[k].clock_hz;
	}
	for (int i = 0; i < CONSTANTS; i++) {
		int best = 0;

		for (int k = 1; k < n; k++) {
			int more = constant_standing(times, n, i, k) -
				   constant_standing(times, n, i, best);

			if (more > 0 || (more == 0 && times[k].figure[i].value <
							      times[best].figure[i].value))
				best = k;
		}
		out->figure[i] = times[best].figure[i];
	}
	constants_put_gone(out, constants_usual_gone(times, n));
}

/* ---- into the machine ---- */

static bool constant_possible(
	const struct constant *k, const struct figure *f, struct model_config *c)
{
	uint32_t described = *constant_of(c, k->offset);
	double whole = round(f->value);

	if (k->most ? whole > k->most
		    : whole > (double)TIMES * described || fmax(whole, 1) * TIMES < described)
		return false;
	return !constant_scatters(f) && (!k->above || whole > *constant_of(c, k->above));
}

static void constants_apply(struct machine *m, const struct constant_figures *f)
{
	struct model_config described = m->model;

	for (int i = 0; i < CONSTANTS; i++) {
		const struct constant *k = &constants[i];

		/* 0: without the level, or without a limit */
		if (isnan(f->figure[i].value) || (!k->most && !*constant_of(&described, k->offset)))
			continue;
		if (!constant_possible(k, &f->figure[i], &m->model)) {
			m->refused |= UINT32_C(1) << i;
			continue;
		}
		*constant_of(&m->model, k->offset) =
			(uint32_t)fmax(round(f->figure[i].value), k->least);
		m->measured |= UINT32_C(1) << i;
	}
}

void machine_take_constants(struct machine *m, const char *text)
{
	struct constant_figures f;

	if (constants_scan(text, &f))
		constants_apply(m, &f);
}

void machine_change_constants(struct machine *m, const struct model_config *before)
{
	struct model_config was = *before;

	for (int i = 0; i < CONSTANTS; i++)
		if (*constant_of(&m->model, constants[i].offset) !=
			*constant_of(&was, constants[i].offset)) {
			m->measured &= ~(UINT32_C(1) << i);
			m->refused &= ~(UINT32_C(1) << i);
		}
}

void machine_host_constants(struct machine *m, const struct machine_identity *id)
{
	struct constant_figures times[TIMES_A_BOOT], joined;
	char *text = kept_given(NULL);
	int n;

	if (text) {
		machine_take_constants(m, text);
	} else if (kept_measures() && (n = constants_times(id, times)) > 0) {
		constants_join(times, n, &joined);
		constants_apply(m, &joined);
		/* A busy neighbour makes the core slower, too. */
		if (m->clock_from == MACHINE_CLOCK_MEASURED &&
			joined.clock_hz > m->model.clock_hz &&
			machine_plausible_hz(joined.clock_hz))
			m->model.clock_hz = joined.clock_hz;
	}
	free(text);
}

bool machine_constant(const struct machine *m, size_t i, struct machine_constant *out)
{
	uint32_t bit = UINT32_C(1) << i;
	struct model_config c = m->model;

	if (i >= CONSTANTS)
		return false;
	out->key = constants[i].key;
	out->value = *constant_of(&c, constants[i].offset);
	out->from = m->measured & bit  ? MACHINE_CONSTANT_MEASURED
		    : m->refused & bit ? MACHINE_CONSTANT_REFUSED
				       : MACHINE_CONSTANT_DESCRIBED;
	return true;
}

/* ---- measuring ---- */

struct rig_shape machine_shape(const struct machine *m)
{
	const struct model_config *c = &m->model;

	return (struct rig_shape){c->l1i.size, c->l1d.size, c->l2.size, c->ll.size, c->itlb.entries,
		c->dtlb.entries, c->stlb.entries};
}

/* The probes that the sums need, each once. */
static int constants_probes(int probes[PROBE_COUNT])
{
	bool needed[PROBE_COUNT] = {false};
	int count = 0;

	for (int i = 0; i < CONSTANTS; i++)
		for (int k = 0; k < SUMS && constants[i].sum[k].scale > 0; k++) {
			const struct sum *s = &constants[i].sum[k];
			const int of[] = {s->a, s->b, s->c, s->d};

			for (int n = 0; n < 4; n++)
				if (of[n] >= 0)
					needed[of[n]] = true;
		}
	for (int i = 0; i < PROBE_COUNT; i++)
		if (needed[i])
			probes[count++] = i;
	return count;
}

static struct figure constants_sum(const struct samples *s, const struct constant *k)
{
	struct figure least = {NAN, NAN, NAN};

	for (int n = 0; n < SUMS && k->sum[n].scale > 0; n++) {
		const struct sum *u = &k->sum[n];
		struct figure f = samples_difference(s, u->a, u->b, u->c, u->d);

		f.value = fmax(f.value * u->scale - u->less, isnan(f.value) ? NAN : 0);
		f.least_spread *= u->scale;
		if (isnan(least.value) || f.value < least.value)
			least = f;
	}
	return least;
}

/* A figure near an earlier boot's, or another user's, is the same one, measured again. */
static void constants_settle_by(
	struct constant_figures *f, const struct machine_identity *id, enum kept_how_long how_long)
{
	char *text = kept_read_of_any_user(&constants_files[0], id, how_long);
	struct constant_figures earlier;

	if (text && constants_scan(text, &earlier))
		for (int i = 0; i < CONSTANTS; i++)
			if (!constant_changes(&constants[i]) &&
				constants_near(f->figure[i].value, earlier.figure[i].value))
				f->figure[i].value = earlier.figure[i].value;
	free(text);
}

static void constants_settle(struct constant_figures *f, const struct machine_identity *id)
{
	double gone = constants_gone(f);

	constants_settle_by(f, id, KEPT_LASTING);
	constants_settle_by(f, id, KEPT_BOOT);
	constants_put_gone(f, gone);
}

static int constants_measure(const struct machine *host, struct constant_figures *f,
	struct progress *progress, struct error *e)
{
	struct samples *s = calloc(1, sizeof(*s));
	struct rig_shape shape = machine_shape(host);
	int probes[PROBE_COUNT], count = constants_probes(probes), rc;
	struct rig rig;

	if (!s)
		return error_nomem(e);
	rc = rig_init(&rig, &shape, e);
	if (rc == 0) {
		rc = samples_take(s, &rig, probes, count, ROUNDS, SECONDS, progress, e);
		rig_fini(&rig);
	}
	for (int i = 0; rc == 0 && i < CONSTANTS; i++)
		f->figure[i] = constants_sum(s, &constants[i]);
	free(s);
	return rc;
}

/* How many times there are; -1: that machine has none, or they cannot be kept. *due: is it time for
 * another? */
static int constants_taken(const char *name, bool *due)
{
	struct constant_figures times[TIMES_A_BOOT];
	long long now = time(NULL), wait;
	struct machine_identity id;
	int n;

	*due = false;
	if ((name && strcmp(name, "host") != 0 && strncmp(name, "host:", 5) != 0) ||
		!kept_measures())
		return -1;
	machine_identify("", &id);
	n = constants_times(&id, times);
	if (n == 0) {
		*due = kept_possible(&constants_files[0], KEPT_BOOT);
		return *due ? 0 : -1;
	}
	wait = constants_wait(times, n);
	/* A clock that was set back must not prevent it. */
	*due = wait && (now >= times[n - 1].at + wait || now < times[n - 1].at);
	return n;
}

bool machine_unmeasured(const char *name)
{
	bool due;

	return constants_taken(name, &due) == 0;
}

bool machine_measure_due(const char *name)
{
	bool due;

	constants_taken(name, &due);
	return due;
}

/* Keeps it as the next of this boot; the best of all of them is what lasts. */
static void constants_keep(const struct machine_identity *id, const struct strbuf *text)
{
	struct constant_figures times[TIMES_A_BOOT], joined;
	struct strbuf lasting = {0};
	int n = constants_times(id, times);

	if (n >= TIMES_A_BOOT || !kept_write(&constants_files[n], id, KEPT_BOOT, strbuf_text(text)))
		return;
	constants_join(times, constants_times(id, times), &joined);
	constants_print(&joined, &lasting);
	if (!lasting.failed)
		kept_write(&constants_files[0], id, KEPT_LASTING, strbuf_text(&lasting));
	strbuf_fini(&lasting);
}

int machine_measure_constants(
	const struct machine *host, struct progress *progress, struct error *e)
{
	struct constant_figures f;
	struct machine_identity id;
	struct strbuf text = {0};
	int rc = 0;

	if (constants_measure(host, &f, progress, e))
		return -1;
	constants_put_gone(&f, FIGURE(&f, ll_later).value);
	f.at = time(NULL);
	f.clock_hz = machine_clock_settled(machine_time_clock());
	machine_identify("", &id);
	constants_settle(&f, &id);
	constants_print(&f, &text);
	if (text.failed)
		rc = error_nomem(e);
	else
		constants_keep(&id, &text);
	strbuf_fini(&text);
	return rc;
}
