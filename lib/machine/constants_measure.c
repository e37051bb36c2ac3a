/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants of this host: measuring them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/user_times.h"
#include "machine/constants.h"

#define SECONDS      1.3 /* together */
#define ROUNDS       5
#define USER_SECONDS 0.4 /* of each operation */
#define WALK_LEAST   12  /* cycles: a second TLB takes less */

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
		for (int k = 0; k < CONSTANT_SUMS && constants_table[i].sum[k].scale > 0; k++) {
			const struct constant_sum *s = &constants_table[i].sum[k];
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

	for (int n = 0; n < CONSTANT_SUMS && k->sum[n].scale > 0; n++) {
		const struct constant_sum *u = &k->sum[n];
		struct figure f = samples_difference(s, u->a, u->b, u->c, u->d);

		f.value = fmax(f.value * u->scale - u->less, isnan(f.value) ? NAN : 0);
		f.least_spread *= u->scale;
		if (isnan(least.value) || f.value < least.value)
			least = f;
	}
	return least;
}

/* What the system takes of the program's time, at the clock of that moment. */
static void constants_measure_user(struct constant_figures *f)
{
	struct user_times t = user_times_measure(USER_SECONDS);
	double hz = (double)f->clock_hz;

	if (!hz)
		return;
	FIGURE(f, execution.system_call) = (struct figure){t.call_ns * hz * 1e-9, 0, 0};
	FIGURE(f, execution.page_fault) = (struct figure){t.fault_ns * hz * 1e-9, 0, 0};
	if (t.walk_ns * hz * 1e-9 < WALK_LEAST)
		t.walk_ns = 0;
	FIGURE(f, execution.kernel_flush) = (struct figure){t.walk_ns * hz * 1e-9, 0, 0};
	FIGURE(f, execution.steal) = (struct figure){t.stolen * 1000, 0, 0};
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
		f->figure[i] = constants_sum(s, &constants_table[i]);
	free(s);
	return rc;
}

/* How many times there are; -1: that machine has none, or they cannot be kept. *due: is it time for
 * another? */
static int constants_taken(const char *name, bool *due)
{
	struct constant_figures times[CONSTANTS_TIMES];
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
		*due = constants_can_keep();
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
	constants_measure_user(&f);
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
