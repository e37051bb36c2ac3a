/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long lines last in a last level that others use, too: other cores, and other virtual machines
 * on them, which the model does not know. They put in lines at a constant rate, and a line of ours
 * leaves when the third group of theirs has come to its set: it is still there after t with
 * probability exp(-x) (1 + x + x^2 / 2), x = t / third (Erlang's distribution). The counts are
 * those of the level alone; only the time is that of memory for a line that is taken to be gone.
 *
 * When a line was put there is not known, but how many others were since, in its set: with the rate
 * of arrivals that is a time. Arrivals for an instruction are known of the whole program, cycles
 * for an instruction of the windows in which the clock runs: so the rate is the same whether it
 * always runs or not.
 *
 * Source: chases through 2 and 4 of 32 MiB on a virtual machine, which waited for 1.2, 2.5, 5 and
 * 10 ms: 93, 67, 25 and 6% of their lines were still there. On another one, after 1, 2, 5 and 10
 * ms: 98, 92, 45 and 15%.
 *
 * Not modelled: lines go the sooner the more of the level a program uses. After sweeps through 4,
 * 8, 16, 24 and 32 of 32 MiB on a Zen 5 some 0, 0, 1, 15 and 41% were gone at once, 4, 20, 19, 55
 * and 80% 2.5 ms later, and chases through 12 MiB or more stay slow: their lines are gone before
 * they come again. Groups in proportion to the rest of the level are right for these chases (one
 * through 16 MiB: -89 -> -6%), but make programs that walk through 27 MiB in order 1.6 to 2.5 times
 * too slow.
 */
#ifndef MODEL_LASTING_H
#define MODEL_LASTING_H

#include <stdint.h>

#include "model/model.h"

#define LASTING_RANKS 16

struct lasting {
	double third; /* of the time that a line lasts, cycles; 0: no others use the level */
	double sets;
	/* The latest weigh most: arrivals, and instructions, of the program; cycles, and
	 * instructions, of windows. */
	double arrived, passed, cycles, clocked;
	uint64_t arrivals;            /* of lines, all */
	uint64_t since, order;        /* arrivals, and instructions of the core, that are in them */
	uint64_t began, began_order;  /* the same of the clock, and of instructions */
	uint32_t gone[LASTING_RANKS]; /* 2^32 times the probability, by newer lines of a set */
	uint64_t random;
};

void lasting_init(struct lasting *l, const struct model_config *config);
/* Do others use the level? */
static inline int lasting_has_others(const struct lasting *l)
{
	return l->third > 0;
}
/* The clock of a core runs from here on: it is at `now`, cycles, and the core at instruction
 * `order`.
 */
void lasting_begin(struct lasting *l, uint64_t now, uint64_t order);
/* They have come to these. */
void lasting_learn(struct lasting *l, uint64_t now, uint64_t order);
/* Is a line gone that is found with this number of newer ones in its set? */
int lasting_gone(struct lasting *l, unsigned newer, uint64_t now, uint64_t order);

#endif
