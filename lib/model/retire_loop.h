/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the retirement clock share. */
#ifndef MODEL_RETIRE_LOOP_H
#define MODEL_RETIRE_LOOP_H

#include "model/retire.h"

/* Of struct retire_op. */
enum retire_way {
	RETIRE_PLAIN,    /* touches no memory */
	RETIRE_LOADS,    /* loads once, and then whatever it does */
	RETIRE_STORES,   /* stores once */
	RETIRE_GENERALLY /* anything */
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
