/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits, shown where they occurred: a row before each instruction that waited, with a letter for
 * each possible cause, the most likely one first, and a legend at the first use of each letter
 * (Anderson et al., SOSP'97, figure 2).
 */
#include <stdio.h>
#include <string.h>

#include "report/report_calc.h"

enum { STATIC = CULPRITS, STATIC_LETTER = 's', UNEXPLAINED_LETTER = '?' };
/* Limits for a cause: share of the wait; cycles. */
#define LEAST_SHARE 0.03
#define LEAST_WAIT  0.3
#define DOTS_FROM   3.0 /* cycles: "..." marks a long wait */

struct bubble {
	char letters[CULPRITS + 3];
	char legend[400];
	size_t count, used;
	bool *told;
};

static void calc_bubbles_add(struct bubble *b, char letter, unsigned cause, const char *name)
{
	if (strchr(b->letters, letter))
		return; /* another level of the data cache */
	b->letters[b->count++] = letter;
	b->letters[b->count] = '\0';
	if (b->told[cause] || b->used + 80 > sizeof(b->legend))
		return;
	b->told[cause] = true;
	b->used += (size_t)snprintf(
		b->legend + b->used, sizeof(b->legend) - b->used, "  (%c = %s)", letter, name);
}

static const char *name_of(enum culprit_cause cause)
{
	return CULPRIT_DATA >> cause & 1 ? "D-cache miss" : culprit_name(cause);
}

void report_calc_bubble(struct dis *l, struct report_dis_body *b, uint32_t i)
{
	const struct culprits *c = &b->explained->culprits;
	const struct culprit_wait *w = &c->wait[i];
	double times = explain_executed(b->calc, i), wait = w->dynamic + w->fixed;
	struct bubble bubble = {.told = l->calc->told};

	if (!(times > 0) || wait < LEAST_WAIT * times || !(w->dynamic + w->fixed > 0))
		return;
	for (uint32_t k = w->first; k < w->first + w->count; k++) {
		const struct culprit *x = &c->list.data[k];
		enum culprit_cause cause = (enum culprit_cause)x->cause;

		if (x->likely >= LEAST_SHARE * wait)
			calc_bubbles_add(&bubble, culprit_letter(cause), cause, name_of(cause));
	}
	if (w->fixed >= LEAST_SHARE * wait)
		calc_bubbles_add(&bubble, STATIC_LETTER, STATIC, "by the schedule");
	if (w->unexplained >= LEAST_SHARE * wait)
		bubble.letters[bubble.count++] = UNEXPLAINED_LETTER;
	report_dis_bubble_row(l, b, i,
		report_text(l->t, "    %s%s %.1f cycles%s", bubble.letters,
			wait >= DOTS_FROM * times ? " ..." : "", wait / times, bubble.legend));
}
