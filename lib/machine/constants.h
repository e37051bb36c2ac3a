/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constants of this host that are measured: which there are (constants.c), how they are measured
 * (constants_measure.c), and which of several times counts (constants_times.c).
 */
#ifndef MACHINE_CONSTANTS_H
#define MACHINE_CONSTANTS_H

#include <math.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "kernels/sample.h"
#include "machine/kept.h"

enum {
	CONSTANTS = 31,
	CONSTANT_SUMS = 3,   /* of a constant, at most */
	CONSTANTS_TIMES = 8, /* that a host is measured in a boot, at most */
};
_Static_assert(CONSTANTS <= 32, "bits of struct machine");

/* scale * ((a - b) - (c - d)) - less: the part of a turn of the kernel that is something else. */
struct constant_sum {
	double scale;
	int a, b, c, d;
	double less;
};

struct constant {
	const char *key;                        /* of the description, perfex-machine(5) */
	size_t offset;                          /* of its uint32_t */
	size_t above;                           /* of what it must exceed; 0: nothing */
	struct constant_sum sum[CONSTANT_SUMS]; /* the least counts; scale 0: there is none */
	uint32_t least;                         /* a figure below is taken for this */
	uint32_t most; /* what it can be at all; 0: depends on the description's */
};
extern const struct constant constants_table[CONSTANTS];

/* The first line of the text. Increase it when a probe finds something else: kept figures of other
 * probes are measured again. */
#define PROBES "probes 9\n"

/* Of one time, or of all of a boot. */
struct constant_figures {
	struct figure figure[CONSTANTS]; /* value NaN: there is none */
	long long at;                    /* when, in seconds of the system's clock; 0: unknown */
	uint64_t clock_hz;               /* the core's, at that time; 0: unknown */
};

#define CONFIG(field)    offsetof(struct model_config, field)
#define FIGURE(f, field) (f)->figure[constant_number(CONFIG(field))]

/* The number of the constant at this offset, which there is. */
static inline int constant_number(size_t offset)
{
	int i = 0;

	while (constants_table[i].offset != offset)
		i++;
	return i;
}

/* By what neighbours do: an earlier boot's is another one, and no other time need find it. */
static inline bool constant_changes(const struct constant *k)
{
	static const size_t offsets[] = {CONFIG(ll_later), CONFIG(execution.system_call),
		CONFIG(execution.page_fault), CONFIG(execution.kernel_flush),
		CONFIG(execution.steal)};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (k->offset == offsets[i])
			return true;
	return false;
}

/* A figure that its rounds do not agree on says nothing, also if it is the least. */
bool constant_scatters(const struct figure *f);

/* LL-later as what was measured: the part of the lines that is gone. */
double constants_gone(const struct constant_figures *f);
/* Those take as long as memory, the others as LL: with whatever these are taken to be. */
void constants_put_gone(struct constant_figures *f, double gone);

/* Reads lines of "KEY N cycles, spread N", "taken at N" and "clock N Hz"; others are ignored.
 * Returns whether there was a figure. */
bool constants_scan(const char *text, struct constant_figures *f);
/* Appends these lines. */
void constants_print(const struct constant_figures *f, struct strbuf *out);

/* Replaces the machine's constants by those of the figures that can be. */
void constants_apply(struct machine *m, const struct constant_figures *f);

/* Reads the times of this boot; returns how many there are. */
int constants_times(
	const struct machine_identity *id, struct constant_figures times[CONSTANTS_TIMES]);
/* When to measure again: the least distance from the last of n times, in seconds; 0: not again. */
long long constants_wait(const struct constant_figures *times, int n);
/* What n times give, at least one: the least of each figure, and the fastest clock. Of figures that
 * no other time found, or that scatter, only where there are no others; of LL-later, the usual
 * one. */
void constants_join(const struct constant_figures *times, int n, struct constant_figures *out);
/* Figures near those of an earlier boot, or of another user, become these. */
void constants_settle(struct constant_figures *f, const struct machine_identity *id);
/* Keeps the text of a time as the next of this boot; what all of them give lasts. */
void constants_keep(const struct machine_identity *id, const struct strbuf *text);
/* Can a first time be kept? */
bool constants_can_keep(void);

#endif
