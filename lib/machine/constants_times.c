/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times that a host was measured: files, and what counts of them. */
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "machine/constants.h"

#define SAME  0.1 /* a figure so near to an earlier boot's is that one's */
#define NEAR  0.3 /* cycles: or within these */
#define APART 120 /* seconds between the first times; then twice the distance before */

static bool constants_usable(const char *text)
{
	struct constant_figures f;

	return strncmp(text, PROBES, strlen(PROBES)) == 0 && constants_scan(text, &f);
}

enum { TIMES_ENOUGH = 3 };

/* One for each time. The first of them lasts beyond the boot, too. */
static const struct kept_file constants_files[CONSTANTS_TIMES] = {{"host", constants_usable},
	{"host-2", constants_usable}, {"host-3", constants_usable}, {"host-4", constants_usable},
	{"host-5", constants_usable}, {"host-6", constants_usable}, {"host-7", constants_usable},
	{"host-8", constants_usable}};

/* ---- the times of one boot ---- */

/* Returns how many there are. */
int constants_times(
	const struct machine_identity *id, struct constant_figures times[CONSTANTS_TIMES])
{
	int n = 0;

	while (n < CONSTANTS_TIMES) {
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
		if (any > 1 && found < 2 && !constant_changes(&constants_table[i]))
			return false;
	}
	return true;
}

/* When to measure again: the least distance from the last of n times, in seconds; 0: not again. */
long long constants_wait(const struct constant_figures *times, int n)
{
	if (n >= CONSTANTS_TIMES || (n >= TIMES_ENOUGH && constants_agree(times, n)))
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
	return constant_changes(&constants_table[i]);
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

/* The usual part of the lines that is gone: the lower median. */
static double constants_usual_gone(const struct constant_figures *times, int n)
{
	double x[CONSTANTS_TIMES];
	int any = 0;

	for (int k = 0; k < n; k++)
		any += !isnan(x[any] = constants_gone(&times[k]));
	stats_median(x, (size_t)any); /* sorts */
	return any ? x[(any - 1) / 2] : NAN;
}

/* The least of n times, of each figure, and the fastest clock; of those that no other time found,
 * or that scatter, only where there are no others. */
void constants_join(const struct constant_figures *times, int n, struct constant_figures *out)
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

/* A figure near an earlier boot's, or another user's, is the same one, measured again. */
static void constants_settle_by(
	struct constant_figures *f, const struct machine_identity *id, enum kept_how_long how_long)
{
	char *text = kept_read_of_any_user(&constants_files[0], id, how_long);
	struct constant_figures earlier;

	if (text && constants_scan(text, &earlier))
		for (int i = 0; i < CONSTANTS; i++)
			if (!constant_changes(&constants_table[i]) &&
				constants_near(f->figure[i].value, earlier.figure[i].value))
				f->figure[i].value = earlier.figure[i].value;
	free(text);
}

void constants_settle(struct constant_figures *f, const struct machine_identity *id)
{
	double gone = constants_gone(f);

	constants_settle_by(f, id, KEPT_LASTING);
	constants_settle_by(f, id, KEPT_BOOT);
	constants_put_gone(f, gone);
}

/* Keeps it as the next of this boot; the best of all of them is what lasts. */
void constants_keep(const struct machine_identity *id, const struct strbuf *text)
{
	struct constant_figures times[CONSTANTS_TIMES], joined;
	struct strbuf lasting = {0};
	int n = constants_times(id, times);

	if (n >= CONSTANTS_TIMES ||
		!kept_write(&constants_files[n], id, KEPT_BOOT, strbuf_text(text)))
		return;
	constants_join(times, constants_times(id, times), &joined);
	constants_print(&joined, &lasting);
	if (!lasting.failed)
		kept_write(&constants_files[0], id, KEPT_LASTING, strbuf_text(&lasting));
	strbuf_fini(&lasting);
}

bool constants_can_keep(void)
{
	return kept_possible(&constants_files[0], KEPT_BOOT);
}

void machine_host_constants(struct machine *m, const struct machine_identity *id)
{
	struct constant_figures times[CONSTANTS_TIMES], joined;
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
