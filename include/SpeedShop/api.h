/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For programs written for SpeedShop's own library: ssrt_caliper_point has flags there, which never
 * meant anything, in front of its label.  See ssapi(3). */
#ifndef SPEEDSHOP_API_H
#define SPEEDSHOP_API_H

#include "../speedshop.h"

#define ssrt_caliper_point(flags, label) ((void)(flags), (ssrt_caliper_point)(label))

#endif
