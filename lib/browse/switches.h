/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of prof that the interface turns on and off. */
#ifndef BROWSE_SWITCHES_H
#define BROWSE_SWITCHES_H

#include "profile/places.h"
#include "tui/source.h"

/* They end with name NULL. */
const struct tui_switch *browse_switches(void);
/* Bit i of `on` is the switch i. */
void browse_switches_set(struct prof_request *r, uint32_t on);
uint32_t browse_switches_of(const struct prof_request *r);

#endif
