/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_NATIVE_H
#define PERFEX_NATIVE_H

#include "options.h"
#include "sources/native_run.h"

/* -native: times the command without the model. What goes wrong is said; t->runs is 0 then. */
void native_measure(const struct options *o, struct replay *input, struct native_times *t);

#endif
