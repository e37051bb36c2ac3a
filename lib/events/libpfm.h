/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpfm4, which is visible in libpfm.c and nowhere else.  It is initialised at first use, which
 * takes milliseconds, and stays so until the process ends; strings that it hands out live as long.
 */
#ifndef EVENTS_LIBPFM_H
#define EVENTS_LIBPFM_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nearest.h"
#include "events/event.h"

/*
 * Encodes a libpfm4 string.  With host set, events of processors other than this one are refused;
 * otherwise every processor that the library knows is encoded, here or not (tables, tests).
 * ERR_NOT_FOUND: there is no such event.
 */
int libpfm_encode(const char *text, bool host, struct event_code *code, struct error *e);

/* Offers the names of this host's events, the kernel's generic ones among them. */
void libpfm_offer(struct nearest *n);

#endif
