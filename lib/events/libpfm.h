/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpfm4, which is visible in libpfm.c only. It is initialised at first use, which takes
 * milliseconds, and remains initialised until the process ends; its strings live as long.
 */
#ifndef EVENTS_LIBPFM_H
#define EVENTS_LIBPFM_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nearest.h"
#include "events/event.h"

/*
 * Encodes a libpfm4 string. With host set, events of processors other than this one are refused;
 * otherwise events of every processor that the library supports are encoded (tables, tests).
 * ERR_NOT_FOUND: there is no such event.
 */
int libpfm_encode(const char *text, bool host, struct event_code *code, struct error *e);

/* "libpfm4 4.0": the interface of the library in use. Static. */
const char *libpfm_library(void);

/* Offers the names of this host's events, including the kernel's generic ones. */
void libpfm_offer(struct nearest *n);

#endif
